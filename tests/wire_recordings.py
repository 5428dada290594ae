"""Messages as they were sent over the wire, kept forever: their kinds, and the names and contents of recordings."""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from recording_proxy import Exchange

from iotide_wire.base import Message
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
from iotide_wire.versions import WIRE_VERSION

DIRECTORY: Final = Path(__file__).parent / "data/wire"
ROUTES: Final[dict[str, tuple[type[Message], type[Message]]]] = {
    r"/agent/enroll": (EnrollRequest, EnrollReply),
    r"/agent/hello": (HelloRequest, HelloReply),
    r"/agent/orders/\d+/claim": (ClaimRequest, Order),
    r"/agent/beat": (HeartbeatRequest, HeartbeatReply),
    r"/agent/orders/\d+/finish": (FinishRequest, FinishReply),
    r"/agent/rotation": (RotateRequest, NewCredentials),
}
_KINDS: Final[tuple[type[Message], ...]] = (*(kind for pair in ROUTES.values() for kind in pair), Standing)
KINDS: Final[dict[str, type[Message]]] = {kind.__name__: kind for kind in _KINDS}


def messages(exchanges: list[Exchange]) -> Iterator[tuple[type[Message], Any]]:
    """Yield the kind and the JSON of every message in them; error answers are none."""
    for exchange in exchanges:
        path = exchange.path.removeprefix("/api/v1")
        for route, (request, answer) in ROUTES.items():
            if re.fullmatch(route, path):
                yield request, json.loads(exchange.request)
                if exchange.status < 400:
                    yield answer, json.loads(exchange.answer)


def recordings() -> list[Path]:
    """Return every recorded message of every version."""
    return sorted(DIRECTORY.glob("v*/*.json"))


def kind_of(file: Path) -> type[Message]:
    """Return the kind of a recording: `v1/HeartbeatRequest-3.json` is a HeartbeatRequest."""
    return KINDS[file.stem.partition("-")[0]]


def facet(message: dict[str, Any]) -> tuple[str, ...]:
    """Return what distinguishes a message from others of its kind: its roles, states, words and outcome."""
    parts = [message, *(part for part in message.get("orders", []) if isinstance(part, dict))]
    names = ("role", "step_role", "state", "word", "outcome")
    facets = tuple(str(part[name]) for part in parts for name in names if name in part)
    return facets + tuple("endpoint" for part in parts if part.get("endpoint"))


def record(found: Iterator[tuple[type[Message], Any]]) -> list[Path]:
    """Write a file for each message with a kind and facet, or a field, that no recording has yet.

    It never changes an existing file.
    """
    directory = DIRECTORY / f"v{WIRE_VERSION}"
    directory.mkdir(parents=True, exist_ok=True)
    known = {(kind_of(file), facet(json.loads(file.read_text()))) for file in recordings()}
    fields = {(kind_of(file), name) for file in recordings() for name in json.loads(file.read_text())}
    written = []
    for kind, message in found:
        own = {(kind, name) for name in message}
        if (kind, facet(message)) in known and own <= fields:
            continue
        known.add((kind, facet(message)))
        fields |= own
        number = len(list(directory.glob(f"{kind.__name__}-*.json"))) + 1
        file = directory / f"{kind.__name__}-{number}.json"
        file.write_text(_without_secrets(json.dumps(_of_any_machine(message), indent=1)) + "\n")
        written.append(file)
    return written


def _of_any_machine(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message without mounts that have nothing to do with iotide."""
    mounts = [mount for mount in message.get("mounts", []) if mount["approved"] or mount["path"] == "/"]
    return message | {"mounts": mounts} if mounts else message


def _without_secrets(text: str) -> str:
    """Return the message without credentials of a server that is gone, and without paths of its machine."""
    for pattern, replacement in (
        (r"\bion_[\w-]+", "ion_recorded"),
        (r'("join_token": ")[^"]+', r"\1recorded-join-token.-"),
        (r'("token": ")[0-9a-f]{32}"', rf'\g<1>{"0" * 32}"'),
        (r"(redis://[^:]+:)[^@]+", r"\1recorded"),
        (re.escape(sys.prefix), "/opt/iotide"),
        (re.escape(str(DIRECTORY.parents[2])), "/opt/iotide"),
        (re.escape(tempfile.gettempdir()) + r"/iotide-[^/\"]+", "/srv/iotide"),
    ):
        text = re.sub(pattern, replacement, text)
    return text
