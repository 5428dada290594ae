"""Routes of advice."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.advice import service
from iotide_server.advice.schemas import AdviceReport
from iotide_server.kit.web import ONE_AT_A_TIME, Id, Tx, errors

router = APIRouter(tags=["advice"])


@router.get(
    "/targets/{target_id}/advice", summary="Advise on a target", responses=errors(404), dependencies=[ONE_AT_A_TIME]
)
def get_target_advice(principal: Viewer, session: Tx, target_id: Id) -> AdviceReport:
    """By the last words of the agents, and by the newest campaigns that measured it."""
    return service.target_advice(session, principal, target_id)


@router.get(
    "/campaigns/{campaign_id}/advice",
    summary="Advise on a campaign",
    responses=errors(404),
    dependencies=[ONE_AT_A_TIME],
)
def get_campaign_advice(
    principal: Viewer,
    session: Tx,
    campaign_id: Id,
    claimed_ratio: Annotated[
        float | None,
        Query(ge=1, le=1e6, description="How many times as fast one of its targets is said to be as another"),
    ] = None,
) -> AdviceReport:
    """By its runs and the facts that they saw; also whether they support a ratio that somebody states."""
    return service.campaign_advice(session, principal, campaign_id, claimed_ratio)
