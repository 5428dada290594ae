"""Scratch sets of a node, as its root helper lists them: named groups of adopted disks."""

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import AfterValidator, FailFast, Field, model_validator

from iotide_wire.base import Message, UtcTime

MOUNT_ROOT: Final = "/srv/iotide-scratch"
"""Directory of the mount points of all sets."""
MOST_SETS: Final = 50
MOST_DISKS: Final = 256
"""Maximum number of disks in all sets of a node."""


SetName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")]
"""Name of a set in the node's scratch.toml."""


class ScratchState(StrEnum):
    """State of a set, which is the worst of its disks, or of a disk.

    CLEAN: nothing is on it. DIRTY: something of iotide's is on it and could not be removed. IN_USE: an order made
    something on it. FOREIGN: it holds something else, or is another disk than its mark says. ABSENT: it is not
    adopted. LOST: it is adopted and not there.
    """

    CLEAN = "clean"
    DIRTY = "dirty"
    IN_USE = "in_use"
    FOREIGN = "foreign"
    ABSENT = "absent"
    LOST = "lost"


class ScratchDisk(Message):
    """An adopted disk.

    Attributes:
        id: of its adoption, which is also the GUID of its partition table.
        adopted_by: who adopted it, by the name on the node.
    """

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    wwn: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$")] | None
    serial: Annotated[str, Field(pattern=r"^[!-~]([ -~]{0,126}[!-~])?$")] | None
    model: Annotated[str, Field(pattern=r"^[ -~]{0,128}$")]
    size_bytes: Annotated[int, Field(ge=1, le=2**63 - 1)]
    bay: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._:/-]{0,62}$")] | None
    adopted_at: UtcTime
    adopted_by: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$")]
    state: ScratchState

    @model_validator(mode="after")
    def _is_identified(self) -> Self:
        if self.wwn is None and self.serial is None:
            message = "a disk needs a WWN or a serial number"
            raise ValueError(message)
        return self


class ScratchSet(Message):
    """A named group of adopted disks.

    Attributes:
        reason: why it is neither clean nor in use; empty if it is.
        variant: layout and file system that are on it now.
        last_used_at: when an order last changed what is on it.
        disks: without those that are absent.
        lacks: programs and modules of the kernel that the node lacks, of those that makes need.
    """

    name: SetName
    mount_path: Annotated[str, Field(pattern=rf"^{MOUNT_ROOT}/[a-z0-9-]{{1,32}}$")]
    state: ScratchState
    reason: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{0,1000}$")]
    variant: Annotated[str, Field(pattern=r"^[ -~]{1,500}$")] | None
    last_used_at: UtcTime | None
    disks: Annotated[tuple[ScratchDisk, ...], Field(max_length=64), FailFast()]
    lacks: Annotated[tuple[Annotated[str, Field(pattern=r"^[a-z0-9.]{1,32}$")], ...], Field(max_length=32)] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.mount_path != f"{MOUNT_ROOT}/{self.name}":
            message = f"set {self.name} must be mounted at {MOUNT_ROOT}/{self.name}"
            raise ValueError(message)
        return self


def identity_sha256(disks: Iterable[ScratchDisk]) -> str:
    """Return the SHA-256 of the disks' identities in any order, without what changes in use."""
    identities = sorted([disk.id, disk.wwn or "", disk.serial or "", disk.model, disk.size_bytes] for disk in disks)
    return hashlib.sha256(json.dumps(identities).encode()).hexdigest()


def _check_together(sets: tuple[ScratchSet, ...]) -> tuple[ScratchSet, ...]:
    ids = [disk.id for one in sets for disk in one.disks]
    if len({one.name for one in sets}) < len(sets):
        message = "two sets have the same name"
    elif len(set(ids)) < len(ids):
        message = "a disk is listed twice"
    elif len(ids) > MOST_DISKS:
        message = f"more than {MOST_DISKS} disks"
    else:
        return sets
    raise ValueError(message)


ScratchSets = Annotated[tuple[ScratchSet, ...], Field(max_length=MOST_SETS), AfterValidator(_check_together)]
"""All sets of a node."""
