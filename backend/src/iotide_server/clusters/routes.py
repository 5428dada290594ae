"""Routes of clusters, their join tokens and their nodes."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Operator, Viewer
from iotide_server.clusters import blackouts, service
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
    """The clusters that you may see, newest first."""
    return service.list_clusters(session, principal, paging)


@router.post("/clusters", tags=["clusters"], summary="Create a cluster", status_code=201, responses=errors(409))
def create_cluster(principal: Admin, session: Tx, body: ClusterInput) -> ClusterOutput:
    """For administrators of all clusters."""
    created = service.create_cluster(session, principal, body.name, body.description, body.launcher)
    return service.cluster_view(session, created)


@router.get("/clusters/{cluster_id}", tags=["clusters"], summary="Show a cluster", responses=errors(404))
def get_cluster(principal: Viewer, session: Tx, cluster_id: Id) -> ClusterOutput:
    """One cluster."""
    return service.cluster_view(session, service.cluster(session, principal, cluster_id))


@router.patch("/clusters/{cluster_id}", tags=["clusters"], summary="Change a cluster", responses=errors(404, 409))
def change_cluster(principal: Admin, session: Tx, cluster_id: Id, body: ClusterPatch) -> ClusterOutput:
    """Name, description and launcher; what is left out stays. Another launcher only while no run is active."""
    changes = body.model_dump(mode="json", exclude_none=True)
    changed = service.change_cluster(session, principal, cluster_id, changes)
    return service.cluster_view(session, changed)


@router.get("/clusters/{cluster_id}/blackouts", tags=["clusters"], summary="List blackouts", responses=errors(404))
def list_blackouts(principal: Viewer, session: Tx, now: Now, cluster_id: Id, paging: Paging) -> Page[BlackoutOutput]:
    """The cluster's maintenance days that are not over, the last entered first."""
    return blackouts.list_blackouts(session, principal, cluster_id, paging, now).page(BlackoutOutput.model_validate)


@router.post(
    "/clusters/{cluster_id}/blackouts",
    tags=["clusters"],
    summary="Create a blackout",
    status_code=201,
    responses=errors(404, 409),
)
def create_blackout(principal: Operator, session: Tx, now: Now, cluster_id: Id, body: BlackoutInput) -> BlackoutOutput:
    """Nothing starts in it, nor what could not end before it; what runs when it begins goes on."""
    return BlackoutOutput.model_validate(blackouts.create_blackout(session, principal, cluster_id, body.row(), now))


@router.delete(
    "/blackouts/{blackout_id}",
    tags=["clusters"],
    summary="Remove a blackout",
    status_code=204,
    responses=errors(404),
)
def remove_blackout(principal: Operator, session: Tx, blackout_id: Id) -> None:
    """Before it, or to end it early: what waits for its end may start."""
    blackouts.remove_blackout(session, principal, blackout_id)


@router.get("/clusters/{cluster_id}/join-tokens", tags=["nodes"], summary="List join tokens", responses=errors(404))
def list_join_tokens(principal: Admin, session: Tx, now: Now, cluster_id: Id, paging: Paging) -> Page[JoinTokenOutput]:
    """The cluster's tokens that still let a node in, newest first."""
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
    """Lets new nodes in; the answer holds the command to run on each."""
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
    """It lets nobody in any more; nodes that it let in stay."""
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
    """Whoever enrolls with it is this node from then on, with its name and history; what it had before is void then.

    Refused at the enrolment while a load may run on the node.
    """
    access = AGENT_ACCESS.of(request.app.state)
    expires_at = now + timedelta(seconds=body.expires_in_seconds)
    made = enrolment.create_reenrolment_token(session, principal, node_id, expires_at)
    return JoinTokenCreated.made(made, access)


@router.get(
    "/clusters/{cluster_id}/pending-nodes",
    tags=["nodes"],
    summary="List hosts that wait to be let in",
    responses=errors(404),
)
def list_pending_nodes(
    principal: Admin, session: Tx, now: Now, cluster_id: Id, paging: Paging
) -> Page[PendingNodeOutput]:
    """Newest first. Compare the fingerprint with what the agent prints on the host: a name is easily taken."""
    return pending.list_pending(session, principal, cluster_id, paging, now).page(PendingNodeOutput.of)


@router.post(
    "/clusters/{cluster_id}/pending-nodes/approve",
    tags=["nodes"],
    summary="Let waiting hosts in",
    status_code=204,
    responses=errors(404, 409),
)
def approve_pending_nodes(
    principal: Admin, session: Tx, now: Now, request: Request, cluster_id: Id, body: PendingChoice
) -> None:
    """All of them or none; each is a node from then on, and its agent hears of it within ten seconds."""
    choice = Choice(cluster_id, body.pending_ids)
    pending.approve(session, principal, choice, AGENT_ACCESS.of(request.app.state), now)


