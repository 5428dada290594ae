"""Routes of results."""

from typing import Annotated, Final

from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import DATABASE
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import ONE_AT_A_TIME, Id, Now, Tx, errors
from iotide_server.results import reading
from iotide_server.results.ingest import rereading
from iotide_server.results.ingest.limits import REPORT_LIMITS
from iotide_server.results.schemas import (
    ArtefactOutput,
    CounterName,
    Curve,
    ReadingDetail,
    RunDetail,
    SampleOutput,
    SeriesFilter,
    SeriesOutput,
)
from iotide_server.runs.schemas import OptionalId
from iotide_wire.reading import RunReading

RAW_OUTPUT: Final[AppValue[CapacityLimiter]] = AppValue("raw_output")

router = APIRouter(tags=["results"], route_class=KnownCallerRoute)


@router.get("/series", summary="List series")
def list_series(
    principal: Viewer, session: Tx, paging: Paging, wanted: Annotated[SeriesFilter, Depends()]
) -> Page[SeriesOutput]:
    """Return the series that you may see, newest first."""
    return reading.list_series(session, principal, wanted, paging).page(SeriesOutput.model_validate)


@router.get("/series/{series_id}", summary="Show a series", responses=errors(404))
def get_series(principal: Viewer, session: Tx, series_id: Id) -> SeriesOutput:
    """Return one series. Its points are at `/series/{id}/points`."""
    return reading.series(session, principal, series_id)


@router.get("/samples", summary="List samples")
def list_samples(
    principal: Viewer, session: Tx, paging: Paging, run_id: OptionalId = None, series_id: OptionalId = None
) -> Page[SampleOutput]:
    """Return single values, newest first. `/campaigns/{id}/samples.csv` has all values of a campaign."""
    samples = reading.list_samples(session, principal, paging, run_id=run_id, series_id=series_id)
    return samples.page(SampleOutput.model_validate)


@router.get("/runs/{run_id}", tags=["runs"], summary="Show a run", responses=errors(404))
def get_run(principal: Viewer, session: Tx, now: Now, run_id: Id) -> RunDetail:
    """Return a run with its attempts, exact commands, environment and values."""
    return reading.run_detail(session, principal, run_id, now)


@router.get(
    "/runs/{run_id}/curves",
    summary="Show the curves of a run",
    responses=errors(404),
    dependencies=[ONE_AT_A_TIME],
)
def list_run_curves(
    principal: Viewer,
    session: Tx,
    run_id: Id,
    max_points: Annotated[int, Query(ge=1, le=10_000, description="Maximum number of values per curve")] = 600,
    counter: Annotated[
        list[CounterName] | None, Query(max_length=100, description="Return only these counters", examples=[["load1"]])
    ] = None,
) -> Page[Curve]:
    """Return per-second values, or means of equal spans if there are more than `max_points`.

    Answers above 8,000 stored pieces of 600 values, or a million points, are rejected with 422.
    """
    return Page(items=reading.run_curves(session, principal, run_id, max_points, counter), next_cursor=None)


@router.get("/runs/{run_id}/counters", tags=["runs"], summary="List the counters of a run", responses=errors(404))
def list_run_counters(principal: Viewer, session: Tx, run_id: Id) -> Page[str]:
    """Return the names of the counters with curves. They depend on the node's kernel and file systems."""
    return Page(items=list(reading.run_counters(session, principal, run_id)), next_cursor=None)


@router.post(
    "/runs/{run_id}/readings",
    summary="Replace the reading of a run",
    responses=errors(404, 409, 429),
    dependencies=[ONE_HEAVY_REQUEST],
)
def read_run_again(
    principal: Operator, session: Tx, now: Now, request: Request, run_id: Id, body: RunReading
) -> RunDetail:
    """Replace the current values by those that a fixed parser read from the raw output.

    `iotide run reparse` calls this. The former values stay readable. Sending the same reading again changes nothing.
    Each order keeps the node's own reading and the 19 newest ones.
    """
    rereading.read_again(session, principal, run_id, body, now, limits=REPORT_LIMITS.of(request.app.state))
    return reading.run_detail(session, principal, run_id, now)


@router.get("/readings/{reading_id}", summary="Show a reading", responses=errors(404))
def get_reading(principal: Viewer, session: Tx, reading_id: Id) -> ReadingDetail:
    """Return the values of a reading, also after a newer one replaced them."""
    return rereading.reading(session, principal, reading_id)


@router.get("/runs/{run_id}/artefacts", summary="List the raw output of a run", responses=errors(404))
def list_run_artefacts(principal: Viewer, session: Tx, run_id: Id) -> Page[ArtefactOutput]:
    """Return the output files of the tools, by order and name."""
    artefacts = reading.run_artefacts(session, principal, run_id)
    return Page(items=[ArtefactOutput.model_validate(artefact) for artefact in artefacts], next_cursor=None)


@router.get(
    "/artefacts/{artefact_id}",
    summary="Fetch raw output",
    response_class=StreamingResponse,
    responses={
        **errors(404),
        200: {"content": {"text/plain": {"schema": {"type": "string"}, "example": "1024+0 records in\n"}}},
    },
)
def get_artefact(principal: Viewer, session: Tx, request: Request, artefact_id: Id) -> StreamingResponse:
    """Return the bytes as the tool wrote them, as a download."""
    artefact, start = reading.artefact_start(session, principal, artefact_id)
    headers = {
        "Content-Disposition": f'attachment; filename="{artefact.name}"',
        "Content-Length": str(artefact.size_bytes),
        "X-Content-Type-Options": "nosniff",
    }
    state = request.app.state
    pieces = reading.artefact_pieces(DATABASE.of(state), RAW_OUTPUT.of(state), artefact, start)
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8", headers=headers)
