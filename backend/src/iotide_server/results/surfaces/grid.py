"""Numbers laid out over file size and record size: surfaces, cells, gaps, and B in terms of A; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from sqlalchemy import Row

from iotide_server.kit.digests import canonical_sha256
from iotide_server.results.figures.judging import judged_together, judgement
from iotide_server.results.ingest.keys import Label
from iotide_server.results.surfaces.schemas import Sizes, SurfaceCell, SurfaceDifference
from iotide_server.results.values import RunValue
from iotide_server.statistics.comparison import compare
from iotide_server.statistics.summary import summarize
from iotide_wire.measured import Flag, FlagCode

FILE_SIZE: Final = "file_size_bytes"
RECORD_SIZE: Final = "record_size_bytes"
_RECORD_OPTIONS: Final = ("block_size_bytes", "transfer_size_bytes")
SIZE_OPTIONS: Final = frozenset({FILE_SIZE, *_RECORD_OPTIONS})  # what the cells of one surface may differ in
_UNTOLD_LABELS: Final = frozenset({FILE_SIZE, RECORD_SIZE, "operation", "direct", "nodes"})

Place = tuple[int, int]  # file size and record size
Grid = Mapping[Place, Mapping[int, Sequence[RunValue]]]  # by place and run
PartKey = tuple[str, str, tuple[str, ...], tuple[str, ...], str]


def part_key(cell: Row[Any]) -> PartKey:
    """What cells of one surface have in common, by a row of `surface_queries.cells`."""
    rest = {name: value for name, value in cell.options.items() if name not in SIZE_OPTIONS}
    nodes, targets = tuple(cell.node_names), tuple(sorted((cell.targets or {}).values()))
    return cell.workload, cell.variant, nodes, targets, canonical_sha256(rest)


def place_of(labels: Mapping[str, Label], options: Mapping[str, Any]) -> Place | None:
    """Where a number stands; None where a size is not told."""
    file_size = size_of(labels.get(FILE_SIZE), options.get(FILE_SIZE))
    record_size = size_of(labels.get(RECORD_SIZE), *(options.get(name) for name in _RECORD_OPTIONS))
    return None if file_size is None or record_size is None else (file_size, record_size)


def size_of(*told: object) -> int | None:
    """The first of these that is a size."""
    sizes = (one for one in told if isinstance(one, int) and not isinstance(one, bool) and one > 0)
    return next(sizes, None)


def operation_of(labels: Mapping[str, Label], target_name: str | None) -> str:
    """What a surface is called among those of its workload: the operation, and what else tells it."""
    rest = [f"{name} {value}" for name, value in sorted(labels.items()) if name not in _UNTOLD_LABELS]
    named = [str(labels.get("operation", "")), *rest, *([f"on {target_name}"] if target_name else [])]
    return ", ".join(filter(None, named)) or "all"


def grids(values: Iterable[tuple[str, Place, RunValue]]) -> dict[str, Grid]:
    """By operation, those that go through two file sizes and two record sizes, in the order in which they came."""
    found: dict[str, dict[Place, dict[int, list[RunValue]]]] = {}
    for operation, place, value in values:
        found.setdefault(operation, defaultdict(dict))[place].setdefault(value.run_id, []).append(value)
    return {operation: grid for operation, grid in found.items() if _goes_through_both(grid)}


def _goes_through_both(places: Iterable[Place]) -> bool:
    places = list(places)
    return len({file for file, _ in places}) > 1 and len({record for _, record in places}) > 1


def runs_of(grid: Grid, place: Place) -> dict[int, float]:
    """One number of each run: several stand for their median."""
    return {run_id: median(one.value for one in own) for run_id, own in grid.get(place, {}).items()}


def cell_of(grid: Grid, place: Place) -> SurfaceCell | None:
    """What the runs say there; None where nothing was measured."""
    runs = runs_of(grid, place)
    if not runs:
        return None
    summary = summarize(list(runs.values()))
    flags = frozenset[str]().union(*(value.flags for own in grid[place].values() for value in own))
    return SurfaceCell.of_row(summary, n=summary.run_count, run_ids=sorted(runs), flags=sorted(flags))


def differences(
    a: Grid, b: Grid, file_sizes: Sequence[int], record_sizes: Sequence[int]
) -> list[list[SurfaceDifference | None]]:
    """B in terms of A, cell by cell, each judged among all of them: of many some differ by chance."""
    rows = [[_difference(a, b, (file, record)) for record in record_sizes] for file in file_sizes]
    found = iter(judged_together([cell for row in rows for cell in row if cell is not None]))
    return [[None if cell is None else next(found) for cell in row] for row in rows]


def _difference(a: Grid, b: Grid, place: Place) -> SurfaceDifference | None:
    of_a, of_b = (list(runs_of(grid, place).values()) for grid in (a, b))
    if not of_a or not of_b:
        return None
    middle_a, middle_b = median(of_a), median(of_b)
    # Also of single runs, of which most surfaces are.
    ratio = {"median_ratio": middle_b / middle_a if middle_a > 0 else None}
    return SurfaceDifference(difference=middle_b - middle_a, **judgement(compare(of_a, of_b)) | ratio)


def only_in(one: Grid, other: Grid) -> list[Sizes]:
    """The places that one has and the other has not."""
    return [Sizes(file_size_bytes=file, record_size_bytes=record) for file, record in sorted(set(one) - set(other))]


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
