"""Journal of alerts, written in the transaction of each change."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.alerts.lifecycle import AlertState, ClosedBecause
from iotide_server.alerts.models import Alert, AlertAction
from iotide_server.change_feed import service as live
from iotide_server.kit.db import Json

JOINED: Final = "joined"  # action of an alert that takes over the acknowledgement of its incident
SILENT: Final = "silent"  # begins the alert of a stale series; its comment says why there is no data


@dataclass(frozen=True, slots=True)
class AlertStep:
    name: str  # `lifecycle.Move`, `lifecycle.AlertUpdate`, `lifecycle.ClosedBecause`, or another word
    at: datetime
    who: str | None = None
    comment: str = ""


def note(session: Session, alert: Alert, step: AlertStep, **changes: object) -> AlertAction:
    differing = {name: value for name, value in changes.items() if getattr(alert, name) != value}
    before = {name: plain(getattr(alert, name)) for name in differing}
    for name, value in differing.items():
        setattr(alert, name, value)
    session.flush()
    noted = AlertAction(
        alert_id=alert.id,
        at=step.at,
        who=step.who,
        action=step.name,
        comment=step.comment,
        before=before,
        after={name: plain(value) for name, value in differing.items()},
    )
    session.add(noted)
    live.publish(session, "alert", alert.id, alert.cluster_id)
    return noted


def close(session: Session, alert: Alert, because: ClosedBecause, now: datetime, *, who: str | None = None) -> None:
    note(
        session,
        alert,
        AlertStep(because, now, who),
        state=AlertState.CLOSED,
        state_before=alert.state,
        closed_because=because.value,
    )


def plain(value: object) -> Json | str | int | float | None:
    match value:
        case datetime():
            return value.isoformat()
        case str() | int() | float() | None:
            return value
        case _:
            return str(value)
