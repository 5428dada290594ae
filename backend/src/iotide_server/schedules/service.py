"""Create, change, pause, remove and run schedules."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts import repository as account_repository
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.plain import LISTED_PLAN_BYTES
from iotide_server.campaigns.planning import cluster_of, foresee
from iotide_server.campaigns.scratch.use import resolve_plan
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository as cluster_repository
from iotide_server.clusters import service as clusters
from iotide_server.kit.db import Json, savepoint
from iotide_server.kit.errors import IotideError, within
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.kit.quotas import QUOTA_REACHED, Addition, QuotaKind, check_day, count_day, quotas_of
from iotide_server.kit.wake import wake_scheduler
from iotide_server.schedules import models, repository
from iotide_server.schedules.calendar import Calendar
from iotide_server.schedules.errors import (
    SCHEDULE_ENDED,
    SCHEDULE_NAME_TAKEN,
    SCHEDULE_NOT_FOUND,
    never_fires,
)
from iotide_server.schedules.firing import calendar_of, plan_next, rest, submitted
from iotide_server.schedules.models import Firing
from iotide_server.schedules.schemas import (
    CalendarPreview,
    FiringOutput,
    ListedSchedule,
    PlannedFiring,
    ScheduleOutput,
)
from iotide_wire.schedule import Calendar as GivenCalendar
from iotide_wire.schedule import SchedulePlan

SHOWN_FIRINGS: Final = 5


def preview(given: GivenCalendar, now: datetime) -> CalendarPreview:
    """Raise an InvalidInputError for an invalid calendar."""
    calendar = Calendar.of(given)
    count = min(SHOWN_FIRINGS, given.max_firings or SHOWN_FIRINGS)
    firings = calendar.next_firings(now, count)
    if not firings:
        raise never_fires(given.ends_at)
    return CalendarPreview(cron=calendar.cron, words=calendar.words, firings=firings)


def list_schedules(
    session: Session, principal: Principal, cluster_id: int | None, paging: PageRequest
) -> Page[ListedSchedule]:
    rows = repository.page(session, principal.visible_clusters(), cluster_id, paging)
    plans = repository.plans(session, [row.id for row in rows.rows], LISTED_PLAN_BYTES)
    return Page(items=_shown(session, rows.rows, plans), next_cursor=rows.next_cursor)


def schedule(session: Session, principal: Principal, schedule_id: int) -> ScheduleOutput:
    """Return a schedule, also a removed one, which campaigns link to; raise SCHEDULE_NOT_FOUND."""
    row = session.get(models.Schedule, schedule_id)
    found = principal.require_row(Role.VIEWER, row, SCHEDULE_NOT_FOUND(schedule_id=schedule_id))
    (shown,) = _shown(session, [found], {found.id: found.plan})
    return ScheduleOutput(**dict(shown))


def firings(session: Session, principal: Principal, schedule_id: int, paging: PageRequest) -> Page[FiringOutput]:
    """Raise SCHEDULE_NOT_FOUND."""
    schedule(session, principal, schedule_id)
    return repository.firings(session, schedule_id, paging).page(FiringOutput.of)


def create(session: Session, principal: Principal, given: SchedulePlan, now: datetime) -> int:
    """Return the new id; raise for calendar, name, quota, or as submitting the plan does."""
    with within("plan"):
        resolved, _ = resolve_plan(session, principal, given.plan, is_scheduled=True)
        cluster = cluster_of(session, principal, resolved)
    added = Addition(QuotaKind.SCHEDULES, cluster.id, principal.user_id, now, field="plan.cluster")
    check_day(session, added)
    _require_room(session, cluster.id, "plan.cluster", further=1)
    calendar = Calendar.of(given)
    with within("plan"):
        foresee(session, cluster, resolved)
    made = models.Schedule(cluster_id=cluster.id, created_at=now, firings_made=0)
    _write(principal, made, given, calendar, now)
    _insert(session, made)
    count_day(session, added)
    _require_room(session, cluster.id, "plan.cluster")
    plan_next(made, made.planned_at)
    _announce(session, principal, made, "schedule_created", after=_summary(made))
    return made.id


def replace(session: Session, principal: Principal, schedule_id: int, given: SchedulePlan, now: datetime) -> None:
    """Replace schedule and owner; raise SCHEDULE_NOT_FOUND, or as `create` does."""
    changed = _own(session, principal, schedule_id)
    before, state_before, cluster_before = _summary(changed), changed.state, changed.cluster_id
    calendar = Calendar.of(given)
    with within("plan"):
        resolved, _ = resolve_plan(session, principal, given.plan, is_scheduled=True)
        cluster = cluster_of(session, principal, resolved)
        foresee(session, cluster, resolved)
    changed.cluster_id = cluster.id
    _write(principal, changed, given, calendar, now)
    with savepoint(session, SCHEDULE_NAME_TAKEN(name=given.name)):
        session.flush()
    plan_next(changed, changed.planned_at)
    if state_before == "paused":
        rest(changed, "paused")
    elif state_before == "ended" or changed.cluster_id != cluster_before:
        _require_room(session, changed.cluster_id, "plan.cluster")
    _announce(session, principal, changed, "schedule_changed", before=before, after=_summary(changed))


def duplicate(session: Session, principal: Principal, schedule_id: int, now: datetime) -> int:
    """Return the id of a paused copy for the caller; raise as `replace` does."""
    original = _own(session, principal, schedule_id)
    kept = ("cluster_id", "plan", "cron", "monthly", "time_zone", "random_offset_seconds", "ends_at", "max_firings")
    copy = models.Schedule(
        name=_free_name(session, original.cluster_id, original.name),
        owner_id=principal.user_id,
        missed=original.missed,
        state="paused",
        firings_made=0,
        created_at=now,
        **{field: getattr(original, field) for field in kept},
    )
    _insert(session, copy)
    count_day(session, Addition(QuotaKind.SCHEDULES, copy.cluster_id, copy.owner_id, now, field="schedule_id"))
    _announce(session, principal, copy, "schedule_created", after=_summary(copy))
    return copy.id


def pause(session: Session, principal: Principal, schedule_id: int) -> None:
    """Stop firing until resumed; raise SCHEDULE_NOT_FOUND or SCHEDULE_ENDED."""
    paused = _own(session, principal, schedule_id)
    if paused.state == "ended":
        raise SCHEDULE_ENDED(schedule_id=schedule_id)
    if paused.state == "active":
        _pause(session, principal, paused)


def pause_all_of(session: Session, principal: Principal, user_id: int) -> None:
    for row in repository.locked_active_of(session, user_id):
        _pause(session, principal, row, because="its owner was disabled")


def resume(session: Session, principal: Principal, schedule_id: int, now: datetime) -> None:
    """Raise SCHEDULE_NOT_FOUND, SCHEDULE_ENDED, QUOTA_REACHED or CLUSTER_IS_SAMPLE_DATA."""
    resumed = _own(session, principal, schedule_id)
    clusters.require_real(session, resumed.cluster_id, field="schedule_id")
    if resumed.state == "active":
        return
    before = _state(resumed, resumed.state)
    plan_next(resumed, calendar_of(resumed).after(now))
    if resumed.state != "active":
        raise SCHEDULE_ENDED(schedule_id=schedule_id)
    _require_room(session, resumed.cluster_id, "schedule_id")
    _announce(session, principal, resumed, "schedule_resumed", before=before, after=_state(resumed, "active"))


def run_now(session: Session, principal: Principal, schedule_id: int, now: datetime) -> Firing:
    """Submit the plan in the caller's name, in any state; raise SCHEDULE_NOT_FOUND, or as submitting does."""
    wanted = _own(session, principal, schedule_id)
    firing = repository.add_firing(session, schedule_id, now, now)
    if firing is None:
        return repository.firing_at(session, schedule_id, now)
    with within("plan"):
        firing.campaign_id = submitted(session, wanted, principal, now)
    firing.asked_by = principal.name
    session.flush()
    _announce(session, principal, wanted, "schedule_run", after={"campaign_id": firing.campaign_id})
    return firing


