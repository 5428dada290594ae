"""What the API gives for the timeline of a campaign."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.resources import Mode
from iotide_wire.base import WrittenTime
from iotide_wire.messages import OrderState


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """Which part of a timeline is wanted, as query parameters."""

    since: Annotated[WrittenTime | None, Query(alias="from", description="The first moment")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="The last moment")] = None
    limit: Annotated[int, Query(ge=1, le=1000, description="Orders shown at most, the newest of the span")] = 400


class TimelineOrder(Output):
    """What one node did in one attempt of a run, as the moments at which it went on.

    It waited from `waited_since` until `offered_at`, checked its node from `claimed_at` until `started_at`, loaded from
    then until `uploading_at`, and was done at `ended_at`; null: not yet, or never.
    """

    order_id: int
    run_id: int
    repeat: int
    cell_id: int
    workload: Annotated[str, Field(examples=["dd"])]
    attempt: int
    node_name: str
    target_names: list[str]
    state: OrderState
    outcome: OrderEnd | None
    waited_since: datetime
    offered_at: datetime
    claimed_at: datetime | None
    started_at: datetime | None
    uploading_at: datetime | None
    ended_at: datetime | None
    silent_since: datetime | None


class TimelineLease(Output):
    """A right to a node, to a shared target, or to the cluster alone; `released_at` is null while it is held."""

    run_id: int
    campaign_id: int
    campaign_name: str
    kind: Literal["node", "target", "cluster"]
    name: str
    mode: Mode
    taken_at: datetime
    released_at: datetime | None


class TimelineQueue(Output):
    """How many runs of the campaign wait for a node now."""

    node_name: str
    runs: int
    since: Annotated[datetime, Field(description="When the first of them was submitted")]


class Timeline(Output):
    """When the nodes did what, and who held which right meanwhile."""

    campaign_id: int
    at: Annotated[datetime, Field(description="The server's own time")]
    orders: Annotated[list[TimelineOrder], Field(description="In the order in which they were offered")]
    leases: Annotated[list[TimelineLease], Field(description="Of these orders")]
    others: Annotated[list[TimelineLease], Field(description="Of other campaigns, now, on what this one needs")]
    waiting: list[TimelineQueue]
    left_out: Annotated[int, Field(description="So many more orders lie in the span that was asked for")]
