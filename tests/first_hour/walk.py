"""A new user's first hour, timed: the README's commands on two clean Debian hosts, to a campaign and a trend.

Usage: python tests/first_hour/walk.py, as root. The commands are read from the README itself. Both hosts are root
directories with a network namespace each. Steps in the browser are replaced by the requests that its pages make. Exit
status 0 when the trend is there within the hour.
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
from collections.abc import Callable, Iterator, Sequence
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from first_hour.hosts import Command, Host, Outside, clean_debian, make_bridge, unpack

ROOT: Final = Path(__file__).resolve().parents[2]
BUILT: Final = ROOT / ".dev/first-hour"
FIRST_HOUR_SECONDS: Final = 3600.0
CAMPAIGNS: Final = 4
"""Points of the first trend."""
_REPOSITORY: Final = "/srv/iotide.git"
"""The project's address, as the hosts see it."""
_INNER: Final = "IOTIDE_FIRST_HOUR_OUTSIDE"
_WORK: Final = "IOTIDE_FIRST_HOUR_WORK"
_FENCED: Final = re.MULTILINE | re.DOTALL
_STAYS: Final = {"iotide-server up": "iotide is ready", "iotide-agent run": "greeted"}
"""Foreground programs, and their output when they are ready."""


class Desk:
    """The administrator's browser, by the requests that its pages make; each is a form or a click."""

    def __init__(self, url: str, authority: Path) -> None:
        self.url = url
        self.host = urlsplit(url).hostname or ""
        self.clicks: list[str] = []
        context = ssl.create_default_context(cafile=str(authority))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(CookieJar()),
        )

    def call(self, method: str, path: str, body: object = None, *, click: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """Return the route's answer.

        Args:
            click: the user's action; None if the page sends the request automatically.
        """
        if click is not None:
            self.clicks.append(click)
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json", "X-Iotide-Csrf": "1"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers, method=method)  # noqa: S310 - our own
        with self._opener.open(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")


def readme_block(heading: str) -> list[str]:
    """Return the first indented commands below a heading of the README, without their comments."""
    _, found, rest = (ROOT / "README.md").read_text().partition(f"\n{heading}\n")
    if not found:
        raise SystemExit(f"the README has no heading {heading!r}")
    section = re.sub(r"^```.*?^```", "", re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0], flags=_FENCED)
    block = re.search(r"(?:^    .*\n)+", section, re.MULTILINE)
    if block is None:
        raise SystemExit(f"the README has no commands below {heading!r}")
    return [re.sub(r"\s+#\s.*$", "", line[4:]) for line in block[0].splitlines()]


def readme_plan() -> str:
    """Return the README's first campaign."""
    found = re.search(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), _FENCED)
    if found is None:
        raise SystemExit("the README has no campaign")
    return found[1]


def filled_in(line: str, words: dict[str, str]) -> str:
    """Replace the README's placeholders in capitals by a user's values."""
    for word, value in words.items():
        line = line.replace(word, value)
    return line


def type_lines(host: Host, lines: Sequence[str], words: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Type the README's commands with values filled in; yield each with its output."""
    for written in lines:
        line = filled_in(written, words)
        stays = next((until for start, until in _STAYS.items() if line.startswith(start)), None)
        printed = host.leave_running(line, stays) if stays else host.type(line)
        # As written: readers of this output do not need the values.
        host.typed[-1] = dataclasses.replace(host.typed[-1], line=written)
        _say(host.typed[-1])
        yield written, printed


def walk(outside: Outside, work: Path) -> tuple[list[Command], list[str], str]:
    """Do everything, from bare hosts to the first trend; return commands, clicks, and the trend in words."""
    typed: list[Command] = []
    archive = BUILT / "debian.tar"
    clean_debian(archive, outside)
    hosts = []
    for number, name in enumerate(("server", "node01"), start=1):
        unpack(archive, work / name)
        hosts.append(Host(name, number, work / name, outside, typed))
        # The result of `git clone` of the project's address.
        subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, f"{work / name}{_REPOSITORY}"], check=True)
    began = time.monotonic()
    desk = install_server(hosts[0])
    cluster_id = desk.call("POST", "/clusters", {"name": "lab"}, click="make the cluster")["id"]
    install_node(hosts[1], desk, cluster_id)
    campaigns(hosts[1], desk, hosts[0].root / "var/lib/iotide/tls/ca.crt")
    trend = _wait(lambda: _trend(desk))
    desk.clicks.append("open Trends")
    return typed, desk.clicks, f"{trend}, {time.monotonic() - began:.0f} s after the first command"


def install_server(server: Host) -> Desk:
    """Type "The server" and sign the administrator in."""
    words = {"URL": _REPOSITORY, "ADDRESS": server.address}
    links = [
        printed.strip()
        for line, printed in type_lines(server, readme_block("### The server"), words)
        if "admin-link" in line
    ]
    desk = Desk(f"https://{server.address}:8470", server.root / "var/lib/iotide/tls/ca.crt")
    desk.call("POST", "/session/link", {"token": links[0].partition("#token=")[2]}, click="open the sign-in link")
    return desk


