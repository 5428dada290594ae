"""Basis of each comparison: the scatter that its error is taken from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.results.figures import bases_queries
from iotide_server.results.figures.bases_queries import NumberOfCell, WorkloadMetric
from iotide_server.results.ingest.keys import Label
from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Sides
from iotide_server.statistics.days import (
    FEWEST_DAYS,
    DayScatter,
    are_of_one_day,
    day_error,
    day_medians,
    pooled_scatter,
    scatter_of,
)
from iotide_server.statistics.makes import FEWEST_MAKES, make_means
from iotide_server.statistics.pairs import TimedRun, neighbours
from iotide_server.statistics.summary import ENOUGH_RUNS

_FIRST_LOOK: Final = 1


@dataclass(frozen=True, slots=True)
class MeasuredRunValue:
    value: float
    # None: unknown
    repeat: int | None
    started_at: datetime | None
    make: int | None = None  # of the file system that a node made for it, in its campaign


@dataclass(frozen=True, slots=True)
class MeasuredSide:
    """A number of a cell, or of the cells of one variant that a node made several times."""

    cell_ids: tuple[int, ...]
    campaign_id: int
    cluster_id: int
    workload: str
    metric: str
    labels: Mapping[str, Label]
    runs: Sequence[MeasuredRunValue]

    @property
    def values(self) -> list[float]:
        return [run.value for run in self.runs]

    @property
    def starts(self) -> list[datetime] | None:
        """Return when its runs started; None if one is unknown."""
        starts = [run.started_at for run in self.runs if run.started_at is not None]
        return starts if len(starts) == len(self.runs) else None

    @property
    def makes(self) -> set[int | None]:
        return {run.make for run in self.runs}

    @property
    def means(self) -> list[float]:
        """Return the mean of each make; empty for file systems that no node made."""
        return make_means([run.make for run in self.runs], self.values)

    @property
    def by_repeat(self) -> dict[tuple[int | None, int], TimedRun]:
        return {
            (run.make, run.repeat): TimedRun(run.started_at, run.value)
            for run in self.runs
            if run.repeat is not None and run.started_at is not None
        }


Compared = tuple[MeasuredSide, MeasuredSide]


def with_bases(session: Session, compared: Sequence[Compared]) -> list[Sides]:
    """Return the sides with the basis of their comparison.

    In order of preference: neighbouring runs of one campaign, on the same makes; means of makes of one campaign;
    medians of at least three days; means of makes or runs, if of one day; earlier days of the series; earlier days of
    the workload on the cluster.
    """
    additions = bases_queries.additions(session, {one for pair in compared for side in pair for one in side.cell_ids})
    found = [replace(_by_time(*pair), looks=_looks(pair, additions)) for pair in compared]
    apart = [
        place
        for place, sides in enumerate(found)
        if sides.basis is Basis.ONE_DAY and min(len(sides.a), len(sides.b)) >= ENOUGH_RUNS
    ]
    if apart:
        history = _History(session, [compared[place] for place in apart])
        for place in apart:
            found[place] = history.of(compared[place], found[place])
    return found


def _looks(pair: Compared, additions: Mapping[int, frozenset[int]]) -> int:
    """Return how often the pair could be judged: at first, and after each addition to any of its cells."""
    added = [additions.get(cell_id, frozenset()) for side in pair for cell_id in side.cell_ids]
    return _FIRST_LOOK + len(frozenset[int]().union(*added))


def _by_time(a: MeasuredSide, b: MeasuredSide) -> Sides:
    """Return the basis that the runs themselves allow; ONE_DAY for sides of different days."""
    is_of_one = a.campaign_id == b.campaign_id
    is_same = is_of_one and a.makes == b.makes
    if is_same:
        taken_in_turns = neighbours(a.by_repeat, b.by_repeat)
        if taken_in_turns is not None:
            return Sides(*taken_in_turns, Basis.PAIRS)
    of_runs = Sides(a.values, b.values)
    found = of_runs if is_same else _by_makes(a, b)
    # Makes of one campaign follow each other, for days with large disks.
    if a.starts is None or b.starts is None or (is_of_one and not is_same):
        return found
    days = [day_medians(starts, side.values) for side, starts in ((a, a.starts), (b, b.starts))]
    if min(map(len, days)) >= FEWEST_DAYS:
        return Sides(days[0], days[1], Basis.DAYS)
    return found if are_of_one_day(a.starts, b.starts) else replace(of_runs, basis=Basis.ONE_DAY)


def _by_makes(a: MeasuredSide, b: MeasuredSide) -> Sides:
    of_a, of_b = a.means, b.means
    if min(len(of_a), len(of_b)) >= FEWEST_MAKES:
        return Sides(of_a, of_b, Basis.MAKES)
    return Sides(a.values, b.values, Basis.ONE_MAKE if of_a or of_b else Basis.RUNS)


class _History:
    """Days before the compared campaigns."""

    def __init__(self, session: Session, compared: Sequence[Compared]) -> None:
        self._session = session
        self._campaign_ids = {side.campaign_id for pair in compared for side in pair}
        wanted = {_number(side, pair) for pair in compared for side in pair}
        earlier = bases_queries.earlier_points(session, wanted, self._campaign_ids)
        self._own = {number: scatter_of(points.day_medians) for number, points in earlier.items()}
        self._pooled: dict[WorkloadMetric, DayScatter | None] = {}

    def of(self, pair: Compared, sides: Sides) -> Sides:
        """Return the sides with the day-to-day scatter of both; unchanged where it is unknown."""
        own = [self._own.get(_number(side, pair)) for side in pair]
        basis = Basis.WORKLOAD if None in own else Basis.HISTORY
        a, b = (self._of_workload(side) for side in pair) if basis is Basis.WORKLOAD else own
        return sides if a is None or b is None else replace(sides, basis=basis, day_error=day_error(a, b))

    def _of_workload(self, side: MeasuredSide) -> DayScatter | None:
        key = WorkloadMetric(side.cluster_id, side.workload, side.metric)
        if key not in self._pooled:
            series = bases_queries.points_of_workload(self._session, key, self._campaign_ids)
            times = [time for points in series for time in points.times]
            days = day_medians(times, [0.0 for _ in times])
            self._pooled[key] = pooled_scatter([points.day_medians for points in series], len(days))
        return self._pooled[key]


def _number(side: MeasuredSide, pair: Compared) -> NumberOfCell:
    before = max(min(one.starts) for one in pair if one.starts)
    return NumberOfCell(side.cell_ids[0], side.metric, frozenset(side.labels.items()), before)
