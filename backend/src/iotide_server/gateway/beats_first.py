"""Beats are answered before the routes, whose layers and ways through threads cost more than taking a beat down.

What cannot be answered here, for whatever reason, goes on to the route, which says why.
"""

from typing import Final

import structlog
from anyio import CapacityLimiter, to_thread
from starlette.datastructures import State
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iotide_server.clusters import identity_repository
from iotide_server.clusters.rules import OLDEST_VERSION
from iotide_server.gateway import beats
from iotide_server.gateway.idle_beats import idle_beat, node_token_sha256
from iotide_server.kit.db import after_commit
from iotide_server.kit.meters import HEARTBEATS
from iotide_wire.messages import BeatRequest
from iotide_wire.versions import as_spoken

_LARGEST_BYTES: Final = 64 * 1024
_log = structlog.get_logger(__name__)


class BeatsFirst:
    """ASGI middleware that answers beats: those of idle nodes together, each other one by one way through a thread.

    Args:
        path: where beats are sent.
        route: theirs, as which an answer counts.
    """

    def __init__(self, app: ASGIApp, path: str, route: BaseRoute) -> None:
        self._app = app
        self._path = path
        self._route = route
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        token_sha256 = node_token_sha256(request.headers)
        if token_sha256 is None or not _is_short(request.headers.get("content-length", "")):
            await self._app(scope, receive, send)
            return
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        answer = await self._answer(request, token_sha256, body)
        if answer is None:
            await self._app(scope, _once_more(body, receive), send)
            return
        scope["route"] = self._route
        await answer(scope, receive, send)

    async def _answer(self, request: Request, token_sha256: str, body: bytes) -> Response | None:
        state = request.app.state
        idle = idle_beat(request.headers, body)
        answer = None if idle is None else await state.idle_beats.take(idle)
        if answer is None:
            self._limiter = self._limiter or CapacityLimiter(1)  # of `BEAT_CONNECTIONS`; it belongs to the event loop
            answer = await to_thread.run_sync(_taken_alone, state, token_sha256, body, limiter=self._limiter)
        return answer


def _taken_alone(state: State, token_sha256: str, body: bytes) -> Response | None:
    """The answer to a beat that is in the database; None: nothing of it is."""
    now = state.clock()
    try:
        said = BeatRequest.model_validate_json(body)
        with state.database.beats.transaction() as session:
            node = identity_repository.node_by_token(session, token_sha256)
            if node is None:
                return None
            after_commit(session, HEARTBEATS.inc)
            reply = beats.beat(session, node.id, said, now)
    except Exception as error:  # noqa: BLE001 - the route fails by it, too, and has the words for it
        _log.debug("beat_left_to_its_route", error=str(error))
        return None
    return Response(as_spoken(reply, node.wire_version or OLDEST_VERSION), media_type="application/json")


def _is_short(length: str) -> bool:
    return length.isdecimal() and int(length) <= _LARGEST_BYTES


def _once_more(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then what comes after it."""
    read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return read.pop() if read else await receive()

    return receive_again
