"""What is said of a node as such: whether it is in, by which secrets it is known, how its clock goes."""

from typing import Annotated, Final

from pydantic import Field

from iotide_wire.base import Message, Name, Text, UtcTime

FINGERPRINT_DIGITS: Final = 16


class BrokerAccess(Message):
    """How the agent's Celery worker reaches its queue, with the node's own Redis ACL user."""

    url: Text
    queue: Text
    ca_pem: Annotated[str, Field(max_length=20_000)] | None


class ClockReading(Message):
    """A node's time of day against the server's.

    Attributes:
        offset_seconds: how far it is ahead; negative where it is behind.
        uncertainty_seconds: half of the quickest round trip of late; the truth is no further off than this.
    """

    offset_seconds: Annotated[float, Field(ge=-1e10, le=1e10, allow_inf_nan=False)]
    uncertainty_seconds: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class Standing(Message):
    """How the server sees the node whose token asks.

    Attributes:
        pending_until: it waits to be let in, and until then; None: it is in.
        fingerprint: of its token, for people to compare.
        oldest_wire_version, newest_wire_version: what the server speaks.
    """

    node_name: Name
    cluster: Name
    pending_until: UtcTime | None
    fingerprint: Text
    server_time: UtcTime
    oldest_wire_version: int
    newest_wire_version: int


class RotateRequest(Message):
    """Asks for new credentials, which the server wants the node to have.

    Attributes:
        agent_instance: of the agent that speaks for the node; a thief of the token does not know it.
    """

    agent_instance: Annotated[str, Field(min_length=8, max_length=64)]


class NewCredentials(Message):
    """What the node is known by once it has said so with the new token; until then the old ones stay good."""

    node_token: Text
    broker: BrokerAccess


def fingerprint(token_sha256: str) -> str:
    """The first digits of a token's SHA-256, as people compare them: `3f2a 91bc 07de 4410`."""
    digits = token_sha256[:FINGERPRINT_DIGITS]
    return " ".join(digits[start : start + 4] for start in range(0, len(digits), 4))
