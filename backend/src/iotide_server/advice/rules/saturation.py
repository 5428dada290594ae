"""Rule: number of writers or nodes above which a target's total stops growing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import WRITER_OPTIONS, Scene
from iotide_server.advice.sweeps import NODE_COUNT, WRITERS, Axis, SweepPoint, sweeps
from iotide_server.statistics.boards import PRACTICAL_RATIO
from iotide_server.statistics.summary import ENOUGH_RUNS, ratio
from iotide_wire.units import format_percent, format_rate

CODE: Final = "saturated"
FEWEST_COUNTS: Final = 3
LEAST_GROWTH: Final = 0.10  # less growth is no reason to add writers


@dataclass(frozen=True, slots=True)
class Knee:
    low: SweepPoint  # first count with no proven growth after it
    high: SweepPoint | None  # first count after which growth by a tenth is ruled out
    falls: bool  # the largest count is at least a tenth below the best


def saturation(scene: Scene) -> Iterator[Finding]:
    for axis in (WRITERS, NODE_COUNT):
        for sweep in sweeps(scene.rates, axis, FEWEST_COUNTS):
            yield _judge(axis, sweep)


def find_knee(sweep: Sequence[SweepPoint]) -> Knee:
    """Find the knee by exact 95 % intervals of ratios, see `Ratio`. All counts need enough runs."""
    lowest = next(place for place in range(len(sweep)) if not _grows_behind(sweep, place))
    highest = next(
        (place for place in range(lowest, len(sweep) - 1) if _is_flat_behind(sweep, place)),
        None,
    )
    best = max(sweep, key=lambda step: step.point.median)
    end = ratio(best.point, sweep[-1].point)
    falls = end.high is not None and end.high < 1 and end.median <= 1 - LEAST_GROWTH
    return Knee(sweep[lowest], None if highest is None else sweep[highest], falls)


def _grows_behind(sweep: Sequence[SweepPoint], place: int) -> bool:
    grown = (ratio(sweep[place].point, later.point) for later in sweep[place + 1 :])
    return any(one.low is not None and one.low > 1 and one.median >= 1 + PRACTICAL_RATIO for one in grown)


def _is_flat_behind(sweep: Sequence[SweepPoint], place: int) -> bool:
    grown = (ratio(sweep[place].point, later.point) for later in sweep[place + 1 :])
    return all(one.high is not None and one.high < 1 + LEAST_GROWTH for one in grown)


def _judge(axis: Axis, sweep: Sequence[SweepPoint]) -> Finding:
    first, largest = sweep[0].point, sweep[-1]
    totals = ", ".join(f"{step.at}: {format_rate(step.point.median)}" for step in sweep)
    place = first.place if axis is WRITERS else largest.point.place
    fewest, title = min(step.point.n for step in sweep), axis.title_at(first)
    if fewest < ENOUGH_RUNS:
        because = (
            f"not enough repeats to find where it saturates: {fewest} of {ENOUGH_RUNS} (medians by {title}: {totals})"
        )
        return Unknown(CODE, place, because)
    knee = find_knee(sweep)
    if knee.low is largest:
        return Fine(place, f"the total still grows at {largest.at} {title}; saturation was not reached")
    if knee.high is None:
        because = (
            f"the runs vary too much: beyond {knee.low.at} {title}, growth of {format_percent(LEAST_GROWTH)} is neither"
            f" shown nor ruled out (medians by {title}: {totals})"
        )
        return Unknown(CODE, place, because)
    return _advice(axis, sweep, knee, knee.high, place)


def _advice(axis: Axis, sweep: Sequence[SweepPoint], knee: Knee, high: SweepPoint, place: str) -> Advice:
    title = axis.title_at(high.point)
    between = f"{knee.low.at}" if knee.low is high else f"{knee.low.at} to {high.at}"
    gained = "; ".join(
        f"{before.at} to {after.at}: x {ratio(before.point, after.point).words}" for before, after in pairwise(sweep)
    )
    falls = f" With {sweep[-1].at} it is lower than its best; they hinder each other." if knee.falls else ""
    option = next((name for name in WRITER_OPTIONS if name in sweep[-1].point.cell.options), None)
    return Advice(
        code=CODE,
        severity=Severity.LOW,
        subject=place,
        title=f"Saturated at {between} {title} ({format_rate(high.point.median)})",
        explanation=(
            f"More {title} share the same total. Growth beyond {knee.low.at} is not shown, and growth of"
            f" {format_percent(LEAST_GROWTH)} or more beyond {high.at} is ruled out. Steps with 95 % intervals:"
            f" {gained}.{falls} The counters of the runs show whether target, network or node is the limit."
        ),
        evidence=tuple(step.point.evidence(f"total of {step.at} {title}") for step in sweep),
        remedy=f"Use {high.at} {title} to measure its limit. Only more servers or disks raise it.",
        commands=(f"{option}: {high.at}",) if axis is WRITERS and option else (),
        source="INAF report IRA 470/13: Lustre with one, two and three writers",
    )
