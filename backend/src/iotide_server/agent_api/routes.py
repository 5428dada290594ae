"""Routes of the node agents."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request
from starlette.responses import JSONResponse, Response

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.roles.rules import Anyone, Bearer
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions import throttle
from iotide_server.accounts.sessions.cookies import caller_address
from iotide_server.accounts.sessions.throttle import AttemptKind, SignInAttempt
from iotide_server.agent_api import batch, beats, service
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
    BeatReply,
    BeatRequest,
    ClaimRequest,
    EnrollReply,
    EnrollRequest,
    FinishReply,
    FinishRequest,
    HelloReply,
    HelloRequest,
    Order,
)
from iotide_wire.nodes import NewCredentials, RotateRequest, Standing
from iotide_wire.versions import as_spoken

router = APIRouter(prefix="/agent", tags=["agents"], route_class=KnownCallerRoute)


def _known_id(principal: Principal) -> int:
    if principal.id is None:
        raise TypeError("a node without an id has no token")
    return principal.id


async def _node_id(principal: NodeAgent) -> int:
    return _known_id(principal)  # async, because what is not costs a way through a thread


NodeId = Annotated[int, Depends(_node_id)]  # the calling agent's node


def _spoken(reply: Message, version: int, status: int = 200) -> Response:
    """The reply as an agent of that wire version understands it."""
    return Response(as_spoken(reply, version), status, media_type="application/json")


@router.post(
    "/enroll", summary="Enroll a node", status_code=201, response_model=EnrollReply, responses=errors(401, 409, 429)
)
def enroll_agent(_: Anyone, session: NodeTx, now: Now, request: Request, body: EnrollRequest) -> Response:
    """Trades a join token for the node's identity: its token for this API and its own access to the broker.

    With a token that needs approval it opens nothing until an administrator of the cluster let the node in.
    """
    access = AGENT_ACCESS.of(request.app.state)
    address = caller_address(request)
    attempt = SignInAttempt(AttemptKind.ENROLMENT, address)
    throttle.admit(session, attempt, now)
    try:
        reply = enrolment.enroll(session, body, access, address, now)
    except NotAuthenticatedError as error:  # raised before anything is written; the failure is, too
        sessions.note_failure(session, attempt, None, now)
        return refusal(error)
    return _spoken(reply, body.wire_version, 201)


@router.get("/standing", summary="Say how the server sees the node", response_model=Standing)
def get_standing(principal: NodeOrWaiting, session: NodeTx, now: Now, request: Request) -> Response:
    """Changes nothing, so a person may ask beside a running agent; also of a host that waits to be let in."""
    return _spoken(records.standing_of(session, principal, waiting_node(request), now), spoken_version(request))


@router.post("/hello", summary="Announce an agent", response_model=HelloReply, responses=errors(409, 429))
def greet_agent(principal: NodeOrWaiting, session: NodeTx, now: Now, request: Request, body: HelloRequest) -> Response:
    """Said by every agent that starts, and again when its facts changed.

    An order that the node has claimed and that a new agent process does not hold any more is lost: its run waits
    again while attempts remain. One that waits to be let in hears 403 `node_pending`, and how it is approved.
    """
    waiting = waiting_node(request)
    if waiting is not None:
        return refusal(pending.hear(waiting, body, now))
    node_id = _known_id(principal)
    strange = agents.note_strange_version(session, node_id, body)
    if strange is not None:
        return refusal(strange)
    return _spoken(service.hello(session, node_id, body, now), body.wire_version)


@router.post("/rotation", summary="Take new credentials", responses=errors(409))
def rotate_credentials(node_id: NodeId, session: NodeTx, request: Request, body: RotateRequest) -> NewCredentials:
    """For an agent that was told so by its beat; asked again, it gets others. The present ones stay good."""
    return credentials.rotate(session, node_id, body, AGENT_ACCESS.of(request.app.state))


@router.post("/rotation/confirm", summary="Keep new credentials", status_code=204)
def confirm_credentials(principal: ConfirmingNode, session: NodeTx, now: Now, request: Request, bearer: Bearer) -> None:
    """Said with the new token, once it is on the node's disk: from then on the former credentials are void."""
    if bearer is not None:
        token_sha256 = digest(bearer.credentials)
        credentials.confirm(session, principal, token_sha256, AGENT_ACCESS.of(request.app.state), now)


@router.post("/orders/{order_id}/claim", summary="Claim an order", response_model=Order, responses=errors(404, 409))
def claim_order(node_id: NodeId, session: NodeTx, now: Now, order_id: Id, body: ClaimRequest) -> Order | JSONResponse:
    """Makes an offered order this agent process's; of all that try one succeeds, and it may ask again."""
    try:
        claimed = service.claim(session, node_id, order_id, body, now)
    except IotideError:
        CLAIMS.labels(REFUSED).inc()
        raise
    is_granted = isinstance(claimed, Order)
    after_commit(session, CLAIMS.labels(GRANTED if is_granted else REFUSED).inc)
    return claimed if isinstance(claimed, Order) else refusal(claimed)


@router.post("/beat", summary="Send a beat", response_model=BeatReply, responses=errors(409))
def take_beat(node_id: NodeId, session: NodeTx, now: Now, request: Request, body: BeatRequest) -> Response:
    """Says where the node's orders are; the answer holds a word on each."""
    after_commit(session, HEARTBEATS.inc)
    return _spoken(
        beats.beat(session, node_id, body, now, REPORT_LIMITS.of(request.app.state)), spoken_version(request)
    )


@router.post("/batch", summary="Report what a batch system does", response_model=BatchReply, responses=errors(409))
def take_batch_report(node_id: NodeId, session: NodeTx, now: Now, request: Request, body: BatchReport) -> Response:
    """Said by the gateway of a cluster again and again; the answer holds what it is to submit and to cancel."""
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
    sha256: Annotated[str, Query(pattern=r"^[0-9a-f]{64}$", description="Of the body, hexadecimal")],
    fence: Annotated[Fence, Header(alias="X-Iotide-Fence", description="The fence of the order")],
    content: Annotated[bytes, Body(media_type="application/octet-stream")] = b"",
) -> None:
    """Stores the body once, however often it is sent."""
    limits = REPORT_LIMITS.of(request.app.state)
    service.store_artefact(session, node_id, order_id, fence, RawOutput(name, sha256, content), limits=limits)


@router.post("/orders/{order_id}/finish", summary="Hand in a result")
def finish_order(
    node_id: NodeId, session: NodeTx, now: Now, request: Request, order_id: Id, body: FinishRequest
) -> FinishReply:
    """Takes the result once, however often it is sent; one that comes too late is kept as evidence alone."""
    return service.finish(session, node_id, order_id, body, now, limits=REPORT_LIMITS.of(request.app.state))
