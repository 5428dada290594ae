"""The points of a cell: what its valid runs say together, series by series."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from iotide_server.results.ingest.keys import is_below_clock
from iotide_server.statistics.summary import VARIATION_LIMIT, Summary, summarize
from iotide_server.trends.points.levels import Level, LevelSeries
from iotide_wire.measured import Flag, FlagCode


@dataclass(frozen=True, slots=True)
class CellPoint:
    """The point of a cell in one series, in the series' base unit."""

    series_id: int
    at: datetime  # when the first of its runs started
    summary: Summary
    flags: tuple[str, ...]  # codes of its runs' flags, and CV where they scatter; sorted


def cell_points(
    series: Iterable[LevelSeries], started_at: Mapping[int, datetime], outliers: Mapping[int, Sequence[Flag]]
) -> Iterator[CellPoint]:
    """Yield one point per series, in which a run counts once; `outliers` are flags that the levels do not bear yet."""
    for one in series:
        summary = summarize([level.value for level in one.levels])
        flags = frozenset().union(*(_flags(one, level, outliers.get(level.run_id, ())) for level in one.levels))
        if is_below_clock(one.labels, summary.median):
            summary = replace(summary, variation_ratio=None, robust_spread_ratio=None)
        if (summary.variation_ratio or 0) > VARIATION_LIMIT:
            flags |= {FlagCode.CV}
        at = min(started_at[level.run_id] for level in one.levels)
        yield CellPoint(one.id, at, summary, tuple(sorted(flags)))


def _flags(series: LevelSeries, level: Level, outliers: Sequence[Flag]) -> frozenset[str]:
    concerning = {flag.code for flag in outliers if flag.concerns(series.labels, level.target_id)}
    return level.flags | concerning if concerning else level.flags
