"""Which changes of a series belong to which incident."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.alerts import repository
from iotide_server.alerts.incidents import repository as incidents
from iotide_server.alerts.incidents.causes import nearest_event
from iotide_server.alerts.incidents.lifecycle import IncidentState
from iotide_server.alerts.incidents.notifying import want_message
from iotide_server.alerts.journal import JOINED, AlertStep, note
from iotide_server.alerts.lifecycle import AlertState
from iotide_server.alerts.models import Alert, Incident, IncidentChange
from iotide_server.kit.db import transaction_time
from iotide_server.kit.work import want_all
from iotide_server.results.models import Series
from iotide_server.statistics.shifts import Direction
from iotide_server.trends.changes.recoveries import direction_of
from iotide_server.trends.events.repository import events_near
from iotide_server.trends.models import ChangePoint, Event
from iotide_server.trends.points.service import ALERTS

INCIDENTS: Final = "incidents"
"""Kind of work, requested by the migration that brought incidents; the key is always 0."""

_KINDS: Final = {
    Direction.WORSE: "change",
    Direction.BETTER: "better",
    Direction.RECOVERED: "better",
    Direction.NEITHER: "neither",
}
_JOINS: Final = {
    "change": ("change", "neither"),
    "better": ("better", "neither"),
    "neither": ("change", "better", "neither"),
    "missing": ("missing",),
}


@dataclass(frozen=True, slots=True)
class Placing:
    """A series whose confirmed changes and alerts get their incidents."""

    session: Session
    series: Series
    changes: Sequence[ChangePoint]  # in time order
    alerts: Sequence[Alert]
    now: datetime
    homes: dict[int, int] = field(default_factory=dict)  # incident of each change


def request_incidents(session: Session, key: int) -> None:
    """Request the alerts of every series that has confirmed changes or alerts. Safe to repeat."""
    del key
    want_all(session, ALERTS, incidents.series_to_place(session), transaction_time(session))


def place(placing: Placing) -> None:
    """Put the confirmed changes of a series into incidents, and settle these. Safe to repeat."""
    session, series = placing.session, placing.series
    listed = [one for one in placing.changes if is_confirmed(one)]
    if not listed and all(alert.group_id is None for alert in placing.alerts):
        return
    incidents.lock(session, series.cluster_id)
    placing.homes.update(incidents.homes(session, [one.id for one in placing.changes]))
    touched = {*placing.homes.values()}
    near = events_near(session, [one.id for one in listed])
    alerts = {alert.change_point_id: alert for alert in placing.alerts}
    for change in listed:
        _place(placing, change, alerts.get(change.id), nearest_event(change, near[change.id].shown))
    touched |= {*placing.homes.values(), *(alert.group_id for alert in placing.alerts if alert.group_id is not None)}
    incidents.settle(session, touched)


def join(session: Session, alert: Alert, series: Series, now: datetime) -> None:
    """Put the alert of a stale series into its incident."""
    incidents.lock(session, alert.cluster_id)
    near = repository.Window(alert.at, alert.window_from, alert.window_until)
    incident = _found(Placing(session, series, (), (), now), "missing", near, None)
    _enter(session, alert, incident, now)
    incidents.settle(session, {incident.id})


def is_confirmed(change: ChangePoint) -> bool:
    """Check that a change is confirmed, and present or over."""
    return change.confirmed_at is not None and (change.gone_at is None or change.over_at is not None)


def _place(placing: Placing, change: ChangePoint, alert: Alert | None, cause: Event | None) -> None:
    session = placing.session
    home = placing.homes.get(change.id)
    wanted = _home(placing, change, alert)
    if wanted is None and home is None:
        near = repository.window(session, placing.series.id, change.at)
        kind = _KINDS[direction_of(change, placing.series.better)]
        wanted = _found(placing, kind, near, cause).id
    if wanted is not None and wanted != home:
        session.merge(IncidentChange(change_point_id=change.id, incident_id=wanted))
        session.flush()
        placing.homes[change.id] = wanted
    incident = session.get_one(Incident, placing.homes[change.id])
    if alert is not None and alert.group_id is None:
        _enter(session, alert, incident, placing.now)
    if cause is not None and incident.event_id is None:
        incident.event_id = cause.id
    session.flush()


def _home(placing: Placing, change: ChangePoint, alert: Alert | None) -> int | None:
    """Return the known incident of a change: of its alert, of the change that it ends, or of its accepted level."""
    if alert is not None:
        return alert.group_id
    match direction_of(change, placing.series.better):
        case Direction.BETTER | Direction.RECOVERED:
            ended = (one.id for one in placing.changes if _is_ended_by(one, change))
            return next((placing.homes[one] for one in ended if one in placing.homes), None)
        case Direction.WORSE:
            # A change for the worse without an alert returns to an accepted level.
            accepted = [one for one in placing.alerts if one.baseline_at is not None and one.at < change.at]
            return max(accepted, key=lambda one: one.baseline_at or one.at).group_id if accepted else None
        case Direction.NEITHER:
            return None


def _is_ended_by(earlier: ChangePoint, change: ChangePoint) -> bool:
    is_partly = change.is_recovery and earlier.at == change.healthy_until and earlier.id != change.id
    return earlier.recovered_by_id == change.id or is_partly


def _found(placing: Placing, kind: str, near: repository.Window, cause: Event | None) -> Incident:
    """Return the incident of the same event, or of related series at that time, or a new one."""
    session, series = placing.session, placing.series
    known = incidents.related(session, series, _JOINS[kind], near, None if cause is None else cause.id)
    if known is not None:
        known.node_ids = [node_id for node_id in known.node_ids if node_id in series.node_ids]
        return known
    made = Incident(
        cluster_id=series.cluster_id,
        kind=kind,
        at=near.at,
        window_from=near.first_at,
        window_until=near.last_at,
        node_ids=series.node_ids,
        is_environment=False,
        created_at=placing.now,
        state=IncidentState.OPEN.value,
    )
    session.add(made)
    session.flush()
    return made


def _enter(session: Session, alert: Alert, incident: Incident, now: datetime) -> None:
    alert.group_id = incident.id
    session.flush()
    if incident.state == IncidentState.ACKNOWLEDGED and alert.state == AlertState.UNTRIAGED:
        changes = {"state": AlertState.ACKNOWLEDGED.value, "owner_id": incident.owner_id}
        note(session, alert, AlertStep(JOINED, now), **changes)
    if alert.rule_id is not None:
        want_message(session, incident, now)
