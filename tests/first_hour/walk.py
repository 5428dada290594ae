"""A new user's first hour, timed: the README's commands on two clean Debian hosts, to a campaign and a trend.

Usage: python tests/first_hour/walk.py, as root. The commands are read from the README itself, so that what it
says is what is tried. Both hosts are root directories with a network namespace each; what a person would do in the
browser is done by the requests that its pages make. Exit status 0 when the trend is there within the hour.
"""

import dataclasses
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, Final

from first_hour.hosts import Command, Host, Outside, clean_debian, make_bridge, unpack

ROOT: Final = Path(__file__).resolve().parents[2]
BUILT: Final = ROOT / ".dev/first-hour"
FIRST_HOUR_SECONDS: Final = 3600.0
CAMPAIGNS: Final = 4
"""Points of the first trend."""
_INNER: Final = "IOTIDE_FIRST_HOUR_OUTSIDE"
_WORK: Final = "IOTIDE_FIRST_HOUR_WORK"
_STAYS: Final = {"iotide-server up": "iotide is ready", "iotide-agent run": "greeted"}
"""What stays in the foreground, and what it prints when it is there."""


class Desk:
    """The administrator's browser, by the requests that its pages make; each is a form or a click."""

    def __init__(self, url: str, authority: Path) -> None:
        self.url = url
        self.clicks: list[str] = []
        context = ssl.create_default_context(cafile=str(authority))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(CookieJar()),
        )

    def call(self, method: str, path: str, body: object = None, *, click: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """What the route answers.

        Args:
            click: what the person does for it; None where the page asks by itself.
        """
        if click is not None:
            self.clicks.append(click)
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json", "X-Iotide-Csrf": "1"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers, method=method)  # noqa: S310 - our own
        with self._opener.open(request, timeout=30) as answer:
            return json.load(answer)


def readme_block(heading: str) -> list[str]:
    """The indented commands below a heading of the README, without their comments."""
    _, found, rest = (ROOT / "README.md").read_text().partition(f"\n{heading}\n")
    if not found:
        raise SystemExit(f"the README has no heading {heading!r}")
    section = re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line[4:] for line in section.splitlines() if line.startswith("    ")]
    return [re.sub(r"\s+#\s.*$", "", line) for line in lines]


def readme_plan() -> str:
    """The README's first campaign."""
    found = re.search(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit("the README has no campaign")
    return found[1]


def type_block(host: Host, heading: str, fill_in: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Types the README's commands, with what a person puts for the words in capitals; each with what it printed."""
    for written in readme_block(heading):
        line = written
        for word, value in fill_in.items():
            line = line.replace(word, value)
        stays = next((until for start, until in _STAYS.items() if line.startswith(start)), None)
        printed = host.leave_running(line, stays) if stays else host.type(line)
        # As it was written: what was filled in is no affair of who reads this.
        host.typed[-1] = dataclasses.replace(host.typed[-1], line=written)
        yield written, printed


def walk(outside: Outside, work: Path) -> tuple[list[Command], list[str], str]:
    """Everything, from bare hosts to the first trend: commands, clicks, and what the trend says."""
    typed: list[Command] = []
    archive = BUILT / "debian.tar"
    clean_debian(archive, outside)
    hosts = []
    for number, name in enumerate(("server", "node01"), start=1):
        unpack(archive, work / name)
        hosts.append(Host(name, number, work / name, outside, typed))
        # What `git clone` of the project's address brings.
        subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, work / name / "srv/iotide.git"], check=True)
    server, node = hosts
    began = time.monotonic()
    link = ""
    for line, printed in type_block(server, "### The server", {"URL": "/srv/iotide.git", "ADDRESS": server.address}):
        link = printed.strip() if "admin-link" in line else link
        _say(typed[-1])
    authority = server.root / "var/lib/iotide/tls/ca.crt"
    desk = Desk(f"https://{server.address}:8470", authority)
    desk.call("POST", "/session/link", {"token": link.partition("#token=")[2]}, click="open the sign-in link")
    cluster = desk.call("POST", "/clusters", {"name": "lab"}, click="make the cluster")
    joined = desk.call("POST", f"/clusters/{cluster['id']}/join-tokens", {}, click="let a node join")
    token = desk.call("POST", "/tokens", {"name": "shell", "scopes": ["read", "operate"]}, click="make an API token")
    fill_in = {"URL": "/srv/iotide.git", "SERVER": server.address, "TOKEN": joined["token"]}
    for _ in type_block(node, "### Each node", fill_in):
        _say(typed[-1])
    nodes = _wait(lambda: desk.call("GET", "/nodes?state=online")["items"])
    target = {"cluster_id": cluster["id"], "name": "scratch", "path": "/scratch", "scope": "node"}
    desk.call("POST", "/targets", {**target, "nodes": [nodes[0]["id"]]}, click="tick the mount /scratch")
    (node.root / "root/iotide/nightly.yaml").write_text(readme_plan())
    shutil.copy(authority, node.root / "root/ca.crt")
    access = f"iotide --url https://{server.address}:8470 --token {token['token']} --ca /root/ca.crt"
    for _ in range(CAMPAIGNS):
        node.type(f"{access} campaign submit nightly.yaml --watch")
        typed[-1] = Command("node01", "iotide campaign submit nightly.yaml --watch", typed[-1].seconds)
        _say(typed[-1])
    trend = _wait(lambda: _trend(desk))
    desk.clicks.append("open Trends")
    return typed, desk.clicks, f"{trend}, {time.monotonic() - began:.0f} s after the first command"


def _trend(desk: Desk) -> str | None:
    """The first series that has a point of each campaign, in words; None while there is none."""
    for series in desk.call("GET", "/series?limit=50")["items"]:
        count = len(desk.call("GET", f"/series/{series['id']}/points")["median"])
        if count >= CAMPAIGNS:
            return f"{series['metric']} of {series['workload']}, a point of each of {count} campaigns"
    return None


def _wait(probe: Callable[[], Any], seconds: float = 60) -> Any:  # noqa: ANN401 - whatever is waited for
    deadline = time.monotonic() + seconds
    while not (found := probe()):
        if time.monotonic() > deadline:
            raise SystemExit("what the campaign should bring did not come")
        time.sleep(0.5)  # between two looks at what other programs do
    return found


def _in_namespaces() -> int:
    BUILT.mkdir(parents=True, exist_ok=True)
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    namespaces = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    # Removed by this process, for which nothing is mounted below it: not even /dev of a host can be reached from there.
    with tempfile.TemporaryDirectory(dir=BUILT, prefix="work-") as work:
        environment = {**os.environ, _INNER: str(descriptor), _WORK: work}
        argv = ["unshare", *namespaces, sys.executable, __file__]
        return subprocess.run(argv, env=environment, pass_fds=(descriptor,), check=False).returncode


def _say(command: Command) -> None:
    print(f"{command.seconds:7.1f} s  {command.host:7} {command.line}", flush=True)


def main() -> int:
    """Begins anew in namespaces of its own, which take everything but files with them at the end."""
    if _INNER not in os.environ:
        return _in_namespaces()
    outside = Outside(int(os.environ.pop(_INNER)))
    make_bridge()
    typed, clicks, trend = walk(outside, Path(os.environ.pop(_WORK)))
    total_seconds = sum(command.seconds for command in typed)
    print(f"trend: {trend}")
    for click in clicks:
        print(f"  in the browser: {click}")
    print(f"first-hour: commands={len(typed)} clicks={len(clicks)} seconds={total_seconds:.0f}")
    return 0 if total_seconds < FIRST_HOUR_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
