"""Permission to use a scratch set, and its changes since an admin enabled it; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.accounts.roles.principal import PrincipalKind
from iotide_server.scratch.errors import (
    REMEDIES,
    SCRATCH_CHANGED,
    SCRATCH_DIRTY,
    SCRATCH_NO_SCHEDULES,
    SCRATCH_NO_TOKENS,
    SCRATCH_NOT_ENABLED,
    SCRATCH_UNUSABLE,
)
from iotide_server.scratch.models import KnownSet
from iotide_wire.scratch_sets import ScratchDisk, ScratchState
from iotide_wire.units import format_bytes

_UNNAMED: Final = "none"


@dataclass(frozen=True, slots=True)
class Use:
    """An intended use of a set.

    Attributes:
        kind: of the caller; for a schedule, of its owner.
        only_cleans: makes nothing, so the set may be dirty.
    """

    kind: PrincipalKind
    is_scheduled: bool = False
    only_cleans: bool = False


def may_use(found: KnownSet, node_name: str, use: Use) -> None:
    """Raise SCRATCH_NOT_ENABLED, _UNUSABLE, _CHANGED, _NO_SCHEDULES, _NO_TOKENS or _DIRTY. Checks no role."""
    present = found.present
    name, state = found.name, present.state
    if found.enabled_sha256 is None:
        raise SCRATCH_NOT_ENABLED(scratch_set=name, node=node_name)
    if (remedy := REMEDIES.get(state)) is not None:
        raise SCRATCH_UNUSABLE(
            scratch_set=name, node=node_name, reason=present.reason or f"it is {state}", remedy=remedy
        )
    if not found.is_enabled:
        raise SCRATCH_CHANGED(scratch_set=name, node=node_name, changes=changes(found.approved_disks, present.disks))
    if use.is_scheduled and not found.allows_schedules:
        raise SCRATCH_NO_SCHEDULES(scratch_set=name, node=node_name)
    if use.kind is PrincipalKind.TOKEN and not use.is_scheduled and not found.allows_tokens:
        raise SCRATCH_NO_TOKENS(scratch_set=name, node=node_name)
    if state is ScratchState.DIRTY and not use.only_cleans:
        raise SCRATCH_DIRTY(scratch_set=name, node=node_name, reason=present.reason or "its last cleaning failed")


def changes(approved: Sequence[ScratchDisk], present: Sequence[ScratchDisk]) -> list[str]:
    """Return a clause for each disk that was added, removed or replaced since the set was enabled."""
    before, after = ({disk.id: disk for disk in disks} for disks in (approved, present))
    if before and not after:
        return ["the node no longer lists it"]
    return [
        *(f"disk {_words(disk)} was removed" for known, disk in before.items() if known not in after),
        *(f"disk {_words(disk)} was added" for known, disk in after.items() if known not in before),
        *(clause for known, disk in after.items() if known in before for clause in _differences(before[known], disk)),
    ]


def _words(disk: ScratchDisk) -> str:
    where = f"bay {disk.bay}, " if disk.bay else ""
    return f"{disk.serial or disk.wwn} ({where}{disk.model or 'unknown model'}, {format_bytes(disk.size_bytes)})"


def _differences(before: ScratchDisk, after: ScratchDisk) -> list[str]:
    sizes = (f"{before.size_bytes} bytes", f"{after.size_bytes} bytes")
    compared = {
        "serial number": (before.serial or _UNNAMED, after.serial or _UNNAMED),
        "WWN": (before.wwn or _UNNAMED, after.wwn or _UNNAMED),
        "model": (before.model or _UNNAMED, after.model or _UNNAMED),
        "size": sizes,
    }
    named = before.serial or before.wwn
    return [
        f"the {what} of disk {named} is {now} instead of {was}" for what, (was, now) in compared.items() if was != now
    ]
