"""Outermost layer of the API: limits bodies, requires JSON, sets security headers, handles internal errors."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from re import Pattern
from typing import Final

import structlog
from anyio import CancelScope, to_thread
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iotide_server.kit.bodies import BodyLimit, set_body_limit
from iotide_server.kit.errors import ErrorKind, IotideError
from iotide_server.kit.request_context import REQUEST_ID_HEADER, MakeId, new_request_id, request_context
from iotide_server.kit.web import BODY_TOO_LARGE, refusal

API_PREFIX: Final = "/api/"
_SECURITY_HEADERS: Final = {
    # The component library and the charts use inline style attributes.
    "Content-Security-Policy": "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_UNSAFE_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_REFUSALS: Final = (IotideError, OperationalError, PoolTimeoutError)  # become 4xx or 503 unless the response has begun
WRONG_CONTENT_TYPE = ErrorKind(415, "wrong_content_type", field="Content-Type", shows="content_type").says(
    "the body is not declared as JSON", "send Content-Type: application/json"
)
INTERNAL_ERROR = ErrorKind(500, "internal_error").says(
    "internal server error; this is a bug in iotide", "search the server's log for this request_id"
)
_log = structlog.get_logger(__name__)


_ADDED_HEADERS: Final = "added_headers"


def add_header(scope: Scope, name: str, value: str) -> None:
    scope.setdefault("state", {}).setdefault(_ADDED_HEADERS, []).append((name, value))


_AFTER_ANSWER: Final = "after_answer"


def after_answer(scope: Scope, act: Callable[[], None]) -> None:
    """Call `act` in a thread after the response or a disconnect."""
    scope["state"][_AFTER_ANSWER].append(act)


class Guard:
    """ASGI middleware around the whole application.

    `body_limits` are by path pattern. `raw_paths` accept any content type.
    """

    def __init__(
        self,
        app: ASGIApp,
        body_limits: Mapping[Pattern[str], BodyLimit],
        raw_paths: Pattern[str],
        make_id: MakeId = new_request_id,
    ) -> None:
        self._app = app
        self._body_limits = body_limits
        self._raw_paths = raw_paths
        self._make_id = make_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with request_context(scope, self._make_id) as request_id:
            await self._serve(scope, receive, _Answer(scope, request_id, send))

    async def _serve(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        limit = next(
            (limit for pattern, limit in self._body_limits.items() if pattern.fullmatch(scope["path"])), BodyLimit()
        )
        set_body_limit(scope, limit)
        refused = self._refuse(scope, limit.size_bytes)
        if refused is not None:
            await refused(scope, receive, answer.send)
            return
        if scope["path"].startswith(API_PREFIX):
            # A browser that requests HTML at a wrong API path must not get the dashboard.
            scope["headers"] = [header for header in scope["headers"] if header[0] != b"accept"]
        acts: list[Callable[[], None]] = []
        scope.setdefault("state", {})[_AFTER_ANSWER] = acts
        try:
            await self._app(scope, _bounded(receive, limit.size_bytes), answer.send)
        except Exception as error:
            if answer.has_started and isinstance(error.__cause__, _REFUSALS):
                # The client only sees the connection close.
                reason = str(error.__cause__).partition("\n")[0]
                _log.warning("answer_cut", method=scope["method"], path=scope["path"], reason=reason)
                return
            _log.exception("request_failed", method=scope["method"], path=scope["path"])
            if answer.has_started:
                raise
            await refusal(INTERNAL_ERROR())(scope, receive, answer.send)
        finally:
            for act in acts:
                with CancelScope(shield=True):
                    await to_thread.run_sync(act)

    def _refuse(self, scope: Scope, limit_bytes: int) -> JSONResponse | None:
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > limit_bytes:
            return refusal(BODY_TOO_LARGE(problem=f"the body has more than {limit_bytes} bytes"))
        has_body = length != "0" or "transfer-encoding" in headers
        if scope["method"] not in _UNSAFE_METHODS or not has_body or self._raw_paths.fullmatch(scope["path"]):
            return None
        content_type = headers.get("content-type", "")
        if content_type.partition(";")[0].strip().lower() == "application/json":
            return None
        return refusal(WRONG_CONTENT_TYPE(content_type=content_type))


class _Answer:
    def __init__(self, scope: Scope, request_id: str, send: Send) -> None:
        self._scope = scope
        self._path: str = scope["path"]
        self._request_id = request_id
        self._send = send
        self.has_started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_started = True
            headers = MutableHeaders(scope=message)
            for name, value in _SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", self._caching())
            for name, value in self._scope.get("state", {}).get(_ADDED_HEADERS, ()):
                headers.append(name, value)
            headers[REQUEST_ID_HEADER] = self._request_id
        await self._send(message)

    def _caching(self) -> str:
        if self._path.startswith(API_PREFIX):
            return "no-store"
        # The build names these files by content hash.
        return "public, max-age=31536000, immutable" if self._path.startswith("/assets/") else "no-cache"


def _bounded(receive: Receive, limit_bytes: int) -> Receive:
    received_bytes = 0

    async def receive_bounded() -> Message:
        nonlocal received_bytes
        message = await receive()
        received_bytes += len(message.get("body", b""))
        if received_bytes > limit_bytes:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {limit_bytes} bytes")
        return message

    return receive_bounded
