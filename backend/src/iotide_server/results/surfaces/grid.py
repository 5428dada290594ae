"""Layout of values over file size and record size."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from sqlalchemy import Row

from iotide_server.kit.digests import canonical_sha256
from iotide_server.results.figures.flagged import PAIR, unlike, unlike_words
from iotide_server.results.figures.judging import judgement
from iotide_server.results.ingest.keys import Label
from iotide_server.results.surfaces.schemas import Sizes, SurfaceCell, SurfaceDifference
from iotide_server.results.values import RunValue
from iotide_server.statistics.comparison import Comparison, Sides, Verdict, compare_board
from iotide_server.statistics.summary import summarize
from iotide_wire.measured import Flag, FlagCode

FILE_SIZE: Final = "file_size_bytes"
RECORD_SIZE: Final = "record_size_bytes"
_RECORD_OPTIONS: Final = ("block_size_bytes", "transfer_size_bytes")
SIZE_OPTIONS: Final = frozenset({FILE_SIZE, *_RECORD_OPTIONS})  # options in which cells of one surface may differ
_IMPLIED_LABELS: Final = frozenset({FILE_SIZE, RECORD_SIZE, "operation", "direct", "nodes"})

Place = tuple[int, int]
Grid = Mapping[Place, Mapping[int, Sequence[RunValue]]]
PartKey = tuple[str, str, tuple[str, ...], tuple[str, ...], str]


def part_key(cell: Row[Any]) -> PartKey:
    rest = {name: value for name, value in cell.options.items() if name not in SIZE_OPTIONS}
    nodes, targets = tuple(cell.node_names), tuple(sorted((cell.targets or {}).values()))
    return cell.workload, cell.variant, nodes, targets, canonical_sha256(rest)


def place_of(labels: Mapping[str, Label], options: Mapping[str, Any]) -> Place | None:
    """Return a value's position; None if a size is unknown."""
    file_size = size_of(labels.get(FILE_SIZE), options.get(FILE_SIZE))
    record_size = size_of(labels.get(RECORD_SIZE), *(options.get(name) for name in _RECORD_OPTIONS))
    return None if file_size is None or record_size is None else (file_size, record_size)


def size_of(*candidates: object) -> int | None:
    sizes = (one for one in candidates if isinstance(one, int) and not isinstance(one, bool) and one > 0)
    return next(sizes, None)


def operation_of(labels: Mapping[str, Label], target_name: str | None) -> str:
    """Return the operation, with other distinguishing labels."""
    rest = [f"{name} {value}" for name, value in sorted(labels.items()) if name not in _IMPLIED_LABELS]
    named = [str(labels.get("operation", "")), *rest, *([f"on {target_name}"] if target_name else [])]
    return ", ".join(filter(None, named)) or "all"


def grids(values: Iterable[tuple[str, Place, RunValue]]) -> dict[str, Grid]:
    """Return grids with at least two sizes on each axis, by operation."""
    found: dict[str, dict[Place, dict[int, list[RunValue]]]] = {}
    for operation, place, value in values:
        found.setdefault(operation, defaultdict(dict))[place].setdefault(value.run_id, []).append(value)
    return {operation: grid for operation, grid in found.items() if _goes_through_both(grid)}


def _goes_through_both(places: Iterable[Place]) -> bool:
    places = list(places)
    return len({file for file, _ in places}) > 1 and len({record for _, record in places}) > 1


def runs_of(grid: Grid, place: Place) -> dict[int, float]:
    """Use the median of a run's values."""
    return {run_id: median(one.value for one in own) for run_id, own in grid.get(place, {}).items()}


def cell_of(grid: Grid, place: Place) -> SurfaceCell | None:
    runs = runs_of(grid, place)
    if not runs:
        return None
    summary = summarize(list(runs.values()))
    return SurfaceCell.of_row(summary, n=summary.run_count, run_ids=sorted(runs), flags=_flags(grid, place))


def _flags(grid: Grid, place: Place) -> list[str]:
    return sorted(frozenset[str]().union(*(value.flags for own in grid[place].values() for value in own)))


def differences(
    a: Grid,
    b: Grid,
    sizes: tuple[Sequence[int], Sequence[int]],
    bases: Callable[[Sequence[Place]], Sequence[Sides]],
) -> list[list[SurfaceDifference | None]]:
    """Return B relative to A by file and record size; all cells are judged together, by the sides of `bases`."""
    rows = [[(file, record) for record in sizes[1]] for file in sizes[0]]
    both = [place for row in rows for place in row if runs_of(a, place) and runs_of(b, place)]
    apart = {place: unlike(_flags(a, place), _flags(b, place), _fewest(a, b, place)) for place in both}
    alike = [place for place in both if apart[place] is None]
    compared = apart | dict(zip(alike, compare_board(bases(alike)), strict=True))
    found = {place: _difference(a, b, place, one) for place, one in compared.items() if one is not None}
    return [[found.get(place) for place in row] for row in rows]


def _fewest(a: Grid, b: Grid, place: Place) -> int:
    return min(len(runs_of(grid, place)) for grid in (a, b))


def _difference(a: Grid, b: Grid, place: Place, found: Comparison) -> SurfaceDifference:
    middle_a, middle_b = (median(runs_of(grid, place).values()) for grid in (a, b))
    if found.verdict is Verdict.UNLIKE:
        words = unlike_words(_flags(a, place), _flags(b, place), PAIR)
        return SurfaceDifference(difference=middle_b - middle_a, **judgement(found) | {"words": words})
    # Also for single runs, which most surfaces have.
    ratio = {"median_ratio": middle_b / middle_a if middle_a > 0 else None}
    return SurfaceDifference(difference=middle_b - middle_a, **judgement(found) | ratio)


def only_in(one: Grid, other: Grid) -> list[Sizes]:
    return [Sizes(file_size_bytes=file, record_size_bytes=record) for file, record in sorted(set(one) - set(other))]


@dataclass(frozen=True, slots=True)
class UntimedGap:
    """Positions of one operation without a value, because of a flag."""

    # None: all
    operation: str | None
    file_size: int | None
    record_size: int | None
    flag: str


def gaps_of(rejected: Iterable[tuple[str, Place, RunValue]], flags: Iterable[Sequence[Flag]]) -> list[UntimedGap]:
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
    """Return sizes that only flags name, to keep them visible."""
    own = [gap for gap in gaps if _is_of(gap, operation)]
    files = {gap.file_size for gap in own if gap.file_size is not None}
    return files, {gap.record_size for gap in own if gap.record_size is not None}


def gap_at(gaps: Iterable[UntimedGap], operation: str, place: Place) -> str | None:
    file_size, record_size = place
    found = (
        gap.flag
        for gap in gaps
        if _is_of(gap, operation) and gap.file_size in {None, file_size} and gap.record_size in {None, record_size}
    )
    return next(found, None)


def _is_of(gap: UntimedGap, operation: str) -> bool:
    return gap.operation is None or operation == gap.operation or operation.startswith(f"{gap.operation}, ")
