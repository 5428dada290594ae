"""Routes of the table of runs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Person, Viewer
from iotide_server.explorer import search, service, views
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
from iotide_server.explorer.search import SearchResult
from iotide_server.kit.pagination import Page
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(prefix="/explorer", tags=["explorer"], route_class=KnownCallerRoute)

Wanted = Annotated[ExplorerFilter, Depends()]


@router.get("/runs", summary="Search and sort runs")
def explore_runs(
    principal: Viewer, session: Tx, wanted: Wanted, paging: Annotated[ExplorerPaging, Depends()]
) -> Page[ExplorerRun]:
    """Return the runs that you may see, each with its headline value."""
    return service.runs_page(session, principal, wanted, paging)


@router.get("/count", summary="Count runs")
def count_explored_runs(principal: Viewer, session: Tx, wanted: Wanted) -> RunCount:
    """Return the number of runs that the same search finds."""
    return service.count(session, principal, wanted)


@router.get("/sparklines", summary="Show sparklines of several series")
def list_sparklines(
    principal: Viewer,
    session: Tx,
    series_id: Annotated[list[KnownId], Query(min_length=1, max_length=MOST_SERIES, description="Ids of series")],
) -> Sparklines:
    """Return the newest points of each visible series."""
    return service.sparklines(session, principal, series_id)


@router.get("/search", summary="Search by name")
def search_names(
    principal: Viewer,
    session: Tx,
    text: Annotated[str, Query(min_length=1, max_length=100, examples=["c03"])],
) -> SearchResult:
    """Return clusters, nodes, targets, campaigns, schedules and series with these words, at most five of each."""
    return search.search(session, principal, text)


@router.get("/views", summary="List your views of runs")
def list_saved_views(principal: Person, session: Tx) -> SavedViews:
    """Return your saved views, by name."""
    return SavedViews(items=[SavedViewOutput.model_validate(view) for view in views.list_views(session, principal)])


@router.post("/views", summary="Save a view of runs", status_code=201, responses=errors(409))
def keep_saved_view(principal: Person, session: Tx, now: Now, body: SavedViewInput) -> SavedViewOutput:
    """Save a view of your own. It stores the search, not the result."""
    return SavedViewOutput.model_validate(views.keep_view(session, principal, body, now))


@router.put("/views/{view_id}", summary="Change a view of runs", responses=errors(404, 409))
def change_saved_view(principal: Person, session: Tx, view_id: Id, body: SavedViewInput) -> SavedViewOutput:
    """Change name or search of a view."""
    return SavedViewOutput.model_validate(views.change_view(session, principal, view_id, body))


@router.delete("/views/{view_id}", summary="Remove a view of runs", status_code=204, responses=errors(404))
def remove_saved_view(principal: Person, session: Tx, view_id: Id) -> None:
    """Remove a view; its runs stay."""
    views.remove_view(session, principal, view_id)
