"""A tree of files that nobody may touch, and a card whose runs would like to."""

import os
from pathlib import Path
from typing import NamedTuple

from agent.order_rig import order_card, target_card

from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.workspace import MARKER, mark

NAME = "iotide-run-7-1-7"


class Seen(NamedTuple):
    """What is known of a file: a change of any of it is a change of the file."""

    mode: int
    links: int
    inode: int
    owner: int
    modified_at_nanoseconds: int
    content: bytes


class Canary:
    """Files, directories and what looks like a run's own directory, marked as the agent itself would mark it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        for directory in (top, top / "target", top / NAME, top / "target" / NAME):
            directory.mkdir()
            (directory / "precious").write_text("kept")
            (directory / MARKER).write_bytes(mark(7, 70, "", str(directory)))
        self._before = self._seen()

    def take_again(self) -> None:
        """From now on it is to stay as the test left it."""
        self._before = self._seen()

    def require_untouched(self) -> None:
        """Fails where anything was made, changed or removed."""
        assert self._seen() == self._before

    def _seen(self) -> dict[str, Seen]:
        found: dict[str, Seen] = {}
        for path in (self.top, *sorted(self.top.rglob("*"))):
            told = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            name = str(path.relative_to(self.top))
            found[name] = Seen(told.st_mode, told.st_nlink, told.st_ino, told.st_uid, told.st_mtime_ns, content)
        return found


def attacked_card(approved: Path, target: TargetCard | None = None) -> Card:
    """An order whose directory is called as that of the canary."""
    targets = (target or target_card(approved),)
    return order_card(Path(os.path.realpath(approved)), directory_name=NAME, targets=targets)


def names(directory: Path) -> list[str]:
    """What lies in a directory."""
    return sorted(path.name for path in directory.iterdir())
