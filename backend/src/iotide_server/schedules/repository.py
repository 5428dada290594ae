"""SQL of schedules and their firings."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, defer

from iotide_server.kit.db import Json, any_of, in_clusters, up_to
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.kit.quotas import EVERYBODY, FIRINGS, AddedToday
from iotide_server.schedules.models import Firing, Schedule


def page(
    session: Session, visible: frozenset[int] | None, cluster_id: int | None, paging: PageRequest
) -> Slice[Schedule]:
    """Return the schedules of the visible clusters (None: all), newest first, without their plans."""
    statement = select(Schedule).options(defer(Schedule.plan)).where(Schedule.removed_at.is_(None))
    statement = statement.where(*in_clusters(Schedule.cluster_id, visible, cluster_id))
    return newest_first(session, statement, Schedule.id, paging)


def plans(session: Session, schedule_ids: Collection[int], most_bytes: int) -> Mapping[int, Json | None]:
    """Return the plans of these schedules; None where one has more bytes."""
    statement = select(Schedule.id, up_to(Schedule.plan, most_bytes).label("plan")).where(
        Schedule.id == any_of(schedule_ids)
    )
    return {row.id: row.plan for row in session.execute(statement)}


def locked(session: Session, schedule_id: int) -> Schedule | None:
    """The schedule, its row locked until the end of the transaction; whoever fires it meanwhile is waited for."""
    statement = select(Schedule).where(Schedule.id == schedule_id).with_for_update()
    return session.scalar(statement.execution_options(populate_existing=True))


def locked_active_of(session: Session, user_id: int) -> Sequence[Schedule]:
    """What fires in the name of that user, locked as above."""
    statement = select(Schedule).where(Schedule.owner_id == user_id, Schedule.state == "active").order_by(Schedule.id)
    return session.scalars(statement.with_for_update().execution_options(populate_existing=True)).all()


def lock_due(session: Session, now: datetime) -> Schedule | None:
    """Lock the schedule whose turn it is; what others work on is passed over."""
    # Clusters take turns: the one that fired longest ago is first, so that its schedules do not wait behind all those
    # of another. Of one cluster's the schedule that has been due for longest is first.
    fired = and_(
        AddedToday.cluster_id == Schedule.cluster_id, AddedToday.kind == FIRINGS, AddedToday.user_id == EVERYBODY
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
    """The names of the cluster's schedules that begin so."""
    statement = select(Schedule.name).where(
        Schedule.cluster_id == cluster_id,
        Schedule.removed_at.is_(None),
        Schedule.name.startswith(name, autoescape=True),
    )
    return set(session.scalars(statement))


def add_firing(session: Session, schedule_id: int, planned_at: datetime, now: datetime) -> Firing | None:
    """A firing that has come to nothing yet; None where there is one of that moment."""
    statement = insert(Firing).values(schedule_id=schedule_id, planned_at=planned_at, fired_at=now)
    return session.scalar(statement.on_conflict_do_nothing().returning(Firing))


def last_campaign_waits(session: Session, schedule_id: int) -> bool:
    """Check that the last campaign of the schedule has runs that still wait."""
    statement = text(
        "SELECT EXISTS (SELECT FROM run WHERE state = 'waiting' AND campaign_id = ("
        "SELECT campaign_id FROM firing WHERE schedule_id = :schedule_id AND campaign_id IS NOT NULL"
        " ORDER BY id DESC LIMIT 1))"
    )
    return bool(session.scalar(statement, {"schedule_id": schedule_id}))


def active_in(session: Session, cluster_id: int) -> int:
    """Count the schedules of a cluster that fire, this transaction's own among them."""
    statement = select(func.count()).where(Schedule.cluster_id == cluster_id, Schedule.state == "active")
    return session.scalar(statement) or 0


def firing_at(session: Session, schedule_id: int, planned_at: datetime) -> Firing:
    """The firing of that moment, which there is."""
    statement = select(Firing).where(Firing.schedule_id == schedule_id, Firing.planned_at == planned_at)
    return session.scalars(statement).one()


def firings(session: Session, schedule_id: int, paging: PageRequest) -> Slice[Firing]:
    """What the schedule's firings came to, newest first."""
    return newest_first(session, select(Firing).where(Firing.schedule_id == schedule_id), Firing.id, paging)


def last_firings(session: Session, schedule_ids: Collection[int]) -> Mapping[int, Firing]:
    """By schedule, its last firing; without those that never fired."""
    last = select(func.max(Firing.id)).where(Firing.schedule_id == any_of(schedule_ids)).group_by(Firing.schedule_id)
    return {firing.schedule_id: firing for firing in session.scalars(select(Firing).where(Firing.id.in_(last)))}
