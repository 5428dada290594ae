"""Whether what was moved could have stayed in the memory of the node: then its cache was measured."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import Point, Scene, listed
from iotide_server.advice.sweeps import FILE_SIZE
from iotide_wire.expressions import MEMORY, MEMORY_FACTOR
from iotide_wire.units import Unit, format_bytes

CODE: Final = "fits_in_memory"
GIBIBYTE: Final = 1024**3
_MOST_SIZES: Final = 8


def cached_sizes(scene: Scene) -> Iterator[Finding]:
    """Of each workload and place the sizes that are smaller than twice the memory and were moved through the cache."""
    alike: defaultdict[tuple[int, str, tuple[str, ...], tuple[str, ...]], list[Point]] = defaultdict(list)
    for point in scene.rates:
        if not point.is_direct and moved_bytes(point):
            cell = point.cell
            alike[cell.campaign_id, cell.workload, cell.targets, cell.nodes].append(point)
    for points in alike.values():
        yield _judge(points)


def moved_bytes(point: Point) -> int | None:
    """By one node in one phase, on all targets that it loads at once; None where no size is told."""
    size = FILE_SIZE.at(point)
    return size and size * point.cell.writers * len(point.cell.targets)


def size_beyond_memory(memory_bytes: int, point: Point) -> int:
    """The file size, in whole GiB, with which the same writers move twice the memory."""
    shares = point.cell.writers * len(point.cell.targets) * GIBIBYTE
    return -(-MEMORY_FACTOR * memory_bytes // shares) * GIBIBYTE


def _judge(points: Sequence[Point]) -> Finding:
    first = points[0]
    subject = f"{first.cell.workload} on {listed(first.cell.targets)} from {listed(first.cell.nodes)}"
    unknown = next((point for point in points if point.cell.memory_bytes is None), None)
    if unknown is not None:
        because = f"the fact {MEMORY} is missing in run {_newest(unknown)}, so nobody knows what fits into its cache"
        return Unknown(CODE, subject, because)
    small = {
        moved: point
        for point in points
        if (moved := moved_bytes(point) or 0) < MEMORY_FACTOR * (point.cell.memory_bytes or 0)
    }
    if not small:
        return Fine(subject, "each size is twice the memory or more")
    largest = small[max(small)]
    memory = largest.cell.memory_bytes or 0
    needed = size_beyond_memory(memory, largest)
    return Advice(
        code=CODE,
        severity=Severity.MEDIUM,
        subject=subject,
        title=f"Files of up to {format_bytes(max(small))} were measured on nodes with {format_bytes(memory)} of memory",
        explanation=(
            f"Less than twice the memory of the node may stay in its page cache. Reads then come from memory, and"
            f" writes show it unless they are flushed inside the time. {len(small)} of"
            f" {len({moved_bytes(point) for point in points})} sizes are smaller than {format_bytes(2 * memory)}."
        ),
        evidence=(
            Evidence(MEMORY, memory, Unit.BYTES, largest.cell.run_ids[-1:]),
            *(
                Evidence("moved by a node in one phase", moved, Unit.BYTES, small[moved].cell.run_ids)
                for moved in sorted(small)[-_MOST_SIZES:]
            ),
        ),
        remedy=(
            "Measure with files of at least twice the memory, or go past the cache with O_DIRECT. Where memory is to"
            " be part of the answer, say so beside the number."
        ),
        commands=(f"file_size_bytes: {needed // GIBIBYTE} GiB", "flush: direct"),
        source="Mistakes of the published reports (files no larger than memory); IO500 and IOzone ask for the same",
    )


def _newest(point: Point) -> str:
    return str(point.cell.run_ids[-1]) if point.cell.run_ids else "?"
