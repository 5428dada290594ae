"""What becomes of an alert, written down in the transaction in which it happens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.alerts.lifecycle import AlertState, ClosedBecause
from iotide_server.alerts.models import Alert, AlertAction
from iotide_server.change_feed import service as live
from iotide_server.kit.db import Json

SILENT: Final = "silent"  # the deed that begins the alert of a stale series; its comment says why there is no data


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that becomes of an alert."""

    name: str  # a `lifecycle.Move`, a `lifecycle.News`, a `lifecycle.ClosedBecause`, or another word for it
    at: datetime
    who: str | None = None  # a person; None: it came by itself
    comment: str = ""


def note(session: Session, alert: Alert, deed: Deed, **changes: object) -> AlertAction:
    """Write new values by column into the alert, and that they were changed; browsers hear of it."""
    differing = {name: value for name, value in changes.items() if getattr(alert, name) != value}
    before = {name: _plain(getattr(alert, name)) for name in differing}
    for name, value in differing.items():
        setattr(alert, name, value)
    session.flush()
    noted = AlertAction(
        alert_id=alert.id,
        at=deed.at,
        who=deed.who,
        action=deed.name,
        comment=deed.comment,
        before=before,
        after={name: _plain(value) for name, value in differing.items()},
    )
    session.add(noted)
    live.publish(session, "alert", alert.id, alert.cluster_id)
    return noted


def close(session: Session, alert: Alert, because: ClosedBecause, now: datetime, *, who: str | None = None) -> None:
    """End it without anybody's judgement."""
    note(
        session,
        alert,
        Deed(because, now, who),
        state=AlertState.CLOSED,
        state_before=alert.state,
        closed_because=because.value,
    )


def _plain(value: object) -> Json | str | int | float | None:
    match value:
        case datetime():
            return value.isoformat()
        case str() | int() | float() | None:
            return value
        case _:
            return str(value)
