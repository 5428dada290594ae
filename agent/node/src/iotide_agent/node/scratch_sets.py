"""Asks the root helper for the scratch sets of this node, and judges their state."""

import json
import logging
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from iotide_wire.scratch_sets import MOST_SETS, ScratchSet, ScratchSets, ScratchState

HELPER: Final = Path("/run/iotide/scratch.sock")
"""Socket of the root helper; it exists only on nodes with adopted disks."""
_PATIENCE_SECONDS: Final = 15.0
"""Time for the first answer: systemd starts the helper for it, on a node that may be busy."""
_LARGEST_ANSWER_BYTES: Final = 256 * 1024
_LONGEST_REASON: Final = 1000
_REFUSED: Final = b'{"refused"'
_SETS: Final[TypeAdapter[tuple[ScratchSet, ...]]] = TypeAdapter(ScratchSets)
_STATES: Final = {"clean": ScratchState.CLEAN, "dirty": ScratchState.DIRTY, "made": ScratchState.IN_USE}
"""States of a mark. A made disk is dirty with a whole layout on it."""
_WORST_FIRST: Final = (
    *(ScratchState.LOST, ScratchState.FOREIGN, ScratchState.ABSENT),
    *(ScratchState.DIRTY, ScratchState.IN_USE, ScratchState.CLEAN),
)
_REMOVING: Final = frozenset({"unmount", "wipe", "recover"})
_UNFINISHED: Final = frozenset({"dirty", "failed", "killed"})
_logger = logging.getLogger(__name__)


class _Listed(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _ListedDisk(_Listed):
    """A disk of the helper's list. Without `id` it is not there or not adopted."""

    device: str
    problem: str | None = None
    state: str
    id: str | None = None
    wwn: str = ""
    serial: str = ""
    model: str = ""
    size_bytes: int = 0
    bay: str = ""
    order: int | str = 0
    variant: str = ""
    since_s: int = 0
    adopted_at_s: int = 0
    adopted_by: str = "root"

    @property
    def judged(self) -> ScratchState:
        if self.id is None:
            return ScratchState.ABSENT
        if self.state == ScratchState.LOST:
            return ScratchState.LOST
        return ScratchState.FOREIGN if self.problem else _STATES.get(self.state, ScratchState.DIRTY)


class _Last(_Listed):
    """The last operation on a set."""

    verb: str = ""
    outcome: str = ""
    reason: str = ""

    @property
    def left_something(self) -> bool:
        return self.verb in _REMOVING and self.outcome in _UNFINISHED


class _ListedSet(_Listed):
    name: Annotated[str, Field(alias="set")]
    mount: str
    disks: list[_ListedDisk]
    last: _Last | None = None


class _Answer(_Listed):
    sets: list[_ListedSet]
    next: int | None = None
    lacks: list[str] = []


def read_scratch_sets(helper: Path = HELPER) -> tuple[ScratchSet, ...] | None:
    """Return the node's sets, page by page, none without a helper; None if it gives no valid answer in time."""
    try:
        if not helper.exists():
            return ()
        announced: list[dict[str, Any]] = []
        first: int | None = 0
        while first is not None and len(announced) <= MOST_SETS:
            answer = _Answer.model_validate_json(_ask(helper, first))
            announced += [_announced(one) | {"lacks": answer.lacks} for one in answer.sets]
            first = answer.next if answer.sets else None
        return _SETS.validate_python(announced)
    except (OSError, ValueError, OverflowError) as error:
        _logger.warning("scratch_sets_unknown error=%s", error)
        return None


def _ask(helper: Path, first: int) -> bytes:
    question = {"verb": "list", **({"from": first} if first else {})}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        asking.settimeout(_PATIENCE_SECONDS)
        asking.connect(str(helper))
        asking.send(json.dumps(question).encode())
        answer = asking.recv(_LARGEST_ANSWER_BYTES + 1)
    if not 0 < len(answer) <= _LARGEST_ANSWER_BYTES or answer.startswith(_REFUSED):
        message = f"the helper answered {len(answer)} bytes: {answer[:_LONGEST_REASON]!r}"
        raise ValueError(message)
    return answer


def _announced(listed: _ListedSet) -> dict[str, Any]:
    states = {disk.judged for disk in listed.disks} or {ScratchState.ABSENT}
    state = next(one for one in _WORST_FIRST if one in states)
    if state is ScratchState.IN_USE and listed.last is not None and listed.last.left_something:
        # A busy mount stays whole, with its marks.
        state = ScratchState.DIRTY
    used = [disk.since_s for disk in listed.disks if disk.order and disk.since_s]
    return {
        "name": listed.name,
        "mount_path": listed.mount,
        "state": state,
        "reason": _reason(listed, state),
        "variant": next((disk.variant for disk in listed.disks if disk.state == "made" and disk.variant), None),
        "last_used_at": _time(max(used)) if used else None,
        "disks": [_disk(disk) for disk in listed.disks if disk.id is not None],
    }


def _disk(disk: _ListedDisk) -> dict[str, Any]:
    return {
        **disk.model_dump(include={"id", "model", "size_bytes", "adopted_by"}),
        "wwn": disk.wwn or None,
        "serial": disk.serial or None,
        "bay": disk.bay or None,
        "adopted_at": _time(disk.adopted_at_s),
        "state": disk.judged,
    }


def _reason(listed: _ListedSet, state: ScratchState) -> str:
    """Return why a set is neither clean nor in use: its disks' problems, else why its last operation failed."""
    if state in {ScratchState.CLEAN, ScratchState.IN_USE}:
        return ""
    failed = listed.last.reason if listed.last is not None and state is ScratchState.DIRTY else ""
    # The reason of the operation first: those of many disks would leave no space for it.
    words = "; ".join(filter(None, [failed, *_problems(listed.disks)])) or "it has no disks"
    return "".join(letter if letter.isprintable() else " " for letter in words)[:_LONGEST_REASON]


def _problems(disks: Sequence[_ListedDisk]) -> list[str]:
    found = []
    for disk in disks:
        if disk.judged is ScratchState.DIRTY:
            found.append(f"{disk.serial or disk.device} holds what order {disk.order or 'unknown'} left")
        elif disk.judged in {ScratchState.ABSENT, ScratchState.FOREIGN, ScratchState.LOST}:
            found.append(disk.problem or f"{disk.device} is {disk.state}")
    return found


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
