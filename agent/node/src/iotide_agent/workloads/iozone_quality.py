"""Quality flags of iozone's figures: too short for its clock, cached, warm or not flushed."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Before, Labels, Place
from iotide_agent.workloads.iozone_report import MIXED, STDIO, WRITES, Block, ClusterBlock, Row
from iotide_agent.workloads.writers import STRAGGLER_LIMIT, straggler
from iotide_wire.measured import Answer, Flag, FlagCode
from iotide_wire.units import KIB, format_seconds

MAX_REJECTIONS: Final = 24
"""Maximum number of flags for short cells, because a result holds few flags. Beyond it, neighbours are rejected too."""


class _Cell(NamedTuple):
    operation: str
    file_bytes: int
    record_bytes: int
    seconds: float


_Names = tuple[tuple[str, str | int], ...]
_COARSENESS: Final[tuple[Callable[[_Cell], _Names], ...]] = (
    lambda cell: (
        ("operation", cell.operation),
        ("file_size_bytes", cell.file_bytes),
        ("record_size_bytes", cell.record_bytes),
    ),
    lambda cell: (("operation", cell.operation), ("file_size_bytes", cell.file_bytes)),
    lambda cell: (("file_size_bytes", cell.file_bytes),),
)
"""Label sets that name short cells, from the most to the fewest labels."""


def judge_cells(
    place: Place, rows: Sequence[Row], clock_seconds: float, flush: str, before_done: Before
) -> list[Answer]:
    timed = [
        _Cell(operation, row.file_kib * KIB, row.record_kib * KIB, row.file_kib / rate)
        for row in rows
        for operation, rate in row.rates.items()
        if rate
    ]
    zeroes = [
        _Cell(operation, row.file_kib * KIB, row.record_kib * KIB, 0)
        for row in rows
        for operation, rate in row.rates.items()
        if rate == 0
    ]
    operations = list(dict.fromkeys(cell.operation for cell in timed))
    file_sizes = [cell.file_bytes for cell in timed]
    return [
        *_common(place, operations, dict.fromkeys(file_sizes, 1), flush, before_done),
        *_durations(place, timed, clock_seconds),
        *_not_measured(place, zeroes, [*timed, *zeroes]),
    ]


def judge_blocks(
    place: Place, blocks: Sequence[Block], clock_seconds: float, flush: str, before_done: Before
) -> list[Answer]:
    processes = len(blocks[0].children)
    file_bytes = max(int(child.moved_kib) for block in blocks for child in block.children) * KIB
    operations = [block.operation for block in blocks]
    flags = list(_common(place, operations, {file_bytes: processes}, flush, before_done))
    for block in blocks:
        found = quality.judge_duration(block.operation, block.moved_kib / block.parent_rate, clock_seconds)
        found += _straggler(block, file_bytes // KIB)
        flags += (quality.about(flag, {"operation": block.operation}, place) for flag in found)
    return flags


def judge_cluster(
    place: Place, blocks: Sequence[ClusterBlock], clock_seconds: float, flush: str, before_done: Before
) -> list[Answer]:
    """Return the same without stragglers, which the race of the processes names; each node caches its own files."""
    file_bytes = int(blocks[0].children[0].moved_kib) * KIB
    operations = [block.operation for block in blocks]
    node_processes = place.layout.tasks_per_node if place.layout else 1
    flags = list(_common(place, operations, {file_bytes: node_processes}, flush, before_done))
    for block in blocks:
        slowest_seconds = max(child.moved_kib / child.rate for child in block.children)
        found = quality.judge_duration(block.operation, slowest_seconds, clock_seconds)
        flags += (quality.about(flag, {"operation": block.operation}, place) for flag in found)
    return flags


def _common(
    place: Place, operations: Sequence[str], files: Mapping[int, int], flush: str, before_done: Before
) -> Iterator[Answer]:
    direct = flush == "direct" and place.direct_works
    is_held = direct and bool(quality.kept_despite_direct(place))
    buffered = [operation for operation in operations if not direct or is_held or operation in STDIO]
    yield from (quality.about(flag, {}, place) for flag in quality.judge_direct(place, wanted=flush == "direct"))
    for flag in quality.judge_reducible(
        "iozone fills all its records from one pattern, which compresses to less than 1 %"
    ):
        yield quality.about(flag, {}, place)
    cached = {size: quality.judge_cache_size(place, size * count, direct=is_held) for size, count in files.items()}
    labelled: Labels = {} if is_held else {"direct": False}
    for file_bytes, found in cached.items() if buffered else ():
        yield from (quality.about(flag, {"file_size_bytes": file_bytes} | labelled, place) for flag in found)
    warm = _warm_sizes(cached, before_done)
    for operation in buffered:
        if operation in WRITES:
            for flag in quality.judge_flush(operation, flushed=flush != "none"):
                yield quality.about(flag, {"operation": operation}, place)
        if operation not in WRITES or operation == MIXED:
            flags = quality.judge_warm(operation, "iozone")
            yield from (quality.about(flag, {"operation": operation} | size, place) for flag in flags for size in warm)


def _warm_sizes(cached: Mapping[int, Sequence[Answer]], before_done: Before) -> list[Labels]:
    if before_done is not Before.LARGER_THAN_MEMORY:
        return [{}]
    return [{"file_size_bytes": file_bytes} for file_bytes, found in cached.items() if found]


def _durations(place: Place, timed: Sequence[_Cell], clock_seconds: float) -> Iterator[Answer]:
    limit_seconds = quality.CLOCK_TICKS * clock_seconds
    short = [cell for cell in timed if cell.seconds < limit_seconds]
    for labels in _named(short, timed):
        shortest = min(cell.seconds for cell in short if labels.items() <= _bears(cell).items())
        measured = ", ".join(map(str, labels.values()))
        for flag in quality.judge_duration(measured, shortest, clock_seconds):
            yield quality.about(flag, labels, place)
    rest = [cell.seconds for cell in timed if cell.seconds >= limit_seconds]
    for flag in quality.judge_duration("the shortest of the other cells", min(rest), clock_seconds) if rest else ():
        yield quality.about(flag, {}, place)


def _named(short: Sequence[_Cell], timed: Sequence[_Cell]) -> list[Labels]:
    """Return labels that name all short cells, and other cells only if that saves too many labels."""
    counts = [(Counter(map(key, short)), Counter(map(key, timed))) for key in _COARSENESS]
    whole = [{key for key, count in of_short.items() if count == of_all[key]} for of_short, of_all in counts]
    found: list[_Names] = []
    for finest, name in enumerate(_COARSENESS):
        wider = [(key, whole[number]) for number, key in enumerate(_COARSENESS) if number > finest][::-1]
        found = list(
            dict.fromkeys(
                next((key(cell) for key, all_short in wider if key(cell) in all_short), name(cell)) for cell in short
            )
        )
        if len(found) <= MAX_REJECTIONS:
            break
    return [dict(names) for names in found]


def _bears(cell: _Cell) -> Labels:
    return dict(_COARSENESS[0](cell))


def _straggler(block: Block, file_kib: float) -> list[Answer]:
    found = straggler([file_kib / child.rate for child in block.children if child.rate])
    if found is None or block.operation == MIXED:
        return []
    measured = (
        f"{block.operation}: the slowest process takes {format_seconds(found.seconds)} for its file, {found.others}"
    )
    return [quality.marked(FlagCode.STRAGGLER, measured, STRAGGLER_LIMIT)]


def _not_measured(place: Place, zeroes: Sequence[_Cell], cells: Sequence[_Cell]) -> Iterator[Flag]:
    for labels in _named(zeroes, cells):
        count = sum(labels.items() <= _bears(cell).items() for cell in zeroes)
        measured = f"iozone prints 0 for {count} cells, which are left out"
        yield quality.about(quality.rejected(FlagCode.TOO_FAST, measured, "more than 1 KiB/s"), labels, place)
