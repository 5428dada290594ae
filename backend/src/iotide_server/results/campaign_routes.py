"""Routes of campaigns that need results."""

from typing import Annotated, Final

from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST, one_by_one
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.campaigns import reading as campaigns
from iotide_server.campaigns.plain import PlanInput
from iotide_server.campaigns.planning import cluster_of, foresee
from iotide_server.campaigns.scratch.use import disks_of, resolve_plan
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import DATABASE
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import ONE_AT_A_TIME, Id, Now, Tx, errors
from iotide_server.results import reading
from iotide_server.results.figures import conduct_queries, measurements
from iotide_server.results.figures.conduct import Conduct, conduct
from iotide_server.results.figures.headlines import MOST_CAMPAIGNS, CampaignHeadlines, campaign_headlines
from iotide_server.results.figures.measurements import MeasureChoice
from iotide_server.results.figures.sample_files import campaign_samples_csv
from iotide_server.results.forecast.service import preview
from iotide_server.results.schemas import (
    CampaignMeasures,
    CellOutput,
    MeasuredCell,
    Preview,
)

UNKNOWN_EXPORTS: Final[AppValue[CapacityLimiter]] = AppValue("unknown_exports")

router = APIRouter(tags=["campaigns"], route_class=KnownCallerRoute)

_CSV_EXAMPLE = (
    "campaign_id,campaign,cell,stage,variant,run_id,repeat,attempt,state,validity,flags,started_at,ended_at,nodes,targets,"
    "workload,workload_revision,option_file_size_bytes,series_id,metric,label_operation,value,unit\n"
    "1,nightly,1,1,,7,1,1,finished,valid,,2026-11-21T10:00:00+00:00,2026-11-21T10:00:09+00:00,node07,nfs-home,"
    "dd,1,1073741824,3,throughput,write,118000000.0,bytes_per_second\n"
)


@router.post(
    "/campaigns/preview",
    summary="Preview a campaign",
    responses=errors(404, 409, 429),
    dependencies=[ONE_HEAVY_REQUEST],
)
def preview_campaign(principal: Operator, session: Tx, now: Now, body: PlanInput) -> Preview:
    """Check a plan as a submission does and return what it would run. Nothing is stored."""
    resolved, found = resolve_plan(session, principal, body)
    planned = foresee(session, cluster_of(session, principal, resolved), resolved)
    return preview(session, planned, now, disks_of(session, found))


@router.get(
    "/campaigns/{campaign_id}/cells",
    summary="List the cells of a campaign",
    responses=errors(404),
    dependencies=[ONE_AT_A_TIME],
)
def list_campaign_cells(principal: Viewer, session: Tx, paging: Paging, campaign_id: Id) -> Page[CellOutput]:
    """Return the matrix with its results so far, in the order of the plan."""
    campaigns.visible_campaign(session, principal, campaign_id)
    return reading.campaign_cells(session, campaign_id, paging)


@router.get(
    "/campaigns/{campaign_id}/conduct",
    summary="Summarize how a campaign was measured",
    responses=errors(404),
    dependencies=[ONE_AT_A_TIME],
)
def get_campaign_conduct(principal: Viewer, session: Tx, campaign_id: Id) -> Conduct:
    """Return how caches, exclusivity and other load were handled in the finished runs, and the unanswered checks."""
    campaigns.visible_campaign(session, principal, campaign_id)
    return conduct(conduct_queries.measured_runs(session, campaign_id))


@router.get("/campaign-headlines", summary="List the main results of campaigns")
def list_campaign_headlines(
    principal: Viewer,
    session: Tx,
    campaign_id: Annotated[
        list[Annotated[int, Field(ge=1, le=LARGEST_ID)]],
        Query(min_length=1, max_length=MOST_CAMPAIGNS, description="Ids of campaigns"),
    ],
) -> CampaignHeadlines:
    """Return one number for each of these campaigns that you may see and that has results, by id."""
    return campaign_headlines(session, principal, campaign_id)


@router.get("/campaigns/{campaign_id}/measures", summary="List the measures of a campaign", responses=errors(404))
def list_campaign_measures(principal: Viewer, session: Tx, campaign_id: Id) -> CampaignMeasures:
    """Return the metrics and counters measured so far."""
    campaigns.visible_campaign(session, principal, campaign_id)
    return measurements.campaign_measures(session, campaign_id)


@router.get(
    "/campaigns/{campaign_id}/measurements",
    summary="List the values behind a figure",
    responses=errors(404),
    dependencies=[ONE_AT_A_TIME],
)
def list_campaign_measurements(
    principal: Viewer, session: Tx, paging: Paging, campaign_id: Id, wanted: Annotated[MeasureChoice, Depends()]
) -> Page[MeasuredCell]:
    """Return the cells in the order of the plan, with each valid run's value of one metric or mean of one counter.

    A page may have fewer cells than requested.
    """
    campaigns.visible_campaign(session, principal, campaign_id)
    return measurements.page_of_cells(session, campaign_id, wanted, paging)


@router.get(
    "/campaigns/{campaign_id}/samples.csv",
    summary="Fetch the samples of a campaign",
    response_class=StreamingResponse,
    responses={
        **errors(404, 429),
        200: {"content": {"text/csv": {"schema": {"type": "string"}, "example": _CSV_EXAMPLE}}},
    },
    dependencies=[ONE_HEAVY_REQUEST],
)
def get_campaign_samples(principal: Viewer, session: Tx, request: Request, campaign_id: Id) -> StreamingResponse:
    """Return one value per line with its description, in base units and UTC."""
    campaign = campaigns.visible_campaign(session, principal, campaign_id)
    headers = {"Content-Disposition": f'attachment; filename="{campaign.name}-{campaign_id}.csv"'}
    lines = campaign_samples_csv(DATABASE.of(request.app.state), campaign_id)
    paced = lines if principal.user_id is not None else one_by_one(lines, UNKNOWN_EXPORTS.of(request.app.state))
    return StreamingResponse(paced, media_type="text/csv; charset=utf-8", headers=headers)
