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
    """Return advice from the agents' last reports and the newest campaigns on the target."""
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
        Query(ge=1, le=1e6, description="Claimed speed ratio of two of its targets"),
    ] = None,
) -> AdviceReport:
    """Return advice from the campaign's runs and facts, and whether they support a claimed ratio."""
    return service.campaign_advice(session, principal, campaign_id, claimed_ratio)