def install_node(node: Host, desk: Desk, cluster_id: int) -> None:
    """Type "Each node", approve the node once it has enrolled, and make a target of its directory."""
    # As the page requests it if nothing was unticked.
    terms = {"uses": 100, "expires_in_seconds": 3600, "needs_approval": True}
    joined = desk.call("POST", f"/clusters/{cluster_id}/join-tokens", terms, click="make a join token")
    words = {"URL": _REPOSITORY, "SERVER": desk.host, "TOKEN": joined["token"]}
    block = readme_block("### Each node")
    if joined["command"] not in [filled_in(line, words) for line in block]:
        raise SystemExit(f"the README's join command differs from the dashboard's: {joined['command']}")
    for line, _ in type_lines(node, block, words):
        if "enroll" in line:
            _approve(desk, cluster_id)
    (candidate,) = _wait(lambda: desk.call("GET", f"/clusters/{cluster_id}/candidates"))
    (place,) = candidate["places"]
    target = {"cluster_id": cluster_id, "name": candidate["suggested_name"], "path": place["path"]}
    more = {"scope": candidate["scope"], "nodes": [place["node_id"]]}
    desk.call("POST", "/targets", {**target, **more}, click=f"tick {place['path']}")


def _approve(desk: Desk, cluster_id: int) -> None:
    waiting = desk.call("GET", f"/clusters/{cluster_id}/pending-nodes")["items"]
    chosen = {"pending_ids": [host["id"] for host in waiting]}
    desk.call("POST", f"/clusters/{cluster_id}/pending-nodes/approve", chosen, click="approve the node")


def campaigns(node: Host, desk: Desk, authority: Path) -> None:
    """Type "A campaign" on the node, the campaign as often as the trend needs it."""
    token = desk.call("POST", "/tokens", {"name": "shell", "scopes": ["read", "operate"]}, click="make an API token")
    (node.root / "root/nightly.yaml").write_text(readme_plan())
    desk.clicks.append("paste the plan into nightly.yaml")
    copied, *lines = readme_block("## A campaign, from YAML to answer")
    shutil.copy(authority, node.root / "root/ca.crt")  # the hosts have no SSH
    node.typed.append(Command(node.name, copied, 0.0))
    _say(node.typed[-1])
    words = {"SERVER": desk.host, "iot_...": token["token"], "12 13": "1 2", "report 12": "report 1"}
    repeated = [line for line in lines for _ in range(CAMPAIGNS if "campaign submit" in line else 1)]
    for _ in type_lines(node, repeated, words):
        pass


def _trend(desk: Desk) -> str | None:
    """Return the first series that has a point of each campaign, in words; None while there is none."""
    for series in desk.call("GET", "/series?limit=50")["items"]:
        count = len(desk.call("GET", f"/series/{series['id']}/points")["median"])
        if count >= CAMPAIGNS:
            return f"{series['metric']} of {series['workload']}, a point of each of {count} campaigns"
    return None


def _wait(probe: Callable[[], Any], seconds: float = 60) -> Any:  # noqa: ANN401 - whatever is waited for
    deadline = time.monotonic() + seconds
    while not (found := probe()):
        if time.monotonic() > deadline:
            raise SystemExit("the campaign's expected result did not arrive")
        time.sleep(0.5)  # between two checks of other programs
    return found


def _in_namespaces() -> int:
    BUILT.mkdir(parents=True, exist_ok=True)
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    namespaces = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    # Removed by this process, which sees no mounts below it: not even /dev of a host can be reached from here.
    with tempfile.TemporaryDirectory(dir=BUILT, prefix="work-") as work:
        environment = {**os.environ, _INNER: str(descriptor), _WORK: work}
        argv = ["unshare", *namespaces, sys.executable, __file__]
        return subprocess.run(argv, env=environment, pass_fds=(descriptor,), check=False).returncode


def _say(command: Command) -> None:
    print(f"{command.seconds:7.1f} s  {command.host:7} {command.line}", flush=True)


def main() -> int:
    """Start again in new namespaces, which take everything except files with them at the end."""
    if _INNER not in os.environ:
        return _in_namespaces()
    outside = Outside(int(os.environ.pop(_INNER)))
    make_bridge()
    typed, clicks, trend = walk(outside, Path(os.environ.pop(_WORK)))
    total_seconds = sum(command.seconds for command in typed)
    print(f"trend: {trend}")
    for click in clicks:
        print(f"  by hand: {click}")
    print(f"first-hour: commands={len(typed)} clicks={len(clicks)} seconds={total_seconds:.0f}")
    return 0 if total_seconds < FIRST_HOUR_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
