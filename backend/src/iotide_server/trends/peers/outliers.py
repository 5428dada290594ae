"""OUTLIER: the flags of a cell's runs whose numbers lie far from those of its other runs."""

from collections import defaultdict
from collections.abc import Collection
from math import inf

from iotide_server.statistics.outliers import MADS, Bounds, outlier_bounds
from iotide_server.trends.points.levels import Level, LevelSeries
from iotide_server.workloads.primary import WRITER
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_value

MOST_FLAGS = 20  # of one run; a run of a thousand numbers that was slow in all of them is told once


class FewFlags:
    """A run's flags of one code, however many are added; of too many the one that is furthest, and how many.

    No more than `MOST_FLAGS` and the furthest one are held.
    """

    def __init__(self) -> None:
        self._count = 0
        self._first: list[tuple[tuple[int, ...], Flag]] = []
        self._furthest: tuple[float, tuple[int, ...], Flag] | None = None

    def add(self, flag: Flag, distance: float, place: tuple[int, ...]) -> None:
        """Add a flag of a number that is so far from the others; `listed` has them by `place`."""
        self._count += 1
        if len(self._first) < MOST_FLAGS:
            self._first.append((place, flag))
        known = self._furthest
        if known is None or distance > known[0] or (distance == known[0] and place < known[1]):
            self._furthest = distance, place, flag

    def listed(self) -> list[Flag]:
        """Return the flags that the run gets."""
        if self._furthest is None:
            return []
        if self._count <= MOST_FLAGS:
            return [flag for _, flag in sorted(self._first, key=lambda one: one[0])]
        *_, furthest = self._furthest
        measured = f"{self._count} numbers of the run, the furthest: {furthest.measured}"
        return [furthest.model_copy(update={"measured": measured, "labels": {}, "target_id": None})]


class Outliers:
    """Finds the runs of a cell that lie far from the others, series by series.

    The numbers that stand for whole runs decide: a part that scatters makes no outlier.
    """

    def __init__(self, primary: Collection[str]) -> None:
        """Start with no series, for these primary metrics."""
        self._primary = primary
        self._found: dict[bool, dict[int, FewFlags]] = {True: defaultdict(FewFlags), False: defaultdict(FewFlags)}
        self._has_whole = False

    def judge(self, series: LevelSeries) -> None:
        """Look for outliers in one more series."""
        if series.metric not in self._primary:
            return
        is_whole = WRITER not in series.labels
        self._has_whole |= is_whole
        bounds = outlier_bounds([level.value for level in series.levels])
        for level in series.levels:
            if bounds is not None and not bounds.hold(level.value):
                reach = bounds.high - bounds.median
                # Where most runs say 0, as of errors, every other number is beyond all reach.
                distance = abs(level.value - bounds.median) / reach if reach else inf
                flag = _flag(series, level, bounds)
                self._found[is_whole][level.run_id].add(flag, distance, (series.id,))

    def flags(self) -> dict[int, list[Flag]]:
        """Return the flags by run; of what each of several writers did only where there is no number of all of them."""
        return {run_id: found.listed() for run_id, found in self._found[self._has_whole].items()}


def _flag(series: LevelSeries, level: Level, bounds: Bounds) -> Flag:
    low, middle, high = (format_value(bound, series.unit) for bound in (bounds.low, bounds.median, bounds.high))
    return Flag(
        code=FlagCode.OUTLIER,
        effect=FlagEffect.MARKED,
        measured=f"{series.title}: {format_value(level.value, series.unit)}",
        limit=f"{low} to {high}: the median {middle} of {len(series.levels)} runs -+ {MADS} MAD",
        labels=dict(series.labels),
        target_id=level.target_id,
    )
