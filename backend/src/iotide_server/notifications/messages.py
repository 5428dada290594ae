"""Messages to users."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MessageKind = Literal["alert", "digest", "stuck", "test"]


@dataclass(frozen=True, slots=True)
class Message:
    kind: MessageKind
    # only channels of this cluster or of all clusters get it
    cluster_id: int | None
    subject: str
    text: str
    path: str  # such as `/alerts/12`
    data: Mapping[str, Any]  # for programs: the JSON `data` of a webhook
