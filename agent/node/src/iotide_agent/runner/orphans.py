"""Search for orphaned directories of this agent's runs, including those of orders that its disk has lost."""

import json
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.files import closing, read_json, replace_file
from iotide_agent.runner.hand import TARGET_ERRORS, HandFailedError, HandHungError, HandLimits, Hands, go_on
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.mounts import mount_id_of, mount_of, read_mounts
from iotide_agent.runner.users import acting_as
from iotide_agent.runner.workspace import TargetRefusedError, mark, open_beneath, read_marker

MOST_NAMES: Final = 100_000
"""Per approved directory and mount: a target may be deep, and the search must not load its server."""
_LOOK_SECONDS: Final = 60.0
_ANSWER_BYTES: Final = 32_768
"""Limit of the answer's size; the next start finds the rest."""
_MOST_OF_ROOT: Final = 20
_OF_ROOT: Final = "if no agent that runs benchmarks as root has a run there, remove it as root: rm -r"
_NAME: Final = re.compile(r"iotide-run-[0-9]+(?:-[0-9]+)+")


class Wanted(NamedTuple):
    """Scope of a search: whose marks, in which directories, and `patience_seconds` for an answer.

    `orders` is the parent of the agent's order directories, which appear on their runners' command lines.
    """

    agent: str
    approved: tuple[str, ...]
    orders: str
    patience_seconds: float
    run_as: tuple[int, ...] = ()


class Orphan(NamedTuple):
    """Directory in `parent` with this agent's mark. `is_used`: a living process names it or is its runner."""

    parent: str
    name: str
    order_id: int
    fence: int
    fstype: str
    source: str
    is_used: bool

    @property
    def path(self) -> str:
        return f"{self.parent}/{self.name}"


def write_wanted(directory: Path, wanted: Wanted) -> None:
    (directory / "found.json").unlink(missing_ok=True)
    replace_file(directory / "wanted.json", json.dumps(wanted._asdict()), durable=False)


def read_found(directory: Path) -> tuple[list[Orphan], list[str]]:
    found = read_json(directory / "found.json")
    if found is None:
        return [], ["the search ended without a result; see orphans/runner.log in the agent's state directory"]
    return [Orphan(*values) for values in found["orphans"]], found["problems"]


def find_orphans(directory: Path) -> None:
    """Read `wanted.json`, search, and write `found.json`. Remove nothing."""
    wanted = Wanted(**json.loads((directory / "wanted.json").read_bytes()))
    hands, limits = Hands(Loop()), HandLimits(_LOOK_SECONDS, wanted.patience_seconds)
    found: dict[str, Orphan] = {}
    problems: list[str] = []
    for approved, root in _roots(wanted.approved):
        try:
            look = partial(_look_below, approved, root, wanted)
            below, is_whole, of_root = hands.do(look, limits, go_on)
        except TARGET_ERRORS as error:
            problems.append(f"{root}: {error}")
            continue
        found |= {orphan.path: orphan for orphan in (Orphan(*values) for values in below)}
        problems += [] if is_whole else [f"{root}: not searched completely"]
        problems += [f"{path} belongs to root; {_OF_ROOT} {path}" for path in of_root]
    orphans = list(found.values())
    try:
        # Reading a process that hangs on a dead mount may hang too.
        is_used = hands.do(partial(_use, orphans, wanted.orders), limits, go_on)
    except (HandHungError, HandFailedError) as error:
        problems.append(f"processes that use the found directories: {error}")
        is_used = [True] * len(orphans)
    orphans = [orphan._replace(is_used=used) for orphan, used in zip(orphans, is_used, strict=True)]
    replace_file(directory / "found.json", json.dumps({"orphans": orphans, "problems": problems}), durable=False)


def _roots(approved: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield roots with their approved directory, one per mount, so that a dead one costs no other."""
    mount_points = sorted({mount.mount_point for mount in read_mounts()})
    for directory in approved:
        yield directory, directory
        for mount_point in mount_points:
            if mount_point != directory and PurePosixPath(mount_point).is_relative_to(directory):
                yield directory, mount_point


def _look_below(approved: str, root: str, wanted: Wanted) -> tuple[list[Orphan], bool, list[str]]:
    """Return the orphaned directories, whether the search was complete, and the directories that belong to root."""
    with acting_as(wanted.run_as):
        return _Look(approved, root, wanted.agent).whole()


class _Look:
    """Breadth-first search where runs could have worked; hidden directories, such as snapshots, are skipped."""

    def __init__(self, approved: str, root: str, agent: str) -> None:
        self._approved = (approved,)
        self._agent = agent
        descriptor, path = open_beneath(self._approved, root)
        with closing(descriptor):
            self._mount = mount_of(descriptor)
        self._waiting = deque([path])
        self._orphans: list[Orphan] = []
        self._names_left = MOST_NAMES
        self._bytes_left = _ANSWER_BYTES
        self._is_whole = True
        self._of_root: list[str] = []

    def whole(self) -> tuple[list[Orphan], bool, list[str]]:
        while self._waiting and self._names_left and self._bytes_left > 0:
            self._enter(self._waiting.popleft())
        is_through = not self._waiting and self._names_left > 0 and self._bytes_left > 0
        return self._orphans, is_through and self._is_whole, self._of_root

    def _enter(self, parent: str) -> None:
        try:
            descriptor, _ = open_beneath(self._approved, parent)
        except (TargetRefusedError, OSError):
            return
        try:
            if mount_id_of(descriptor) == self._mount.mount_id:
                self._look(descriptor, parent)
        except OSError:
            self._is_whole = False  # an input error costs only what is below that directory
        finally:
            os.close(descriptor)

    def _look(self, descriptor: int, parent: str) -> None:
        with os.scandir(descriptor) as entries:
            for entry in islice(entries, self._names_left):
                self._names_left -= 1
                if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
                    continue
                if not _NAME.fullmatch(entry.name):
                    self._waiting.append(f"{parent}/{entry.name}")
                elif orphan := self._orphan(descriptor, parent, entry.name):
                    self._orphans.append(orphan)
                    self._bytes_left -= len(json.dumps(orphan))

    def _orphan(self, descriptor: int, parent: str, name: str) -> Orphan | None:
        """Return the directory if its mark is complete, this agent's and not a copy from another place."""
        try:
            owner = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid
            if owner == os.getuid() == 0 != os.geteuid() and len(self._of_root) < _MOST_OF_ROOT:
                # Only root can read its mark, and root touches nothing in a directory that the user could exchange.
                self._of_root.append(f"{parent}/{name}")
            if owner != os.geteuid():
                return None
            text = read_marker(name, descriptor)
        except OSError:
            return None
        named = read_mark(text or b"")
        if named is None or text != mark(*named, self._agent, parent):
            return None
        return Orphan(parent, name, *named, self._mount.fstype, self._mount.source, is_used=False)


def read_mark(text: bytes) -> tuple[int, int] | None:
    try:
        values = json.loads(text)
        return int(values["order_id"]), int(values["fence"])
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None


def _use(orphans: Sequence[Orphan], orders: str) -> list[bool]:
    words = [{os.fsencode(orphan.path), os.fsencode(f"{orders}/{orphan.order_id}\0")} for orphan in orphans]
    mentioned = processes.mentioned(set().union(*words)) if words else set()
    return [not of_orphan.isdisjoint(mentioned) for of_orphan in words]
