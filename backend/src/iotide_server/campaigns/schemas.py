"""API schemas of campaigns."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.runs.lifecycle import OrderEnd, RunState
from iotide_server.runs.resources import Mode
from iotide_wire.base import WrittenTime
from iotide_wire.messages import OrderState
from iotide_wire.plan import CampaignPlan


class CampaignState(StrEnum):
    WAITING = "waiting"
    ACTIVE = "active"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CampaignSort(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None
    state: CampaignState | None = None
    owner: Annotated[str | None, Query(max_length=100, description="Name of the user who submitted it")] = None
    schedule_id: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Only campaigns that this schedule submitted")
    ] = None
    text: Annotated[str | None, Query(min_length=1, max_length=100, description="Part of the name")] = None
    sort: Annotated[CampaignSort, Query(description="By submission, or by name")] = CampaignSort.NEWEST


class CampaignPatch(Input):
    priority: Annotated[int, Field(ge=0, le=9, description="Each step is worth one hour of queue time", examples=[5])]


class RepeatsInput(Input):
    repeats: Annotated[int, Field(ge=1, le=1_000, description="Additional repeats of each cell", examples=[4])]
    cell_ids: Annotated[
        list[Annotated[int, Field(ge=1, le=LARGEST_ID)]] | None,
        Field(min_length=1, max_length=10_000, description="Ids of the cells; null: all"),
    ] = None


class RunCounts(Output):
    waiting: int
    active: int
    finished: int
    failed: int
    cancelled: int


class PreparationCounts(RunCounts):
    """Runs that work on scratch disks and measure nothing."""

    does: Literal["make", "fill", "mount", "clean"]


class Stage(Output):
    """State of the servers in which the whole matrix runs, or the work on a scratch set before it.

    `does`: `measure` runs the matrix, `make` only makes the file system of the next stage, `fill` only fills it,
    `mount` mounts its export on clients, `clean` only removes it.
    `state`: `held` until previous stages have ended, `paused` until an operator confirms, then `open`.
    """

    ordinal: int
    variant: Annotated[str, Field(examples=["ext3 data=journal"])]
    does: Literal["measure", "make", "fill", "mount", "clean"]
    pause: Annotated[str | None, Field(description="What an operator must do and confirm first; null: nothing")]
    state: Literal["held", "paused", "open"]
    paused_at: datetime | None
    opened_at: datetime | None
    confirmed_by: PersonShown
    runs: int
    ended: Annotated[int, Field(description="Number of its runs that have ended")]
    failed: Annotated[int, Field(description="Number of these that failed")]
    cancelled: Annotated[int, Field(description="Number of these that were cancelled")]
    run_id: Annotated[
        int | None,
        Field(description="The run that makes, fills, mounts or cleans, one that failed if any; null in `measure`"),
    ]
    run_state: Annotated[RunState | None, Field(description="State of these runs together, `failed` if any did")]


class AddedRepeats(Output):
    added_at: datetime
    added_by: Annotated[PersonShown, Field(description="Null if that user was deleted")]
    repeats: Annotated[int, Field(description="Repeats of each of these cells")]
    cells: int


class AdaptiveProgress(Output):
    """Cells of an adaptive plan, by what ended their repeats.

    `narrow`: the interval of the median is as narrow as wanted. `most`: the plan allows no more runs. `budget`: the
    time is used up. `failed`: most runs were not valid. `gone`: a node or target no longer exists there.
    """

    until_ratio: Annotated[float, Field(description="Wanted half width of the interval, relative to the median")]
    open: Annotated[int, Field(description="Number of cells that may get more repeats")]
    narrow: int
    most: int
    budget: int
    failed: int
    gone: int
    cancelled: int
    words: Annotated[str, Field(examples=["30 of 32 configurations reached ±3 %, 2 are open"])]


class ListedCampaign(Output):
    """Campaign with its plan and progress.

    `state`: `active` from the first start to the last end, also between the rounds of an adaptive plan, but `paused`
    while a stage waits for an operator. Then `failed` if any run failed, else `cancelled` if any was, else `finished`.
    """

    id: int
    name: Annotated[str, Field(examples=["nightly"])]
    cluster_id: int
    cluster_name: str
    owner: Annotated[PersonShown, Field(description="Who submitted it; null if that user was deleted")]
    schedule_id: Annotated[int | None, Field(description="Schedule that submitted it; null: a user did")]
    schedule_name: str | None
    plan: Annotated[CampaignPlan | None, Field(description="Null in lists if larger than 16 KiB")]
    state: CampaignState
    created_at: datetime
    ended_at: datetime | None
    counts: Annotated[RunCounts, Field(description="Runs that measure")]
    preparations: Annotated[
        list[PreparationCounts],
        Field(description="Makes, fills, mounts and the cleaning of scratch disks, which `counts` leaves out"),
    ]
    stages: Annotated[list[Stage], Field(description="Empty if the plan has no stages")]
    additions: Annotated[list[AddedRepeats], Field(description="Repeats added to the plan's, oldest first")]
    adaptive: Annotated[AdaptiveProgress | None, Field(description="Null if the plan has a fixed number of repeats")]
    next_release_at: Annotated[
        datetime | None, Field(description="When the next repeats of a spread plan may start; null: none waits")
    ]
    progress: Annotated[float, Field(description="Fraction of the work of all runs and preparations, 0 to 1")]
    seconds_remaining_estimated: Annotated[
        float | None, Field(description="At the pace of its runs so far; null before the first has finished")
    ]


class CampaignsOfSchedule(Output):
    """Campaigns that a schedule has submitted."""

    id: int
    name: str
    campaign_count: int
    recent_states: Annotated[
        dict[CampaignState, int],
        Field(description="Number of its newest 20 campaigns in each state", examples=[{"finished": 19, "failed": 1}]),
    ]


class CampaignGroup(Output):
    """The newest campaign of a schedule, or a campaign that a user submitted."""

    newest: ListedCampaign
    schedule: Annotated[CampaignsOfSchedule | None, Field(description="Null: a user submitted it")]


class CampaignOutput(ListedCampaign):
    plan: CampaignPlan
    previous_campaign_id: Annotated[
        int | None,
        Field(description="Previous campaign of its schedule that has ended with a finished run; null: none"),
    ]


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    since: Annotated[WrittenTime | None, Query(alias="from", description="Start of the span")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="End of the span")] = None
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of orders, the newest first")] = 400


class TimelineOrder(Output):
    """Work of one node in one attempt.

    It waited from `waited_since` to `offered_at`, checked its node from `claimed_at` to `started_at`, loaded until
    `uploading_at` and was done at `ended_at`. Null: not yet, or never.
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
    """`released_at` is null while held."""

    run_id: int
    campaign_id: int
    campaign_name: str
    kind: Literal["node", "target", "cluster"]
    name: str
    mode: Mode
    taken_at: datetime
    released_at: datetime | None


class TimelineQueue(Output):
    node_name: str
    runs: int
    since: Annotated[datetime, Field(description="Submission of the oldest of them")]


class Timeline(Output):
    campaign_id: int
    at: Annotated[datetime, Field(description="Current time of the server")]
    orders: Annotated[list[TimelineOrder], Field(description="In the order of their offers")]
    leases: Annotated[list[TimelineLease], Field(description="Leases of these orders")]
    others: Annotated[list[TimelineLease], Field(description="Other campaigns' current leases on its resources")]
    waiting: list[TimelineQueue]
    left_out: Annotated[int, Field(description="Number of further orders in the span")]
