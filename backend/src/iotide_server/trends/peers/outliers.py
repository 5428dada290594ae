"""OUTLIER flags: runs far from the other runs of their cell."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from math import inf

from iotide_server.statistics.outliers import Bounds, outlier_bounds
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_server.trends.points.levels import Level, LevelSeries
from iotide_server.workloads.primary import WRITER
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_number, format_value

MOST_FLAGS = 20  # per run; beyond, one flag summarises them


class FewFlags:
    """Flags of one code of a run; beyond `MOST_FLAGS`, only the furthest and the count."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[tuple[tuple[int, ...], Flag]] = []
        self._furthest: tuple[float, tuple[int, ...], Flag] | None = None

    def add(self, flag: Flag, distance: float, place: tuple[int, ...]) -> None:
        """Add a flag; `listed` sorts by `place`."""
        self.count += 1
        if len(self._first) < MOST_FLAGS:
            self._first.append((place, flag))
        known = self._furthest
        if known is None or distance > known[0] or (distance == known[0] and place < known[1]):
            self._furthest = distance, place, flag

    def listed(self) -> list[Flag]:
        if self._furthest is None:
            return []
        if self.count <= MOST_FLAGS:
            return [flag for _, flag in sorted(self._first, key=lambda one: one[0])]
        *_, furthest = self._furthest
        measured = f"{self.count} values of the run, furthest: {furthest.measured}"
        return [furthest.model_copy(update={"measured": measured, "labels": {}, "target_id": None})]


def outlier_flags(levels: Callable[[], Iterable[LevelSeries]], primary: Collection[str]) -> dict[int, list[Flag]]:
    """Return the OUTLIER flags of a cell's runs by primary metrics; `levels` yields its series at each call.

    Values of single writers count only if there is none for the whole run. One ordinary cell in a hundred has an
    outlier, however many values its runs have. A run is one if a value is too far for that number of values, or if
    most of its values are too far for two.
    """
    judged = [WRITER not in series.labels for series in levels() if _is_judged(series, primary)]
    has_whole = any(judged)
    count = judged.count(has_whole)
    far = _Far(2 * count if count > 1 else 1)
    most = _Far(min(count, 2))
    for series in levels() if count else ():
        if _is_judged(series, primary) and (WRITER not in series.labels) is has_whole:
            far.judge(series)
            most.judge(series)
    in_most = {run_id: found for run_id, found in most.found.items() if 2 * found.count > count}
    return {run_id: found.listed() for run_id, found in (in_most | far.found).items()}


class _Far:
    """Values outside the bounds for `value_count` values, by run."""

    def __init__(self, value_count: int) -> None:
        self._value_count = value_count
        self.found: dict[int, FewFlags] = defaultdict(FewFlags)

    def judge(self, series: LevelSeries) -> None:
        bounds = outlier_bounds([level.value for level in series.levels], self._value_count)
        for level in series.levels:
            if bounds is not None and not bounds.hold(level.value):
                reach = bounds.high - bounds.median
                # Where most runs measured 0, such as errors, any other value is infinitely far.
                distance = abs(level.value - bounds.median) / reach if reach else inf
                self.found[level.run_id].add(_flag(series, level, bounds), distance, (series.id,))


def _is_judged(series: LevelSeries, primary: Collection[str]) -> bool:
    return series.metric in primary and len(series.levels) >= ENOUGH_RUNS


def _flag(series: LevelSeries, level: Level, bounds: Bounds) -> Flag:
    low, middle, high = (format_value(bound, series.unit) for bound in (bounds.low, bounds.median, bounds.high))
    return Flag(
        code=FlagCode.OUTLIER,
        effect=FlagEffect.MARKED,
        measured=f"{series.title}: {format_value(level.value, series.unit)}",
        limit=f"{low} to {high} (median {middle} of {len(series.levels)} runs \u00b1 {format_number(bounds.mads)} MAD)",
        labels=dict(series.labels),
        target_id=level.target_id,
    )