def remove(session: Session, principal: Principal, schedule_id: int, now: datetime) -> None:
    """Hide the schedule and delete its plan; its campaigns continue. Raise SCHEDULE_NOT_FOUND."""
    removed = _own(session, principal, schedule_id)
    before = _summary(removed)
    rest(removed, "ended")
    removed.removed_at, removed.plan = now, {}
    _announce(session, principal, removed, "schedule_removed", before=before)


def _own(session: Session, principal: Principal, schedule_id: int) -> models.Schedule:
    found = repository.locked(session, schedule_id)
    kept = None if found is None or found.removed_at is not None else found
    return principal.require_row(Role.OPERATOR, kept, SCHEDULE_NOT_FOUND(schedule_id=schedule_id))


def _write(principal: Principal, row: models.Schedule, given: SchedulePlan, calendar: Calendar, now: datetime) -> None:
    first = calendar.after(now)
    if first is None:
        raise never_fires(given.ends_at)
    row.owner_id, row.plan = principal.user_id, given.plan.model_dump(mode="json")
    row.cron, row.state = calendar.cron, "active"
    row.planned_at = row.due_at = first
    for field in ("name", "monthly", "time_zone", "random_offset_seconds", "ends_at", "max_firings", "missed"):
        setattr(row, field, getattr(given, field))


