"""What the API gives for campaigns; what it takes is the wire's `CampaignPlan`, in plain values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.resources import Mode
from iotide_wire.base import WrittenTime
from iotide_wire.messages import OrderState
from iotide_wire.plan import CampaignPlan


class CampaignState(StrEnum):
    """Where a campaign is; it follows from its runs."""

    WAITING = "waiting"
    ACTIVE = "active"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    """Which campaigns are wanted, as query parameters; what is left out stays open."""

    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None
    state: CampaignState | None = None
    owner: Annotated[str | None, Query(max_length=100, description="Name of the person who submitted it")] = None


class CampaignPatch(Input):
    """What of a campaign can be changed while its runs wait."""

    priority: Annotated[int, Field(ge=0, le=9, description="A step counts as an hour of waiting", examples=[5])]


class RepeatsInput(Input):
    """Repeats to be added to cells of a campaign, under the conditions of its plan."""

    repeats: Annotated[int, Field(ge=1, le=1_000, description="How many more of each cell", examples=[4])]
    cell_ids: Annotated[
        list[Annotated[int, Field(ge=1, le=LARGEST_ID)]] | None,
        Field(min_length=1, max_length=10_000, description="Of which cells; null: of all"),
    ] = None


class RunCounts(Output):
    """How many of a campaign's runs are in each state."""

    waiting: int
    active: int
    finished: int
    failed: int
    cancelled: int


class Stage(Output):
    """A state of the servers in which the whole matrix is run.

    `state` is `held` until the stages before it have ended, `paused` until an operator confirms it, then `open`.
    """

    ordinal: int
    variant: Annotated[str, Field(examples=["ext3 data=journal"])]
    pause: Annotated[str | None, Field(description="What an operator does and confirms before it; null: nothing")]
    state: Literal["held", "paused", "open"]
    paused_at: datetime | None
    opened_at: datetime | None
    confirmed_by: PersonShown
    runs: int
    ended: Annotated[int, Field(description="How many of its runs have ended")]


class AddedRepeats(Output):
    """Repeats that somebody added to cells after the campaign was submitted."""

    added_at: datetime
    added_by: Annotated[PersonShown, Field(description="Null when that person is gone")]
    repeats: Annotated[int, Field(description="Of each of these cells")]
    cells: int


class ListedCampaign(Output):
    """A plan and how far it has got.

    `state` is `active` from the first run that starts to the last that ends, but `paused` while a stage waits for an
    operator; then `failed` if any run failed, else
    `cancelled` if any was cancelled, else `finished`.
    """

    id: int
    name: Annotated[str, Field(examples=["nightly"])]
    cluster_id: int
    cluster_name: str
    owner: Annotated[PersonShown, Field(description="Who submitted it; null when that person is gone")]
    schedule_id: Annotated[int | None, Field(description="The schedule that submitted it; null: a person did")]
    schedule_name: str | None
    plan: Annotated[CampaignPlan | None, Field(description="Null in a list where it has more than 16 KiB")]
    state: CampaignState
    created_at: datetime
    ended_at: datetime | None
    counts: RunCounts
    stages: Annotated[list[Stage], Field(description="Empty where the matrix is run once")]
    additions: Annotated[list[AddedRepeats], Field(description="Repeats beyond those of the plan, in their order")]
    progress: Annotated[float, Field(description="Fraction of its runs' work that is done, 0 to 1")]
    seconds_remaining_estimated: Annotated[
        float | None, Field(description="By the pace of its runs so far; null before the first has ended")
    ]


class CampaignOutput(ListedCampaign):
    """A plan and how far it has got, see `ListedCampaign`."""

    plan: CampaignPlan


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
