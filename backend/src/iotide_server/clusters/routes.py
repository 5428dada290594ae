"""Routes of clusters, join tokens, nodes and drains."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Operator, Viewer
from iotide_server.clusters import maintenance, service
from iotide_server.clusters.agents import credentials
from iotide_server.clusters.agents.access import AGENT_ACCESS
from iotide_server.clusters.drains import service as drains
from iotide_server.clusters.drains.schemas import DrainInput, DrainOutput, NamedDrain
from iotide_server.clusters.enrolment import pending
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.clusters.enrolment.pending import Choice
from iotide_server.clusters.schemas import (
    BlackoutInput,
    BlackoutOutput,
    ClusterInput,
    ClusterOutput,
    ClusterPatch,
    JoinTokenCreated,
    JoinTokenInput,
    JoinTokenOutput,
    NodeOutput,
    NodePatch,
    NodeSummaryOutput,
    PendingChoice,
    PendingNodeOutput,
    ReenrolmentInput,
)
from iotide_server.clusters.service import NodeFilter
from iotide_server.clusters.views import NodeState
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(route_class=KnownCallerRoute)


@router.get("/clusters", tags=["clusters"], summary="List clusters")
def list_clusters(principal: Viewer, session: Tx, paging: Paging) -> Page[ClusterOutput]:
    """Return the clusters that you may see, newest first."""
    return service.list_clusters(session, principal, paging)


@router.post("/clusters", tags=["clusters"], summary="Create a cluster", status_code=201, responses=errors(409))
def create_cluster(principal: Admin, session: Tx, body: ClusterInput) -> ClusterOutput:
    """Requires the admin role for all clusters."""
    created = service.create_cluster(session, principal, body.name, body.description, body.launcher)
    return service.cluster_view(session, created)


@router.get("/clusters/{cluster_id}", tags=["clusters"], summary="Show a cluster", responses=errors(404))
def get_cluster(principal: Viewer, session: Tx, cluster_id: Id) -> ClusterOutput:
    """Return one cluster by its id."""
    return service.cluster_view(session, service.cluster(session, principal, cluster_id))


@router.patch("/clusters/{cluster_id}", tags=["clusters"], summary="Change a cluster", responses=errors(404, 409))
def change_cluster(principal: Admin, session: Tx, cluster_id: Id, body: ClusterPatch) -> ClusterOutput:
    """Change name, description or launcher; omitted fields stay. The launcher is fixed while a run is active."""
    changes = body.model_dump(mode="json", exclude_none=True)
    changed = service.change_cluster(session, principal, cluster_id, changes)
    return service.cluster_view(session, changed)


@router.get(
    "/clusters/{cluster_id}/blackouts", tags=["clusters"], summary="List maintenance windows", responses=errors(404)
)
def list_maintenance_windows(
    principal: Viewer, session: Tx, now: Now, cluster_id: Id, paging: Paging
) -> Page[BlackoutOutput]:
    """Return current and future maintenance windows, newest first."""
    return maintenance.list_maintenance_windows(session, principal, cluster_id, paging, now).page(
        BlackoutOutput.model_validate
    )


@router.post(
    "/clusters/{cluster_id}/blackouts",
    tags=["clusters"],
    summary="Create a maintenance window",
    status_code=201,
    responses=errors(404, 409),
)
def create_maintenance_window(
    principal: Operator, session: Tx, now: Now, cluster_id: Id, body: BlackoutInput
) -> BlackoutOutput:
    """No run starts in a maintenance window, or before it if it could not finish in time. Active runs continue."""
    return BlackoutOutput.model_validate(
        maintenance.create_maintenance_window(session, principal, cluster_id, body.row(), now)
    )


@router.delete(
    "/blackouts/{blackout_id}",
    tags=["clusters"],
    summary="Delete a maintenance window",
    status_code=204,
    responses=errors(404),
)
def remove_maintenance_window(principal: Operator, session: Tx, blackout_id: Id) -> None:
    """Runs that waited for the window's end may start at once."""
    maintenance.remove_maintenance_window(session, principal, blackout_id)


@router.get("/clusters/{cluster_id}/join-tokens", tags=["nodes"], summary="List join tokens", responses=errors(404))
def list_join_tokens(principal: Admin, session: Tx, now: Now, cluster_id: Id, paging: Paging) -> Page[JoinTokenOutput]:
    """Return the valid join tokens, newest first."""
    return enrolment.list_join_tokens(session, principal, cluster_id, paging, now)


