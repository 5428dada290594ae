"""Update of a series' alerts after its analysis."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.alerts import confirming, repository, scopes
from iotide_server.alerts.incidents.joining import Placing, is_confirmed, place
from iotide_server.alerts.incidents.notifying import controls_changed
from iotide_server.alerts.journal import AlertStep, close, note
from iotide_server.alerts.lifecycle import AlertState, AlertUpdate, ClosedBecause, after_update, closes
from iotide_server.alerts.models import Alert, AlertRule
from iotide_server.kit.db import transaction_time
from iotide_server.results.models import Series
from iotide_server.statistics.shifts import Direction, Shift, is_near
from iotide_server.trends.changes.recoveries import direction_of
from iotide_server.trends.models import ChangePoint, SeriesCourse
from iotide_server.trends.points.repository import lock_series

_TAKEN_BACK: Final = frozenset({AlertState.RECOVERED, AlertState.VERIFIED})


@dataclass(frozen=True, slots=True)
class Look:
    session: Session
    series: Series
    changes: Sequence[ChangePoint]  # in time order
    alerts: list[Alert]
    now: datetime


def raise_alerts(session: Session, series_id: int) -> None:
    """Update the alerts of a series to its last analysis. Safe to repeat, also concurrently."""
    series = lock_series(session, series_id)
    if series is None:
        return
    look = Look(
        session,
        series,
        repository.changes(session, series_id),
        list(repository.alerts_of(session, series_id)),
        transaction_time(session),
    )
    _follow_changes(look)
    _follow_silences(look)
    if _raise_worse(look):
        _follow_changes(look)
    _raise_asked(look)
    follow(session, series, look.alerts, look.changes, look.now)
    place(Placing(session, series, look.changes, look.alerts, look.now))
    if look.changes:
        controls_changed(session, series)


def rule_of(session: Session, series: Series) -> AlertRule | None:
    return scopes.narrowest(repository.living_rules(session, series.cluster_id), series)


def shift_of(change: ChangePoint) -> Shift:
    return Shift(change.median_before, change.median_after)


def _follow_changes(look: Look) -> None:
    by_id = {change.id: change for change in look.changes}
    known = [alert for alert in look.alerts if alert.change_point_id in by_id]
    reopened = repository.reopened_at(look.session, [alert.id for alert in known])
    for alert in known:
        change = by_id[alert.change_point_id or 0]
        if alert.at != change.at:
            near = repository.window(look.session, alert.series_id, change.at)
            alert.at, alert.window_from, alert.window_until = near.at, near.first_at, near.last_at
        if change.over_at is not None:
            _follow_end(look, alert, change, reopened.get(alert.id))
            continue
        if change.gone_at is not None:
            if closes(AlertState(alert.state), AlertUpdate.GONE):
                close(look.session, alert, ClosedBecause.CHANGE_GONE, look.now)
            continue
        if alert.closed_because == ClosedBecause.CHANGE_GONE:
            _put_back(look, alert)
        _follow_recovery(look, alert, change, reopened.get(alert.id))


def _follow_end(look: Look, alert: Alert, change: ChangePoint, reopened_at: datetime | None) -> None:
    if reopened_at is None or change.gone_at is None or change.gone_at > reopened_at:
        _end(look, alert, AlertUpdate.OVER)


def _follow_recovery(look: Look, alert: Alert, change: ChangePoint, reopened_at: datetime | None) -> None:
    """A reopened alert ignores earlier changes."""
    is_taken_back = any(
        one.gone_at is None
        and one.confirmed_at is not None
        and one.at > change.at
        and (reopened_at is None or one.confirmed_at > reopened_at)
        and shift_of(change).is_taken_back_by(shift_of(one))
        for one in look.changes
    )
    if is_taken_back:
        _end(look, alert, AlertUpdate.RECOVERED)
    elif alert.state in _TAKEN_BACK and alert.state_before is not None:
        _put_back(look, alert)


def _end(look: Look, alert: Alert, update: AlertUpdate) -> None:
    state = AlertState(alert.state)
    if (after := after_update(state, update)) is not state:
        step = AlertStep(update, look.now)
        note(look.session, alert, step, state=after.value, state_before=alert.state)


def _put_back(look: Look, alert: Alert) -> None:
    step = AlertStep("back", look.now)
    note(look.session, alert, step, state=alert.state_before, closed_because=None, state_before=None)


def _follow_silences(look: Look) -> None:
    silent = [alert for alert in look.alerts if alert.silent_since is not None]
    newest = repository.newest_point(look.session, look.series.id) if silent else None
    for alert in silent:
        state = AlertState(alert.state)
        is_over = newest is not None and alert.silent_since is not None and newest.at > alert.silent_since
        if is_over and (after := after_update(state, AlertUpdate.RECOVERED)) is not state:
            note(look.session, alert, AlertStep(AlertUpdate.RECOVERED, look.now), state=after.value)


def _raise_worse(look: Look) -> bool:
    """Raise an alert for each confirmed change for the worse; return whether there was a new one."""
    known = {alert.change_point_id for alert in look.alerts}
    found = [
        one
        for one in look.changes
        if is_confirmed(one)
        and one.id not in known
        and direction_of(one, look.series.better) is Direction.WORSE
        and not _is_accepted(look, one)
    ]
    # Several changes found at once are an imported history. Only the newest one is sent to channels.
    newest = _newest(look)
    for change in found:
        _raise(look, change, _rule_for(look, change) if change is newest else None)
    return bool(found)


def _raise_asked(look: Look) -> None:
    """Raise an alert for the newest change if it is not for the worse, but a rule asks for both directions."""
    newest = _newest(look)
    if newest is None or any(alert.change_point_id == newest.id for alert in look.alerts):
        return
    # An improvement that reverses a change belongs to that change's alert.
    known = {alert.change_point_id for alert in look.alerts if alert.state in _TAKEN_BACK}
    is_reversal = any(
        one.id in known
        and one.gone_at is None
        and one.at < newest.at
        and shift_of(one).is_taken_back_by(shift_of(newest))
        for one in look.changes
    )
    rule = None if is_reversal or _is_accepted(look, newest) else _rule_for(look, newest)
    if rule is not None:
        _raise(look, newest, rule)


def _newest(look: Look) -> ChangePoint | None:
    return next((one for one in reversed(look.changes) if one.confirmed_at is not None and one.gone_at is None), None)


def _raise(look: Look, change: ChangePoint, rule: AlertRule | None) -> None:
    near = repository.window(look.session, look.series.id, change.at)
    is_newest = change is _newest(look)
    suspicion = next((alert for alert in look.alerts if is_newest and _became(alert, change)), None)
    alert = suspicion or Alert(
        cluster_id=look.series.cluster_id, series_id=look.series.id, kind="change", state=AlertState.SUSPECT.value
    )
    alert.at, alert.window_from, alert.window_until = near.at, near.first_at, near.last_at
    alert.raised_at = look.now
    if suspicion is None:
        look.session.add(alert)
        look.alerts.append(alert)
    state = after_update(AlertState.SUSPECT, AlertUpdate.CONFIRMED).value
    step = AlertStep(AlertUpdate.CONFIRMED, look.now)
    rule_id = None if rule is None else rule.id
    note(look.session, alert, step, state=state, change_point_id=change.id, rule_id=rule_id)


def _became(alert: Alert, change: ChangePoint) -> bool:
    return alert.state == AlertState.SUSPECT and (change.confirmed_at or alert.raised_at) >= alert.raised_at


def _rule_for(look: Look, change: ChangePoint) -> AlertRule | None:
    """Return the rule that decides who is notified; none for changes confirmed before the rule's creation."""
    rule = rule_of(look.session, look.series)
    if rule is None or change.confirmed_at is None or change.confirmed_at < rule.created_at:
        return None
    return rule if scopes.asks_for(rule, shift_of(change), look.series.better) else None


