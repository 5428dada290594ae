"""Alerts of a series after its next analysis."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.alerts.journal import AlertStep, note
from iotide_server.alerts.lifecycle import Move
from iotide_server.alerts.models import Alert, AlertAction, AlertRule, Incident
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.repository import noteworthy_series
from iotide_server.results.models import Series
from iotide_server.trends.changes.analysis import analyse_series
from iotide_server.trends.points.service import ALERTS

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
STEP = levels((20, 100.0), (8, 80.0))


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def rule(measured: Measured, **differing: object) -> AlertRule:
    values = {
        "cluster_id": measured.cluster.id,
        "name": f"rule-{len(differing)}",
        "least_shift_ratio": 0.03,
        "directions": "worse",
        "missing_runs": True,
        "created_at": NOW - timedelta(days=1),
    }
    made = AlertRule(**(values | differing))
    measured.session.add(made)
    measured.session.flush()
    return made


def grow(measured: Measured, medians: list[float], first_day: int = 0) -> Series:
    """Add points to the series, analyse it, and update its alerts twice."""
    series = history(measured, medians, first_day=first_day)
    analyse_series(measured.session, series.id)
    raise_alerts(measured.session, series.id)
    raise_alerts(measured.session, series.id)
    return series


def alerts(session: Session) -> list[Alert]:
    session.flush()
    session.expire_all()
    return list(session.scalars(select(Alert).order_by(Alert.id)))


def actions(session: Session) -> list[str]:
    return list(session.scalars(select(AlertAction.action).order_by(AlertAction.id)))


def change(measured: Measured, series: Series, day: int, before: float, after: float) -> None:
    """Add a change of the series on that day, as several analyses confirm it."""
    confirmed_change(measured.session, series, NOW + timedelta(days=day), before, after)
    raise_alerts(measured.session, series.id)
    raise_alerts(measured.session, series.id)


def step(measured: Measured) -> Series:
    """A change from 100 to 80 on the twentieth day."""
    series = history(measured, STEP)
    change(measured, series, 20, 100.0, 80.0)
    return series


def test_an_analysis_requests_the_alerts_of_its_series(session: Session, measured: Measured) -> None:
    series = history(measured, [100.0])
    analyse_series(session, series.id)
    assert session.scalars(text("SELECT key FROM work WHERE kind = :kind"), {"kind": ALERTS}).all() == [series.id]


def test_only_a_confirmed_change_raises_an_alert_and_only_one(session: Session, measured: Measured) -> None:
    wanted = rule(measured)
    grow(measured, STEP)
    assert alerts(session) == []
    grow(measured, levels((2, 80.0)), first_day=28)
    (alert,) = alerts(session)
    assert (alert.state, alert.kind, alert.rule_id) == ("untriaged", "change", wanted.id)
    assert (alert.at, alert.window_from) == (NOW + timedelta(days=20), NOW + timedelta(days=18))
    assert alert.group_id == session.scalars(select(Incident.id)).one()
    grow(measured, levels((1, 80.0)), first_day=30)
    assert len(alerts(session)) == 1


@pytest.mark.parametrize(
    "differing",
    [
        {"workload": "fio"},
        {"metric": "wait"},
        {"least_shift_ratio": 0.5},
        {"created_at": datetime(2100, 1, 1, tzinfo=UTC)},
        {"removed_at": NOW},
    ],
    ids=lambda differing: next(iter(differing)),
)
def test_a_change_without_a_rule_raises_an_alert_without_notifications(
    session: Session, measured: Measured, differing: dict[str, object]
) -> None:
    rule(measured, **differing)
    step(measured)
    (alert,) = alerts(session)
    assert (alert.state, alert.rule_id) == ("untriaged", None)
    assert alert.group_id == session.scalars(select(Incident.id)).one()
    assert session.scalars(text("SELECT key FROM work WHERE kind = 'alert_group'")).all() == []


def test_a_change_that_moves_by_some_runs_keeps_its_alert_and_its_owner(session: Session, measured: Measured) -> None:
    rule(measured)
    grow(measured, STEP)
    series = grow(measured, levels((2, 80.0)), first_day=28)
    (alert,) = alerts(session)
    alert.state = "acknowledged"
    session.execute(
        text("UPDATE point SET median = 80 + id % 3 * 0.1 WHERE at >= :at"), {"at": NOW + timedelta(days=17)}
    )
    analyse_series(session, series.id)
    raise_alerts(session, series.id)
    (moved,) = alerts(session)
    assert (moved.id, moved.state, moved.at) == (alert.id, "acknowledged", NOW + timedelta(days=17))


def test_a_change_that_disappears_closes_its_alert_and_reopens_it_unchanged(
    session: Session, measured: Measured
) -> None:
    rule(measured)
    series = step(measured)
    alerts(session)[0].state = "acknowledged"
    session.execute(text("UPDATE change_point SET gone_at = now()"))
    raise_alerts(session, series.id)
    raise_alerts(session, series.id)  # the next analysis does not find it either
    (alert,) = alerts(session)
    assert (alert.state, alert.closed_because, alert.state_before) == ("closed", "change_gone", "acknowledged")
    session.execute(text("UPDATE change_point SET gone_at = NULL"))
    raise_alerts(session, series.id)
    (alert,) = alerts(session)
    assert (alert.state, alert.closed_because) == ("acknowledged", None)
    assert actions(session)[-2:] == ["change_gone", "back"]


@pytest.mark.parametrize(("before", "after"), [("untriaged", "recovered"), ("fixed", "verified"), ("noise", "noise")])
def test_a_recovery_ends_an_alert_and_raises_none(
    session: Session, measured: Measured, before: str, after: str
) -> None:
    rule(measured, directions="both")
    series = step(measured)
    alerts(session)[0].state = before
    change(measured, series, 29, 80.0, 100.0)
    found = alerts(session)
    assert found[0].state == after
    assert len(found) == (1 if before != "noise" else 2)


def test_half_of_the_way_back_is_no_recovery(session: Session, measured: Measured) -> None:
    rule(measured)
    series = step(measured)
    change(measured, series, 29, 80.0, 90.0)
    assert [alert.state for alert in alerts(session)] == ["untriaged"]


def test_only_a_change_to_another_than_the_accepted_level_raises_an_alert(session: Session, measured: Measured) -> None:
    rule(measured)
    series = step(measured)
    alert = alerts(session)[0]
    alert.state, alert.baseline_level, alert.baseline_at = "expected", 80.0, NOW
    change(measured, series, 29, 80.0, 100.0)
    change(measured, series, 37, 100.0, 81.0)
    assert len(alerts(session)) == 1
    change(measured, series, 46, 81.0, 60.0)
    assert [alert.state for alert in alerts(session)] == ["expected", "untriaged"]


def test_only_the_newest_change_of_a_history_loaded_at_once_is_notified(session: Session, measured: Measured) -> None:
    wanted = rule(measured)
    grow(measured, levels((20, 100.0), (20, 80.0), (20, 60.0)))
    grow(measured, levels((2, 60.0)), first_day=60)
    days = [(alert.at - NOW).days for alert in alerts(session)]
    assert (days, [alert.rule_id for alert in alerts(session)]) == ([20, 40], [None, wanted.id])


def test_a_suspect_becomes_the_alert_of_its_change(session: Session, measured: Measured) -> None:
    rule(measured)
    grow(measured, levels((20, 100.0), (3, 80.0)))
    (suspect,) = alerts(session)
    assert (suspect.state, suspect.rule_id, suspect.group_id) == ("suspect", None, None)
    grow(measured, levels((5, 80.0)), first_day=23)
    assert [alert.state for alert in alerts(session)] == ["suspect"]
    grow(measured, levels((2, 80.0)), first_day=28)
    (alert,) = alerts(session)
    assert (alert.id, alert.state) == (suspect.id, "untriaged")
    assert actions(session) == ["suspected", "confirmed"]


def test_a_suspect_is_closed_when_its_points_are_as_before(session: Session, measured: Measured) -> None:
    grow(measured, levels((20, 100.0), (2, 80.0)))
    grow(measured, levels((3, 100.0)), first_day=22)
    (alert,) = alerts(session)
    assert (alert.state, alert.closed_because) == ("closed", "suspect_gone")


def test_series_without_a_change_a_suspicion_or_an_alert_are_passed_over(measured: Measured) -> None:
    session = measured.session
    rule(measured)
    quiet = history(measured, levels((3, 100.0)), operation="quiet")
    suspect = history(measured, levels((7, 100.0), (3, 80.0)), operation="suspect")
    changed = history(measured, levels((3, 100.0)), operation="changed")
    confirmed_change(session, changed, NOW + timedelta(days=2), 100.0, 80.0)
    silent = history(measured, levels((3, 100.0)), operation="silent")
    session.add(
        Alert(
            cluster_id=silent.cluster_id,
            series_id=silent.id,
            kind="missing",
            state="untriaged",
            at=NOW,
            window_from=NOW,
            window_until=NOW,
            raised_at=NOW,
            silent_since=NOW,
        )
    )
    for series in (quiet, suspect):
        analyse_series(session, series.id)
    session.flush()
    everyone = [quiet.id, suspect.id, changed.id, silent.id]
    assert sorted(noteworthy_series(session, everyone)) == sorted([suspect.id, changed.id, silent.id])


@pytest.mark.parametrize(
    ("before", "after"), [("acknowledged", "recovered"), ("fixed", "verified"), ("noise", "noise")]
)
def test_a_shift_that_is_over_ends_its_alert_and_one_found_again_returns_it(
    session: Session, measured: Measured, before: str, after: str
) -> None:
    rule(measured)
    series = step(measured)
    alerts(session)[0].state = before
    session.execute(text("UPDATE change_point SET gone_at = now(), over_at = at + interval '7 days'"))
    raise_alerts(session, series.id)
    raise_alerts(session, series.id)
    (alert,) = alerts(session)
    assert (alert.state, alert.closed_because) == (after, None)
    assert actions(session)[-1] == ("over" if after != before else "confirmed")
    session.execute(text("UPDATE change_point SET gone_at = NULL, over_at = NULL"))
    raise_alerts(session, series.id)
    assert alerts(session)[0].state == before


def test_an_alert_that_was_opened_again_after_its_shift_was_over_stays_open(
    session: Session, measured: Measured
) -> None:
    rule(measured)
    series = step(measured)
    session.execute(text("UPDATE change_point SET gone_at = now() - interval '1 hour', over_at = at"))
    (alert,) = alerts(session)
    note(session, alert, AlertStep(Move.REOPEN, datetime.now(UTC)), state="untriaged")
    raise_alerts(session, series.id)
    assert alerts(session)[0].state == "untriaged"


def test_an_improvement_after_a_shift_that_is_over_is_no_recovery_of_it(session: Session, measured: Measured) -> None:
    rule(measured, directions="both")
    series = step(measured)
    session.execute(text("UPDATE change_point SET gone_at = now(), over_at = at + interval '7 days'"))
    change(measured, series, 29, 100.0, 130.0)
    assert [alert.state for alert in alerts(session)] == ["recovered", "untriaged"]
