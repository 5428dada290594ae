"""Which fields of a message came with which version, so that each side says only what the other one knows."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from iotide_wire.base import Message

WIRE_VERSION: Final = 2
"""Version of the messages; a server and an agent each speak this one and the one before."""

SPOKEN_VERSIONS: Final = range(max(1, WIRE_VERSION - 1), WIRE_VERSION + 1)

STRANGE_VERSION: Final = "wire_version_unsupported"
"""The code with which a server says that it does not understand the agent."""


@dataclass(frozen=True, slots=True)
class Since:
    """Stands in a field's annotation: who speaks an earlier version would refuse the message for it."""

    version: int


@cache
def unknown_to(kind: type[Message], version: int) -> frozenset[str]:
    """The fields of a kind of message that came after that version."""
    return frozenset(
        name
        for name, field in kind.model_fields.items()
        if any(isinstance(mark, Since) and mark.version > version for mark in field.metadata)
    )


def as_spoken(message: Message, version: int) -> bytes:
    """The message as JSON, without what came after that version."""
    return message.model_dump_json(exclude=set(unknown_to(type(message), version))).encode()


def named(versions: Iterable[int]) -> str:
    """`1 and 2`."""
    return " and ".join(map(str, versions))
