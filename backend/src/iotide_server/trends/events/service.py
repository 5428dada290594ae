"""Events that users add."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.kit.db import Json
from iotide_server.kit.errors import ErrorKind, InvalidInputError
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.kit.quotas import Addition, QuotaKind, check_day, count_day
from iotide_server.kit.work import want_all
from iotide_server.targets import service as targets
from iotide_server.trends.events import repository
from iotide_server.trends.events.schemas import EventFilter, EventInput
from iotide_server.trends.models import Event
from iotide_server.trends.points.service import ANALYSIS

EVENT_NOT_FOUND = ErrorKind(404, "event_not_found", field="event_id").says("there is no event {event_id}")
EVENT_SEEN = ErrorKind(409, "event_seen", field="event_id").says(
    "event {event_id} was detected by runs", "only events that users added can be removed"
)


def list_events(session: Session, principal: Principal, wanted: EventFilter, paging: PageRequest) -> Slice[Event]:
    return repository.events_page(session, principal.visible_clusters(), wanted, paging)


def add(session: Session, principal: Principal, wanted: EventInput, now: datetime) -> Event:
    """Add a user's event and request the analysis of the series it may concern.

    Raises:
        CLUSTER_NOT_FOUND, NODE_NOT_FOUND, TARGET_NOT_FOUND: unknown or not visible.
        QUOTA_REACHED: too many events today.
        InvalidInputError: the event is in the future.
    """
    cluster = clusters.cluster_named(session, principal, wanted.cluster, Role.OPERATOR, field="cluster")
    added = Addition(QuotaKind.EVENTS, cluster.id, principal.user_id, now)
    check_day(session, added)
    at = wanted.at or now
    if at > now:
        raise InvalidInputError(
            "at: the event is in the future",
            field="at",
            value=at.isoformat(),
            remedy="choose an earlier time",
        )
    nodes = clusters.nodes_named(session, cluster.id, wanted.nodes, field="nodes")
    views = targets.targets_named(session, cluster.id, wanted.targets, field="targets")
    event = Event(
        cluster_id=cluster.id,
        kind="manual",
        since=at,
        at=at,
        text=wanted.text,
        node_ids=sorted(node.id for node in nodes),
        target_ids=sorted(view.target.id for view in views),
        told_by=principal.name,
        created_at=now,
    )
    session.add(event)
    session.flush()
    audit.record(session, principal, Action("event_told", "event", event.id, cluster.id, after=_summary(event)))
    want_all(session, ANALYSIS, repository.series_touched(session, event), now)
    count_day(session, added)
    return event


def remove(session: Session, principal: Principal, event_id: int, now: datetime) -> None:
    """Remove a user's event; raises EVENT_NOT_FOUND, or EVENT_SEEN for a detected one."""
    event = principal.require_row(Role.OPERATOR, session.get(Event, event_id), EVENT_NOT_FOUND(event_id=event_id))
    if event.kind != "manual":
        raise EVENT_SEEN(event_id=event_id)
    touched = repository.series_touched(session, event)
    audit.record(session, principal, Action("event_removed", "event", event.id, event.cluster_id, _summary(event)))
    session.delete(event)
    session.flush()
    want_all(session, ANALYSIS, touched, now)


def _summary(event: Event) -> Json:
    return {
        "at": event.at.isoformat(),
        "text": event.text,
        "node_ids": event.node_ids,
        "target_ids": event.target_ids,
    }
