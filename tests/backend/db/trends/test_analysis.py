from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured, finish, sample
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.overview.repository import last_over
from iotide_server.results.models import Series
from iotide_server.statistics.changepoints import DETECTOR
from iotide_server.trends.changes.analysis import analyse_series, analyse_young
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.recoveries import described
from iotide_server.trends.changes.repository import change_points, listed
from iotide_server.trends.models import ChangePoint, Event, SeriesCourse
from iotide_server.trends.points.service import ALERTS, ANALYSED_AFTER, ANALYSIS, recompute_points

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def changes(session: Session) -> list[ChangePoint]:
    session.flush()
    session.expire_all()
    return list(session.scalars(select(ChangePoint).order_by(ChangePoint.at)))


def course(session: Session, series: Series) -> SeriesCourse:
    session.flush()
    session.expire_all()
    return session.get_one(SeriesCourse, series.id)


def test_a_new_point_has_its_series_analysed_once_a_little_later(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(100.0)))
    recompute_points(session, cell.id)
    recompute_points(session, cell.id)
    (row,) = session.execute(text("SELECT key, due_at, now() AS now FROM work WHERE kind = :kind"), {"kind": ANALYSIS})
    assert row.key == session.scalars(select(Series.id)).one()
    assert row.due_at - row.now == ANALYSED_AFTER


def test_only_the_series_of_a_cell_with_a_changed_point_are_analysed(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(100.0, operation="write"), sample(50.0, operation="read")))
    recompute_points(session, cell.id)
    session.execute(text("DELETE FROM work"))
    session.execute(text("DELETE FROM change"))
    measured.deliver(cell, finish(NOW, sample(90.0, operation="write")))
    recompute_points(session, cell.id)
    written = session.scalars(select(Series.id).where(Series.labels["operation"].astext == "write")).one()
    wanted = text("SELECT key FROM work WHERE kind = :kind")
    assert session.scalars(wanted, {"kind": ANALYSIS}).all() == [written]
    assert session.scalars(text("SELECT subject_id FROM change WHERE kind = 'series'")).all() == [written]


def test_a_step_is_stored_with_its_segments_and_confirmed_two_points_later(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((30, 100.0), (8, 80.0)))
    analyse_series(session, series.id)
    (change,) = changes(session)
    assert (change.at, change.previous_at) == (NOW + timedelta(days=30), NOW + timedelta(days=29))
    assert (change.points_before, change.points_after) == (30, 8)
    assert change.shift_ratio == pytest.approx(-0.2, abs=0.01)
    assert (change.found_points, change.detector) == (38, DETECTOR)
    assert change.confirmed_at is None
    assert course(session, series).course == "changed"

    history(measured, levels((1, 80.0)), first_day=38)
    for _ in range(2):
        analyse_series(session, series.id)
        assert changes(session)[0].confirmed_at is None

    history(measured, levels((1, 80.0)), first_day=39)
    analyse_series(session, series.id)
    (confirmed,) = changes(session)
    assert confirmed.id == change.id
    assert confirmed.confirmed_at is not None
    assert confirmed.points_after == 10


def test_a_change_reverted_by_later_points_is_removed_and_returns_as_the_same(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((30, 100.0), (8, 80.0)))
    analyse_series(session, series.id)
    (first,) = changes(session)
    session.execute(text("UPDATE point SET median = 100 WHERE median < 90"))
    session.expire_all()
    analyse_series(session, series.id)
    assert changes(session)[0].gone_at is not None
    assert course(session, series).course == "steady"
    session.execute(text("UPDATE point SET median = 80 + id % 3 WHERE at >= :at"), {"at": NOW + timedelta(days=30)})
    session.expire_all()
    analyse_series(session, series.id)
    (again,) = changes(session)
    assert (again.id, again.gone_at) == (first.id, None)


def test_a_change_that_disappeared_is_confirmed_two_points_after_its_return(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((30, 100.0), (8, 80.0)))
    for day, is_gone, is_confirmed in (
        (37, False, False),
        (38, True, False),
        (39, False, False),
        (40, False, False),
        (41, False, True),
    ):
        if day > 37:
            history(measured, levels((1, 80.0)), first_day=day)
        session.execute(
            text("UPDATE point SET median = :level + id % 3 * 0.1 WHERE at >= :at"),
            {"at": NOW + timedelta(days=30), "level": 100 if is_gone else 80},
        )
        session.expire_all()
        analyse_series(session, series.id)
        (change,) = changes(session)
        assert (change.gone_at is not None, change.confirmed_at is not None) == (is_gone, is_confirmed)


