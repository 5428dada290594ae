from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample
from factories.schedules import add_schedule
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.results.models import Series
from iotide_server.schedules.models import Firing, Schedule
from iotide_server.trends.points.lateness import ScheduledSeries, scheduled_series
from iotide_server.trends.points.service import recompute_points

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def schedule(measured: Measured, name: str = "nightly", state: str = "active") -> Schedule:
    """A schedule that fires each day, and did on the last ten."""
    return add_schedule(measured.session, measured.cluster.id, NOW + 10 * DAY, state=state, name=name)


def fire(measured: Measured, made: Schedule, days: Sequence[int], answered: Sequence[int], **options: object) -> None:
    """Let the schedule fire on all of these days, with a point on some of them."""
    for day in days:
        cell = measured.cell(**options)
        at = NOW + day * DAY
        firing = Firing(schedule_id=made.id, planned_at=at, fired_at=at, campaign_id=cell.campaign_id)
        measured.session.add(firing)
        measured.session.flush()
        if day in answered:
            deliver(measured, cell, day)


def deliver(measured: Measured, cell: Cell, day: int) -> None:
    measured.deliver(cell, finish(NOW, sample(100.0)), minutes=day * 1440 + 5)
    recompute_points(measured.session, cell.id)


def late_series(session: Session, day: float, cluster_ids: frozenset[int] | None = None) -> list[ScheduledSeries]:
    return [one for one in scheduled_series(session, NOW + day * DAY, cluster_ids) if one.lateness.is_late]


def late(session: Session, day: float) -> list[tuple[str, int]]:
    return [(one.schedule_name, one.lateness.missed_firings) for one in late_series(session, day)]


def test_a_series_is_late_when_two_firings_gave_it_nothing(session: Session, measured: Measured) -> None:
    fire(measured, schedule(measured), range(10), range(8))
    assert late(session, 9.04) == []
    assert late(session, 9.05) == [("nightly", 2)]
    (found,) = late_series(session, 10)
    assert found.words({}) == "no data since 28 Nov 2026: schedule nightly fired 2 times without a result"
    assert found.series_id == session.scalars(select(Series.id)).one()
    assert late_series(session, 10, frozenset()) == []


def test_a_firing_that_could_submit_nothing_is_missed_too(session: Session, measured: Measured) -> None:
    made = schedule(measured)
    fire(measured, made, range(8), range(8))
    for day in (8, 9):
        at = NOW + day * DAY
        session.add(Firing(schedule_id=made.id, planned_at=at, fired_at=at, problem="there is no node n1"))
    session.flush()
    assert late(session, 10) == [("nightly", 2)]


def test_a_series_that_a_changed_plan_left_behind_is_not_late(session: Session, measured: Measured) -> None:
    made = schedule(measured)
    fire(measured, made, range(4), range(4))
    fire(measured, made, range(4, 10), range(4, 10), direct=True)
    assert late(session, 10) == []


@pytest.mark.parametrize("state", ["paused", "ended"])
def test_a_paused_schedule_expects_no_points(session: Session, measured: Measured, state: str) -> None:
    fire(measured, schedule(measured, state=state), range(10), range(4))
    assert late(session, 10) == []


def test_a_manual_point_does_not_hide_that_a_schedule_gives_none(session: Session, measured: Measured) -> None:
    fire(measured, schedule(measured), range(10), range(6))
    deliver(measured, measured.cell(), 7)
    assert late(session, 9.5) == [("nightly", 4)]