@router.post(
    "/clusters/{cluster_id}/join-tokens",
    tags=["nodes"],
    summary="Create a join token",
    status_code=201,
    responses=errors(404, 409),
)
def create_join_token(
    principal: Admin, session: Tx, now: Now, request: Request, cluster_id: Id, body: JoinTokenInput
) -> JoinTokenCreated:
    """The response holds the command to run on each new node."""
    access = AGENT_ACCESS.of(request.app.state)
    expires_at = now + timedelta(seconds=body.expires_in_seconds)
    made = enrolment.create_join_token(
        session, principal, cluster_id, body.uses, expires_at, needs_approval=body.needs_approval
    )
    return JoinTokenCreated.made(made, access)


@router.delete(
    "/join-tokens/{token_id}", tags=["nodes"], summary="Revoke a join token", status_code=204, responses=errors(404)
)
def revoke_join_token(principal: Admin, session: Tx, token_id: Id) -> None:
    """No further node can enroll with the token; nodes that did are kept."""
    enrolment.revoke_join_token(session, principal, token_id)


@router.post(
    "/nodes/{node_id}/join-token",
    tags=["nodes"],
    summary="Create a join token for a node that lost its identity",
    status_code=201,
    responses=errors(404),
)
def create_reenrolment_token(
    principal: Admin, session: Tx, now: Now, request: Request, node_id: Id, body: ReenrolmentInput
) -> JoinTokenCreated:
    """The host that enrolls with it becomes this node and keeps its name and history. Its old credentials become void.

    The enrolment is refused while a load may run on the node.
    """
    access = AGENT_ACCESS.of(request.app.state)
    expires_at = now + timedelta(seconds=body.expires_in_seconds)
    made = enrolment.create_reenrolment_token(session, principal, node_id, expires_at)
    return JoinTokenCreated.made(made, access)


@router.get(
    "/clusters/{cluster_id}/pending-nodes",
    tags=["nodes"],
    summary="List pending nodes",
    responses=errors(404),
)
def list_pending_nodes(
    principal: Admin, session: Tx, now: Now, cluster_id: Id, paging: Paging
) -> Page[PendingNodeOutput]:
    """Pending nodes, newest first. Compare fingerprints with those that the agents print: names can be forged."""
    return pending.list_pending(session, principal, cluster_id, paging, now).page(PendingNodeOutput.of)


@router.post(
    "/clusters/{cluster_id}/pending-nodes/approve",
    tags=["nodes"],
    summary="Approve pending nodes",
    status_code=204,
    responses=errors(404, 409),
)
def approve_pending_nodes(
    principal: Admin, session: Tx, now: Now, request: Request, cluster_id: Id, body: PendingChoice
) -> None:
    """Approve all or none. Their agents notice within ten seconds."""
    choice = Choice(cluster_id, body.pending_ids)
    pending.approve(session, principal, choice, AGENT_ACCESS.of(request.app.state), now)


@router.post(
    "/clusters/{cluster_id}/pending-nodes/refuse",
    tags=["nodes"],
    summary="Reject pending nodes",
    status_code=204,
    responses=errors(404),
)
def refuse_pending_nodes(principal: Admin, session: Tx, now: Now, cluster_id: Id, body: PendingChoice) -> None:
    """Reject all or none. Their credentials never become valid."""
    pending.refuse(session, principal, Choice(cluster_id, body.pending_ids), now)


@router.get("/nodes", tags=["nodes"], summary="List nodes")
def list_nodes(
    principal: Viewer,
    session: Tx,
    now: Now,
    paging: Paging,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only nodes of this cluster")] = None,
    state: Annotated[NodeState | None, Query(description="Only nodes in this state")] = None,
) -> Page[NodeOutput]:
    """Return the nodes that you may see, newest first."""
    return service.list_nodes(session, principal, NodeFilter(cluster_id, state), paging, now)


@router.get("/clusters/{cluster_id}/nodes", tags=["nodes"], summary="List a cluster's nodes", responses=errors(404))
def list_cluster_nodes(
    principal: Viewer, session: Tx, now: Now, cluster_id: Id, paging: Paging
) -> Page[NodeSummaryOutput]:
    """Return the nodes that are not retired, newest first, without mounts, workloads and most facts."""
    return service.node_lines(session, principal, cluster_id, paging, now)


