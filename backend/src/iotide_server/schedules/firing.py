"""Firings: submit due plans in their owners' names."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import structlog
from psycopg.errors import QueryCanceled
from pydantic import ValidationError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from iotide_server.accounts.roles import authentication
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import service as campaigns
from iotide_server.change_feed import service as live
from iotide_server.kit.db import FIRING_STATEMENT_SECONDS, Database
from iotide_server.kit.errors import IotideError
from iotide_server.kit.quotas import count_firing
from iotide_server.kit.work import want_work
from iotide_server.kit.zones import zone_named
from iotide_server.schedules import repository
from iotide_server.schedules.calendar import LATE_AFTER, Calendar, Passed
from iotide_server.schedules.models import Firing, Schedule
from iotide_server.targets.agents import OVERSIGHT
from iotide_wire.plan import CampaignPlan
from iotide_wire.schedule import MissedFirings

FAILED_RESTS: Final = timedelta(minutes=10)
"""Pause after a failed firing, e.g. by a quota: firings block the schedules of all clusters."""

_log = structlog.get_logger(__name__)


def calendar_of(schedule: Schedule) -> Calendar:
    zone = zone_named(schedule.time_zone, field="time_zone")
    return Calendar(schedule.cron, zone, schedule.random_offset_seconds, schedule.ends_at)


def fire_due(
    database: Database,
    now: datetime,
    statement_seconds: float = FIRING_STATEMENT_SECONDS,
    *,
    running_since: datetime | None = None,
) -> bool:
    """Fire one due schedule, of the cluster that fired longest ago; return false if none is due."""
    # A plan with a statement longer than `statement_seconds` is not submitted. Firings that became due after
    # `running_since` (None: now) waited for others and do not count as missed.
    with database.transaction(statement_seconds=statement_seconds) as session:
        schedule = repository.lock_due(session, now)
        if schedule is None or schedule.planned_at is None:
            return False
        try:
            calendar = calendar_of(schedule)
            passed = calendar.passed(schedule.id, schedule.planned_at, now)
            missed = _missed(calendar, schedule, min(now, running_since or now))
        except IotideError as error:
            _stop(session, schedule, schedule.planned_at, error, now)
            return True
        is_late = min(now, running_since or now) - calendar.due(schedule.id, passed.last) > LATE_AFTER
        count_firing(session, schedule.cluster_id, now)
        firing = repository.add_firing(session, schedule.id, passed.last, now)
        if firing is not None:
            firing.missed = missed if is_late else min(missed, passed.count - 1)
            if is_late and schedule.missed == MissedFirings.SKIP:
                pass
            elif repository.last_campaign_waits(session, schedule.id):
                firing.missed = 0  # 0: skipped without being missed
            else:
                _submit(session, schedule, firing, now)
                schedule.firings_made += 1
                passed = _put_off(calendar, passed, firing, now)
            _log.info(
                "schedule_fired",
                schedule_id=schedule.id,
                campaign_id=firing.campaign_id,
                missed=firing.missed,
                problem=firing.problem,
            )
        plan_next(schedule, passed.following)
        want_work(session, OVERSIGHT, schedule.cluster_id, now)
        live.publish(session, "schedule", schedule.id, schedule.cluster_id)
        return True


def _missed(calendar: Calendar, schedule: Schedule, since: datetime) -> int:
    if schedule.planned_at is None or calendar.due(schedule.id, schedule.planned_at) > since:
        return 0
    return calendar.passed(schedule.id, schedule.planned_at, since).count


def _put_off(calendar: Calendar, passed: Passed, firing: Firing, now: datetime) -> Passed:
    earliest = now + FAILED_RESTS
    if firing.problem is None or passed.following is None or passed.following >= earliest:
        return passed
    firing.problem += f"; the next firing is at least {FAILED_RESTS.seconds // 60} minutes later"
    return replace(passed, following=calendar.after(earliest))


def rest(schedule: Schedule, state: str) -> None:
    schedule.state, schedule.planned_at, schedule.due_at = state, None, None


def _stop(session: Session, schedule: Schedule, planned_at: datetime, error: IotideError, now: datetime) -> None:
    """Pause a schedule whose calendar cannot be read, e.g. after its time zone was abolished."""
    firing = repository.add_firing(session, schedule.id, planned_at, now)
    if firing is not None:
        firing.problem = f"{error.message}; save the schedule with another calendar and resume it"
    rest(schedule, "paused")
    _log.warning("calendar_unreadable", schedule_id=schedule.id, problem=error.message)
    live.publish(session, "schedule", schedule.id, schedule.cluster_id)


def plan_next(schedule: Schedule, planned_at: datetime | None) -> None:
    is_over = schedule.max_firings is not None and schedule.firings_made >= schedule.max_firings
    if planned_at is None or is_over:
        rest(schedule, "ended")
    else:
        schedule.state, schedule.planned_at = "active", planned_at
        schedule.due_at = calendar_of(schedule).due(schedule.id, planned_at)


def _submit(session: Session, schedule: Schedule, firing: Firing, now: datetime) -> None:
    """Submit the plan, or record why that failed."""
    why = f"schedule {schedule.name}"
    owner = authentication.on_behalf_of(session, schedule.owner_id, why)
    if owner is None:
        firing.problem = "the schedule's owner is deleted or disabled; save the schedule as another user"
        return
    try:
        with session.begin_nested():
            firing.campaign_id = submitted(session, schedule, owner, now)
    except IotideError as error:
        words = f"{error.message}; {error.remedy}" if error.remedy else error.message
        firing.problem = words.replace(owner.name, "the schedule's owner")
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        firing.problem = f"plan.{field}: {first['msg']}; correct the plan and save the schedule"
    except (OperationalError, InterfaceError) as error:
        if not isinstance(error.orig, QueryCanceled):
            raise  # database error: repeat the whole firing
        firing.problem = "storing its runs took longer than a request may take; sweep fewer values or name fewer nodes"
    except Exception:  # noqa: BLE001 - a bug met by one plan must not keep all other runs from starting
        _log.exception("firing_failed", schedule_id=schedule.id)
        firing.problem = "internal error, see the server's log; run the schedule now to try again"


def submitted(session: Session, schedule: Schedule, principal: Principal, now: datetime) -> int:
    plan = CampaignPlan.model_validate(schedule.plan)
    return campaigns.submit(session, principal, plan, None, now).campaign_id
