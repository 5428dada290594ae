"""What people are told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MessageKind = Literal["alert", "digest", "stuck", "test"]


@dataclass(frozen=True, slots=True)
class Message:
    """Something that people are told.

    Attributes:
        cluster_id: what it is about; only channels of this cluster or of all clusters tell it. None: about none.
        subject: one line.
        text: plain lines.
        path: where the dashboard shows it, for instance `/alerts/12`.
        data: the same for programs; JSON that a webhook carries as `data`.
    """

    kind: MessageKind
    cluster_id: int | None
    subject: str
    text: str
    path: str
    data: Mapping[str, Any]
