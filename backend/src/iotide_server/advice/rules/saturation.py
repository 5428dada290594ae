"""From how many writers, or nodes, on the total of a target no longer grows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import WRITER_OPTIONS, Scene
from iotide_server.advice.sweeps import NODE_COUNT, WRITERS, Axis, SweepPoint, sweeps
from iotide_server.statistics.comparison import PRACTICAL_RATIO
from iotide_server.statistics.summary import ENOUGH_RUNS, ratio
from iotide_wire.units import format_percent, format_rate

CODE: Final = "saturated"
FEWEST_COUNTS: Final = 3
LEAST_GROWTH: Final = 0.10  # of what more writers could still bring, less is no reason to add them


@dataclass(frozen=True, slots=True)
class Knee:
    """Where a sweep of counts stops to grow."""

    low: SweepPoint  # the first count beyond which no larger total is shown
    high: SweepPoint | None  # the first count beyond which a total larger by a tenth is ruled out; None where none is
    falls: bool  # whether the largest count has a lower total, by a tenth at least, than the best


def saturation(scene: Scene) -> Iterator[Finding]:
    """The knee of each sweep over writers on a node, and over nodes at once."""
    for axis in (WRITERS, NODE_COUNT):
        for sweep in sweeps(scene.rates, axis, FEWEST_COUNTS):
            yield _judge(axis, sweep)


def find_knee(sweep: Sequence[SweepPoint]) -> Knee:
    """By ratios of which each holds the exact 95 % interval, see `Ratio`; all counts have runs enough."""
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
            f"not enough repeats to tell at how many {title} it saturates: {fewest} of {ENOUGH_RUNS}"
            f" (medians of {title}: {totals})"
        )
        return Unknown(CODE, place, because)
    knee = find_knee(sweep)
    if knee.low is largest:
        return Fine(place, f"the total still grows at {largest.at} {title}: its end was not reached")
    if knee.high is None:
        because = (
            f"beyond {knee.low.at} {title} no growth is shown, and none of a tenth is ruled out: the runs scatter"
            f" too much (medians of {title}: {totals})"
        )
        return Unknown(CODE, place, because)
    return _advice(axis, sweep, knee, knee.high, place)


def _advice(axis: Axis, sweep: Sequence[SweepPoint], knee: Knee, high: SweepPoint, place: str) -> Advice:
    title = axis.title_at(high.point)
    between = f"{knee.low.at}" if knee.low is high else f"{knee.low.at} to {high.at}"
    gained = "; ".join(
        f"{before.at} to {after.at}: x {ratio(before.point, after.point).words}" for before, after in pairwise(sweep)
    )
    falls = f" With {sweep[-1].at} it is lower than its best: they hinder each other." if knee.falls else ""
    option = next((name for name in WRITER_OPTIONS if name in sweep[-1].point.cell.options), None)
    return Advice(
        code=CODE,
        severity=Severity.LOW,
        subject=place,
        title=f"Saturated from {between} {title} on, at {format_rate(high.point.median)}",
        explanation=(
            f"More {title} share the same total: growth beyond {knee.low.at} is not shown, and beyond {high.at} a"
            f" growth of {format_percent(LEAST_GROWTH)} or more is ruled out. The steps, with "
            f"intervals that hold 95 %: {gained}."
            f"{falls} What limits it, target, network or node, the counters of the runs tell."
        ),
        evidence=tuple(step.point.evidence(f"total of {step.at} {title}") for step in sweep),
        remedy=f"Load it with {high.at} {title} to see what it can do; only more servers or disks give more.",
        commands=(f"{option}: {high.at}",) if axis is WRITERS and option else (),
        source="INAF's report IRA 470/13: Lustre under one, two and three writers",
    )
