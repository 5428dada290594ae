"""Middleware that answers heartbeats before the routes, whose layers and threads cost more than a heartbeat.

On any failure, the route handles the request and reports the error.
"""

import time
from functools import partial
from typing import Final

import structlog
from anyio import CapacityLimiter, to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iotide_server.accounts.roles.known_callers import KNOCKS
from iotide_server.agent_api import heartbeats
from iotide_server.agent_api.idle_heartbeats import IDLE_HEARTBEATS, idle_heartbeat, node_token_sha256, read_heartbeat
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.rules import OLDEST_VERSION, node_holder
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import DATABASE, after_commit, limit_locks
from iotide_server.kit.errors import TooManyRequestsError
from iotide_server.kit.meters import HEARTBEATS
from iotide_server.kit.one_each import OneEach
from iotide_server.kit.web import refusal
from iotide_server.results.ingest.limits import REPORT_LIMITS
from iotide_wire.units import KIB
from iotide_wire.versions import as_spoken

_LARGEST_BYTES: Final = 64 * KIB
_KNOWN_SECONDS: Final = 60.0
_LOCK_SECONDS: Final = 0.1
_MOST_WAITING: Final = 2
"""Of a node with an order. An agent sends one at a time, and the next after giving one up."""
_MOST_KNOWN: Final = 50_000  # tokens of about 150 bytes
_log = structlog.get_logger(__name__)


class HeartbeatsFirst:
    """Answers heartbeats of idle nodes in batches, others one by one in a thread."""

    def __init__(self, app: ASGIApp, path: str, route: BaseRoute) -> None:
        self._app = app
        self._path = path
        self._route = route
        self._known = _KnownTokens()
        self._one_each = OneEach(node_holder, _MOST_WAITING)
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        token_sha256 = node_token_sha256(request.headers)
        if token_sha256 is None or not _is_short(request.headers.get("content-length", "")):
            await self._app(scope, receive, send)
            return
        if not await self._known.has(request.app.state, token_sha256):
            await self._app(scope, receive, send)
            return
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        idle = idle_heartbeat(request.headers, body)
        answer = None if idle is None else await IDLE_HEARTBEATS.of(request.app.state).take(idle)
        if answer is None:
            answer = await self._answer_in_turn(request, token_sha256, body, send)
        if answer is None:
            return
        self._known.keep(token_sha256)
        scope["route"] = self._route
        await answer(scope, receive, send)

    async def _answer_in_turn(self, request: Request, token_sha256: str, body: bytes, send: Send) -> Response | None:
        """Return None if it was already sent or the client is gone."""
        # One request of a node at a time, here or in the route, so a node that waits for locked rows blocks only
        # itself.
        self._limiter = self._limiter or CapacityLimiter(1)  # of `HEARTBEAT_CONNECTIONS`; it belongs to the event loop
        try:
            async with self._one_each.turn(request):
                taken = partial(_taken_alone, request.app.state, token_sha256, body)
                answer = await to_thread.run_sync(taken, limiter=self._limiter)
                if answer is None:
                    await self._app(request.scope, _once_more(body, request.receive), send)
                return answer
        except TooManyRequestsError as error:
            request.scope["route"] = self._route
            await refusal(error)(request.scope, request.receive, send)
            return None
        except HTTPException:
            return None


class _KnownTokens:
    """Tokens of nodes whose bodies are read. One revoked within the last minute gives no other access."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    async def has(self, state: State, token_sha256: str) -> bool:
        if self._until.get(token_sha256, 0.0) > time.monotonic():
            return True
        if not await to_thread.run_sync(_is_of_node, state, token_sha256, limiter=KNOCKS.of(state)):
            return False
        self.keep(token_sha256)
        return True

    def keep(self, token_sha256: str) -> None:
        if len(self._until) >= _MOST_KNOWN:
            self._until.clear()
        self._until[token_sha256] = time.monotonic() + _KNOWN_SECONDS


def _is_of_node(state: State, token_sha256: str) -> bool:
    try:
        with DATABASE.of(state).heartbeats.transaction() as session:
            return identity_repository.node_by_token(session, token_sha256) is not None
    except SQLAlchemyError as error:
        _log.debug("heartbeat_left_to_its_route", error=str(error))
        return False


def _taken_alone(state: State, token_sha256: str, body: bytes) -> Response | None:
    now = CLOCK.of(state)()
    try:
        said = read_heartbeat(body)
        with DATABASE.of(state).heartbeats.transaction() as session:
            # All heartbeats of this process pass here one by one. One with a locked order waits in the route.
            limit_locks(session, _LOCK_SECONDS)
            node = identity_repository.node_by_token(session, token_sha256)
            if node is None:
                return None
            after_commit(session, HEARTBEATS.inc)
            reply = heartbeats.answer_heartbeat(session, node.id, said, now, REPORT_LIMITS.of(state), waits=False)
    except Exception as error:  # noqa: BLE001 - the route fails as well and reports the error
        _log.debug("heartbeat_left_to_its_route", error=str(error))
        return None
    return Response(as_spoken(reply, node.wire_version or OLDEST_VERSION), media_type="application/json")


def _is_short(length: str) -> bool:
    return length.isdecimal() and int(length) <= _LARGEST_BYTES


def _once_more(body: bytes, receive: Receive) -> Receive:
    read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return read.pop() if read else await receive()

    return receive_again
