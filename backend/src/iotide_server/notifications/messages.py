"""What people are told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MessageKind = Literal["alert", "digest", "stuck", "test"]


@dataclass(frozen=True, slots=True)
class Message:
    """Something that people are told."""

    kind: MessageKind
    # what it is about; only channels of this cluster or of all clusters tell it. None: about none.
    cluster_id: int | None
    subject: str  # one line
    text: str  # plain lines
    path: str  # where the dashboard shows it, for instance `/alerts/12`
    data: Mapping[str, Any]  # the same for programs; JSON that a webhook carries as `data`
