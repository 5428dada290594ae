"""Firings: what is due becomes a campaign in its owner's name, each in a transaction of its own."""

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
"""A schedule whose firing failed, as by a quota, does not fire again sooner: the schedules of all clusters wait."""

_log = structlog.get_logger(__name__)


def calendar_of(schedule: Schedule) -> Calendar:
    """The calendar of a stored schedule."""
    zone = zone_named(schedule.time_zone, field="time_zone")
    return Calendar(schedule.cron, zone, schedule.random_offset_seconds, schedule.ends_at)


def fire_due(
    database: Database,
    now: datetime,
    statement_seconds: float = FIRING_STATEMENT_SECONDS,
    *,
    running_since: datetime | None = None,
) -> bool:
    """Fire a due schedule, of the cluster that fired longest ago, and return whether there was any."""
    # A plan of which a statement takes longer than `statement_seconds` is not submitted. What became due after
    # `running_since` (None: now) only stood behind others, and was not missed.
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
                firing.missed = 0  # what distinguishes it from one that nobody was there to fire
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
    """Count the firings that were due before the scheduler ran."""
    if schedule.planned_at is None or calendar.due(schedule.id, schedule.planned_at) > since:
        return 0
    return calendar.passed(schedule.id, schedule.planned_at, since).count


def _put_off(calendar: Calendar, passed: Passed, firing: Firing, now: datetime) -> Passed:
    """Return a later next firing after one that failed, and say so: each attempt takes the scheduler's time."""
    earliest = now + FAILED_RESTS
    if firing.problem is None or passed.following is None or passed.following >= earliest:
        return passed
    firing.problem += f"; the schedule rests for {FAILED_RESTS.seconds // 60} minutes"
    return replace(passed, following=calendar.after(earliest))


def rest(schedule: Schedule, state: str) -> None:
    """The schedule without a next firing, paused or at its end."""
    schedule.state, schedule.planned_at, schedule.due_at = state, None, None


def _stop(session: Session, schedule: Schedule, planned_at: datetime, error: IotideError, now: datetime) -> None:
    """Pause what has a calendar that cannot be read any more, as by a time zone that was abolished, and say why."""
    firing = repository.add_firing(session, schedule.id, planned_at, now)
    if firing is not None:
        firing.problem = f"{error.message}; save the schedule with another calendar, and resume it"
    rest(schedule, "paused")
    _log.warning("calendar_unreadable", schedule_id=schedule.id, problem=error.message)
    live.publish(session, "schedule", schedule.id, schedule.cluster_id)


def plan_next(schedule: Schedule, planned_at: datetime | None) -> None:
    """The schedule with its next firing by the calendar, or at its end."""
    is_over = schedule.max_firings is not None and schedule.firings_made >= schedule.max_firings
    if planned_at is None or is_over:
        rest(schedule, "ended")
    else:
        schedule.state, schedule.planned_at = "active", planned_at
        schedule.due_at = calendar_of(schedule).due(schedule.id, planned_at)


def _submit(session: Session, schedule: Schedule, firing: Firing, now: datetime) -> None:
    """Submit the plan; what keeps it from that is written down, and the schedule goes on."""
    why = f"schedule {schedule.name}"
    owner = authentication.on_behalf_of(session, schedule.owner_id, why)
    if owner is None:
        firing.problem = "the person in whose name it submits is gone or shut out; save the schedule as somebody else"
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
        firing.problem = f"plan.{field}: {first['msg']}; save the schedule anew"
    except (OperationalError, InterfaceError) as error:
        if not isinstance(error.orig, QueryCanceled):
            raise  # the database was away or had to choose between two: all of the firing is done again
        firing.problem = "storing its runs took longer than a request may take; sweep fewer values, or name fewer nodes"
    except Exception:  # noqa: BLE001 - a fault of ours in one plan must not keep all other runs from starting
        _log.exception("firing_failed", schedule_id=schedule.id)
        firing.problem = "the server met a fault of its own, which its log tells; run the schedule now to try again"


def submitted(session: Session, schedule: Schedule, principal: Principal, now: datetime) -> int:
    """Return the campaign that the plan becomes; raise IotideError, or ValidationError for one of another release."""
    plan = CampaignPlan.model_validate(schedule.plan)
    return campaigns.submit(session, principal, plan, None, now).campaign_id
