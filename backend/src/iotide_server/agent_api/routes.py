"""Routes of the node agents."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request
from starlette.responses import Response

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.roles.rules import Anyone, Bearer
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions import throttle
from iotide_server.accounts.sessions.cookies import caller_address
from iotide_server.accounts.sessions.throttle import AttemptKind, SignInAttempt
from iotide_server.agent_api import batch, heartbeats, service
from iotide_server.agent_api.service import RawOutput
from iotide_server.clusters.agents import credentials, records
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents.access import AGENT_ACCESS
from iotide_server.clusters.agents.rules import ConfirmingNode, NodeAgent, NodeOrWaiting, spoken_version, waiting_node
from iotide_server.clusters.enrolment import pending
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.kit.db import after_commit
from iotide_server.kit.digests import digest
from iotide_server.kit.errors import IotideError, NotAuthenticatedError
from iotide_server.kit.meters import CLAIMS, GRANTED, HEARTBEATS, REFUSED
from iotide_server.kit.web import Id, NodeTx, Now, errors, refusal
from iotide_server.results.ingest.limits import REPORT_LIMITS
from iotide_wire.base import Fence, Message
from iotide_wire.batch import BatchReply, BatchReport
from iotide_wire.messages import (
    ClaimRequest,
    EnrollReply,
    EnrollRequest,
    FinishReply,
    FinishRequest,
    HeartbeatReply,
    HeartbeatRequest,
    HelloReply,
    HelloRequest,
    Order,
)
from iotide_wire.nodes import NewCredentials, RotateRequest, Standing
from iotide_wire.versions import as_spoken

router = APIRouter(prefix="/agent", tags=["agents"], route_class=KnownCallerRoute)


def _known_id(principal: Principal) -> int:
    if principal.id is None:
        raise TypeError("a node has an id")
    return principal.id


async def _node_id(principal: NodeAgent) -> int:
    return _known_id(principal)  # async: a sync dependency costs a thread switch


NodeId = Annotated[int, Depends(_node_id)]


def _spoken(reply: Message, version: int, status: int = 200) -> Response:
    return Response(as_spoken(reply, version), status, media_type="application/json")


@router.post(
    "/enroll", summary="Enroll a node", status_code=201, response_model=EnrollReply, responses=errors(401, 409, 429)
)
def enroll_agent(_: Anyone, session: NodeTx, now: Now, request: Request, body: EnrollRequest) -> Response:
    """Exchange a join token for the node's identity: its token for this API and its own access to the broker.

    With a token that needs approval, the identity gives no access until an admin of the cluster approves the node.
    """
    access = AGENT_ACCESS.of(request.app.state)
    address = caller_address(request)
    attempt = SignInAttempt(AttemptKind.ENROLMENT, address)
    throttle.admit(session, attempt, now)
    try:
        reply = enrolment.enroll(session, body, access, address, now)
    except NotAuthenticatedError as error:  # raised before any write; the failure is recorded, too
        sessions.note_failure(session, attempt, None, now)
        return refusal(error)
    return _spoken(reply, body.wire_version, 201)


@router.get("/standing", summary="Show the node's status", response_model=Standing)
def get_standing(principal: NodeOrWaiting, session: NodeTx, now: Now, request: Request) -> Response:
    """Changes nothing, so an admin may call it next to a running agent. Pending nodes may call it, too."""
    return _spoken(records.standing_of(session, principal, waiting_node(request), now), spoken_version(request))


@router.post("/hello", summary="Announce an agent", response_model=HelloReply, responses=errors(409, 429))
def greet_agent(principal: NodeOrWaiting, session: NodeTx, now: Now, request: Request, body: HelloRequest) -> Response:
    """Every agent sends this when it starts, and again when its facts change.

    A claimed order that a new agent process no longer holds is lost: its run waits again while attempts remain. A
    pending node gets 403 `node_pending`, which explains how to approve it.
    """
    waiting = waiting_node(request)
    if waiting is not None:
        return refusal(pending.record_announcement(waiting, body, now))
    node_id = _known_id(principal)
    strange = agents.note_strange_version(session, node_id, body)
    if strange is not None:
        return refusal(strange)
    return _spoken(service.hello(session, node_id, body, now), body.wire_version)


@router.post("/rotation", summary="Rotate credentials", response_model=NewCredentials, responses=errors(409))
def rotate_credentials(node_id: NodeId, session: NodeTx, request: Request, body: RotateRequest) -> Response:
    """Agents send this when a heartbeat requested it. Repeated, it returns others; the present ones stay valid."""
    given = credentials.rotate(session, node_id, body, AGENT_ACCESS.of(request.app.state))
    return _spoken(given, spoken_version(request))


@router.post("/rotation/confirm", summary="Confirm new credentials", status_code=204)
def confirm_credentials(principal: ConfirmingNode, session: NodeTx, now: Now, request: Request, bearer: Bearer) -> None:
    """Send this with the new token once it is on the node's disk. It voids the previous credentials."""
    if bearer is not None:
        token_sha256 = digest(bearer.credentials)
        credentials.confirm(session, principal, token_sha256, AGENT_ACCESS.of(request.app.state), now)


