"""Routes of runs, except that of a single run."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Operator, Viewer
from iotide_server.clusters.agents.access import AGENT_ACCESS
from iotide_server.clusters.schemas import NodeOutput
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.runs import dead_nodes, reading, revocation, service, stuck_nodes
from iotide_server.runs.schemas import (
    DeathConfirmation,
    DeathStatement,
    Queue,
    QueueChoice,
    RevocationOutput,
    RunEventOutput,
    RunFilter,
    RunOutput,
    StuckStatement,
)

router = APIRouter(tags=["runs"], route_class=KnownCallerRoute)


@router.get("/runs", summary="List runs")
def list_runs(
    principal: Viewer, session: Tx, paging: Paging, wanted: Annotated[RunFilter, Depends()]
) -> Page[RunOutput]:
    """Return the runs that you may see, newest first."""
    return reading.list_runs(session, principal, wanted, paging).page(RunOutput.model_validate)


@router.post("/runs/{run_id}/cancel", summary="Cancel a run", responses=errors(404, 409))
def cancel_run(principal: Operator, session: Tx, now: Now, run_id: Id) -> RunOutput:
    """Cancel a waiting run at once, or a running one when its nodes have ended the load and cleaned up.

    Cancelling a cancelled run changes nothing.
    """
    service.cancel(session, principal, run_id, now)
    return RunOutput.model_validate(reading.run(session, principal, run_id))


@router.post("/runs/{run_id}/retry", summary="Retry a run", responses=errors(404, 409))
def retry_run(principal: Operator, session: Tx, now: Now, run_id: Id) -> RunOutput:
    """Queue a failed or cancelled run again, for one more attempt."""
    service.retry(session, principal, run_id, now)
    return RunOutput.model_validate(reading.run(session, principal, run_id))


@router.get("/runs/{run_id}/events", summary="Show the log of a run", responses=errors(404))
def list_run_events(principal: Viewer, session: Tx, paging: Paging, run_id: Id) -> Page[RunEventOutput]:
    """Return the log of the run, oldest line first."""
    return reading.events(session, principal, run_id, paging).page(RunEventOutput.model_validate)


@router.get("/clusters/{cluster_id}/queue", summary="Show the queue of a cluster", responses=errors(404))
def get_queue(
    principal: Viewer, session: Tx, now: Now, cluster_id: Id, wanted: Annotated[QueueChoice, Depends()]
) -> Queue:
    """Return the first waiting runs in queue order, each with its reason."""
    return reading.queue(session, principal, cluster_id, wanted, now)


@router.get(
    "/nodes/{node_id}/dead",
    tags=["nodes"],
    summary="Preview declaring a silent node dead",
    responses=errors(404, 409),
)
def get_death_statement(principal: Operator, session: Tx, now: Now, node_id: Id) -> DeathStatement:
    """State what declaring the node dead would free and end, and the risk if its load still runs.

    Refused while the node sends heartbeats.
    """
    return dead_nodes.statement(session, principal, node_id, now)


@router.post("/nodes/{node_id}/dead", tags=["nodes"], summary="Declare a silent node dead", responses=errors(404, 409))
def declare_node_dead(principal: Operator, session: Tx, now: Now, node_id: Id, body: DeathConfirmation) -> NodeOutput:
    """Free and end exactly what the statement listed. No run starts on the node until its agent is back and idle."""
    return dead_nodes.declare_dead(session, principal, node_id, body.statement_sha256, now)


@router.get(
    "/nodes/{node_id}/stuck",
    tags=["nodes"],
    summary="Preview freeing a stuck node",
    responses=errors(404, 409),
)
def get_stuck_statement(principal: Operator, session: Tx, now: Now, node_id: Id) -> StuckStatement:
    """State what unkillable loads hold on the node and may still do. Refused if the node is not stuck."""
    return stuck_nodes.statement(session, principal, node_id, now)


@router.post("/nodes/{node_id}/stuck", tags=["nodes"], summary="Free a stuck node", responses=errors(404, 409))
def free_stuck_node(principal: Operator, session: Tx, now: Now, node_id: Id, body: DeathConfirmation) -> NodeOutput:
    """Free exactly what the statement listed. The node gets no runs while its agent reports the loads."""
    return stuck_nodes.free(session, principal, node_id, body.statement_sha256, now)


@router.get(
    "/nodes/{node_id}/revocation",
    tags=["nodes"],
    summary="Preview revoking a node",
    responses=errors(404),
)
def get_revocation(principal: Admin, session: Tx, now: Now, node_id: Id) -> RevocationOutput:
    """State which of the node's runs would end at once, and which may still load and keep their resources."""
    return revocation.statement(session, principal, node_id, now)


@router.post("/nodes/{node_id}/revoke", tags=["nodes"], summary="Revoke a node", responses=errors(404))
def revoke_node(principal: Admin, session: Tx, now: Now, request: Request, node_id: Id) -> NodeOutput:
    """Revoke the node's token and Redis user and close its connections. Its history stays.

    Resources of a load that may still run there are not freed.
    """
    return revocation.revoke(session, principal, node_id, AGENT_ACCESS.of(request.app.state), now)
