"""The points of a cell: what its valid runs say together, series by series."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from iotide_server.results.resolution import is_below_clock
from iotide_server.results.values import RunValue
from iotide_server.statistics.summary import VARIATION_LIMIT, Summary, summarize
from iotide_wire.measured import FlagCode


@dataclass(frozen=True, slots=True)
class CellPoint:
    """The point of a cell in one series, in the series' base unit.

    Attributes:
        at: when the first of its runs started.
        flags: codes of its runs' flags, and CV where they scatter; sorted.
    """

    series_id: int
    at: datetime
    summary: Summary
    flags: tuple[str, ...]


def cell_points(values: Iterable[RunValue]) -> list[CellPoint]:
    """One point per series. A run counts once in each: several numbers of one run there stand for their median."""
    by_series: dict[int, dict[int, list[RunValue]]] = defaultdict(lambda: defaultdict(list))
    for value in values:
        by_series[value.series_id][value.run_id].append(value)
    return [_point(series_id, list(runs.values())) for series_id, runs in sorted(by_series.items())]


def _point(series_id: int, runs: list[list[RunValue]]) -> CellPoint:
    summary = summarize([median(value.value for value in run) for run in runs])
    flags = frozenset().union(*(run[0].flags for run in runs))
    if is_below_clock(runs[0][0].labels, summary.median):
        summary = replace(summary, variation_ratio=None, robust_spread_ratio=None)
    if (summary.variation_ratio or 0) > VARIATION_LIMIT:
        flags |= {FlagCode.CV}
    return CellPoint(series_id, min(run[0].started_at for run in runs), summary, tuple(sorted(flags)))
