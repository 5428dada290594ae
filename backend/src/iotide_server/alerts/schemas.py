"""What the API takes and gives for alerts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.alerts.lifecycle import AlertState, Move
from iotide_server.alerts.scopes import Directions
from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.results.schemas import Better, Labels, Metric
from iotide_server.runs.schemas import OptionalId
from iotide_server.statistics.shifts import Direction
from iotide_server.targets.schemas import TargetRef
from iotide_server.trends.events.schemas import EventOutput
from iotide_server.trends.schemas import SeriesChange
from iotide_wire.base import Name, Text, WrittenTime
from iotide_wire.units import Unit

AlertKind = Literal["change", "stale"]
RuleName = Annotated[Name, Field(examples=["nightly-slower"])]
WorkloadName = Annotated[str, Field(max_length=100, examples=["fio"])]
RowId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which alerts are wanted, as query parameters; what is left out stays open."""

    state: Annotated[list[AlertState] | None, Query(description="Any of these", max_length=20)] = None
    kind: Annotated[AlertKind | None, Query()] = None
    cluster_id: OptionalId = None
    target_id: OptionalId = None
    series_id: OptionalId = None
    group_id: OptionalId = None
    rule_id: OptionalId = None
    owner: Annotated[str | None, Query(max_length=100, description="Name of whoever has it in hand")] = None


class AlertSeries(Output):
    """The series of an alert, as far as a list shows it."""

    id: int
    workload: str
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    node_names: list[str]
    target_names: list[str]
    muted_until: Annotated[datetime | None, Field(description="Nobody is told of this series before then")]


class RuleRef(Output):
    """The rule that answers for an alert."""

    id: int
    name: RuleName


class AlertGroupRef(Output):
    """Alerts of one cluster within two runs; one message tells of all."""

    id: int
    is_environment: Annotated[bool, Field(description="A control workload changed along")]
    told_at: datetime | None


class AlertOutput(Output):
    """A change that a rule covers, a suspicion of one, or a scheduled series that is stale.

    `change` is null of a suspicion, and of a stale series; that has `silent_since`. `moves` are the actions that
    it takes now.
    """

    id: int
    cluster_id: int
    cluster_name: str
    kind: AlertKind
    state: AlertState
    series: AlertSeries
    direction: Annotated[Direction | None, Field(description="Null as long as no change is found")]
    words: Annotated[str, Field(examples=["12.0 % lower, worse: 40 points against 60 before"])]
    at: Annotated[datetime, Field(description="Of the first point after it, or since when a silence is too long")]
    change: SeriesChange | None
    silent_since: datetime | None
    schedule_id: int | None
    rule: RuleRef | None
    group: AlertGroupRef | None
    raised_at: datetime
    owner: PersonShown
    due_at: datetime | None
    event: EventOutput | None
    closed_because: str | None
    baseline_at: Annotated[datetime | None, Field(description="Since then the level after it is the normal one")]
    confirmation_id: Annotated[int | None, Field(description="The campaign that looks again")]
    moves: list[Move]


class AlertActionOutput(Output):
    """What was done about an alert; `who` is null of what an analysis did."""

    id: int
    at: datetime
    who: PersonShown
    action: Annotated[str, Field(examples=["acknowledge"])]
    comment: str
    before: dict[str, Any]
    after: dict[str, Any]


class AlertDetail(Output):
    """An alert with what was done about it, oldest first, and the others of its group."""

    alert: AlertOutput
    actions: Annotated[list[AlertActionOutput], Field(description="The last 200")]
    group: list[AlertOutput]


class AlertActionInput(Input):
    """Something to do about an alert; `owner` (by default the caller) and `due_at` go with `acknowledge`."""

    action: Move
    comment: Text = ""
    owner: Annotated[str | None, Field(max_length=100, examples=["ada"])] = None
    due_at: WrittenTime | None = None
    event_id: Annotated[RowId | None, Field(description="What it is expected by; goes with `expect`")] = None


class MuteInput(Input):
    """Until when nobody is told; null: from now on somebody is."""

    until: WrittenTime | None


class AlertRuleInput(Input):
    """Of which changes of which series somebody is told; what is left out is any of the cluster."""

    name: RuleName
    cluster: Annotated[Name, Field(examples=["hpc1"])]
    target: Annotated[Name | None, Field(examples=["nfs-home"])] = None
    workload: WorkloadName | None = None
    metric: Annotated[str | None, Field(max_length=100, examples=["write_rate"])] = None
    least_shift_ratio: Annotated[float, Field(ge=0.03, le=10, description="Smaller changes are shown only")] = 0.03
    directions: Directions = Directions.WORSE
    channel_ids: Annotated[list[RowId], Field(max_length=100, description="Who is told; none: it is shown only")] = (
        Field(default_factory=list)
    )
    missing_runs: Annotated[bool, Field(description="Raise alerts of stale series, too")] = True
    control_workload: Annotated[
        WorkloadName | None, Field(description="Where it changed along, the environment is to be looked at first")
    ] = None
    muted_until: WrittenTime | None = None


class AlertRuleOutput(Output):
    """Of which changes of which series somebody is told; the narrowest rule that covers a series answers for it."""

    id: int
    cluster_id: int
    cluster_name: str
    name: RuleName
    target: TargetRef | None
    workload: str | None
    metric: str | None
    least_shift_ratio: float
    directions: Directions
    channel_ids: list[int]
    missing_runs: bool
    control_workload: str | None
    muted_until: datetime | None
    created_at: datetime
    open_alerts: Annotated[int, Field(description="So many are closed if it is removed")]


class RemovedRule(Output):
    """What went with a rule."""

    closed_alerts: int
