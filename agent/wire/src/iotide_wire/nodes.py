"""Messages about a node itself: approval, credentials and clock."""

from typing import Annotated, Final

from pydantic import Field

from iotide_wire.base import Message, Name, Text, UtcTime

FINGERPRINT_DIGITS: Final = 16


class BrokerAccess(Message):
    """Access of the agent's Celery worker to its queue, with the node's own Redis ACL user."""

    url: Text
    queue: Text
    ca_pem: Annotated[str, Field(max_length=20_000)] | None


class ClockReading(Message):
    """Clock of a node, compared with the server's.

    Attributes:
        offset_seconds: negative if the node is behind.
        uncertainty_seconds: half of the fastest recent round trip.
    """

    offset_seconds: Annotated[float, Field(ge=-1e10, le=1e10, allow_inf_nan=False)]
    uncertainty_seconds: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class Standing(Message):
    """The server's view of the calling node.

    Attributes:
        pending_until: deadline for its approval; None if approved.
        fingerprint: of its token, for admins to compare.
    """

    node_name: Name
    cluster: Name
    pending_until: UtcTime | None
    fingerprint: Text
    server_time: UtcTime
    oldest_wire_version: int
    newest_wire_version: int


class RotateRequest(Message):
    """Request for new credentials, which the server has asked for.

    Attributes:
        agent_instance: a thief of the token does not know it.
    """

    agent_instance: Annotated[str, Field(min_length=8, max_length=64)]


class NewCredentials(Message):
    """New credentials of a node. The old ones stay valid until the node uses the new token."""

    node_token: Text
    broker: BrokerAccess


def fingerprint(token_sha256: str) -> str:
    """Return the first digits of a token's SHA-256 for comparison: `3f2a 91bc 07de 4410`."""
    digits = token_sha256[:FINGERPRINT_DIGITS]
    return " ".join(digits[start : start + 4] for start in range(0, len(digits), 4))