def test_few_points_show_how_many_more_are_needed_and_a_suspect_is_kept_apart(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((7, 100.0), (3, 80.0)))
    analyse_series(session, series.id)
    found = course(session, series)
    assert (found.course, found.point_count, found.missing_points) == ("too_short", 10, 4)
    assert found.suspect is not None
    assert (found.suspect["is_higher"], found.drift) == (False, None)
    assert changes(session) == []


def analysed(session: Session) -> dict[int, tuple[object, ...]]:
    """Return all that the last analysis of each series stored, except its time."""
    session.flush()
    session.expire_all()
    columns = [column for column in SeriesCourse.__table__.columns if column.name != "analysed_at"]
    return {row.series_id: tuple(row) for row in session.execute(select(*columns))}


def test_many_series_of_few_points_are_analysed_together_as_each_separately(
    session: Session, measured: Measured
) -> None:
    counts = (1, 2, 7)
    ids = [history(measured, levels((count, 100.0)), operation=f"o{count}").id for count in counts]
    assert analyse_young(session, [*ids, 2**40]) == []
    together = analysed(session)
    wanted = session.scalars(text("SELECT key FROM work WHERE kind = :kind ORDER BY key"), {"kind": ALERTS}).all()
    assert wanted == sorted(ids)
    for series_id in ids:
        analyse_series(session, series_id)
    assert analysed(session) == together
    assert [together[series_id][2] for series_id in ids] == list(counts)


def test_a_series_of_few_points_is_published_only_when_its_analysis_differs(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((2, 100.0)))
    updates = text("SELECT count(*) FROM change WHERE kind = 'series'")
    before = session.scalars(updates).one()
    analyse_young(session, [series.id])
    assert session.scalars(updates).one() == before + 1
    analyse_young(session, [series.id])
    assert session.scalars(updates).one() == before + 1


def test_a_series_that_loses_its_points_keeps_no_scatter(session: Session, measured: Measured) -> None:
    series = history(measured, levels((40, 100.0)))
    analyse_series(session, series.id)
    assert course(session, series).scatter_ratio is not None
    session.execute(text("DELETE FROM point WHERE at > :at"), {"at": NOW + timedelta(days=2)})
    session.expire_all()
    assert analyse_young(session, [series.id]) == []
    assert course(session, series).scatter_ratio is None


def standings(session: Session) -> int:
    """Return the number of updates of a cluster's board."""
    return len(session.scalars(text("SELECT id FROM change WHERE kind = 'standing'")).all())


def test_the_first_series_of_a_workload_updates_the_board_and_unchanged_ones_after_it_do_not(
    session: Session, measured: Measured
) -> None:
    first, second = (history(measured, levels((count, 100.0)), operation=f"o{count}").id for count in (3, 4))
    analyse_young(session, [first])
    assert standings(session) == 1
    analyse_young(session, [first, second])
    steady = history(measured, levels((20, 100.0)), operation="steady").id
    analyse_series(session, steady)
    before = standings(session)
    analyse_series(session, steady)
    assert standings(session) == before


def test_a_series_that_changed_and_one_that_recovered_update_the_board(session: Session, measured: Measured) -> None:
    series = history(measured, levels((30, 100.0), (8, 80.0)))
    analyse_series(session, series.id)
    assert standings(session) == 1
    session.execute(text("UPDATE point SET median = 100 + id % 3 WHERE median < 90"))
    session.expire_all()
    for _ in range(3):
        analyse_series(session, series.id)
    assert course(session, series).course == "steady"
    assert standings(session) == 2


def test_a_series_with_enough_points_a_change_or_an_event_is_left_to_its_own_analysis(
    session: Session, measured: Measured
) -> None:
    long = history(measured, levels((8, 100.0)), operation="long")
    changed = history(measured, levels((3, 100.0)), operation="changed")
    confirmed_change(session, changed, NOW + timedelta(days=2), 100.0, 80.0)
    assert sorted(analyse_young(session, [long.id, changed.id])) == sorted([long.id, changed.id])
    young = history(measured, levels((3, 100.0)), operation="young")
    for at, left in ((NOW - timedelta(days=1), []), (NOW + timedelta(days=1), [young.id])):
        session.add(
            Event(
                cluster_id=young.cluster_id,
                kind="manual",
                since=at,
                at=at,
                text="a disk was changed",
                node_ids=[],
                target_ids=[],
            )
        )
        session.flush()
        assert analyse_young(session, [young.id]) == left
    assert young.id in analysed(session)
    assert long.id not in analysed(session)


