"""Routes of the table of runs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Person, Viewer
from iotide_server.explorer import service, views
from iotide_server.explorer.schemas import (
    MOST_SERIES,
    ExplorerFilter,
    ExplorerPaging,
    ExplorerRun,
    KnownId,
    RunCount,
    SavedViewInput,
    SavedViewOutput,
    SavedViews,
    Sparklines,
)
from iotide_server.kit.pagination import Page
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(prefix="/explorer", tags=["explorer"], route_class=KnownCallerRoute)

Wanted = Annotated[ExplorerFilter, Depends()]


@router.get("/runs", summary="Search and sort runs")
def explore_runs(
    principal: Viewer, session: Tx, wanted: Wanted, paging: Annotated[ExplorerPaging, Depends()]
) -> Page[ExplorerRun]:
    """The runs that you may see, each with the number that it is known by."""
    return service.runs_page(session, principal, wanted, paging)


@router.get("/count", summary="Count runs")
def count_explored_runs(principal: Viewer, session: Tx, wanted: Wanted) -> RunCount:
    """How many runs the same search finds."""
    return service.count(session, principal, wanted)


@router.get("/sparklines", summary="Show the course of several series")
def list_sparklines(
    principal: Viewer,
    session: Tx,
    series_id: Annotated[list[KnownId], Query(min_length=1, max_length=MOST_SERIES, description="Which series")],
) -> Sparklines:
    """The newest points of each, in one answer; series that you may not see are left out."""
    return service.sparklines(session, principal, series_id)


@router.get("/views", summary="List your views of runs")
def list_saved_views(principal: Person, session: Tx) -> SavedViews:
    """Those that you keep, by name."""
    return SavedViews(items=[SavedViewOutput.model_validate(view) for view in views.list_views(session, principal)])


@router.post("/views", summary="Keep a view of runs", status_code=201, responses=errors(409))
def keep_saved_view(principal: Person, session: Tx, now: Now, body: SavedViewInput) -> SavedViewOutput:
    """It is yours alone; what it shows is looked up anew each time."""
    return SavedViewOutput.model_validate(views.keep_view(session, principal, body, now))


@router.put("/views/{view_id}", summary="Change a view of runs", responses=errors(404, 409))
def change_saved_view(principal: Person, session: Tx, view_id: Id, body: SavedViewInput) -> SavedViewOutput:
    """Another name, another choice, or both."""
    return SavedViewOutput.model_validate(views.change_view(session, principal, view_id, body))


@router.delete("/views/{view_id}", summary="Remove a view of runs", status_code=204, responses=errors(404))
def remove_saved_view(principal: Person, session: Tx, view_id: Id) -> None:
    """The runs stay."""
    views.remove_view(session, principal, view_id)