def _require_room(session: Session, cluster_id: int, field: str, further: int = 0) -> None:
    most = quotas_of(session).active_schedules
    count = repository.active_in(session, cluster_id) + further
    if count > most:
        remedy = "pause or remove unused schedules, or ask an admin to raise IOTIDE_QUOTA_ACTIVE_SCHEDULES"
        raise QUOTA_REACHED(what="active schedules in the cluster", count=count, most=most, field=field, remedy=remedy)


def _insert(session: Session, row: models.Schedule) -> None:
    with savepoint(session, SCHEDULE_NAME_TAKEN(name=row.name)):
        session.add(row)


def _free_name(session: Session, cluster_id: int, name: str) -> str:
    base = name[:58]
    taken = repository.names_like(session, cluster_id, base)
    return next(free for number in range(2, len(taken) + 3) if (free := f"{base}-{number}") not in taken)


def _announce(session: Session, principal: Principal, row: models.Schedule, name: str, **changes: Json) -> None:
    session.flush()
    live.record(session, principal, Action.on(name, row, **changes))
    wake_scheduler(session, "schedule")


def _pause(session: Session, principal: Principal, row: models.Schedule, **more: str) -> None:
    rest(row, "paused")
    before, after = _state(row, "active"), {**_state(row, "paused"), **more}
    _announce(session, principal, row, "schedule_paused", before=before, after=after)


def _state(row: models.Schedule, state: str) -> Json:
    return {"name": row.name, "state": state}


def _summary(row: models.Schedule) -> Json:
    return {"name": row.name, "cron": row.cron, "time_zone": row.time_zone, "campaign": row.plan["name"]}


def _shown(session: Session, rows: Sequence[models.Schedule], plans: Mapping[int, Json | None]) -> list[ListedSchedule]:
    cluster_names = cluster_repository.names_of(session, {row.cluster_id for row in rows})
    owners = account_repository.names_of(session, {row.owner_id for row in rows if row.owner_id is not None})
    last = repository.last_firings(session, [row.id for row in rows])
    return [
        ListedSchedule.of_row(
            row,
            cluster_name=cluster_names[row.cluster_id],
            owner=owners.get(row.owner_id) if row.owner_id is not None else None,
            plan=plans[row.id] or None,
            words=_words(row),
            next_firings=_next_firings(row),
            last_firing=FiringOutput.of(last[row.id]) if row.id in last else None,
        )
        for row in rows
    ]


def _words(row: models.Schedule) -> str:
    """Return a sentence, or the raw calendar if it cannot be read."""
    try:
        return calendar_of(row).words
    except IotideError:
        return f"{row.cron} in {row.time_zone} (no longer readable)"


def _next_firings(row: models.Schedule) -> list[PlannedFiring]:
    if row.planned_at is None:
        return []
    calendar = calendar_of(row)
    left = SHOWN_FIRINGS if row.max_firings is None else min(SHOWN_FIRINGS, row.max_firings - row.firings_made)
    planned = [row.planned_at, *calendar.next_firings(row.planned_at, SHOWN_FIRINGS - 1)][:left]
    return [PlannedFiring(planned_at=at, fires_at=calendar.due(row.id, at)) for at in planned]
