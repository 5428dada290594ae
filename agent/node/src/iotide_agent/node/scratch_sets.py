"""Asks the root helper for the scratch sets of this node."""

import logging
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from iotide_wire.scratch_sets import ScratchSet, ScratchSets

HELPER: Final = Path("/run/iotide/scratch.sock")
"""Socket of the root helper; it exists only on nodes with adopted disks."""
_PATIENCE_SECONDS: Final = 2.0
_LARGEST_ANSWER_BYTES: Final = 256 * 1024
_QUESTION: Final = b'{"verb": "list"}'
_SETS: Final[TypeAdapter[tuple[ScratchSet, ...]]] = TypeAdapter(ScratchSets)
_logger = logging.getLogger(__name__)


class _ListedDisk(BaseModel):
    """A disk in the helper's answer; missing attributes are empty."""

    model_config = ConfigDict(extra="ignore")

    id: str
    wwn: str
    serial: str
    model: str
    size_bytes: int
    bay: str = ""
    adopted_at_s: int
    adopted_by: str
    state: str


class _ListedSet(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    mount_path: str
    state: str
    reason: str = ""
    variant: str = ""
    last_used_s: int = 0
    disks: list[_ListedDisk]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sets: list[_ListedSet]


def read_scratch_sets(helper: Path = HELPER) -> tuple[ScratchSet, ...] | None:
    """Return the node's sets, none without a helper; None if it gives no valid answer within two seconds."""
    if not helper.exists():
        return ()
    try:
        return _understood(_ask(helper))
    except (OSError, ValueError, OverflowError) as error:
        _logger.warning("scratch_sets_unknown error=%s", error)
        return None


def _ask(helper: Path) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        asking.settimeout(_PATIENCE_SECONDS)
        asking.connect(str(helper))
        asking.send(_QUESTION)
        answer = asking.recv(_LARGEST_ANSWER_BYTES + 1)
    if not 0 < len(answer) <= _LARGEST_ANSWER_BYTES:
        message = f"the helper answered {len(answer)} bytes"
        raise ValueError(message)
    return answer


def _understood(answer: bytes) -> tuple[ScratchSet, ...]:
    listed = _Answer.model_validate_json(answer).sets
    return _SETS.validate_python([_announced(one) for one in listed])


def _announced(listed: _ListedSet) -> dict[str, object]:
    return {
        **listed.model_dump(include={"name", "mount_path", "state", "reason"}),
        "variant": listed.variant or None,
        "last_used_at": _time(listed.last_used_s) if listed.last_used_s else None,
        "disks": [
            {
                **disk.model_dump(include={"id", "model", "size_bytes", "adopted_by", "state"}),
                "wwn": disk.wwn or None,
                "serial": disk.serial or None,
                "bay": disk.bay or None,
                "adopted_at": _time(disk.adopted_at_s),
            }
            for disk in listed.disks
        ],
    }


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
