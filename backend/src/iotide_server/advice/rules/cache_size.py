"""Rule: data that may have stayed in the node's memory, so that its cache was measured."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.remedies import PastCache, past_cache, room_words
from iotide_server.advice.scene import Scene, ScenePoint, listed
from iotide_server.advice.sweeps import FILE_SIZE
from iotide_wire.expressions import MEMORY, MEMORY_FACTOR
from iotide_wire.units import Unit, format_bytes

CODE: Final = "fits_in_memory"
_MOST_SIZES: Final = 8
_Place = tuple[str, tuple[str, ...], tuple[str, ...]]


def cached_sizes(scene: Scene) -> Iterator[Finding]:
    """Yield workloads and places with buffered sizes below twice the memory.

    Places with equal memory and remedies share one advice. Memory file systems have no cache to avoid.
    """
    alike: defaultdict[_Place, list[ScenePoint]] = defaultdict(list)
    for point in scene.rates:
        if not point.is_direct and moved_bytes(point) and not point.cell.in_memory:
            alike[point.cell.workload, point.cell.targets, point.cell.nodes].append(point)
    together: defaultdict[tuple[str, int, PastCache], dict[_Place, list[ScenePoint]]] = defaultdict(dict)
    for place, points in alike.items():
        judged = _judge(_subject(place), points)
        if judged is not None:
            yield judged
            continue
        largest = max(_small(points), key=lambda point: moved_bytes(point) or 0)
        memory = largest.cell.memory_bytes or 0
        together[place[0], memory, past_cache(largest, memory)][place] = points
    for (_, memory, ways), places in together.items():
        advice = _advice([point for points in places.values() for point in points], memory, ways)
        yield from (replace(advice, subject=_subject(place)) for place in places)


def moved_bytes(point: ScenePoint) -> int | None:
    """Return the bytes that a node moves in one phase on all targets; None if unknown."""
    size = FILE_SIZE.at(point)
    return size and size * point.cell.writers * len(point.cell.targets)


def _subject(place: _Place) -> str:
    workload, targets, nodes = place
    return f"{workload} on {listed(targets)} from {listed(nodes)}"


def _small(points: Sequence[ScenePoint]) -> list[ScenePoint]:
    return [point for point in points if (moved_bytes(point) or 0) < MEMORY_FACTOR * (point.cell.memory_bytes or 0)]


def _judge(subject: str, points: Sequence[ScenePoint]) -> Finding | None:
    """Return what is unknown or fine; None if some sizes are too small."""
    unknown = next((point for point in points if point.cell.memory_bytes is None), None)
    if unknown is not None:
        newest = next(reversed(unknown.cell.run_ids), "?")
        because = f"the fact {MEMORY} is missing in run {newest}, so it is unknown what fits into the cache"
        return Unknown(CODE, subject, because)
    return None if _small(points) else Fine(subject, "all sizes are at least twice the memory")


def _advice(points: Sequence[ScenePoint], memory: int, ways: PastCache) -> Advice:
    small: dict[int, list[ScenePoint]] = defaultdict(list)
    for point in _small(points):
        small[moved_bytes(point) or 0].append(point)
    campaigns = sorted({point.cell.campaign_id for at in small.values() for point in at})
    among = f" This affects campaigns {listed(map(str, campaigns))}." if len(campaigns) > 1 else ""
    sizes = {moved_bytes(point) for point in points}
    newest = max((point.cell.run_ids[-1] for at in small.values() for point in at if point.cell.run_ids), default=None)
    has_size = any(command.startswith("file_size") for command in ways.commands)
    no_room = "" if has_size else room_words(points[0].cell)
    return Advice(
        code=CODE,
        severity=Severity.MEDIUM,
        subject="",
        title=f"Files of up to {format_bytes(max(small))} were measured on nodes with {format_bytes(memory)} of memory",
        explanation=(
            f"Data of less than twice the node's memory may stay in its page cache. Reads then come from memory, and"
            f" writes measure memory unless they are flushed within the measured time. {len(small)} of"
            f" {len(sizes)} sizes are smaller than {format_bytes(2 * memory)}.{among}"
        ),
        evidence=(
            Evidence(MEMORY, memory, Unit.BYTES, () if newest is None else (newest,)),
            *(
                Evidence("moved by a node in one phase", moved, Unit.BYTES, _runs(small[moved]))
                for moved in sorted(small)[-_MOST_SIZES:]
            ),
        ),
        remedy=f"{ways.words}{no_room} If memory is meant to be part of the result, state it.",
        commands=ways.commands,
        source="Mistake in published reports (files no larger than memory); IO500 and IOzone have the same rule",
    )


def _runs(points: Sequence[ScenePoint]) -> tuple[int, ...]:
    return tuple(sorted({run_id for point in points for run_id in point.cell.run_ids}))
