"""Routes of campaigns without results."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.campaigns import reading, repeats, service, stages
from iotide_server.campaigns.pause_schemas import Confirmation, PauseOutput
from iotide_server.campaigns.plain import PlanInput
from iotide_server.campaigns.repeats import MoreRepeats
from iotide_server.campaigns.schemas import (
    CampaignFilter,
    CampaignGroup,
    CampaignOutput,
    CampaignPatch,
    ListedCampaign,
    RepeatsInput,
    Timeline,
    TimelineSpan,
)
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(tags=["campaigns"], route_class=KnownCallerRoute)

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        description="Makes a repeated request safe: the same key and body return the existing campaign",
        examples=["nightly-2026-11-21"],
    ),
]


@router.get("/campaigns", summary="List campaigns")
def list_campaigns(
    principal: Viewer, session: Tx, now: Now, paging: Paging, wanted: Annotated[CampaignFilter, Depends()]
) -> Page[ListedCampaign]:
    """Return the campaigns that you may see."""
    return reading.list_campaigns(session, principal, wanted, paging, now)


@router.get("/campaign-groups", summary="List campaigns by schedule")
def list_campaign_groups(
    principal: Viewer, session: Tx, now: Now, paging: Paging, wanted: Annotated[CampaignFilter, Depends()]
) -> Page[CampaignGroup]:
    """Return of each schedule only the newest campaign, with the number and states of its campaigns.

    The filters select among these and the campaigns that users submitted.
    """
    return reading.list_groups(session, principal, wanted, paging, now)


@router.post(
    "/campaigns",
    summary="Submit a campaign",
    status_code=201,
    responses={
        **errors(404, 409, 429),
        200: {"model": CampaignOutput, "description": "Existing campaign of a repeated request"},
    },
    dependencies=[ONE_HEAVY_REQUEST],
)
def submit_campaign(
    principal: Operator,
    session: Tx,
    now: Now,
    response: Response,
    body: PlanInput,
    idempotency_key: IdempotencyKey = None,
) -> CampaignOutput:
    """Expand the plan into runs and queue them for their nodes and targets."""
    submitted = service.submit(session, principal, body, idempotency_key, now)
    if not submitted.is_new:
        response.status_code = 200
    return reading.campaign(session, principal, submitted.campaign_id, now)


@router.get("/campaigns/{campaign_id}", summary="Show a campaign", responses=errors(404))
def get_campaign(principal: Viewer, session: Tx, now: Now, campaign_id: Id) -> CampaignOutput:
    """Return a campaign with its progress."""
    return reading.campaign(session, principal, campaign_id, now)


@router.get("/campaigns/{campaign_id}/timeline", summary="Show the timeline of a campaign", responses=errors(404))
def get_campaign_timeline(
    principal: Viewer, session: Tx, now: Now, campaign_id: Id, span: Annotated[TimelineSpan, Depends()]
) -> Timeline:
    """Return when its nodes waited, checked, loaded and uploaded, and which leases were held.

    `left_out` counts the orders beyond `limit`; ask for a shorter span to see them.
    """
    return reading.timeline(session, principal, campaign_id, span, now)


@router.patch("/campaigns/{campaign_id}", summary="Change a campaign's priority", responses=errors(404, 409))
def change_campaign(principal: Operator, session: Tx, now: Now, campaign_id: Id, body: CampaignPatch) -> CampaignOutput:
    """Move its waiting runs to their queue positions with this priority."""
    service.change_priority(session, principal, campaign_id, body.priority)
    return reading.campaign(session, principal, campaign_id, now)


@router.post(
    "/campaigns/{campaign_id}/repeats",
    summary="Add repeats to a campaign",
    responses=errors(404, 409, 429),
    dependencies=[ONE_HEAVY_REQUEST],
)
def add_campaign_repeats(
    principal: Operator,
    session: Tx,
    now: Now,
    campaign_id: Id,
    body: RepeatsInput,
    idempotency_key: IdempotencyKey = None,
) -> CampaignOutput:
    """Run cells more often, also after the end of the campaign.

    A repeated request with the same key and body adds nothing.
    """
    repeats.add(session, principal, MoreRepeats(campaign_id, body, idempotency_key), now)
    return reading.campaign(session, principal, campaign_id, now)


@router.get(
    "/campaigns/{campaign_id}/pause", summary="Show what a paused campaign waits for", responses=errors(404, 409)
)
def get_campaign_pause(principal: Viewer, session: Tx, campaign_id: Id) -> PauseOutput:
    """Return the operator's task before the next stage, and the current mounts."""
    return PauseOutput.of(stages.pause(session, principal, campaign_id))


@router.post(
    "/campaigns/{campaign_id}/pause/look",
    summary="Ask the nodes of a paused campaign for their mounts",
    responses=errors(404, 409),
)
def look_at_campaign_pause(principal: Operator, session: Tx, now: Now, campaign_id: Id) -> PauseOutput:
    """Idle nodes answer within seconds."""
    return PauseOutput.of(stages.look(session, principal, campaign_id, now))


@router.post("/campaigns/{campaign_id}/confirm", summary="Confirm the next stage", responses=errors(404, 409))
def confirm_campaign(principal: Operator, session: Tx, now: Now, campaign_id: Id, body: Confirmation) -> CampaignOutput:
    """Accept the current mounts as the targets, for every campaign, and start the stage."""
    stages.confirm(session, principal, campaign_id, body.found_sha256, now)
    return reading.campaign(session, principal, campaign_id, now)


@router.post("/campaigns/{campaign_id}/cancel", summary="Cancel a campaign", responses=errors(404))
def cancel_campaign(principal: Operator, session: Tx, now: Now, campaign_id: Id) -> CampaignOutput:
    """Cancel waiting runs at once, running ones when their nodes have cleaned up."""
    service.cancel(session, principal, campaign_id, now)
    return reading.campaign(session, principal, campaign_id, now)
