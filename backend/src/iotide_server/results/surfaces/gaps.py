"""Why a surface has no number at a place: a flag rejected it, or the tool could not time it; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iotide_server.results.surfaces.grid import FILE_SIZE, RECORD_SIZE, Place, size_of
from iotide_server.results.values import RunValue
from iotide_wire.measured import Flag, FlagCode


@dataclass(frozen=True, slots=True)
class UntimedGap:
    """Places of one operation for which a flag says that there is no number."""

    # operation, file_size, record_size: what it is about; None for every one
    operation: str | None
    file_size: int | None
    record_size: int | None
    flag: str  # code of the flag


def gaps_of(rejected: Iterable[tuple[str, Place, RunValue]], flags: Iterable[Sequence[Flag]]) -> list[UntimedGap]:
    """What flags say of places: by numbers that they reject, and by labels that no number bears."""
    of_values = {UntimedGap(operation, *place, value.rejected_by or "") for operation, place, value in rejected}
    of_flags = {
        _gap(flag) for own in flags for flag in own if flag.code is FlagCode.TOO_FAST and FILE_SIZE in flag.labels
    }
    return sorted(of_values | of_flags, key=lambda gap: (gap.operation or "", gap.file_size or 0, gap.record_size or 0))


def _gap(flag: Flag) -> UntimedGap:
    operation = flag.labels.get("operation")
    file_size, record_size = (size_of(flag.labels.get(name)) for name in (FILE_SIZE, RECORD_SIZE))
    return UntimedGap(None if operation is None else str(operation), file_size, record_size, flag.code)


def sizes_of(gaps: Iterable[UntimedGap], operation: str) -> tuple[set[int], set[int]]:
    """File sizes and record sizes that the flags name for an operation, so that none vanishes without a word."""
    own = [gap for gap in gaps if _is_of(gap, operation)]
    files = {gap.file_size for gap in own if gap.file_size is not None}
    return files, {gap.record_size for gap in own if gap.record_size is not None}


def gap_at(gaps: Iterable[UntimedGap], operation: str, place: Place) -> str | None:
    """The flag that says why there is no number at a place; None where nobody says."""
    file_size, record_size = place
    found = (
        gap.flag
        for gap in gaps
        if _is_of(gap, operation) and gap.file_size in {None, file_size} and gap.record_size in {None, record_size}
    )
    return next(found, None)


def _is_of(gap: UntimedGap, operation: str) -> bool:
    return gap.operation is None or operation == gap.operation or operation.startswith(f"{gap.operation}, ")