@router.post("/orders/{order_id}/claim", summary="Claim an order", response_model=Order, responses=errors(404, 409))
def claim_order(
    node_id: NodeId, session: NodeTx, now: Now, request: Request, order_id: Id, body: ClaimRequest
) -> Response:
    """Assign an offered order to this agent process. Only one of several claims succeeds; it may be repeated."""
    try:
        claimed = service.claim(session, node_id, order_id, body, now)
    except IotideError:
        CLAIMS.labels(REFUSED).inc()
        raise
    is_granted = isinstance(claimed, Order)
    after_commit(session, CLAIMS.labels(GRANTED if is_granted else REFUSED).inc)
    return _spoken(claimed, spoken_version(request)) if isinstance(claimed, Order) else refusal(claimed)


@router.post("/beat", summary="Send a heartbeat", response_model=HeartbeatReply, responses=errors(409))
def take_heartbeat(node_id: NodeId, session: NodeTx, now: Now, request: Request, body: HeartbeatRequest) -> Response:
    """Report the states of the node's orders. The reply has a word on each."""
    after_commit(session, HEARTBEATS.inc)
    return _spoken(
        heartbeats.answer_heartbeat(session, node_id, body, now, REPORT_LIMITS.of(request.app.state)),
        spoken_version(request),
    )


@router.post(
    "/batch", summary="Report jobs and hosts of a batch system", response_model=BatchReply, responses=errors(409)
)
def take_batch_report(node_id: NodeId, session: NodeTx, now: Now, request: Request, body: BatchReport) -> Response:
    """The gateway of a cluster sends this periodically. The reply lists the jobs to submit and to cancel."""
    reply = batch.report(session, node_id, body, now, REPORT_LIMITS.of(request.app.state))
    return _spoken(reply, spoken_version(request))


@router.put(
    "/orders/{order_id}/artefacts/{name}",
    summary="Upload raw output",
    status_code=204,
    responses=errors(404, 409),
)
def put_artefact(
    node_id: NodeId,
    session: NodeTx,
    request: Request,
    order_id: Id,
    name: Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", examples=["write.stdout"])],
    sha256: Annotated[str, Query(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the body, hexadecimal")],
    fence: Annotated[Fence, Header(alias="X-Iotide-Fence", description="The fence of the order")],
    content: Annotated[bytes, Body(media_type="application/octet-stream")] = b"",
) -> None:
    """Store the body once, even if it is sent several times."""
    limits = REPORT_LIMITS.of(request.app.state)
    service.store_artefact(session, node_id, order_id, fence, RawOutput(name, sha256, content), limits=limits)


@router.post("/orders/{order_id}/finish", summary="Submit a result", response_model=FinishReply)
def finish_order(
    node_id: NodeId, session: NodeTx, now: Now, request: Request, order_id: Id, body: FinishRequest
) -> Response:
    """Accept the result once, even if it is sent several times. A late result is only logged."""
    reply = service.finish(session, node_id, order_id, body, now, limits=REPORT_LIMITS.of(request.app.state))
    return _spoken(reply, spoken_version(request))
