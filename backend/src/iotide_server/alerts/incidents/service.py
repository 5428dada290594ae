"""Actions of users on incidents."""

from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.alerts.errors import (
    ALERT_DETAIL_MISSING,
    ALERT_DETAIL_UNEXPECTED,
    INCIDENT_MOVE_REFUSED,
    INCIDENT_NOT_FOUND,
)
from iotide_server.alerts.incidents import repository
from iotide_server.alerts.incidents.lifecycle import ALERT_MOVES, IncidentMove, IncidentState, possible_moves
from iotide_server.alerts.incidents.schemas import IncidentActionInput
from iotide_server.alerts.incidents.undoing import CAUSE, undo
from iotide_server.alerts.journal import AlertStep, note
from iotide_server.alerts.lifecycle import AlertState, ClosedBecause, moved
from iotide_server.alerts.models import Alert, Incident, IncidentAction
from iotide_server.alerts.service import event_of, owner_of
from iotide_server.kit.db import Json, fields_of

_RECORDED: Final = ("state", "owner_id", "event_id")


def act(session: Session, principal: Principal, incident_id: int, wanted: IncidentActionInput, now: datetime) -> None:
    """Act on all alerts of an incident; those whose state does not allow it stay as they are."""
    missing = INCIDENT_NOT_FOUND(incident_id=incident_id)
    incident = principal.require_row(Role.OPERATOR, session.get(Incident, incident_id), missing)
    alerts = repository.lock_alerts(session, incident_id)
    repository.lock(session, incident.cluster_id)
    session.refresh(incident)
    state = IncidentState(incident.state)
    last = repository.newest_decision(session, incident_id)
    last_decision = IncidentMove(last.action) if last else None
    possible = possible_moves(state, has_alerts=bool(alerts), last_decision=last_decision)
    if wanted.action not in possible:
        raise INCIDENT_MOVE_REFUSED(incident_id=incident_id, state=state, move=wanted.action, possible=possible)
    _check_details(wanted)
    before = fields_of(incident, *_RECORDED)
    step = AlertStep(wanted.action, now, principal.name, wanted.comment)
    made = IncidentAction(
        incident_id=incident_id,
        at=now,
        who=principal.name,
        action=wanted.action.value,
        comment=wanted.comment,
        before=fields_of(incident, *CAUSE),
    )
    if wanted.action is IncidentMove.UNDO and last is not None:
        undo(session, incident, last, alerts, step)
    else:
        changes = _changes(session, principal, incident, wanted)
        for alert in alerts:
            _move(session, alert, wanted, step, changes)
        if wanted.event_id is not None:
            incident.event_id, incident.is_event_set = wanted.event_id, True
    session.add(made)
    repository.settle(session, [incident_id])
    _record(session, principal, incident, wanted, before)


def _changes(
    session: Session, principal: Principal, incident: Incident, wanted: IncidentActionInput
) -> dict[str, object]:
    """Return the fields that the action sets in each alert, in addition to its state."""
    match wanted.action:
        case IncidentMove.ACKNOWLEDGE:
            return {"owner_id": owner_of(session, principal, incident.cluster_id, wanted.owner)}
        case IncidentMove.SET_CAUSE | IncidentMove.EXPECT:
            event_id = wanted.event_id
            known = incident.event_id if event_id is None else event_of(session, incident.cluster_id, event_id)
            return {"event_id": known}
        case IncidentMove.REOPEN:
            return {"baseline_level": None, "baseline_at": None}
        case _:
            return {}


def _move(
    session: Session, alert: Alert, wanted: IncidentActionInput, step: AlertStep, changes: dict[str, object]
) -> None:
    move = ALERT_MOVES.get(wanted.action)
    if move is None:
        if changes:
            note(session, alert, step, **changes)
        return
    state = AlertState(alert.state)
    if alert.closed_because == ClosedBecause.RULE_REMOVED and alert.change_point_id is not None:
        state = AlertState(alert.state_before or AlertState.UNTRIAGED)
    after = moved(state, move, is_improvement=False)
    if after is not None:
        note(session, alert, step, state=after.value, state_before=None, closed_because=None, **changes)


def _check_details(wanted: IncidentActionInput) -> None:
    action = wanted.action
    if wanted.owner is not None and action is not IncidentMove.ACKNOWLEDGE:
        raise ALERT_DETAIL_UNEXPECTED(field="owner", action=action, belongs_to=IncidentMove.ACKNOWLEDGE)
    if wanted.event_id is not None and action not in {IncidentMove.SET_CAUSE, IncidentMove.EXPECT}:
        raise ALERT_DETAIL_UNEXPECTED(field="event_id", action=action, belongs_to=IncidentMove.SET_CAUSE)
    if wanted.event_id is None and action is IncidentMove.SET_CAUSE:
        raise ALERT_DETAIL_MISSING(field="event_id", action=action)
    if not wanted.comment and action is IncidentMove.COMMENT:
        raise ALERT_DETAIL_MISSING(field="comment", action=action)


def _record(
    session: Session, principal: Principal, incident: Incident, wanted: IncidentActionInput, before: Json
) -> None:
    after = fields_of(incident, *_RECORDED)
    name = f"incident_{wanted.action}"
    audit.record(session, principal, Action(name, "incident", incident.id, incident.cluster_id, before, after))
