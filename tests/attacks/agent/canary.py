"""Canary files that must stay unchanged, and a card whose runs try to change them."""

import os
from pathlib import Path
from typing import NamedTuple

from agent.order_rig import order_card, target_card

from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.workspace import MARKER, mark

NAME = "iotide-run-7-1-7"


class Seen(NamedTuple):
    """State of a file; any difference is a change of the file."""

    mode: int
    links: int
    inode: int
    owner: int
    modified_at_nanoseconds: int
    content: bytes


class Canary:
    """Files, directories and a fake run directory, marked as the agent itself would mark it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        for directory in (top, top / "target", top / NAME, top / "target" / NAME):
            directory.mkdir()
            (directory / "precious").write_text("kept")
            (directory / MARKER).write_bytes(mark(7, 70, "", str(directory)))
        self._before = self._seen()

    def take_again(self) -> None:
        """Take the present state as the expected one."""
        self._before = self._seen()

    def require_untouched(self) -> None:
        """Fail if anything was made, changed or removed."""
        assert self._seen() == self._before

    def _seen(self) -> dict[str, Seen]:
        found: dict[str, Seen] = {}
        for path in (self.top, *sorted(self.top.rglob("*"))):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            name = str(path.relative_to(self.top))
            found[name] = Seen(
                status.st_mode, status.st_nlink, status.st_ino, status.st_uid, status.st_mtime_ns, content
            )
        return found


def attacked_card(approved: Path, target: TargetCard | None = None) -> Card:
    """Return an order whose directory has the canary's name."""
    targets = (target or target_card(approved),)
    return order_card(Path(os.path.realpath(approved)), directory_name=NAME, targets=targets)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())
