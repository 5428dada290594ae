"""Finds strays: directories that runs of this agent left, whether or not its disk still names their orders."""

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
"""Looked at below each approved directory and mount: a target may lie deep, and the search must not load its server."""
_LOOK_SECONDS: Final = 60.0
_ANSWER_BYTES: Final = 32_768
"""Of the strays that a hand can name; those beyond are found at the next start."""
_MOST_OF_ROOT: Final = 20
"""Bounds how many of them are named for each directory; a person who sees them looks for the others."""
_OF_ROOT: Final = "where no run of an agent that runs loads as root is under way there, remove it as root: rm -r"
_NAME: Final = re.compile(r"iotide-run-[0-9]+(?:-[0-9]+)+")


class Wanted(NamedTuple):
    """What is to be searched: whose marks, in which directories; one may give no answer for `patience_seconds`.

    `orders` is below which the directories of its orders lie, which are in the command lines of their runners.
    """

    agent: str
    approved: tuple[str, ...]
    orders: str
    patience_seconds: float
    run_as: tuple[int, ...] = ()


class Stray(NamedTuple):
    """A directory in `parent` with this agent's mark; `is_used`: a living process names it, or is its runner."""

    parent: str
    name: str
    order_id: int
    fence: int
    fstype: str
    source: str
    is_used: bool

    @property
    def path(self) -> str:
        """Its absolute path without symbolic links."""
        return f"{self.parent}/{self.name}"


def write_wanted(directory: Path, wanted: Wanted) -> None:
    """Writes what is to be searched, and forgets what was found before."""
    (directory / "found.json").unlink(missing_ok=True)
    replace_file(directory / "wanted.json", json.dumps(wanted._asdict()), durable=False)


def read_found(directory: Path) -> tuple[list[Stray], list[str]]:
    """The strays, and what could not be searched and why."""
    found = read_json(directory / "found.json")
    if found is None:
        return [], ["the search ended without an answer; see runner.log in the agent's directory strays"]
    return [Stray(*values) for values in found["strays"]], found["problems"]


def find_strays(directory: Path) -> None:
    """Searches as `wanted.json` says and leaves `found.json`; removes nothing."""
    wanted = Wanted(**json.loads((directory / "wanted.json").read_bytes()))
    hands, limits = Hands(Loop()), HandLimits(_LOOK_SECONDS, wanted.patience_seconds)
    found: dict[str, Stray] = {}
    problems: list[str] = []
    for approved, root in _roots(wanted.approved):
        try:
            look = partial(_look_below, approved, root, wanted)
            below, is_whole, of_root = hands.do(look, limits, go_on)
        except TARGET_ERRORS as error:
            problems.append(f"{root}: {error}")
            continue
        found |= {stray.path: stray for stray in (Stray(*values) for values in below)}
        problems += [] if is_whole else [f"{root}: not all that lies below it was looked at"]
        problems += [f"{path} belongs to root; {_OF_ROOT} {path}" for path in of_root]
    strays = list(found.values())
    try:
        # By hand, since what a process hung on a dead mount has mapped may give no answer either.
        is_used = hands.do(partial(_use, strays, wanted.orders), limits, go_on)
    except (HandHungError, HandFailedError) as error:
        problems.append(f"which processes use what was found: {error}")
        is_used = [True] * len(strays)
    strays = [stray._replace(is_used=used) for stray, used in zip(strays, is_used, strict=True)]
    replace_file(directory / "found.json", json.dumps({"strays": strays, "problems": problems}), durable=False)


def _roots(approved: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Where to begin, with the approved directory above; each mount on its own, so that a dead one costs no other."""
    mount_points = sorted({mount.mount_point for mount in read_mounts()})
    for directory in approved:
        yield directory, directory
        for mount_point in mount_points:
            if mount_point != directory and PurePosixPath(mount_point).is_relative_to(directory):
                yield directory, mount_point


def _look_below(approved: str, root: str, wanted: Wanted) -> tuple[list[Stray], bool, list[str]]:
    """Return the strays on the mount of a directory, whether all below it was looked at, and what belongs to root."""
    with acting_as(wanted.run_as):
        return _Look(approved, root, wanted.agent).whole()


class _Look:
    """One look below a directory, level by level; only where a run could have worked, and at nothing hidden.

    Snapshots are hidden directories, and what lies in them cannot be removed.
    """

    def __init__(self, approved: str, root: str, agent: str) -> None:
        self._approved = (approved,)
        self._agent = agent
        descriptor, path = open_beneath(self._approved, root)
        with closing(descriptor):
            self._mount = mount_of(descriptor)
        self._waiting = deque([path])
        self._strays: list[Stray] = []
        self._names_left = MOST_NAMES
        self._bytes_left = _ANSWER_BYTES
        self._is_whole = True
        self._of_root: list[str] = []

    def whole(self) -> tuple[list[Stray], bool, list[str]]:
        while self._waiting and self._names_left and self._bytes_left > 0:
            self._enter(self._waiting.popleft())
        is_through = not self._waiting and self._names_left > 0 and self._bytes_left > 0
        return self._strays, is_through and self._is_whole, self._of_root

    def _enter(self, parent: str) -> None:
        try:
            descriptor, _ = open_beneath(self._approved, parent)
        except (TargetRefusedError, OSError):
            return  # nor could a run have worked there
        try:
            if mount_id_of(descriptor) == self._mount.mount_id:
                self._look(descriptor, parent)
        except OSError:
            self._is_whole = False  # an input error of one directory costs what lies below it and nothing else
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
                elif stray := self._stray(descriptor, parent, entry.name):
                    self._strays.append(stray)
                    self._bytes_left -= len(json.dumps(stray))

    def _stray(self, descriptor: int, parent: str, name: str) -> Stray | None:
        """The directory, if this agent's user made it here, as the whole mark of this agent says, and it is no copy."""
        try:
            owner = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid
            if owner == os.getuid() == 0 != os.geteuid() and len(self._of_root) < _MOST_OF_ROOT:
                # Only root can read its mark, and root touches nothing in a directory that the user may exchange.
                self._of_root.append(f"{parent}/{name}")
            if owner != os.geteuid():
                return None
            text = read_marker(name, descriptor)
        except OSError:
            return None
        named = read_mark(text or b"")
        if named is None or text != mark(*named, self._agent, parent):
            return None
        return Stray(parent, name, *named, self._mount.fstype, self._mount.source, is_used=False)


def read_mark(text: bytes) -> tuple[int, int] | None:
    """Order and fence that a mark names; None where it is none."""
    try:
        values = json.loads(text)
        return int(values["order_id"]), int(values["fence"])
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None


def _use(strays: Sequence[Stray], orders: str) -> list[bool]:
    """Of each stray whether a process that lives names it, or is the runner of its order."""
    words = [{os.fsencode(stray.path), os.fsencode(f"{orders}/{stray.order_id}\0")} for stray in strays]
    mentioned = processes.mentioned(set().union(*words)) if words else set()
    return [not of_stray.isdisjoint(mentioned) for of_stray in words]
