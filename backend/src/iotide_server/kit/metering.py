"""ASGI middleware that counts requests and response times."""

from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iotide_server.kit.meters import HTTP_REQUESTS, HTTP_SECONDS

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER: Final = "other"
"""One label for dashboard files and unknown addresses, because each guessed one would add a permanent series."""


class Metering:
    """Outermost, so that requests rejected by inner layers also count. `api` is the API's path."""

    def __init__(self, app: ASGIApp, api: str) -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_at = perf_counter()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in _METHODS else _OTHER
                route = self._route(scope)
                HTTP_REQUESTS.labels(method, route, str(message["status"])).inc()
                HTTP_SECONDS.labels(method, route).observe(perf_counter() - began_at)
            await send(message)

        await self._app(scope, receive, send_counted)

    def _route(self, scope: Scope) -> str:
        template = getattr(scope.get("route"), "path", None)
        if template is None:
            return _OTHER
        return f"{self._api}{template}" if scope["path"].startswith(f"{self._api}/") else template