def test_a_drift_is_stored_as_a_line_with_its_interval(session: Session, measured: Measured) -> None:
    falling = [value * (1 - 0.002 * number) for number, value in enumerate(levels((100, 100.0)))]
    series = history(measured, falling)
    analyse_series(session, series.id)
    found = course(session, series)
    assert found.course == "drift"
    assert found.drift is not None
    drift = Drift.read(found.drift)
    assert drift is not None
    assert drift.low is not None
    assert drift.high is not None
    assert drift.low < -0.198 < drift.high
    assert (drift.start, drift.end) == pytest.approx((100, 80.2), abs=0.5)
    assert (drift.start_at, drift.end_at) == (NOW, NOW + timedelta(days=99))
    assert changes(session) == []


def test_a_drop_ends_with_the_confirmed_change_that_took_it_back(session: Session, measured: Measured) -> None:
    series = history(measured, levels((30, 100.0), (20, 80.0), (10, 100.0)))
    analyse_series(session, series.id)
    drop, rise = changes(session)
    assert (drop.recovered_by_id, rise.is_recovery) == (None, True)
    history(measured, levels((2, 100.0)), first_day=60)
    analyse_series(session, series.id)
    assert (drop.recovered_by_id, drop.recovered_at) == (rise.id, rise.at)
    assert (rise.healthy_level, rise.healthy_until) == (drop.median_before, drop.at)
    assert described(drop, "higher").startswith("20.0 % lower from ")


def test_a_drop_is_open_again_if_its_recovery_is_no_longer_found(session: Session, measured: Measured) -> None:
    series = history(measured, levels((30, 100.0), (20, 80.0), (10, 100.0)))
    analyse_series(session, series.id)
    history(measured, levels((2, 100.0)), first_day=60)
    analyse_series(session, series.id)
    session.execute(text("DELETE FROM point WHERE at >= :at"), {"at": NOW + timedelta(days=50)})
    session.expire_all()
    analyse_series(session, series.id)
    drop, rise = changes(session)
    assert rise.gone_at is not None
    assert (drop.recovered_by_id, drop.recovered_at, rise.is_recovery) == (None, None, False)


def test_a_series_that_became_noisier_is_reported_and_confirmed_two_points_later(
    session: Session, measured: Measured
) -> None:
    wider = [100 + 12 * (value - 100) for value in levels((30, 100.0))]
    series = history(measured, levels((40, 100.0)) + wider)
    for points, is_confirmed in ((70, False), (70, False), (71, False), (72, True)):
        if points > 70:
            history(measured, levels((1, 100.0)), first_day=points - 1)
        analyse_series(session, series.id)
        noise = course(session, series).noise
        assert noise is not None
        assert abs(datetime.fromisoformat(noise["at"]) - NOW - timedelta(days=40)) <= timedelta(days=3)
        assert (noise["found_points"], noise["confirmed_at"] is not None) == (70, is_confirmed)
    assert changes(session) == []


def test_a_change_from_zero_has_no_ratio(session: Session, measured: Measured) -> None:
    series = history(measured, [0.0] * 20 + levels((20, 5.0)))
    analyse_series(session, series.id)
    (change,) = changes(session)
    assert change.shift_ratio is None


def test_a_removed_series_is_no_error(session: Session) -> None:
    analyse_series(session, 2**40)


def test_a_reported_regime_that_a_longer_history_swallows_is_over_and_stays_listed(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((60, 100.0), (5, 90.0), (60, 100.0)))
    drop = confirmed_change(session, series, NOW + timedelta(days=60), 100.0, 90.0)
    analyse_series(session, series.id)
    (over,) = changes(session)
    assert over.id == drop.id
    assert over.gone_at is not None
    assert over.over_at == NOW + timedelta(days=65)
    assert described(over, "higher") == "10.0 % lower from 20 Jan to 25 Jan 2027, over (5 points after, 60 before)"
    assert [row.id for row in listed(change_points(session, series.id))] == [drop.id]
    assert course(session, series).course == "changed"
    shown = last_over(session, [series.id])[series.id]
    assert (shown.at, shown.over_at) == (over.at, over.over_at)
