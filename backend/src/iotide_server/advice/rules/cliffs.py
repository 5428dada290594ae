"""Rule: sizes at which throughput drops and stays low, with the amount and the memory that fits."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.remedies import past_cache
from iotide_server.advice.rules.cache_size import moved_bytes
from iotide_server.advice.scene import Scene, listed
from iotide_server.advice.sweeps import FILE_SIZE, RECORD_SIZE, Axis, SweepPoint, sweeps
from iotide_server.results.surfaces.caches import caches_of, limits_of
from iotide_server.statistics.cliffs import FEWEST_SIZES, find_cliff, suits
from iotide_server.statistics.summary import Ratio
from iotide_wire.expressions import MEMORY
from iotide_wire.units import Unit, format_bytes, format_percent, format_rate

CODE: Final = "cliff"
_MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True)
class SweepCliff:
    top: SweepPoint
    last: SweepPoint
    first: SweepPoint
    bottom: SweepPoint  # `fall`: ratio of the bottom to the top
    fall: Ratio

    @property
    def is_shown(self) -> bool:
        return self.fall.high is not None


def cliffs(scene: Scene) -> Iterator[Finding]:
    """Yield drops along file and record sizes; those of one place and size share one advice."""
    for axis in (FILE_SIZE, RECORD_SIZE):
        alike: defaultdict[object, list[SweepCliff]] = defaultdict(list)
        for sweep in sweeps(scene.rates, axis, FEWEST_SIZES):
            cliff = cliff_of(sweep)
            if cliff is None:
                yield Fine(sweep[0].point.place, f"throughput does not drop over the {axis.title_at(sweep[0].point)}")
            else:
                cell = cliff.top.point.cell
                where = cell.workload, cell.variant, cell.targets, cell.nodes
                alike[where, cell.writers, cliff.last.at, cliff.first.at, cliff.is_shown].append(cliff)
        for found in alike.values():
            yield from _findings(axis, sorted(found, key=lambda one: one.fall.median), scene)


def cliff_of(sweep: Sequence[SweepPoint]) -> SweepCliff | None:
    """Return the drop after the highest level from which no larger size recovers."""
    found = find_cliff([step.point for step in sweep])
    if found is None:
        return None
    return SweepCliff(sweep[found.top], sweep[found.last], sweep[found.first], sweep[found.bottom], found.fall)


def _findings(axis: Axis, found: Sequence[SweepCliff], scene: Scene) -> Iterator[Finding]:
    deepest = found[0]
    point = deepest.top.point
    suits, evidence = _suiting(axis, deepest, scene)
    operations = ", ".join(dict.fromkeys(one.top.point.operation or point.cell.workload for one in found))
    last, first = format_bytes(deepest.last.at), format_bytes(deepest.first.at)
    if axis is FILE_SIZE and not point.is_direct and point.cell.memory_bytes is None:
        yield Unknown(CODE, point.place, f"the memory that matches the drop is unknown: the fact {MEMORY} is missing")
    yield Advice(
        code=CODE,
        severity=Severity.MEDIUM if deepest.is_shown else Severity.LOW,
        subject=f"{point.cell.workload} on {listed(point.cell.targets)} from {listed(point.cell.nodes)}",
        title=(
            f"Throughput drops between a {axis.title_at(point)} of {last} and {first}, "
            f"to {format_percent(deepest.fall.median)}"
        ),
        explanation=(
            f"{operations}: from {format_rate(point.median)} at {format_bytes(deepest.top.at)} to"
            f" at most {format_rate(deepest.bottom.point.median)} from {first} on, {_sureness(deepest)}."
            f" {suits} Smaller and larger sizes measure different parts of the system: no single number describes both."
        ),
        evidence=(*_levels(found), *evidence),
        remedy=_remedy(axis, deepest),
        commands=_commands(axis, deepest),
        source="IOzone documentation on cache sizes; Wesleyan report on IOzone, where throughput drops sharply",
    )


def _sureness(cliff: SweepCliff) -> str:
    if cliff.fall.low is None or cliff.fall.high is None:
        runs = min(cliff.top.point.n, cliff.bottom.point.n)
        return f"with {runs} run{'s' * (runs > 1)} per size, too few to confirm it"
    return f"{format_percent(cliff.fall.low)} to {format_percent(cliff.fall.high)} of it over all runs"


def _levels(found: Sequence[SweepCliff]) -> Iterator[Evidence]:
    for cliff in found[:_MOST_NAMED]:
        for step in dict.fromkeys((cliff.top.at, cliff.last.at, cliff.first.at, cliff.bottom.at)):
            at = next(one for one in (cliff.top, cliff.last, cliff.first, cliff.bottom) if one.at == step)
            yield at.point.evidence(f"{at.point.operation} at {format_bytes(at.at)}".strip())
    if len(found) > _MOST_NAMED:
        yield Evidence("sweeps with a drop there", len(found), Unit.COUNT)


def _suiting(axis: Axis, cliff: SweepCliff, scene: Scene) -> tuple[str, tuple[Evidence, ...]]:
    """Return the memory or limit within the drop, and its size."""
    cell = cliff.top.point.cell
    candidates: dict[str, int] = {}
    is_write, is_direct = "write" in cliff.top.point.operation, cliff.top.point.is_direct
    for node, facts in cell.facts.items():
        if axis is RECORD_SIZE:
            candidates |= {f"{limit.name} of {node}": limit.size_bytes for limit in limits_of(facts)}
        else:
            caches = caches_of(facts, [node], is_write=is_write, is_direct=is_direct)
            candidates |= {cache.name: cache.size_bytes for cache in caches}
    if axis is FILE_SIZE:
        servers = [site for site in scene.sites if site.is_below and site.node]
        candidates |= {f"{MEMORY} of {site.node}": size for site in servers if (size := site.number(MEMORY))}
    scale = (moved_bytes(cliff.top.point) or 1) // cliff.top.at if axis is FILE_SIZE else 1
    last, first = cliff.last.at * scale, cliff.first.at * scale
    suiting = {name: size for name, size in candidates.items() if suits(size, last, first)}
    if not suiting:
        what = "memory" if axis is FILE_SIZE else "transfer limit"
        return f"No known {what} matches this drop." if candidates else f"No {what} is known.", ()
    words = " and ".join(f"{name} ({format_bytes(size)})" for name, size in suiting.items())
    return f"This matches {words}.", tuple(
        Evidence(name, size, Unit.BYTES, cell.run_ids[-1:]) for name, size in suiting.items()
    )


def _remedy(axis: Axis, cliff: SweepCliff) -> str:
    point = cliff.top.point
    if axis is RECORD_SIZE:
        last = format_bytes(cliff.last.at)
        return f"Use records of up to {last} there, and state the record size with the result."
    both = "State both levels, each with its sizes."
    if point.is_direct or point.cell.in_memory:
        return both
    return f"{both} For the storage behind the cache: {past_cache(point, point.cell.memory_bytes).words}"


def _commands(axis: Axis, cliff: SweepCliff) -> tuple[str, ...]:
    point = cliff.top.point
    if axis is RECORD_SIZE:
        return (f"block_size_bytes: {cliff.last.at}",) if "block_size_bytes" in point.cell.options else ()
    if point.is_direct or point.cell.in_memory:
        return ()
    return past_cache(point, point.cell.memory_bytes).commands
