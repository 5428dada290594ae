from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.kit.files import FILES, FileFormat, WrittenAs, as_file
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.trends.comparison import service as comparison
from iotide_server.trends.comparison.schemas import CampaignComparison, Side, SidesChoice, SidesComparison
from iotide_server.trends.events import service as events
from iotide_server.trends.events.schemas import EventFilter, EventInput, EventOutput
from iotide_server.trends.peers import service as peers
from iotide_server.trends.peers.schemas import Peers
from iotide_server.trends.peers.service import PeerChoice
from iotide_server.trends.points import service
from iotide_server.trends.points.service import point_columns
from iotide_server.trends.schemas import ChangeFilter, NamedChange, Points, SeriesAnalysis, SpanChoice

KnownId = Annotated[int, Field(ge=1, le=LARGEST_ID, examples=[1])]

router = APIRouter(tags=["trends"], route_class=KnownCallerRoute)


@router.get("/series/{series_id}/points", summary="Show the trend of a series", responses=errors(404))
def get_series_points(
    principal: Viewer, session: Tx, now: Now, series_id: Id, wanted: Annotated[SpanChoice, Depends()]
) -> Points:
    """Return the points of a series, oldest first: the median of a cell's valid runs, with range.

    `failures` are failed runs that left the series without a point. `points` thins the series but keeps its extremes;
    `left_out` counts the omitted points.
    """
    return service.series_points(session, principal, series_id, wanted, now)


@router.get(
    "/points", summary="Show the trends of several series", response_model=list[Points], responses=errors(404) | FILES
)
def list_points(
    principal: Viewer,
    session: Tx,
    now: Now,
    wanted: Annotated[SpanChoice, Depends()],
    series_id: Annotated[list[KnownId], Query(min_length=1, max_length=service.MOST_SERIES)],
    written_as: WrittenAs = FileFormat.JSON,
) -> list[Points] | Response:
    """Return what `/series/{id}/points` returns, for each series. CSV and Parquet have one row per point."""
    found = service.points_of_series(session, principal, series_id, wanted, now)
    return found if written_as is FileFormat.JSON else as_file(point_columns(found), written_as, "points")


@router.get("/series/{series_id}/analysis", summary="Show the analysis of a series", responses=errors(404))
def get_series_analysis(principal: Viewer, session: Tx, series_id: Id) -> SeriesAnalysis:
    """Return changes of level or the drift, with their statistics."""
    return service.series_analysis(session, principal, series_id)


@router.get("/changes", summary="List changes")
def list_changes(
    principal: Viewer, session: Tx, paging: Paging, wanted: Annotated[ChangeFilter, Depends()]
) -> Page[NamedChange]:
    """Return confirmed changes, most recently found first."""
    return service.list_changes(session, principal, wanted, paging)


@router.get("/trend-events", summary="List events")
def list_events(
    principal: Viewer, session: Tx, paging: Paging, wanted: Annotated[EventFilter, Depends()]
) -> Page[EventOutput]:
    """Return events that runs detected or users added, most recently added first."""
    return events.list_events(session, principal, wanted, paging).page(EventOutput.model_validate)


@router.post("/trend-events", summary="Add an event", status_code=201, responses=errors(404, 409))
def create_event(principal: Operator, session: Tx, now: Now, body: EventInput) -> EventOutput:
    """Add an event. Its effect on each series it may concern is evaluated after four points and again after eight."""
    return EventOutput.model_validate(events.add(session, principal, body, now))


@router.delete("/trend-events/{event_id}", summary="Remove an event", status_code=204, responses=errors(404, 409))
def remove_event(principal: Operator, session: Tx, now: Now, event_id: Id) -> None:
    """Remove a user's event. Events that runs detected cannot be removed."""
    events.remove(session, principal, event_id, now)


@router.get(
    "/comparison", summary="Compare two campaigns", responses=errors(404, 429), dependencies=[ONE_HEAVY_REQUEST]
)
def get_comparison(
    principal: Viewer,
    session: Tx,
    a: Annotated[KnownId, Query(description="Campaign A")],
    b: Annotated[KnownId, Query(description="Campaign B")],
    a_cell: Annotated[KnownId | None, Query(description="Ordinal of a single cell of A")] = None,
    b_cell: Annotated[KnownId | None, Query(description="Ordinal of a single cell of B")] = None,
) -> CampaignComparison:
    """Return pairs of matching cells with their differences in setup and the verdict on each metric."""
    return comparison.compare_campaigns(session, principal, Side("a", a, a_cell), Side("b", b, b_cell))


@router.get(
    "/comparison/sides", summary="Compare several sides", responses=errors(404, 429), dependencies=[ONE_HEAVY_REQUEST]
)
def get_sides(principal: Viewer, session: Tx, wanted: Annotated[SidesChoice, Depends()]) -> SidesComparison:
    """Compare file systems, clusters, options or single cells with one baseline."""
    return comparison.compare_sides(session, principal, wanted)


@router.get("/clusters/{cluster_id}/peers", summary="Find outliers among peers", responses=errors(404))
def get_cluster_peers(
    principal: Viewer, session: Tx, cluster_id: Id, wanted: Annotated[PeerChoice, Depends()]
) -> Peers:
    """Compare nodes of equal hardware, targets of one kind, or OSTs of one file system."""
    return peers.cluster_peers(session, principal, cluster_id, wanted)
