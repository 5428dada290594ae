"""Confirmed changes belong to incidents, with and without a rule."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import another, confirmed_change, history, levels
from factories.measured import Measured
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.alerts.incidents.joining import request_incidents
from iotide_server.alerts.models import Alert, AlertRule, Incident, IncidentChange
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.rules import add_default_rule
from iotide_server.results.models import Series
from iotide_server.trends.changes.recoveries import write_recoveries
from iotide_server.trends.changes.repository import change_points
from iotide_server.trends.models import ChangePoint, Event, EventEffect

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


@pytest.fixture
def series(measured: Measured) -> Series:
    return history(measured, levels((40, 100.0)))


def change(session: Session, series: Series, day: float, before: float, after: float) -> ChangePoint:
    """Add a confirmed change of the series on that day, with what it recovers, and raise alerts twice."""
    made = confirmed_change(session, series, NOW + timedelta(days=day), before, after)
    follow(session, series)
    return made


def follow(session: Session, series: Series) -> None:
    rows = change_points(session, series.id)
    write_recoveries(rows, series.better)
    session.flush()
    for _ in range(2):
        raise_alerts(session, series.id)


def incidents(session: Session) -> list[Incident]:
    session.flush()
    session.expire_all()
    return list(session.scalars(select(Incident).order_by(Incident.id)))


def home(session: Session, changed: ChangePoint) -> int:
    return session.get_one(IncidentChange, changed.id).incident_id


def test_changes_of_related_series_at_one_time_are_one_incident_without_any_rule(
    session: Session, series: Series
) -> None:
    change(session, series, 5, 100.0, 80.0)
    worst = change(session, another(series, session, labels={"operation": "read"}, better="higher"), 6, 100.0, 70.0)
    (incident,) = incidents(session)
    assert (incident.kind, incident.state, incident.series_count) == ("change", "open", 2)
    assert (incident.at, incident.ended_at) == (NOW + timedelta(days=5), None)
    assert incident.worst_change_id == worst.id
    assert incident.worst_ratio == pytest.approx(-0.3)


def test_series_that_share_neither_node_nor_target_nor_workload_are_two_incidents(
    session: Session, series: Series
) -> None:
    change(session, series, 5, 100.0, 80.0)
    apart = another(series, session, node_ids=[999], target_ids=[999], workload="stream", better="higher")
    change(session, apart, 5, 100.0, 80.0)
    assert len(incidents(session)) == 2


def test_changes_of_one_event_are_one_incident_also_several_runs_apart(session: Session, series: Series) -> None:
    other = another(series, session, better="higher")
    at = NOW + timedelta(days=4, hours=12)
    event = Event(
        cluster_id=series.cluster_id, kind="manual", since=at, at=at, text="kernel", node_ids=[], target_ids=[]
    )
    session.add(event)
    session.flush()
    session.add_all(EventEffect(event_id=event.id, series_id=one.id) for one in (series, other))
    change(session, series, 5, 100.0, 80.0)
    change(session, other, 8, 100.0, 80.0)
    (incident,) = incidents(session)
    assert (incident.event_id, incident.is_event_set) == (event.id, False)


def test_an_improvement_ends_the_incident_of_its_change(session: Session, series: Series) -> None:
    drop = change(session, series, 5, 100.0, 80.0)
    rise = change(session, series, 20, 80.0, 100.0)
    (incident,) = incidents(session)
    assert home(session, drop) == home(session, rise) == incident.id
    assert (incident.kind, incident.state, incident.ended_at) == ("change", "ended", NOW + timedelta(days=20))


def test_an_incident_ends_only_with_the_last_of_its_changes(session: Session, series: Series) -> None:
    other = another(series, session, better="higher")
    for one in (series, other):
        change(session, one, 5, 100.0, 80.0)
    change(session, series, 20, 80.0, 100.0)
    (incident,) = incidents(session)
    assert (incident.state, incident.ended_at) == ("open", None)


def test_half_of_the_way_back_belongs_to_the_incident_and_does_not_end_it(session: Session, series: Series) -> None:
    drop = change(session, series, 5, 100.0, 80.0)
    rise = change(session, series, 20, 80.0, 90.0)
    assert home(session, rise) == home(session, drop)
    assert [one.state for one in incidents(session)] == ["open"]


def test_an_improvement_with_nothing_before_it_is_an_incident_that_is_not_open(
    session: Session, series: Series
) -> None:
    change(session, series, 5, 100.0, 130.0)
    (incident,) = incidents(session)
    assert (incident.kind, incident.state) == ("better", "ended")
    assert session.scalars(select(Alert)).all() == []


def test_a_metric_without_a_better_side_joins_the_regression_of_its_time_in_either_order(
    session: Session, series: Series
) -> None:
    neutral = another(series, session, better="neither")
    change(session, neutral, 5, 100.0, 130.0)
    assert [(one.kind, one.state) for one in incidents(session)] == [("neither", "ended")]
    change(session, series, 5, 100.0, 80.0)
    assert [(one.kind, one.state, one.series_count) for one in incidents(session)] == [("change", "open", 1)]


def test_a_withdrawn_change_leaves_its_incident_withdrawn_and_opens_it_when_it_is_found_again(
    session: Session, series: Series
) -> None:
    change(session, series, 5, 100.0, 80.0)
    session.execute(text("UPDATE change_point SET gone_at = now()"))
    session.expire_all()
    follow(session, series)
    assert [one.state for one in incidents(session)] == ["withdrawn"]
    session.execute(text("UPDATE change_point SET gone_at = NULL"))
    session.expire_all()
    follow(session, series)
    assert [one.state for one in incidents(session)] == ["open"]


def test_a_past_shift_that_is_over_is_an_ended_incident(session: Session, series: Series) -> None:
    confirmed_change(session, series, NOW + timedelta(days=5), 100.0, 80.0)
    session.execute(text("UPDATE change_point SET gone_at = now(), over_at = at + interval '7 days'"))
    session.expire_all()
    follow(session, series)
    (incident,) = incidents(session)
    assert (incident.state, incident.ended_at) == ("ended", NOW + timedelta(days=12))


def test_a_series_that_joins_an_acknowledged_incident_is_acknowledged(session: Session, series: Series) -> None:
    change(session, series, 5, 100.0, 80.0)
    session.execute(text("UPDATE alert SET state = 'acknowledged'"))
    session.expire_all()
    follow(session, series)
    change(session, another(series, session, better="higher"), 5, 100.0, 80.0)
    assert [one.state for one in incidents(session)] == ["acknowledged"]


def test_a_series_that_joins_an_expected_incident_opens_it(session: Session, series: Series) -> None:
    change(session, series, 5, 100.0, 80.0)
    session.execute(text("UPDATE alert SET state = 'expected'"))
    session.expire_all()
    follow(session, series)
    assert [one.state for one in incidents(session)] == ["expected"]
    change(session, another(series, session, better="higher"), 5, 100.0, 80.0)
    assert [one.state for one in incidents(session)] == ["open"]


def test_a_change_to_an_accepted_level_belongs_to_the_incident_that_accepted_it(
    session: Session, series: Series
) -> None:
    drop = change(session, series, 5, 100.0, 80.0)
    session.execute(text("UPDATE alert SET state = 'expected', baseline_level = 80, baseline_at = now()"))
    session.expire_all()
    change(session, series, 15, 80.0, 100.0)
    again = change(session, series, 25, 100.0, 81.0)
    assert home(session, again) == home(session, drop)
    assert len(session.scalars(select(Alert)).all()) == 1


def test_an_alert_of_the_previous_release_keeps_its_group_as_its_incident(session: Session, series: Series) -> None:
    found = confirmed_change(session, series, NOW + timedelta(days=5), 100.0, 80.0)
    window = {"at": found.at, "window_from": found.at, "window_until": found.at}
    group = Incident(
        cluster_id=series.cluster_id, kind="change", node_ids=series.node_ids, created_at=NOW, told_at=NOW, **window
    )
    session.add(group)
    session.flush()
    session.add(
        Alert(
            cluster_id=series.cluster_id,
            series_id=series.id,
            kind="change",
            state="wont_fix",
            change_point_id=found.id,
            group_id=group.id,
            raised_at=NOW,
            **window,
        )
    )
    session.flush()
    session.execute(text("DELETE FROM work"))
    request_incidents(session, 0)
    assert session.scalars(text("SELECT key FROM work WHERE kind = 'alerts'")).all() == [series.id]
    follow(session, series)
    (incident,) = incidents(session)
    assert (incident.id, incident.state, incident.told_at, home(session, found)) == (
        *(group.id, "ignored", NOW),
        group.id,
    )


def test_a_new_cluster_has_one_rule_without_notifications(session: Session, measured: Measured) -> None:
    for _ in range(2):
        add_default_rule(session, measured.cluster.id)
    (rule,) = session.scalars(select(AlertRule)).all()
    assert (rule.least_shift_ratio, rule.directions, rule.target_id) == (0.05, "worse", None)
    add_default_rule(session, 999)
