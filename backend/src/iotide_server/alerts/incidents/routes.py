"""Routes of incidents."""

from typing import Annotated

from fastapi import APIRouter, Depends

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.alerts.incidents import reading, service
from iotide_server.alerts.incidents.schemas import (
    IncidentActionInput,
    IncidentDetail,
    IncidentFilter,
    IncidentOutput,
)
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(tags=["incidents"], route_class=KnownCallerRoute)


@router.get("/incidents", summary="List incidents")
def list_incidents(
    principal: Viewer, session: Tx, paging: Paging, wanted: Annotated[IncidentFilter, Depends()]
) -> Page[IncidentOutput]:
    """Return the incidents that you may see: open and acknowledged ones first, each newest first."""
    return reading.list_incidents(session, principal, wanted, paging)


@router.get("/incidents/{incident_id}", summary="Show an incident", responses=errors(404))
def get_incident(principal: Viewer, session: Tx, now: Now, incident_id: Id) -> IncidentDetail:
    """Return the incident with its changes and actions."""
    return reading.incident(session, principal, incident_id, now)


@router.post("/incidents/{incident_id}/actions", summary="Act on an incident", responses=errors(404, 409))
def act_on_incident(
    principal: Operator, session: Tx, now: Now, incident_id: Id, body: IncidentActionInput
) -> IncidentDetail:
    """Act on all alerts of the incident. `moves` of the incident lists the possible actions."""
    service.act(session, principal, incident_id, body, now)
    return reading.incident(session, principal, incident_id, now)