@router.get("/nodes/{node_id}", tags=["nodes"], summary="Show a node", responses=errors(404))
def get_node(principal: Viewer, session: Tx, now: Now, node_id: Id) -> NodeOutput:
    """Return a node with its announcement, workloads and active orders."""
    return service.node(session, principal, node_id, now)


@router.patch("/nodes/{node_id}", tags=["nodes"], summary="Change a node", responses=errors(404, 409))
def change_node(principal: Admin, session: Tx, now: Now, node_id: Id, body: NodePatch) -> NodeOutput:
    """Change slots or role; omitted fields stay."""
    changes = body.model_dump(mode="json", exclude_none=True)
    return service.change_node(session, principal, node_id, changes, now)


@router.delete("/nodes/{node_id}", tags=["nodes"], summary="Retire a node", status_code=204, responses=errors(404, 409))
def retire_node(principal: Admin, session: Tx, now: Now, request: Request, node_id: Id) -> None:
    """Void the node's token and broker access; its results stay. Refused while runs need the node."""
    service.retire_node(session, principal, node_id, now, AGENT_ACCESS.of(request.app.state))


@router.post(
    "/nodes/{node_id}/rotate",
    tags=["nodes"],
    summary="Rotate a node's credentials",
    responses=errors(404, 409),
)
def rotate_node(principal: Admin, session: Tx, now: Now, node_id: Id) -> NodeOutput:
    """The node gets new credentials with its next heartbeat. The old ones stay valid until it has stored them."""
    credentials.want_rotation(session, principal, node_id, now)
    return service.node(session, principal, node_id, now)


@router.get("/drains", tags=["drains"], summary="List drains")
def list_drains(
    principal: Viewer,
    session: Tx,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only drains of this cluster")] = None,
) -> list[NamedDrain]:
    """No new run starts on what is drained; active runs continue. A drain of everything comes first."""
    return drains.list_drains(session, principal, cluster_id)


@router.put("/drain", tags=["drains"], summary="Drain everything")
def drain_everything(principal: Operator, session: Tx, now: Now, body: DrainInput) -> DrainOutput:
    """Requires the operator role for all clusters. No new run starts anywhere."""
    return drains.drain(session, principal, drains.EVERYTHING, body, now)


@router.delete("/drain", tags=["drains"], summary="Resume everything", status_code=204)
def resume_everything(principal: Operator, session: Tx) -> None:
    """End the drain of everything; other drains stay."""
    drains.resume(session, principal, drains.EVERYTHING)


@router.put("/clusters/{cluster_id}/drain", tags=["drains"], summary="Drain a cluster", responses=errors(404))
def drain_cluster(principal: Operator, session: Tx, now: Now, cluster_id: Id, body: DrainInput) -> DrainOutput:
    """No new run starts in the cluster; active runs continue. Repeat the request to change reason or end."""
    subject = drains.cluster_subject(session, principal, cluster_id)
    return drains.drain(session, principal, subject, body, now)


@router.delete(
    "/clusters/{cluster_id}/drain",
    tags=["drains"],
    summary="Resume a cluster",
    status_code=204,
    responses=errors(404),
)
def resume_cluster(principal: Operator, session: Tx, cluster_id: Id) -> None:
    """End the cluster's drain, if any; drains of its nodes and targets stay."""
    drains.resume(session, principal, drains.cluster_subject(session, principal, cluster_id))


@router.put("/nodes/{node_id}/drain", tags=["drains"], summary="Drain a node", responses=errors(404))
def drain_node(principal: Operator, session: Tx, now: Now, node_id: Id, body: DrainInput) -> DrainOutput:
    """No new run that uses this node starts; active runs continue."""
    subject = drains.node_subject(session, principal, node_id)
    return drains.drain(session, principal, subject, body, now)


@router.delete(
    "/nodes/{node_id}/drain", tags=["drains"], summary="Resume a node", status_code=204, responses=errors(404)
)
def resume_node(principal: Operator, session: Tx, node_id: Id) -> None:
    """End the node's drain, if any."""
    drains.resume(session, principal, drains.node_subject(session, principal, node_id))
