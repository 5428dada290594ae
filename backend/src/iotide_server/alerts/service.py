"""Actions of users on alerts."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts import service as accounts
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.alerts import repository
from iotide_server.alerts.errors import (
    ALERT_DETAIL_MISSING,
    ALERT_DETAIL_UNEXPECTED,
    ALERT_MOVE_REFUSED,
    ALERT_NOT_FOUND,
    OWNER_UNKNOWN,
)
from iotide_server.alerts.incidents.repository import settle_alerts
from iotide_server.alerts.journal import AlertStep, note
from iotide_server.alerts.lifecycle import AlertState, Move, moved, possible
from iotide_server.alerts.models import Alert, SeriesMute
from iotide_server.alerts.reading import direction_of
from iotide_server.alerts.schemas import AlertActionInput
from iotide_server.change_feed import service as live
from iotide_server.results.models import Series
from iotide_server.statistics.shifts import IMPROVEMENTS
from iotide_server.trends.events.service import EVENT_NOT_FOUND
from iotide_server.trends.models import ChangePoint, Event


def act(session: Session, principal: Principal, alert_id: int, wanted: AlertActionInput, now: datetime) -> None:
    alert = _own(session, principal, alert_id)
    series = session.get_one(Series, alert.series_id)
    change = session.get(ChangePoint, alert.change_point_id) if alert.change_point_id is not None else None
    is_improvement = direction_of(series, change) in IMPROVEMENTS
    state = AlertState(alert.state)
    after = moved(state, wanted.action, is_improvement=is_improvement)
    if after is None:
        raise ALERT_MOVE_REFUSED(
            alert_id=alert_id, state=state, move=wanted.action, possible=possible(state, is_improvement=is_improvement)
        )
    _check_details(wanted)
    changes: dict[str, object] = {"state": after.value}
    match wanted.action:
        case Move.ACKNOWLEDGE:
            changes |= {
                "owner_id": owner_of(session, principal, alert.cluster_id, wanted.owner),
                "due_at": wanted.due_at,
            }
        case Move.EXPECT:
            changes |= {"event_id": event_of(session, alert.cluster_id, wanted.event_id)}
        case Move.ACCEPT_BASELINE:
            if change is None:
                raise ALERT_MOVE_REFUSED(alert_id=alert_id, state=state, move=wanted.action, possible=(Move.COMMENT,))
            changes |= {"baseline_level": change.median_after, "baseline_at": now}
        case Move.REOPEN:
            changes |= {"baseline_level": None, "baseline_at": None, "event_id": None}
        case _:
            pass
    if after is not state:
        changes["state_before"] = None
    noted = note(session, alert, AlertStep(wanted.action, now, principal.name, wanted.comment), **changes)
    settle_alerts(session, alert.cluster_id, [alert])
    action = Action("alert_" + wanted.action, "alert", alert.id, alert.cluster_id, noted.before, noted.after)
    audit.record(session, principal, action)


def mute_series(session: Session, principal: Principal, alert_id: int, until: datetime | None, now: datetime) -> None:
    """Mute the alert's series until then; None unmutes."""
    alert = _own(session, principal, alert_id)
    muted = session.get(SeriesMute, alert.series_id)
    before = None if muted is None else muted.until.isoformat()
    if until is not None:
        repository.mute_series(session, alert.series_id, until, principal.name)
    elif muted is not None:
        session.delete(muted)
    after = None if until is None else until.isoformat()
    noted = note(session, alert, AlertStep("mute", now, principal.name))
    noted.before, noted.after = {"muted_until": before}, {"muted_until": after}
    action = Action("series_muted", "series", alert.series_id, alert.cluster_id, noted.before, noted.after)
    audit.record(session, principal, action)
    live.publish(session, "series", alert.series_id, alert.cluster_id)


def _own(session: Session, principal: Principal, alert_id: int) -> Alert:
    found = session.get(Alert, alert_id, with_for_update=True)
    return principal.require_row(Role.OPERATOR, found, ALERT_NOT_FOUND(alert_id=alert_id))


def _check_details(wanted: AlertActionInput) -> None:
    belongs = {"owner": Move.ACKNOWLEDGE, "due_at": Move.ACKNOWLEDGE, "event_id": Move.EXPECT}
    for field, move in belongs.items():
        if getattr(wanted, field) is not None and wanted.action is not move:
            raise ALERT_DETAIL_UNEXPECTED(field=field, action=wanted.action, belongs_to=move)
    if wanted.action is Move.EXPECT and wanted.event_id is None:
        raise ALERT_DETAIL_MISSING(field="event_id", action=wanted.action)
    if wanted.action is Move.COMMENT and not wanted.comment:
        raise ALERT_DETAIL_MISSING(field="comment", action=wanted.action)


def owner_of(session: Session, principal: Principal, cluster_id: int, name: str | None) -> int | None:
    """Return the named member of the cluster, by default the caller."""
    if name is None:
        return principal.user_id
    user_id = accounts.member(session, name, cluster_id)
    if user_id is None:
        raise OWNER_UNKNOWN(name=name)
    return user_id


def event_of(session: Session, cluster_id: int, event_id: int | None) -> int:
    """Return the id of an event of the cluster; raises EVENT_NOT_FOUND."""
    event = session.get(Event, event_id) if event_id is not None else None
    if event is None or event.cluster_id != cluster_id:
        raise EVENT_NOT_FOUND(event_id=event_id or 0)
    return event.id
