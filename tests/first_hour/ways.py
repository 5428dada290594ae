"""Two ways to the first trend: by name, as the README has it, and from source, as it had it up to 0.2.0."""

import dataclasses
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from first_hour.desk import Desk
from first_hour.hosts import Command, Host

ROOT: Final = Path(__file__).resolve().parents[2]
CAMPAIGNS: Final = 4
"""Points of the first trend."""
_README: Final = ROOT / "README.md"
_FROM_SOURCE: Final = Path(__file__).with_name("from_source.md")
_REPOSITORY: Final = "/srv/iotide.git"
"""The project's address, as the hosts see it."""
_FENCED: Final = re.MULTILINE | re.DOTALL
_COMMENT: Final = re.compile(r"\s+#\s.*$")
_CONTINUES: Final = re.compile(r" &&\n *")
_STAYS: Final = {"iotide-server up": "iotide is ready", "iotide-agent run": "greeted"}
"""Foreground programs, and their output when they are ready."""
_LINK: Final = re.compile(r"https://\S+#token=\S+")
_DIRECTORY: Final = "/scratch/iotide"


@dataclasses.dataclass(frozen=True, slots=True)
class Walked:
    """Record one walked way; `parts` are server, node and campaign with their commands."""

    parts: dict[str, list[Command]]
    clicks: list[str]
    trend: str

    @property
    def commands(self) -> list[Command]:
        return [command for part in self.parts.values() for command in part]

    @property
    def seconds(self) -> float:
        return seconds_of(self.commands)


def seconds_of(commands: Sequence[Command]) -> float:
    return sum(command.seconds for command in commands)


def by_name(hosts: Callable[[str], Host]) -> Walked:
    """Walk the README's way: packages by name, one line for the node, a login."""
    server = hosts("server")
    printed = _typed(server, _block(_README, "### The server"), {"ADDRESS": server.address})
    desk = _desk(server, printed)
    cluster_id = desk.call("POST", "/clusters", {"name": "lab"}, click="make the cluster")["id"]
    node = hosts("node01")
    joined = desk.join_token(cluster_id)
    block = _block(_README, "### Each node")
    words = {"SERVER": desk.host, "TOKEN": joined["token"]} | _sha256_of(joined["install_command"])
    shown = f"{joined['install_command']} {_DIRECTORY}"
    if shown not in [_filled_in(line, words) for line in block]:
        raise SystemExit(f"the README's line for a node differs from the one of the cluster's page: {shown}")
    _typed(node, block, words)
    desk.approve(cluster_id)
    _make_target(desk, cluster_id)
    (node.root / "root/nightly.yaml").write_text(_plan())
    desk.clicks.append("paste the plan into nightly.yaml")
    login, *submits = _block(_README, "## A campaign, from YAML to answer")
    _log_in(node, desk, login)
    _typed(node, submits, {"SERVER": desk.host})
    return _ended(desk, server, node)


def from_source(hosts: Callable[[str], Host]) -> Walked:
    """Walk the way up to 0.2.0: a checkout on each host, Node and uv, certificate and token by hand."""
    server = hosts("server")
    _clone(server)
    words = {"URL": _REPOSITORY, "ADDRESS": server.address}
    desk = _desk(server, _typed(server, _block(_FROM_SOURCE, "### The server"), words))
    cluster_id = desk.call("POST", "/clusters", {"name": "lab"}, click="make the cluster")["id"]
    node = hosts("node01")
    _clone(node)
    words = {"URL": _REPOSITORY, "SERVER": desk.host, "TOKEN": desk.join_token(cluster_id)["token"]}
    for line, _ in _type_lines(node, _block(_FROM_SOURCE, "### Each node"), words):
        if "enroll" in line:
            desk.approve(cluster_id)
    _make_target(desk, cluster_id)
    token = desk.call("POST", "/tokens", {"name": "shell", "scopes": ["read", "operate"]}, click="make an API token")
    (node.root / "root/nightly.yaml").write_text(_plan())
    desk.clicks.append("paste the plan into nightly.yaml")
    copied, *lines = _block(_FROM_SOURCE, "### A campaign")
    shutil.copy(_authority(server), node.root / "root/ca.crt")  # the hosts have no SSH
    node.typed.append(Command(node.name, copied, 0.0))
    _say(node.typed[-1])
    words = {"SERVER": desk.host, "iot_...": token["token"], "12 13": "1 2", "report 12": "report 1"}
    repeated = [line for line in lines for _ in range(CAMPAIGNS if "campaign submit" in line else 1)]
    _typed(node, repeated, words)
    return _ended(desk, server, node)


