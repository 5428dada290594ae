"""What the API takes and gives for what is drained."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_wire.base import UtcTime

Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="For everybody whose run waits for it", examples=["its disk is replaced"]),
]
Until = Annotated[datetime | None, Field(description="It is resumed by itself then; null: a person resumes it")]


class DrainInput(Input):
    """That nothing new may start there."""

    reason: Reason
    until: Annotated[
        UtcTime | None, Field(description="It is resumed by itself then", examples=["2026-12-01T06:00:00Z"])
    ] = None


class DrainOutput(Output):
    """Nothing new starts there; what runs goes on."""

    kind: Literal["all", "cluster", "node", "target"]
    subject_id: Annotated[int, Field(description="Of the node, target or cluster; 0 for all")]
    cluster_id: Annotated[int | None, Field(description="Null for all")]
    reason: str
    by: Annotated[PersonShown, Field(description="Who drained it, or last said why; null for who is not signed in")]
    since: datetime
    until: Until


class NamedDrain(DrainOutput):
    """A drain in a list."""

    name: Annotated[str, Field(examples=["node07"])]
