"""Wire versions of message fields, so that each side sends only what the other one knows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args, get_origin

from iotide_wire.base import Message

WIRE_VERSION: Final = 3
"""Version of the messages. A server and an agent speak this one and the two before."""

SPOKEN_VERSIONS: Final = range(max(1, WIRE_VERSION - 2), WIRE_VERSION + 1)

STRANGE_VERSION: Final = "wire_version_unsupported"


@dataclass(frozen=True, slots=True)
class Since:
    """Annotation of a field that earlier versions reject."""

    version: int


@cache
def unknown_to(kind: type[Message], version: int) -> frozenset[str]:
    return frozenset(
        name
        for name, field in kind.model_fields.items()
        if any(isinstance(mark, Since) and mark.version > version for mark in field.metadata)
    )


def as_spoken(message: Message, version: int) -> bytes:
    """Return the message as JSON without fields added after that version, also nested."""
    said = message if version >= WIRE_VERSION else message.for_version(version)
    return said.model_dump_json(exclude=dict(_excluded(type(said), version)) or None).encode()


@cache
def _excluded(kind: type[Message], version: int, outer: frozenset[type[Message]] = frozenset()) -> Mapping[str, Any]:
    """Return the fields to leave out of a message type, also nested ones, for pydantic's `exclude`."""
    found: dict[str, Any] = dict.fromkeys(unknown_to(kind, version), True)
    for name, field in kind.model_fields.items():
        for part, is_many in _parts(field.annotation):
            nested = {} if part in outer else dict(_excluded(part, version, outer | {kind, part}))
            if nested and name not in found:
                found[name] = {"__all__": nested} if is_many else nested
    return found


def _parts(annotation: object, *, is_many: bool = False) -> Iterator[tuple[type[Message], bool]]:
    if isinstance(annotation, type) and issubclass(annotation, Message):
        yield annotation, is_many
    for argument in get_args(annotation):
        yield from _parts(argument, is_many=is_many or get_origin(annotation) is tuple)


def named(versions: Iterable[int]) -> str:
    return " and ".join(map(str, versions))
