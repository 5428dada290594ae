"""Points of a cell."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from iotide_server.results.ingest.keys import is_below_clock
from iotide_server.statistics.summary import VARIATION_LIMIT, Summary, summarize
from iotide_server.trends.points.levels import Level, LevelSeries
from iotide_wire.measured import Flag, FlagCode


@dataclass(frozen=True, slots=True)
class CellPoint:
    series_id: int
    at: datetime
    summary: Summary
    flag_runs: Mapping[str, int]  # runs with each flag

    @property
    def flags(self) -> list[str]:
        return sorted(self.flag_runs)


def cell_points(
    series: Iterable[LevelSeries], started_at: Mapping[int, datetime], outliers: Mapping[int, Sequence[Flag]]
) -> Iterator[CellPoint]:
    """Yield one point per series; `outliers` are flags that the levels lack."""
    for one in series:
        summary = summarize([level.value for level in one.levels])
        counts = Counter(code for level in one.levels for code in _flags(one, level, outliers.get(level.run_id, ())))
        if is_below_clock(one.labels, summary.median):
            summary = replace(summary, variation_ratio=None, robust_spread_ratio=None)
        if (summary.variation_ratio or 0) > VARIATION_LIMIT:
            counts[FlagCode.CV] = summary.run_count
        at = min(started_at[level.run_id] for level in one.levels)
        yield CellPoint(one.id, at, summary, counts)


def _flags(series: LevelSeries, level: Level, outliers: Sequence[Flag]) -> frozenset[str]:
    concerning = {flag.code for flag in outliers if flag.concerns(series.labels, level.target_id)}
    return level.flags | concerning if concerning else level.flags
