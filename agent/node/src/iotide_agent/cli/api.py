"""Client of the server's REST API."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import httpx2

from iotide_agent.cli.problems import Problem, RefusedError

Document = dict[str, Any]

_PAGE: Final = 200
_TIMEOUT_SECONDS: Final = 30.0
_MOST_TRIES: Final = 10
_LONGEST_PAUSE_SECONDS: Final = 30.0
_BUSY: Final = 429


class UnreachableError(RefusedError):
    pass


class Api:
    """Each method raises RefusedError for an error answer and UnreachableError without an answer."""

    def __init__(
        self,
        url: str,
        token: str,
        trust: ssl.SSLContext | None = None,
        *,
        transport: httpx2.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`trust` is by default that of the system.

        `pause(seconds)` waits before a rate-limited request is sent again.
        """
        self._url = url
        self._pause = pause
        self._client = httpx2.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=_TIMEOUT_SECONDS,
            verify=trust or ssl.create_default_context(),
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    def get(
        self, path: str, parameters: Mapping[str, str | int | Sequence[int] | Sequence[str]] | None = None
    ) -> Document:
        return self._document(self._send(self._client.build_request("GET", path, params=parameters)))

    def get_text(self, path: str) -> str:
        return self._send(self._client.build_request("GET", path, headers={"Accept": "*/*"})).text

    def get_bytes(self, path: str, timeout_seconds: float) -> bytes:
        headers = {"Accept": "*/*"}
        return self._send(self._client.build_request("GET", path, headers=headers, timeout=timeout_seconds)).content

    def post(self, path: str, body: Document | None = None, *, idempotency_key: str | None = None) -> Document:
        """With an idempotency key, the request is repeated if the answer is lost."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        request = self._client.build_request("POST", path, json=body, headers=headers)
        try:
            return self._document(self._send(request))
        except UnreachableError:
            if idempotency_key is None:
                raise
            return self._document(self._send(request))

    def put(self, path: str, body: Document) -> Document:
        return self._document(self._send(self._client.build_request("PUT", path, json=body)))

    def patch(self, path: str, body: Document) -> Document:
        return self._document(self._send(self._client.build_request("PATCH", path, json=body)))

    def delete(self, path: str) -> None:
        self._send(self._client.build_request("DELETE", path))

    def get_list(self, path: str) -> list[Document]:
        response = self._send(self._client.build_request("GET", path))
        found = response.json()
        if not isinstance(found, list):
            raise self._no_api(response)
        return found

    def items(
        self, path: str, parameters: Mapping[str, str | int | Sequence[int] | Sequence[str]], limit: int | None = None
    ) -> Iterator[Document]:
        """A list of values repeats its parameter."""
        wanted = dict(parameters) | {"limit": min(limit or _PAGE, _PAGE)}
        given = 0
        while True:
            page = self.get(path, wanted)
            for item in page["items"]:
                if limit is not None and given >= limit:
                    return
                yield item
                given += 1
            if not page.get("next_cursor"):
                return
            wanted["cursor"] = page["next_cursor"]

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        response = self._send_once(request)
        for _ in range(_MOST_TRIES - 1):
            after = response.headers.get("Retry-After", "")
            if response.status_code != _BUSY or not after.isdecimal():
                break
            self._pause(min(float(after), _LONGEST_PAUSE_SECONDS))
            response = self._send_once(request)
        if response.is_error:
            raise RefusedError([_problem(response)])
        return response

    def _send_once(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return self._client.send(request)
        except httpx2.TransportError as error:
            raise self._unreachable(str(error) or type(error).__name__) from error

    def _document(self, response: httpx2.Response) -> Document:
        try:
            document = response.json()
        except ValueError as error:
            raise self._no_api(response) from error
        if not isinstance(document, dict):
            raise self._no_api(response)
        return document

    def _unreachable(self, reason: str) -> UnreachableError:
        remedy = "check that the server runs; `iotide login URL` keeps its address and authority"
        return UnreachableError(
            [Problem("unreachable", f"the server does not answer: {reason}", "url", self._url, remedy)]
        )

    def _no_api(self, response: httpx2.Response) -> RefusedError:
        message = f"the answer to {response.request.url} is not a JSON object"
        return RefusedError(
            [Problem("not_iotide", message, "url", self._url, "check that this is the address of iotide")]
        )


def _problem(response: httpx2.Response) -> Problem:
    try:
        error = response.json()["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        message = f"{response.request.url} answered with status {response.status_code}"
        return Problem("http_error", message, remedy="check that this is the address of iotide")
    return Problem(code, message, error.get("field"), error.get("value"), error.get("remedy"))
