"""SQL of schedules and their firings."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, defer

from iotide_server.kit.db import Json, any_of, in_clusters, up_to
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.kit.quotas import ALL_PEOPLE, FIRINGS, AddedToday
from iotide_server.schedules.models import Firing, Schedule


def page(
    session: Session, visible: frozenset[int] | None, cluster_id: int | None, paging: PageRequest
) -> Slice[Schedule]:
    """Return schedules, newest first, without plans; `visible` None: of all clusters."""
    statement = select(Schedule).options(defer(Schedule.plan)).where(Schedule.removed_at.is_(None))
    statement = statement.where(*in_clusters(Schedule.cluster_id, visible, cluster_id))
    return newest_first(session, statement, Schedule.id, paging)


def plans(session: Session, schedule_ids: Collection[int], most_bytes: int) -> Mapping[int, Json | None]:
    """Return the plans by id; None for one with more bytes."""
    statement = select(Schedule.id, up_to(Schedule.plan, most_bytes).label("plan")).where(
        Schedule.id == any_of(schedule_ids)
    )
    return {row.id: row.plan for row in session.execute(statement)}


def locked(session: Session, schedule_id: int) -> Schedule | None:
    """Return the schedule, locked after any firing in progress."""
    statement = select(Schedule).where(Schedule.id == schedule_id).with_for_update()
    return session.scalar(statement.execution_options(populate_existing=True))


def locked_active_of(session: Session, user_id: int) -> Sequence[Schedule]:
    statement = select(Schedule).where(Schedule.owner_id == user_id, Schedule.state == "active").order_by(Schedule.id)
    return session.scalars(statement.with_for_update().execution_options(populate_existing=True)).all()


def lock_due(session: Session, now: datetime) -> Schedule | None:
    """Lock and return the next due schedule; skip locked ones."""
    # Clusters take turns, so that none waits behind all schedules of another: first the cluster that fired longest
    # ago, and in it the schedule that has been due longest.
    fired = and_(
        AddedToday.cluster_id == Schedule.cluster_id, AddedToday.kind == FIRINGS, AddedToday.user_id == ALL_PEOPLE
    )
    return session.scalar(
        select(Schedule)
        .outerjoin(AddedToday, fired)
        .where(Schedule.state == "active", Schedule.due_at <= now)
        .order_by(AddedToday.added_at.nulls_first(), Schedule.due_at, Schedule.id)
        .limit(1)
        .with_for_update(of=Schedule, skip_locked=True)
    )


def names_like(session: Session, cluster_id: int, name: str) -> set[str]:
    statement = select(Schedule.name).where(
        Schedule.cluster_id == cluster_id,
        Schedule.removed_at.is_(None),
        Schedule.name.startswith(name, autoescape=True),
    )
    return set(session.scalars(statement))


def add_firing(session: Session, schedule_id: int, planned_at: datetime, now: datetime) -> Firing | None:
    """Return None if there is one of that time."""
    statement = insert(Firing).values(schedule_id=schedule_id, planned_at=planned_at, fired_at=now)
    return session.scalar(statement.on_conflict_do_nothing().returning(Firing))


def last_campaign_waits(session: Session, schedule_id: int) -> bool:
    """Return true if runs of the last campaign wait, or if it may add runs after those that are active."""
    statement = text(
        "SELECT EXISTS (SELECT FROM run WHERE state = 'waiting' AND campaign_id = last.campaign_id)"
        " OR EXISTS (SELECT FROM adaptive_cell WHERE ended_at IS NULL AND campaign_id = last.campaign_id)"
        " FROM (SELECT campaign_id FROM firing WHERE schedule_id = :schedule_id AND campaign_id IS NOT NULL"
        "  ORDER BY id DESC LIMIT 1) AS last"
    )
    return bool(session.scalar(statement, {"schedule_id": schedule_id}))


def active_in(session: Session, cluster_id: int) -> int:
    statement = select(func.count()).where(Schedule.cluster_id == cluster_id, Schedule.state == "active")
    return session.scalar(statement) or 0


def firing_at(session: Session, schedule_id: int, planned_at: datetime) -> Firing:
    statement = select(Firing).where(Firing.schedule_id == schedule_id, Firing.planned_at == planned_at)
    return session.scalars(statement).one()


def firings(session: Session, schedule_id: int, paging: PageRequest) -> Slice[Firing]:
    return newest_first(session, select(Firing).where(Firing.schedule_id == schedule_id), Firing.id, paging)


def last_firings(session: Session, schedule_ids: Collection[int]) -> Mapping[int, Firing]:
    last = select(func.max(Firing.id)).where(Firing.schedule_id == any_of(schedule_ids)).group_by(Firing.schedule_id)
    return {firing.schedule_id: firing for firing in session.scalars(select(Firing).where(Firing.id.in_(last)))}
