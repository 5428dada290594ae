"""Schemas of drains."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_wire.base import UtcTime

Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="Shown to users whose runs wait for it", examples=["its disk is replaced"]),
]
Until = Annotated[datetime | None, Field(description="Resumed automatically then; null: a user resumes it")]


class DrainInput(Input):
    reason: Reason
    until: Annotated[
        UtcTime | None,
        Field(description="Resumed automatically then; null: a user resumes it", examples=["2026-12-01T06:00:00Z"]),
    ] = None


class DrainOutput(Output):
    """No new run starts there; active runs continue."""

    kind: Literal["all", "cluster", "node", "target"]
    subject_id: Annotated[int, Field(description="Id of the node, target or cluster; 0 for all")]
    cluster_id: Annotated[int | None, Field(description="Null for everything")]
    reason: str
    by: Annotated[
        PersonShown,
        Field(description="User who drained it or last changed the reason; null for callers who are not signed in"),
    ]
    since: datetime
    until: Until


class NamedDrain(DrainOutput):
    name: Annotated[str, Field(examples=["node07"])]
