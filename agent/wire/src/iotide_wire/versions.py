"""Which fields of a message came with which version, so that each side says only what the other one knows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args, get_origin

from iotide_wire.base import Message

WIRE_VERSION: Final = 3
"""Version of the messages; a server and an agent each speak this one and the two before."""

SPOKEN_VERSIONS: Final = range(max(1, WIRE_VERSION - 2), WIRE_VERSION + 1)

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
    """Return the message as JSON, without what came after that version, also in its parts."""
    said = message if version >= WIRE_VERSION else message.for_version(version)
    return said.model_dump_json(exclude=dict(_excluded(type(said), version)) or None).encode()


@cache
def _excluded(kind: type[Message], version: int, outer: frozenset[type[Message]] = frozenset()) -> Mapping[str, Any]:
    """Return the fields to leave out of a kind of message and of its parts, as pydantic's `exclude` takes them.

    Args:
        outer: the kinds around it. Expressions hold themselves, and are not searched twice.
    """
    found: dict[str, Any] = dict.fromkeys(unknown_to(kind, version), True)
    for name, field in kind.model_fields.items():
        for part, is_many in _parts(field.annotation):
            nested = {} if part in outer else dict(_excluded(part, version, outer | {kind, part}))
            if nested and name not in found:
                found[name] = {"__all__": nested} if is_many else nested
    return found


def _parts(annotation: object, *, is_many: bool = False) -> Iterator[tuple[type[Message], bool]]:
    """Yield the messages that a field holds, and true for those in a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, Message):
        yield annotation, is_many
    for argument in get_args(annotation):
        yield from _parts(argument, is_many=is_many or get_origin(annotation) is tuple)


def named(versions: Iterable[int]) -> str:
    """`1 and 2`."""
    return " and ".join(map(str, versions))
