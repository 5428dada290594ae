"""HTTP client of the agent: one method per route of `agent_api`, with typed answers."""

import hashlib
import ssl
from typing import Any, Final, TypeVar

import httpx2
from pydantic import ValidationError

from iotide_agent.node.identity import Identity
from iotide_wire.base import Message
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
from iotide_wire.versions import SPOKEN_VERSIONS, STRANGE_VERSION, WIRE_VERSION, as_spoken

_TIMEOUT: Final = httpx2.Timeout(10.0, connect=3.0)
_PATIENT_TIMEOUT: Final = httpx2.Timeout(120.0, connect=3.0)
_IDLE_CONNECTION_SECONDS: Final = 60.0
"""Longer than the heartbeat interval, because a new connection costs a TLS handshake; shorter than the server's 75
s.
"""
_BUSY: Final = frozenset({408, 425, 429})
_MALFORMED: Final = 422
_UNKNOWN_TOKEN: Final = 401
_ReplyT = TypeVar("_ReplyT", bound=Message)


class Unreachable(Exception):  # noqa: N818 - it is what the server is, and no error of ours
    """No answer from the server, or a temporary refusal."""


class Refusal(Exception):  # noqa: N818 - an answer of the server, and no error of ours
    """The same request would be refused again."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(f"{sentence} ({status} {code})")
        self.status = status
        self.code = code
        self.sentence = sentence


class Transport:
    """Every method raises Unreachable or Refusal; `version` is the server's, as far as known."""

    def __init__(self, server_url: str, node_token: str, ca_pem: str | None) -> None:
        self.version = WIRE_VERSION
        self._former_token: str | None = None
        self._client = httpx2.Client(
            base_url=f"{server_url}/api/v1/agent",
            headers=_bearer(node_token) if node_token else {},
            timeout=_TIMEOUT,
            limits=httpx2.Limits(keepalive_expiry=_IDLE_CONNECTION_SECONDS),
            verify=trust(ca_pem),
            trust_env=False,
        )

    def close(self) -> None:
        self._client.close()

    def become(self, node_token: str) -> None:
        self._former_token = self._client.headers.get("Authorization")
        self._client.headers.update(_bearer(node_token))

    def enroll(self, request: EnrollRequest) -> EnrollReply:
        """Trade a join token for an identity; use an older version if the server needs it.

        An answer that times out is lost, and a use of the token with it.
        """
        return self._introduce("/enroll", request, EnrollReply, _PATIENT_TIMEOUT)

    def hello(self, request: HelloRequest) -> HelloReply:
        """Announce the agent; use the previous version for an older server until the next hello.

        The server answers 409 `agent_already_running` or 403 `node_pending`.
        """
        return self._introduce("/hello", request, HelloReply)

    def standing(self) -> Standing:
        """Raise Refusal 404 from a server without this route."""
        return _read(self._send(self._client.build_request("GET", "/standing")), Standing)

    def rotate(self, request: RotateRequest) -> NewCredentials:
        """Raise Refusal 409 `rotation_not_wanted` if the node must keep its credentials."""
        return self._post("/rotation", request, NewCredentials)

    def confirm(self, node_token: str) -> None:
        """Confirm that the node stored this token; 401 if the server does not know it."""
        self._send(self._client.build_request("POST", "/rotation/confirm", headers=_bearer(node_token)))

    def heartbeat(self, request: HeartbeatRequest) -> HeartbeatReply:
        """Raise Refusal 409 `agent_superseded` if another agent took over."""
        return self._post("/beat", request, HeartbeatReply)

    def report_batch(self, report: BatchReport) -> BatchReply:
        """Raise Refusal 409 if the cluster does not use this batch system."""
        return self._post("/batch", report, BatchReply)

    def claim(self, order_id: int, request: ClaimRequest) -> Order:
        """Raise Refusal 409 if the order is no longer available."""
        return self._post(f"/orders/{order_id}/claim", request, Order)

    def finish(self, order_id: int, request: FinishRequest) -> FinishReply:
        return self._post(f"/orders/{order_id}/finish", request, FinishReply, _PATIENT_TIMEOUT)

    def put_artefact(self, order_id: int, fence: int, name: str, content: bytes) -> None:
        self._send(
            self._client.build_request(
                "PUT",
                f"/orders/{order_id}/artefacts/{name}",
                params={"sha256": hashlib.sha256(content).hexdigest()},
                headers={"X-Iotide-Fence": str(fence), "Content-Type": "application/octet-stream"},
                content=content,
                timeout=_PATIENT_TIMEOUT,
            )
        )

    def _introduce(
        self,
        path: str,
        request: EnrollRequest | HelloRequest,
        reply_type: type[_ReplyT],
        timeout: httpx2.Timeout = _TIMEOUT,
    ) -> _ReplyT:
        for version in reversed(SPOKEN_VERSIONS):
            self.version = version
            try:
                return self._post(path, request.model_copy(update={"wire_version": version}), reply_type, timeout)
            except Refusal as error:
                # A server that does not know a field rejects the request before the version check.
                is_strange = error.code == STRANGE_VERSION or error.status == _MALFORMED
                if not is_strange or version == SPOKEN_VERSIONS.start:
                    raise
        raise ValueError("no version is supported")

    def _post(
        self, path: str, message: Message, reply_type: type[_ReplyT], timeout: httpx2.Timeout = _TIMEOUT
    ) -> _ReplyT:
        response = self._send(
            self._client.build_request(
                "POST",
                path,
                headers={"Content-Type": "application/json"},
                content=as_spoken(message, self.version),
                timeout=timeout,
            )
        )
        return _read(response, reply_type)

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = self._client.send(request)
        except httpx2.HTTPError as error:
            raise Unreachable(f"{request.url}: {error or type(error).__name__}") from error
        if response.is_success:
            return response
        if response.is_server_error or response.status_code in _BUSY:
            raise Unreachable(f"the server answered {response.status_code} to {request.url.path}")
        refusal = _refusal(response)
        is_overtaken = self._former_token is not None and request.headers.get("Authorization") == self._former_token
        if response.status_code == _UNKNOWN_TOKEN and is_overtaken:
            # Sent before the node got another token, so the refusal says nothing about the node.
            raise Unreachable(f"{request.url.path} was sent with the previous token; the agent sends it again")
        raise refusal


def _read(response: httpx2.Response, reply_type: type[_ReplyT]) -> _ReplyT:
    try:
        return reply_type.model_validate_json(response.content)
    except ValidationError as error:
        raise Unreachable(f"the answer to {response.url.path} has an unknown format: {error}") from error


def _bearer(node_token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {node_token}"}


def transport_of(identity: Identity) -> Transport:
    return Transport(identity.server_url, identity.node_token, identity.ca_pem)


def trust(ca_pem: str | None) -> ssl.SSLContext:
    """Trust only that authority; without one, the system's."""
    if ca_pem is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=ca_pem)
    return context


def _refusal(response: httpx2.Response) -> Refusal:
    """Raise Unreachable if the body comes from a proxy."""
    try:
        error: dict[str, Any] = response.json()["error"]
        sentence = str(error["message"]) + (f"; {error['remedy']}" if error.get("remedy") else "")
        return Refusal(response.status_code, str(error["code"]), sentence)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        said = response.text[:500] or "nothing"
        raise Unreachable(
            f"{response.request.url} answered {response.status_code}, but not in iotide's format: {said!r}; "
            "check proxies between node and server"
        ) from error
