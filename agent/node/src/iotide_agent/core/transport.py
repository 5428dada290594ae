"""The agent's HTTP client: one method for each route of `agent_api`, every answer a typed value."""

import hashlib
import ssl
from typing import Any, Final, TypeVar

import httpx2
from pydantic import ValidationError

from iotide_agent.node.identity import Identity
from iotide_wire.base import Message
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
from iotide_wire.versions import SPOKEN_VERSIONS, STRANGE_VERSION, WIRE_VERSION, as_spoken

_TIMEOUT: Final = httpx2.Timeout(10.0, connect=3.0)
_PATIENT_TIMEOUT: Final = httpx2.Timeout(120.0, connect=3.0)
_IDLE_CONNECTION_SECONDS: Final = 60.0
"""Longer than from beat to beat, since each connection is a TLS handshake; less than the server keeps one (75 s)."""
_BUSY: Final = frozenset({408, 425, 429})
"""Refusals of the moment: the same request may be answered later."""
_MALFORMED: Final = 422
_UNKNOWN_TOKEN: Final = 401
_ReplyT = TypeVar("_ReplyT", bound=Message)


class Unreachable(Exception):  # noqa: N818 - it is what the server is, and no error of ours
    """No answer of the server's own, or one that says "later": try again after a while."""


class Refusal(Exception):  # noqa: N818 - an answer of the server, and no error of ours
    """The server said no, by HTTP status, stable code and sentence; it would refuse the same request again."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(f"{sentence} ({status} {code})")
        self.status = status
        self.code = code
        self.sentence = sentence


class Transport:
    """Call the server's `agent_api` with the node's token; `version` is what the server was last found to understand.

    Every method raises Unreachable or Refusal; which request is repeated, and when, is the session's decision.
    """

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
        """Closes the connections."""
        self._client.close()

    def become(self, node_token: str) -> None:
        """Speaks with another token from now on."""
        self._former_token = self._client.headers.get("Authorization")
        self._client.headers.update(_bearer(node_token))

    def enroll(self, request: EnrollRequest) -> EnrollReply:
        """Trades a join token for an identity; in an older version where the server knows no newer one.

        An answer that is given up is lost, and a use of the token with it.
        """
        return self._introduce("/enroll", request, EnrollReply, _PATIENT_TIMEOUT)

    def hello(self, request: HelloRequest) -> HelloReply:
        """Announces the agent; 409 `agent_already_running` while another one beats, 403 `node_pending` before it is in.

        An older server is spoken to in the version before, from then on, until the next hello.
        """
        return self._introduce("/hello", request, HelloReply)

    def standing(self) -> Standing:
        """How the server sees this node; 404 from a server that cannot say."""
        return _read(self._send(self._client.build_request("GET", "/standing")), Standing)

    def rotate(self, request: RotateRequest) -> NewCredentials:
        """New credentials; 409 `rotation_not_wanted` where the node is to keep those that it has."""
        return self._post("/rotation", request, NewCredentials)

    def confirm(self, node_token: str) -> None:
        """Says that the node keeps this token; 401 where the server knows no such one."""
        self._send(self._client.build_request("POST", "/rotation/confirm", headers=_bearer(node_token)))

    def beat(self, request: BeatRequest) -> BeatReply:
        """Reports the state of all orders; 409 `agent_superseded` where another agent took over."""
        return self._post("/beat", request, BeatReply)

    def report_batch(self, report: BatchReport) -> BatchReply:
        """Says what a batch system does; 409 where the server wants no gateway to it here."""
        return self._post("/batch", report, BatchReply)

    def claim(self, order_id: int, request: ClaimRequest) -> Order:
        """Takes an order; 409 where it is no longer to be had."""
        return self._post(f"/orders/{order_id}/claim", request, Order)

    def finish(self, order_id: int, request: FinishRequest) -> FinishReply:
        """Hands in a result; the same one twice counts once."""
        return self._post(f"/orders/{order_id}/finish", request, FinishReply, _PATIENT_TIMEOUT)

    def put_artefact(self, order_id: int, fence: int, name: str, content: bytes) -> None:
        """Uploads a piece of raw output; the same one twice counts once."""
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
                # A server to which a field is unknown does not come as far as the version.
                is_strange = error.code == STRANGE_VERSION or error.status == _MALFORMED
                if not is_strange or version == SPOKEN_VERSIONS.start:
                    raise
        raise ValueError("no version is spoken")

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
            # It was under way when the node got another token, so it says nothing of the node.
            raise Unreachable(f"{request.url.path} was asked with the token before; it is asked anew")
        raise refusal


def _read(response: httpx2.Response, reply_type: type[_ReplyT]) -> _ReplyT:
    try:
        return reply_type.model_validate_json(response.content)
    except ValidationError as error:
        raise Unreachable(f"the answer to {response.url.path} is not what this version expects: {error}") from error


def _bearer(node_token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {node_token}"}


def transport_of(identity: Identity) -> Transport:
    """The client of an enrolled node."""
    return Transport(identity.server_url, identity.node_token, identity.ca_pem)


def trust(ca_pem: str | None) -> ssl.SSLContext:
    """Whose certificates are believed: that authority's alone, or the system's where none is given."""
    if ca_pem is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=ca_pem)
    return context


def _refusal(response: httpx2.Response) -> Refusal:
    """Return what the server's own error says; raise Unreachable where the body is a proxy's."""
    try:
        error: dict[str, Any] = response.json()["error"]
        sentence = str(error["message"]) + (f"; {error['remedy']}" if error.get("remedy") else "")
        return Refusal(response.status_code, str(error["code"]), sentence)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        said = response.text[:500] or "nothing"
        raise Unreachable(
            f"{response.request.url} answered {response.status_code}, but not in iotide's words: {said!r}; "
            "a proxy between may be at fault"
        ) from error
