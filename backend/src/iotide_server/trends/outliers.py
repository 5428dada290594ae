"""OUTLIER: the flags of a cell's runs whose numbers lie far from those of its other runs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from iotide_server.results.values import RunValue
from iotide_server.statistics.outliers import MADS, Bounds, outlier_bounds
from iotide_server.workloads.primary import of_whole_runs
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit, format_value

MOST_FLAGS = 20
"""Of one run; a run of a thousand numbers that was slow in all of them is told once."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a series is of, and what it is called in a sentence."""

    metric: str
    title: str
    unit: Unit


def outlier_flags(
    values: Iterable[RunValue], measures: Mapping[int, Measure], primary: Collection[str]
) -> dict[int, list[Flag]]:
    """Return the flags by run, by the numbers that stand for whole runs: a part that scatters makes no outlier.

    Args:
        values: of all valid runs of one cell; several of one run in a series stand for their median.
        measures: by series.
        primary: metrics.
    """
    by_series: dict[int, dict[int, list[RunValue]]] = defaultdict(lambda: defaultdict(list))
    for value in of_whole_runs([(measures[one.series_id].metric, one.labels, one) for one in values], primary):
        by_series[value.series_id][value.run_id].append(value)
    found: dict[int, list[tuple[float, Flag]]] = defaultdict(list)
    for series_id, runs in sorted(by_series.items()):
        own = {run_id: median(value.value for value in values) for run_id, values in runs.items()}
        bounds = outlier_bounds(list(own.values()))
        for run_id, number in own.items():
            if bounds is not None and not bounds.hold(number):
                reach = bounds.high - bounds.median
                # Where most runs say 0, as of errors, every other number is beyond all reach.
                distance = abs(number - bounds.median) / reach if reach else inf
                flag = _flag(runs[run_id][0], number, bounds, measures[series_id], len(runs))
                found[run_id].append((distance, flag))
    return {run_id: few_told(flags) for run_id, flags in found.items()}


def _flag(value: RunValue, number: float, bounds: Bounds, measure: Measure, runs: int) -> Flag:
    low, middle, high = (format_value(bound, measure.unit) for bound in (bounds.low, bounds.median, bounds.high))
    return Flag(
        code=FlagCode.OUTLIER,
        effect=FlagEffect.MARKED,
        measured=f"{measure.title}: {format_value(number, measure.unit)}",
        limit=f"{low} to {high}: the median {middle} of {runs} runs -+ {MADS} MAD",
        labels=dict(value.labels),
        target_id=value.target_id,
    )


def few_told(flags: Sequence[tuple[float, Flag]]) -> list[Flag]:
    """A run's flags of one code; of too many the one that is furthest, and how many there are."""
    if len(flags) <= MOST_FLAGS:
        return [flag for _, flag in flags]
    _, furthest = max(flags, key=lambda pair: pair[0])
    told = f"{len(flags)} numbers of the run, the furthest: {furthest.measured}"
    return [furthest.model_copy(update={"measured": told, "labels": {}, "target_id": None})]
