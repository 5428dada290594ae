"""Undo of the last decision about an incident, by what its journal recorded."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.alerts.incidents import repository
from iotide_server.alerts.journal import AlertStep, note, plain
from iotide_server.alerts.models import Alert, Incident, IncidentAction
from iotide_server.trends.models import Event

CAUSE: Final = ("event_id", "is_event_set")
_TIMES: Final = frozenset({"baseline_at", "due_at"})


def undo(
    session: Session, incident: Incident, decision: IncidentAction, alerts: Sequence[Alert], step: AlertStep
) -> None:
    """Restore what the decision changed. An alert that was changed since, such as a recovered one, stays as it is."""
    changed = repository.steps_of(session, decision)
    for alert in alerts:
        if (made := changed.get(alert.id)) is None:
            continue
        if all(plain(getattr(alert, name)) == value for name, value in made.after.items()):
            note(session, alert, step, **{name: _stored(session, name, value) for name, value in made.before.items()})
    for name in CAUSE:
        if name in decision.before:
            setattr(incident, name, _stored(session, name, decision.before[name]))


def _stored(session: Session, name: str, value: object) -> object:
    """Return a value of the journal as the table has it; None for an event that was removed since."""
    if name == "event_id" and isinstance(value, int):
        return value if session.get(Event, value) is not None else None
    return datetime.fromisoformat(value) if name in _TIMES and isinstance(value, str) else value
