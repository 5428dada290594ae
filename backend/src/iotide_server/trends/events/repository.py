"""SQL of events."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Row, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import CellTarget
from iotide_server.clusters.models import Node
from iotide_server.kit.db import any_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.results.models import Point, Series
from iotide_server.runs.models import Run
from iotide_server.targets.models import Target
from iotide_server.trends.events.schemas import EventFilter
from iotide_server.trends.models import Event, EventEffect

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('event', :cluster_id))")
_SCOPED: Final = text(
    """
    SELECT event.id FROM event
    WHERE cluster_id = :cluster_id AND kind = 'manual' AND at >= :first_at
      AND (node_ids = '{}' OR node_ids && CAST(:node_ids AS bigint[]))
      AND (target_ids = '{}' OR target_ids && CAST(:target_ids AS bigint[]))
    ORDER BY at DESC, id DESC LIMIT :most
    """
)
# A change is located to within three points; at the ends of the series the span is open.
_NEAR_CHANGES: Final = text(
    """
    SELECT change_point.id AS change_id, near.id AS event_id, near.total
    FROM change_point
    CROSS JOIN LATERAL (
        SELECT coalesce((SELECT at FROM point WHERE series_id = change_point.series_id AND at < change_point.previous_at
                         ORDER BY at DESC OFFSET 2 LIMIT 1), '-infinity') AS first_at,
               coalesce((SELECT at FROM point WHERE series_id = change_point.series_id AND at > change_point.at
                         ORDER BY at OFFSET 2 LIMIT 1), 'infinity') AS last_at
        OFFSET 0
    ) AS span
    CROSS JOIN LATERAL (
        SELECT event.id, event.at, count(*) OVER () AS total
        FROM event_effect JOIN event ON event.id = event_effect.event_id
        WHERE event_effect.series_id = change_point.series_id
          AND event.at > span.first_at AND event.since < span.last_at
        ORDER BY event.at DESC, event.id DESC LIMIT :most
    ) AS near
    WHERE change_point.id = ANY(:change_ids)
    ORDER BY change_point.id, near.at, near.id
    """
)

MOST_JUDGED: Final = 200
MOST_NEAR: Final = 20


def note(session: Session, seen: Event) -> int:
    """Store an event that runs detected, or narrow down that of another series; return its id."""
    session.execute(_LOCK, {"cluster_id": seen.cluster_id})
    alike = select(Event).where(
        Event.cluster_id == seen.cluster_id,
        Event.kind == seen.kind,
        Event.node_ids == seen.node_ids,
        Event.text == seen.text,
        Event.since < seen.at,
        Event.at > seen.since,
    )
    known = session.scalars(alike.order_by(Event.at).limit(1)).one_or_none()
    if known is None:
        known = seen
        session.add(known)
    else:
        known.since = max(known.since, seen.since)
        if seen.at < known.at:
            known.at, known.run_id = seen.at, seen.run_id
    session.flush()
    return known.id


def link(session: Session, event_ids: Collection[int], series_ids: Collection[int]) -> None:
    """Request that effects of events on series be judged."""
    rows = [{"event_id": event_id, "series_id": series_id} for event_id in event_ids for series_id in series_ids]
    if rows:
        session.execute(insert(EventEffect).on_conflict_do_nothing(), rows)


def link_user_events(session: Session, series: Series, first_at: datetime) -> None:
    """Link the newest MOST_JUDGED user events since the series' first point that concern it."""
    values = {
        "cluster_id": series.cluster_id,
        "first_at": first_at,
        "node_ids": series.node_ids,
        "target_ids": series.target_ids,
        "most": MOST_JUDGED,
    }
    link(session, session.scalars(_SCOPED, values).all(), [series.id])


def effects(session: Session, series_id: int) -> Sequence[Row[Event, EventEffect]]:
    """Return the newest MOST_JUDGED events of a series with effects, in time order."""
    statement = select(Event, EventEffect).join(EventEffect, EventEffect.event_id == Event.id)
    newest = statement.where(EventEffect.series_id == series_id).order_by(Event.at.desc(), Event.id.desc())
    return list(reversed(session.execute(newest.limit(MOST_JUDGED)).all()))


def judged_effects(session: Session, event_id: int) -> Sequence[Row[int, str, float | None]]:
    """Return the series, effect and p of those with enough points around the event."""
    columns = select(EventEffect.series_id, EventEffect.effect, EventEffect.p_value)
    judged = columns.where(EventEffect.event_id == event_id, EventEffect.p_value.is_not(None))
    return session.execute(judged.order_by(EventEffect.series_id)).all()


@dataclass(slots=True)
class NearEvents:
    shown: list[Event] = field(default_factory=list)
    more: int = 0


def events_near(session: Session, change_ids: Collection[int]) -> dict[int, NearEvents]:
    rows = session.execute(_NEAR_CHANGES, {"change_ids": list(change_ids), "most": MOST_NEAR}).all()
    events = {
        event.id: event
        for event in session.scalars(select(Event).where(Event.id == any_of({row.event_id for row in rows})))
    }
    near = {change_id: NearEvents() for change_id in change_ids}
    for row in rows:
        near[row.change_id].shown.append(events[row.event_id])
        near[row.change_id].more = max(0, row.total - MOST_NEAR)
    return near


def events_page(
    session: Session, visible: frozenset[int] | None, wanted: EventFilter, paging: PageRequest
) -> Slice[Event]:
    """Return the visible events (None: all), most recently added first."""
    statement = select(Event).where(*in_clusters(Event.cluster_id, visible, wanted.cluster_id))
    if wanted.node_id is not None:
        home = select(Node.cluster_id).where(Node.id == wanted.node_id).scalar_subquery()
        is_everywhere = (Event.node_ids == []) & (Event.target_ids == []) & (Event.cluster_id == home)
        statement = statement.where(Event.node_ids.contains([wanted.node_id]) | is_everywhere)
    if wanted.target_id is not None:
        home = select(Target.cluster_id).where(Target.id == wanted.target_id).scalar_subquery()
        is_everywhere = (Event.kind == "manual") & (Event.node_ids == []) & (Event.target_ids == [])
        # A detected event has the targets of its run.
        is_seen_there = Event.run_id.in_(
            select(Run.id)
            .join(CellTarget, CellTarget.cell_id == Run.cell_id)
            .where(CellTarget.target_id == wanted.target_id)
        )
        is_added_there = Event.target_ids.contains([wanted.target_id])
        statement = statement.where(Event.cluster_id == home, is_seen_there | is_added_there | is_everywhere)
    return newest_first(session, statement, Event.id, paging)


def series_touched(session: Session, event: Event) -> Sequence[int]:
    """Return the measured series that a user's event may concern."""
    statement = select(Series.id).where(
        Series.cluster_id == event.cluster_id, select(Point.id).where(Point.series_id == Series.id).exists()
    )
    if event.node_ids:
        statement = statement.where(Series.node_ids.overlap(event.node_ids))
    if event.target_ids:
        statement = statement.where(Series.target_ids.overlap(event.target_ids))
    return session.scalars(statement).all()