@router.post(
    "/clusters/{cluster_id}/pending-nodes/refuse",
    tags=["nodes"],
    summary="Refuse waiting hosts",
    status_code=204,
    responses=errors(404),
)
def refuse_pending_nodes(principal: Admin, session: Tx, now: Now, cluster_id: Id, body: PendingChoice) -> None:
    """All of them or none; their identities never open anything."""
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
    """The nodes that you may see, newest first."""
    return service.list_nodes(session, principal, NodeFilter(cluster_id, state), paging, now)


@router.get("/clusters/{cluster_id}/nodes", tags=["nodes"], summary="List a cluster's nodes", responses=errors(404))
def list_cluster_nodes(
    principal: Viewer, session: Tx, now: Now, cluster_id: Id, paging: Paging
) -> Page[NodeSummaryOutput]:
    """Those that are not retired, newest first, without what each announced: mounts, workloads, most of its facts."""
    return service.node_lines(session, principal, cluster_id, paging, now)


@router.get("/nodes/{node_id}", tags=["nodes"], summary="Show a node", responses=errors(404))
def get_node(principal: Viewer, session: Tx, now: Now, node_id: Id) -> NodeOutput:
    """What its agent announced, what it can run and what it is doing."""
    return service.node(session, principal, node_id, now)


@router.patch("/nodes/{node_id}", tags=["nodes"], summary="Change a node", responses=errors(404, 409))
def change_node(principal: Admin, session: Tx, now: Now, node_id: Id, body: NodePatch) -> NodeOutput:
    """Slots and role; what is left out stays."""
    changes = body.model_dump(mode="json", exclude_none=True)
    return service.change_node(session, principal, node_id, changes, now)


@router.delete("/nodes/{node_id}", tags=["nodes"], summary="Retire a node", status_code=204, responses=errors(404, 409))
def retire_node(principal: Admin, session: Tx, now: Now, request: Request, node_id: Id) -> None:
    """Its token and its broker access end; its results stay. Refused while runs need it."""
    service.retire_node(session, principal, node_id, now, AGENT_ACCESS.of(request.app.state))


@router.post(
    "/nodes/{node_id}/rotate",
    tags=["nodes"],
    summary="Give a node new credentials",
    responses=errors(404, 409),
)
def rotate_node(principal: Admin, session: Tx, now: Now, node_id: Id) -> NodeOutput:
    """With its next beat it gets a new token and a new Redis password; the old ones are void once it keeps the new."""
    credentials.want_rotation(session, principal, node_id, now)
    return service.node(session, principal, node_id, now)


@router.get("/drains", tags=["drains"], summary="List what is drained")
def list_drains(
    principal: Viewer,
    session: Tx,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only what is of this cluster")] = None,
) -> list[NamedDrain]:
    """On what is drained nothing new starts; what runs goes on. A drain of everything comes first."""
    return drains.list_drains(session, principal, cluster_id)


@router.put("/drain", tags=["drains"], summary="Drain everything")
def drain_everything(principal: Operator, session: Tx, now: Now, body: DrainInput) -> DrainOutput:
    """For operators of all clusters: nothing new starts anywhere."""
    return drains.drain(session, principal, drains.EVERYTHING, body, now)


@router.delete("/drain", tags=["drains"], summary="Resume everything", status_code=204)
def resume_everything(principal: Operator, session: Tx) -> None:
    """Ends the drain of everything; what is drained on its own stays so."""
    drains.resume(session, principal, drains.EVERYTHING)


@router.put("/clusters/{cluster_id}/drain", tags=["drains"], summary="Drain a cluster", responses=errors(404))
def drain_cluster(principal: Operator, session: Tx, now: Now, cluster_id: Id, body: DrainInput) -> DrainOutput:
    """Nothing new starts in it; what runs goes on. Once more: with another reason or end."""
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
    """Nodes and targets that are drained on their own stay so; what is not drained stays as it is."""
    drains.resume(session, principal, drains.cluster_subject(session, principal, cluster_id))


@router.put("/nodes/{node_id}/drain", tags=["drains"], summary="Drain a node", responses=errors(404))
def drain_node(principal: Operator, session: Tx, now: Now, node_id: Id, body: DrainInput) -> DrainOutput:
    """Nothing new starts on it, nor any run that names it beside others; what runs goes on."""
    subject = drains.node_subject(session, principal, node_id)
    return drains.drain(session, principal, subject, body, now)


@router.delete(
    "/nodes/{node_id}/drain", tags=["drains"], summary="Resume a node", status_code=204, responses=errors(404)
)
def resume_node(principal: Operator, session: Tx, node_id: Id) -> None:
    """What is not drained stays as it is."""
    drains.resume(session, principal, drains.node_subject(session, principal, node_id))
