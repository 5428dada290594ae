"""The mark of an adopted disk: block 0 says which disk it is and whose, block 1 what was done to it last.

It is found without the partition table, so that a destroyed table does not hide it. Pure.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final, TypeVar
from uuid import UUID

from iotide_agent.scratch.gpt import Partition, Table
from iotide_agent.scratch.sysfs import DiskIdentity

MIB: Final = 1024**2
BLOCK_BYTES: Final = 4096
ARENA_TYPE: Final = UUID("7b1f0a52-6f0e-4c2b-9f3a-3d5c1e8a4b01")
MARK_TYPE: Final = UUID("7b1f0a52-6f0e-4c2b-9f3a-3d5c1e8a4b02")
_MAGIC: Final = b"IOTIDE-SCRATCH-1\n"
_LEAST_DISK_MIB: Final = 20
_MOST: Final = 2**63


class MarkError(Exception):
    """No mark, or one that does not hold."""


class MarkCondition(StrEnum):
    """CLEAN: the arena was shown to be empty. DIRTY: a destructive step began. MADE: dirty with a whole layout."""

    CLEAN = "clean"
    DIRTY = "dirty"
    MADE = "made"


@dataclass(frozen=True, slots=True)
class Adoption:
    """Block 0. `machine_id` is the node's at adoption; times are seconds since 1970."""

    id: str
    wwn: str
    serial: str
    model: str
    size_bytes: int
    machine_id: str
    adopted_at_s: int
    adopted_by: str

    @property
    def identity(self) -> DiskIdentity:
        return DiskIdentity(self.wwn, self.serial, self.model, self.size_bytes)

    def is_of(self, identity: DiskIdentity) -> bool:
        return self.identity == identity


@dataclass(frozen=True, slots=True)
class MarkState:
    """Block 1. A clean state keeps the newest order, so that an older one cannot begin after it."""

    condition: MarkCondition
    order: int = 0
    fence: int = 0
    variant: str = ""
    since_s: int = 0

    @property
    def is_clean(self) -> bool:
        return self.condition is MarkCondition.CLEAN


def mark_start_bytes(disk_bytes: int) -> int:
    """Return where the mark begins; raise MarkError for a disk without space for it."""
    if disk_bytes // MIB < _LEAST_DISK_MIB:
        raise MarkError(f"the disk has {disk_bytes} bytes, less than {_LEAST_DISK_MIB} MiB")
    return (disk_bytes // MIB - 2) * MIB


def arena_bytes(disk_bytes: int) -> tuple[int, int]:
    """Return first byte and size of the arena."""
    return MIB, mark_start_bytes(disk_bytes) - MIB


def table_of(adoption_id: str, disk_bytes: int) -> Table:
    arena = Partition(ARENA_TYPE, "iotide-scratch", *arena_bytes(disk_bytes))
    mark = Partition(MARK_TYPE, "iotide-scratch-mark", mark_start_bytes(disk_bytes), MIB)
    return Table(UUID(adoption_id), (arena, mark))


def packed(block: Adoption | MarkState) -> bytes:
    body = json.dumps(asdict(block), sort_keys=True).encode()
    data = _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body
    if len(data) > BLOCK_BYTES:
        raise MarkError(f"a mark has at most {BLOCK_BYTES} bytes, not {len(data)}")
    return data.ljust(BLOCK_BYTES, b"\0")


def adoption_in(block: bytes) -> Adoption:
    """Raise MarkError without a whole one, also for one that iotide did not write."""
    return adoption_of(_body(block))


def adoption_of(values: Mapping[str, Any]) -> Adoption:
    """Return the adoption of its fields; raise MarkError for any that iotide does not write."""
    found = _of_fields(Adoption, values)
    try:
        is_canonical = str(UUID(found.id)) == found.id
    except ValueError:
        is_canonical = False
    if not is_canonical:
        raise MarkError("its id is not one of an adoption")
    return found


def state_in(block: bytes) -> MarkState:
    """Return the state; a torn one counts as dirty by an unknown order."""
    try:
        return _of_fields(MarkState, _body(block))
    except MarkError:
        return MarkState(MarkCondition.DIRTY)


def _body(block: bytes) -> Mapping[str, Any]:
    if not block.startswith(_MAGIC):
        raise MarkError("no mark")
    digest, _, rest = block[len(_MAGIC) :].partition(b"\n")
    body = rest.rstrip(b"\0")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise MarkError("the mark is torn")
    try:
        loaded = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MarkError("the mark is no JSON") from error
    return loaded if isinstance(loaded, dict) else {}


T = TypeVar("T", Adoption, MarkState)


def _of_fields(kind: type[T], body: Mapping[str, Any]) -> T:
    wanted = {field.name: field.type for field in fields(kind)}
    if set(body) != set(wanted):
        raise MarkError("the mark is of another version")
    return kind(**{name: _value(wanted[name], name, found) for name, found in body.items()})


def _value(kind: object, name: str, found: object) -> Any:  # noqa: ANN401 - a str or an int
    """Return a value of a mark. A digest is no secret: each user who may write the disk can compute one."""
    if kind is int and isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _MOST:
        return found
    if isinstance(found, str) and found.isprintable():
        if kind is str:
            return found
        if kind is MarkCondition and found in set(MarkCondition):
            return MarkCondition(found)
    raise MarkError(f"its {name} is not one that iotide writes")