def _desk(server: Host, printed: str) -> Desk:
    link = _LINK.search(printed)
    if link is None:
        raise SystemExit(f"the server printed no sign-in link:\n{printed}")
    return Desk(f"https://{server.address}:8470", _authority(server), link[0])


def _authority(server: Host) -> Path:
    return server.root / "var/lib/iotide/tls/ca.crt"


def _make_target(desk: Desk, cluster_id: int) -> None:
    (candidate,) = _wait(lambda: desk.call("GET", f"/clusters/{cluster_id}/candidates"))
    desk.make_target(cluster_id, candidate)


def _log_in(node: Host, desk: Desk, written: str) -> None:
    def trust(_: str) -> str:
        desk.clicks.append("compare the fingerprint, answer y")
        return "y\n"

    def confirm(address: str) -> str:
        desk.confirm_login(address)
        return ""

    questions = [("Trust this authority", trust), (r"https://\S+/connect\?\S+", confirm)]
    node.answer(_filled_in(written, {"SERVER": desk.host}), questions)
    _remember(node, written)


def _ended(desk: Desk, server: Host, node: Host) -> Walked:
    trend = _wait(lambda: _trend(desk))
    desk.clicks.append("open Trends")
    first = next(n for n, command in enumerate(node.typed) if command.line.startswith(("iotide login", "scp")))
    parts = {"server": server.typed, "node": node.typed[:first], "campaign": node.typed[first:]}
    return Walked(parts, desk.clicks, trend)


def _clone(host: Host) -> None:
    """Make what `git clone` of the project's address finds."""
    subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, f"{host.root}{_REPOSITORY}"], check=True)


def _block(page: Path, heading: str) -> list[str]:
    """Return the first indented commands below a heading, without their comments."""
    _, found, rest = page.read_text().partition(f"\n{heading}\n")
    if not found:
        raise SystemExit(f"{page.name} has no heading {heading!r}")
    section = re.sub(r"^```.*?^```", "", re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0], flags=_FENCED)
    block = re.search(r"(?:^    .*\n)+", section, re.MULTILINE)
    if block is None:
        raise SystemExit(f"{page.name} has no commands below {heading!r}")
    lines = _CONTINUES.sub(" && ", block[0]).splitlines()
    return [_COMMENT.sub("", line.strip()) for line in lines]


def _plan() -> str:
    """Return the README's first campaign."""
    found = re.search(r"^```yaml\n(.*?)^```", _README.read_text(), _FENCED)
    if found is None:
        raise SystemExit("the README has no campaign")
    return found[1]


def _sha256_of(install_command: str) -> dict[str, str]:
    found = re.search(r"[0-9a-f]{64}(?=  join\.sh)", install_command)
    if found is None:
        raise SystemExit(f"the line of the cluster's page has no SHA-256: {install_command}")
    return {"SHA256": found[0]}


def _filled_in(line: str, words: dict[str, str]) -> str:
    """Replace the placeholders in capitals by a user's values."""
    for word, value in words.items():
        line = line.replace(word, value)
    return line


def _typed(host: Host, lines: Sequence[str], words: dict[str, str]) -> str:
    return "".join(printed for _, printed in _type_lines(host, lines, words))


def _type_lines(host: Host, lines: Sequence[str], words: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Type commands with values filled in; yield each with its output."""
    for written in lines:
        line = _filled_in(written, words)
        stays = next((until for start, until in _STAYS.items() if line.startswith(start)), None)
        printed = host.leave_running(line, stays) if stays else host.type(line)
        _remember(host, written)
        yield written, printed


def _remember(host: Host, written: str) -> None:
    # As written: readers of this output do not need the values.
    host.typed[-1] = dataclasses.replace(host.typed[-1], line=written)
    _say(host.typed[-1])


def _say(command: Command) -> None:
    print(f"{command.seconds:7.1f} s  {command.host:7} {command.line}", flush=True)


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
