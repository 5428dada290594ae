"""What a sceptic must know of iozone's figures: which were too short for its clock, cached, warm or not flushed."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Place
from iotide_agent.workloads.iozone_report import KIBIBYTE, STDIO, WRITES, Block, Row
from iotide_wire.messages import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_bytes, format_rate

UNEQUAL_FACTOR: Final = 1.25
"""Processes whose own rates add up to so many times what they reached together were not side by side all the time."""
MAX_REJECTIONS: Final = 24
"""Flags of cells that were too short; beyond it neighbours are rejected with them, since a result holds few flags."""

_Labels = dict[str, str | int | float | bool]


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
"""Ways to name a short cell, each with fewer labels than the one before."""


def judge_cells(place: Place, rows: Sequence[Row], clock_seconds: float, flush: str) -> list[Flag]:
    """The flags of a table."""
    timed = [
        _Cell(operation, row.file_kib * KIBIBYTE, row.record_kib * KIBIBYTE, row.file_kib / rate)
        for row in rows
        for operation, rate in row.rates.items()
        if rate
    ]
    zeroes = sum(rate == 0 for row in rows for rate in row.rates.values())
    operations = list(dict.fromkeys(cell.operation for cell in timed))
    file_sizes = list(dict.fromkeys(cell.file_bytes for cell in timed))
    return [
        *_common(place, operations, file_sizes, 1, flush),
        *_durations(place, timed, clock_seconds),
        *([_not_measured(place, zeroes)] if zeroes else []),
    ]


def judge_blocks(place: Place, blocks: Sequence[Block], clock_seconds: float, flush: str) -> list[Flag]:
    """The flags of throughput mode."""
    processes = len(blocks[0].children)
    file_bytes = max(int(child.moved_kib) for block in blocks for child in block.children) * KIBIBYTE
    flags = list(_common(place, [block.operation for block in blocks], [file_bytes], processes, flush))
    for block in blocks:
        found = quality.judge_duration(block.operation, block.moved_kib / block.parent_rate, clock_seconds)
        found += _inequality(block)
        flags += (quality.about(flag, {"operation": block.operation}, place) for flag in found)
    return flags


def _common(
    place: Place, operations: Sequence[str], file_sizes: Sequence[int], processes: int, flush: str
) -> Iterator[Flag]:
    """What holds for all figures of an operation or of a file size."""
    direct = flush == "direct" and place.direct_works
    buffered = [operation for operation in operations if not direct or operation in STDIO]
    yield from (quality.about(flag, {}, place) for flag in quality.judge_direct(place, wanted=flush == "direct"))
    yield quality.about(_compressible(), {}, place)
    for file_bytes in file_sizes if buffered else ():
        labels: _Labels = {"file_size_bytes": file_bytes, "direct": False}
        for flag in quality.judge_cache_size(place, file_bytes * processes, direct=False):
            yield quality.about(flag, labels, place)
    for operation in buffered:
        found = quality.judge_flush(operation, flushed=flush != "none") if operation in WRITES else [_warm(operation)]
        yield from (quality.about(flag, {"operation": operation}, place) for flag in found)


def _durations(place: Place, timed: Sequence[_Cell], clock_seconds: float) -> Iterator[Flag]:
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


def _named(short: Sequence[_Cell], timed: Sequence[_Cell]) -> list[_Labels]:
    """Labels that together name every short cell, and no other cell unless that takes too many."""
    counts = [(Counter(map(key, short)), Counter(map(key, timed))) for key in _COARSENESS]
    # Groups of cells that are all short are named by as few labels as that takes.
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


def _bears(cell: _Cell) -> _Labels:
    return dict(_COARSENESS[0](cell))


def _inequality(block: Block) -> list[Flag]:
    if block.children_rate <= UNEQUAL_FACTOR * block.parent_rate:
        return []
    least, most = (choose(child.moved_kib for child in block.children) * KIBIBYTE for choose in (min, max))
    own, together = format_rate(block.children_rate * KIBIBYTE), format_rate(block.parent_rate * KIBIBYTE)
    return [
        Flag(
            code=FlagCode.STRAGGLER,
            effect=FlagEffect.MARKED,
            measured=(
                f"{block.operation}: the processes' own rates add up to {own}, together they reached {together}; "
                f"the least of them moved {format_bytes(least)}, the most {format_bytes(most)}"
            ),
            limit=f"{UNEQUAL_FACTOR} x what they reached together",
        )
    ]


def _compressible() -> Flag:
    return Flag(
        code=FlagCode.ZEROES,
        effect=FlagEffect.MARKED,
        measured="iozone fills all its records from one pattern",
        limit="random data where anything compresses or dedupes",
    )


def _warm(operation: str) -> Flag:
    return Flag(
        code=FlagCode.CACHE_DROP,
        effect=FlagEffect.MARKED,
        measured=f"{operation} began warm: iozone reads what it has just written",
        limit="caches dropped or remounted",
    )


def _not_measured(place: Place, count: int) -> Flag:
    flag = Flag(
        code=FlagCode.TOO_FAST,
        effect=FlagEffect.MARKED,
        measured=f"iozone shows 0 in {count} cells, which are left out",
        limit="more than 1 KiB/s",
    )
    return quality.about(flag, {}, place)