def _is_accepted(look: Look, change: ChangePoint) -> bool:
    """Check that a change leads to the level that a user accepted last."""
    accepted = [alert for alert in look.alerts if alert.baseline_at is not None and alert.at < change.at]
    newest = max(accepted, key=lambda alert: alert.baseline_at or look.now, default=None)
    level = None if newest is None else newest.baseline_level
    return level is not None and is_near(change.median_after, level)


def follow(
    session: Session, series: Series, alerts: Sequence[Alert], changes: Sequence[ChangePoint], now: datetime
) -> None:
    """Keep one suspicion while the newest points suggest a change, until that change is confirmed."""
    suspicion = next((alert for alert in alerts if alert.state == AlertState.SUSPECT), None)
    course = session.get(SeriesCourse, series.id, populate_existing=True)
    is_suspect = course is not None and course.suspect is not None
    if suspicion is None:
        if is_suspect:
            _suspect(session, series, now)
    elif not is_suspect and not _is_pending(changes):
        close(session, suspicion, ClosedBecause.SUSPECT_GONE, now)


def _is_pending(changes: Sequence[ChangePoint]) -> bool:
    """Return whether the newest change is unconfirmed, so that nothing is suspected after it."""
    newest = next((one for one in reversed(changes) if one.gone_at is None), None)
    return newest is not None and newest.confirmed_at is None


def _suspect(session: Session, series: Series, now: datetime) -> None:
    newest = repository.newest_point(session, series.id)
    if newest is None:
        return
    near = repository.window(session, series.id, newest.at)
    suspicion = Alert(
        cluster_id=series.cluster_id,
        series_id=series.id,
        kind="change",
        state=AlertState.SUSPECT,
        at=newest.at,
        window_from=near.first_at,
        window_until=near.last_at,
        raised_at=now,
    )
    session.add(suspicion)
    note(session, suspicion, AlertStep("suspected", now))
    confirming.confirm(session, series, suspicion, newest, now)
