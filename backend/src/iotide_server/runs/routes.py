"""Routes of runs; the one that shows a run with its results stands with the results."""

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
    """The runs that you may see, newest first."""
    return reading.list_runs(session, principal, wanted, paging).page(RunOutput.model_validate)


@router.post("/runs/{run_id}/cancel", summary="Cancel a run", responses=errors(404, 409))
def cancel_run(principal: Operator, session: Tx, now: Now, run_id: Id) -> RunOutput:
    """A waiting run is cancelled at once; a running one as soon as its node has ended the load and cleaned up.

    Cancelling a cancelled run changes nothing.
    """
    service.cancel(session, principal, run_id, now)
    return RunOutput.model_validate(reading.run(session, principal, run_id))


@router.post("/runs/{run_id}/retry", summary="Try a run again", responses=errors(404, 409))
def retry_run(principal: Operator, session: Tx, now: Now, run_id: Id) -> RunOutput:
    """Lets a run that failed or was cancelled wait again, for one more attempt."""
    service.retry(session, principal, run_id, now)
    return RunOutput.model_validate(reading.run(session, principal, run_id))


@router.get("/runs/{run_id}/events", summary="Show the log of a run", responses=errors(404))
def list_run_events(principal: Viewer, session: Tx, paging: Paging, run_id: Id) -> Page[RunEventOutput]:
    """What happened to the run, the oldest line first."""
    return reading.events(session, principal, run_id, paging).page(RunEventOutput.model_validate)


@router.get("/clusters/{cluster_id}/queue", summary="Show what waits in a cluster", responses=errors(404))
def get_queue(
    principal: Viewer, session: Tx, now: Now, cluster_id: Id, wanted: Annotated[QueueChoice, Depends()]
) -> Queue:
    """The first waiting runs in the order in which they are served, and why each of them waits."""
    return reading.queue(session, principal, cluster_id, wanted, now)


@router.get(
    "/nodes/{node_id}/dead",
    tags=["nodes"],
    summary="Say what calling a silent node dead would do",
    responses=errors(404, 409),
)
def get_death_statement(principal: Operator, session: Tx, now: Now, node_id: Id) -> DeathStatement:
    """What it would free and end, and what a load that still hangs there could do; refused while the node speaks."""
    return dead_nodes.statement(session, principal, node_id, now)


@router.post("/nodes/{node_id}/dead", tags=["nodes"], summary="Call a silent node dead", responses=errors(404, 409))
def declare_node_dead(principal: Operator, session: Tx, now: Now, node_id: Id, body: DeathConfirmation) -> NodeOutput:
    """Frees and ends exactly what the statement said; nothing starts on it until its agent is back and idle."""
    return dead_nodes.declare_dead(session, principal, node_id, body.statement_sha256, now)


@router.get(
    "/nodes/{node_id}/stuck",
    tags=["nodes"],
    summary="Say what freeing a stuck node would do",
    responses=errors(404, 409),
)
def get_stuck_statement(principal: Operator, session: Tx, now: Now, node_id: Id) -> StuckStatement:
    """States what loads that no signal ends hold there, and may do later; refused while the node is not stuck."""
    return stuck_nodes.statement(session, principal, node_id, now)


@router.post("/nodes/{node_id}/stuck", tags=["nodes"], summary="Free a stuck node", responses=errors(404, 409))
def free_stuck_node(principal: Operator, session: Tx, now: Now, node_id: Id, body: DeathConfirmation) -> NodeOutput:
    """Frees exactly what the statement said; the node is offered nothing while its agent reports the loads."""
    return stuck_nodes.free(session, principal, node_id, body.statement_sha256, now)


@router.get(
    "/nodes/{node_id}/revocation",
    tags=["nodes"],
    summary="Say what revoking a node would do",
    responses=errors(404),
)
def get_revocation(principal: Admin, session: Tx, now: Now, node_id: Id) -> RevocationOutput:
    """Which of its runs would end at once, and which may still load and so keep what they hold."""
    return revocation.statement(session, principal, node_id, now)


@router.post("/nodes/{node_id}/revoke", tags=["nodes"], summary="Revoke a node", responses=errors(404))
def revoke_node(principal: Admin, session: Tx, now: Now, request: Request, node_id: Id) -> NodeOutput:
    """Its token and its Redis user are void at once and its connections end; its history stays.

    Of a load that may run there nothing is freed, since it is only not heard any more.
    """
    return revocation.revoke(session, principal, node_id, AGENT_ACCESS.of(request.app.state), now)
