"""Answers the requests of a printed page by the application itself, as if the caller of the print had sent them.

So the page may read what the caller may read, whether by session or by API token. No session is created for it, and
Chromium learns no secret.
"""

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import httpx2
from fastapi import Request

from iotide_server.printing.devtools import DevTools, DevToolsError, Json

_AT_ONCE: Final = 6
"""Like a browser's connections to a server; OneEach rejects more than 20 waiting requests of a user."""
_OF_CALLER: Final = ("authorization", "cookie", "user-agent")
_OF_CONNECTION: Final = frozenset({"content-length", "set-cookie", "transfer-encoding"})


class PageAnswers:
    """Answers GET requests to `origin`, and nothing else. Leaves event streams open without an event."""

    def __init__(self, request: Request, origin: str) -> None:
        self.origin = origin
        headers = {name: request.headers[name] for name in _OF_CALLER if name in request.headers}
        client = request.client
        transport = httpx2.ASGITransport(
            app=request.app, raise_app_exceptions=False, client=(client.host, client.port) if client else ("", 0)
        )
        self._client = httpx2.AsyncClient(
            transport=transport, base_url="http://page", headers=headers | {"accept-encoding": "identity"}
        )
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._open = 0
        self._changed_at = 0.0

    def quiet_seconds(self) -> float:
        """Return for how long no request has been open."""
        return 0.0 if self._open else asyncio.get_running_loop().time() - self._changed_at

    async def answer(self, devtools: DevTools, paused: Json, session_id: str | None) -> None:
        """Answer a `Fetch.requestPaused`."""
        if paused["resourceType"] == "EventSource":
            return
        self._note(1)
        try:
            method, parameters = await self._fulfilled(paused)
            with suppress(DevToolsError):  # the page no longer waits for it
                await devtools.call(method, session_id, requestId=paused["requestId"], **parameters)
        finally:
            self._note(-1)

    async def _fulfilled(self, paused: Json) -> tuple[str, Json]:
        asked: Mapping[str, str] = paused["request"]
        if asked["method"] != "GET" or not asked["url"].startswith(f"{self.origin}/"):
            return "Fetch.failRequest", {"errorReason": "BlockedByClient"}
        # The application answers with the dashboard only if HTML is accepted.
        accept = "text/html" if paused["resourceType"] == "Document" else "*/*"
        async with self._turns:
            answer = await self._client.get(asked["url"].removeprefix(self.origin), headers={"accept": accept})
        headers = [
            {"name": name, "value": value}
            for name, value in answer.headers.multi_items()
            if name.lower() not in _OF_CONNECTION
        ]
        body = b64encode(answer.content).decode()
        return "Fetch.fulfillRequest", {"responseCode": answer.status_code, "responseHeaders": headers, "body": body}

    def _note(self, change: int) -> None:
        self._open += change
        self._changed_at = asyncio.get_running_loop().time()
