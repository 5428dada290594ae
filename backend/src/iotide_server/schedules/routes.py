"""Routes of schedules."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.schedules import service
from iotide_server.schedules.schemas import CalendarPreview, FiringOutput, ListedSchedule, ScheduleInput, ScheduleOutput
from iotide_wire.schedule import Calendar

router = APIRouter(tags=["schedules"], route_class=KnownCallerRoute)


@router.get("/schedules", summary="List schedules")
def list_schedules(
    principal: Viewer,
    session: Tx,
    paging: Paging,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only schedules of this cluster")] = None,
) -> Page[ListedSchedule]:
    """Return the schedules that you may see, newest first, without removed ones."""
    return service.list_schedules(session, principal, cluster_id, paging)


@router.post(
    "/schedules",
    summary="Create a schedule",
    status_code=201,
    responses=errors(404, 409, 429),
    dependencies=[ONE_HEAVY_REQUEST],
)
def create_schedule(principal: Operator, session: Tx, now: Now, body: ScheduleInput) -> ScheduleOutput:
    """Each firing submits this plan in your name. The plan must be valid now."""
    return service.schedule(session, principal, service.create(session, principal, body, now))


@router.post("/schedules/preview", summary="Preview a calendar")
def preview_schedule(principal: Operator, now: Now, body: Calendar) -> CalendarPreview:
    """Return the next five firings; nothing is stored."""
    del principal
    return service.preview(body, now)


@router.get("/schedules/{schedule_id}", summary="Show a schedule", responses=errors(404))
def get_schedule(principal: Viewer, session: Tx, schedule_id: Id) -> ScheduleOutput:
    """Return a schedule with its plan, its next starts and the last one."""
    return service.schedule(session, principal, schedule_id)


@router.put(
    "/schedules/{schedule_id}",
    summary="Change a schedule",
    responses=errors(404, 409, 429),
    dependencies=[ONE_HEAVY_REQUEST],
)
def change_schedule(principal: Operator, session: Tx, now: Now, schedule_id: Id, body: ScheduleInput) -> ScheduleOutput:
    """Replace the whole schedule; it submits in your name from then on.

    A paused schedule stays paused, an ended one starts again.
    """
    service.replace(session, principal, schedule_id, body, now)
    return service.schedule(session, principal, schedule_id)


@router.delete("/schedules/{schedule_id}", summary="Remove a schedule", status_code=204, responses=errors(404))
def remove_schedule(principal: Operator, session: Tx, now: Now, schedule_id: Id) -> None:
    """Stop all further firings. Its campaigns stay and continue."""
    service.remove(session, principal, schedule_id, now)


@router.get("/schedules/{schedule_id}/firings", summary="List the firings of a schedule", responses=errors(404))
def list_firings(principal: Viewer, session: Tx, paging: Paging, schedule_id: Id) -> Page[FiringOutput]:
    """Return the firings and their outcomes, newest first."""
    return service.firings(session, principal, schedule_id, paging)


@router.post("/schedules/{schedule_id}/pause", summary="Pause a schedule", responses=errors(404, 409))
def pause_schedule(principal: Operator, session: Tx, schedule_id: Id) -> ScheduleOutput:
    """Stop firing until the schedule is resumed. Missed firings are not caught up."""
    service.pause(session, principal, schedule_id)
    return service.schedule(session, principal, schedule_id)


@router.post("/schedules/{schedule_id}/resume", summary="Resume a schedule", responses=errors(404, 409))
def resume_schedule(principal: Operator, session: Tx, now: Now, schedule_id: Id) -> ScheduleOutput:
    """Fire again from the next planned firing on."""
    service.resume(session, principal, schedule_id, now)
    return service.schedule(session, principal, schedule_id)


@router.post(
    "/schedules/{schedule_id}/run",
    summary="Run a schedule now",
    status_code=201,
    responses=errors(404, 409, 429),
    dependencies=[ONE_HEAVY_REQUEST],
)
def run_schedule(principal: Operator, session: Tx, now: Now, schedule_id: Id) -> FiringOutput:
    """Submit its plan now, in your name. The calendar does not change."""
    return FiringOutput.of(service.run_now(session, principal, schedule_id, now))


@router.post(
    "/schedules/{schedule_id}/duplicate", summary="Duplicate a schedule", status_code=201, responses=errors(404, 409)
)
def duplicate_schedule(principal: Operator, session: Tx, now: Now, schedule_id: Id) -> ScheduleOutput:
    """Create a paused copy that you own, with another name."""
    return service.schedule(session, principal, service.duplicate(session, principal, schedule_id, now))
