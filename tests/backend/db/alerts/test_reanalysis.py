"""After an upgrade: the series of another detector are analysed again, and what differs is listed."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.accounts.models import User
from iotide_server.alerts.models import Alert, AlertAction
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.reanalysis import ChangeFate, last_reanalysis
from iotide_server.results.models import Series
from iotide_server.trends.changes.analysis import analyse_series, reanalyse
from iotide_server.trends.models import ChangePoint, SeriesCourse
from iotide_server.trends.points.service import ANALYSIS

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
EARLIER = "kernel-cpd-1"
HISTORIES = {
    "step": levels((30, 100.0), (20, 80.0)),
    "flat": levels((50, 100.0)),
    "regime": levels((80, 100.0), (5, 90.0), (80, 100.0)),
}


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def known(measured: Measured, name: str, of: str, day: int | None, *, state: str = "untriaged") -> Series:
    """Add an analysed series of an earlier release; with a day, its confirmed drop has an alert in this state."""
    session = measured.session
    series = history(measured, HISTORIES[of], operation=name)
    session.add(
        SeriesCourse(
            series_id=series.id,
            course="steady" if day is None else "changed",
            point_count=len(HISTORIES[of]),
            missing_points=0,
            memory=0.0,
            detector=EARLIER,
            analysed_at=NOW,
        )
    )
    if day is not None:
        change = confirmed_change(session, series, NOW + timedelta(days=day), 100.0, 80.0)
        around = {"at": change.at, "window_from": change.at, "window_until": change.at, "raised_at": NOW}
        session.add(
            Alert(
                cluster_id=series.cluster_id,
                series_id=series.id,
                kind="change",
                state=state,
                change_point_id=change.id,
                **around,
            )
        )
    session.flush()
    return series


def analyse_waiting(session: Session) -> None:
    reanalyse(session, 0)
    for series_id in session.scalars(text("SELECT key FROM work WHERE kind = :kind"), {"kind": ANALYSIS}).all():
        analyse_series(session, series_id)
        raise_alerts(session, series_id)
    session.flush()
    session.expire_all()


def alert_of(session: Session, series: Series) -> Alert:
    return session.scalars(select(Alert).where(Alert.series_id == series.id, Alert.state != "suspect")).one()


def listed(session: Session) -> dict[int, tuple[ChangeFate, str | None]]:
    return {one.series_id: (one.difference, one.alert_state) for one in last_reanalysis(session).findings}


def test_acknowledgements_and_triage_survive(session: Session, measured: Measured) -> None:
    user = User(name="ada")
    session.add(user)
    session.flush()
    owned = known(measured, "owned", "step", 30, state="acknowledged")
    alert = alert_of(session, owned)
    alert.owner_id, alert.due_at = user.id, NOW
    triaged = {
        state: known(measured, state, of, day, state=state)
        for state, of, day in (
            ("investigating", "step", 28),
            ("expected", "flat", 25),
            ("noise", "flat", 25),
            ("wont_fix", "regime", 80),
        )
    }
    analyse_waiting(session)
    kept = alert_of(session, owned)
    assert (kept.state, kept.owner_id, kept.due_at) == ("acknowledged", user.id, NOW)
    assert {state: alert_of(session, series).state for state, series in triaged.items()} == {
        state: state for state in triaged
    }


def test_what_appeared_is_over_or_was_withdrawn_is_listed(session: Session, measured: Measured) -> None:
    kept = known(measured, "kept", "step", 30)
    missed = known(measured, "missed", "step", None)
    regime = known(measured, "regime", "regime", 80)
    false = known(measured, "false", "flat", 25, state="acknowledged")
    analyse_waiting(session)
    assert listed(session) == {
        missed.id: (ChangeFate.APPEARED, None),
        regime.id: (ChangeFate.OVER, "recovered"),
        false.id: (ChangeFate.WITHDRAWN, "closed"),
    }
    assert kept.id not in listed(session)
    found = last_reanalysis(session)
    assert found.series_count == 4
    assert {one.series_id: one.words for one in found.findings}[regime.id].startswith(
        "10.0 % lower from 9 Feb to 14 Feb 2027, over"
    )


def test_what_appeared_and_was_withdrawn_since_is_no_difference(session: Session, measured: Measured) -> None:
    missed = known(measured, "missed", "step", None)
    analyse_waiting(session)
    (appeared,) = session.scalars(select(ChangePoint).where(ChangePoint.series_id == missed.id))
    appeared.confirmed_at = appeared.found_at
    appeared.gone_at = appeared.found_at + timedelta(days=1)
    session.flush()
    assert listed(session) == {}


def test_a_withdrawn_acknowledgement_returns_with_its_change(session: Session, measured: Measured) -> None:
    false = known(measured, "false", "flat", 30, state="acknowledged")
    analyse_waiting(session)
    assert alert_of(session, false).state == "closed"
    session.execute(text("UPDATE point SET median = 80 + id % 3 WHERE at >= :at"), {"at": NOW + timedelta(days=30)})
    session.expire_all()
    analyse_series(session, false.id)
    raise_alerts(session, false.id)
    assert alert_of(session, false).state == "acknowledged"
    actions = session.scalars(select(AlertAction.action).order_by(AlertAction.id)).all()
    assert actions == ["change_gone", "back"]


def test_series_of_this_detector_and_first_analyses_are_no_difference(session: Session, measured: Measured) -> None:
    series = history(measured, HISTORIES["step"])
    analyse_series(session, series.id)
    reanalyse(session, 0)
    assert session.scalars(text("SELECT key FROM work WHERE kind = :kind"), {"kind": ANALYSIS}).all() == []
    analyse_series(session, series.id)
    assert session.scalars(select(ChangePoint)).all()
    found = last_reanalysis(session)
    assert (found.series_count, list(found.findings)) == (0, [])
