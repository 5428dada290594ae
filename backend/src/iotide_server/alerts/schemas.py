"""Schemas of alerts."""

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
    """Filter of alerts, as query parameters."""

    state: Annotated[list[AlertState] | None, Query(description="Any of these states", max_length=20)] = None
    kind: Annotated[AlertKind | None, Query()] = None
    cluster_id: OptionalId = None
    target_id: OptionalId = None
    series_id: OptionalId = None
    group_id: OptionalId = None
    rule_id: OptionalId = None
    owner: Annotated[str | None, Query(max_length=100, description="Name of the user who acknowledged it")] = None


class AlertSeries(Output):
    """Series of an alert, as lists show it."""

    id: int
    workload: str
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    node_names: list[str]
    target_names: list[str]
    muted_until: Annotated[datetime | None, Field(description="No notifications about this series before then")]


class RuleRef(Output):
    """Rule that raised an alert."""

    id: int
    name: RuleName


class AlertGroupRef(Output):
    """Alerts of one cluster within two runs, reported by one message."""

    id: int
    is_environment: Annotated[bool, Field(description="A control workload changed as well")]
    told_at: datetime | None


class AlertOutput(Output):
    """Confirmed change that a rule covers, suspected change, or stale series of a schedule.

    `change` is null for a suspicion and for a stale series, which has `silent_since`. `moves` are the possible
    actions.
    """

    id: int
    cluster_id: int
    cluster_name: str
    kind: AlertKind
    state: AlertState
    series: AlertSeries
    direction: Annotated[Direction | None, Field(description="Null as long as no change is found")]
    words: Annotated[str, Field(examples=["12.0 % lower, worse (40 points after, 60 before)"])]
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
    baseline_at: Annotated[datetime | None, Field(description="When the level after it was accepted as normal")]
    confirmation_id: Annotated[int | None, Field(description="Campaign that confirms the suspicion")]
    moves: list[Move]


class AlertActionOutput(Output):
    """Action on an alert; `who` is null for analyses."""

    id: int
    at: datetime
    who: PersonShown
    action: Annotated[str, Field(examples=["acknowledge"])]
    comment: str
    before: dict[str, Any]
    after: dict[str, Any]


class AlertDetail(Output):
    """Alert with its actions, oldest first, and the others of its group."""

    alert: AlertOutput
    actions: Annotated[list[AlertActionOutput], Field(description="The last 200 actions")]
    group: list[AlertOutput]


class AlertActionInput(Input):
    """Action on an alert; `owner` (default: the caller) and `due_at` belong to `acknowledge`."""

    action: Move
    comment: Text = ""
    owner: Annotated[str | None, Field(max_length=100, examples=["ada"])] = None
    due_at: WrittenTime | None = None
    event_id: Annotated[RowId | None, Field(description="Event that explains the change; belongs to `expect`")] = None


class MuteInput(Input):
    """End of a mute; null unmutes."""

    until: WrittenTime | None


class AlertRuleInput(Input):
    """Rule that raises alerts for changes of some series; omitted fields cover all of the cluster."""

    name: RuleName
    cluster: Annotated[Name, Field(examples=["hpc1"])]
    target: Annotated[Name | None, Field(examples=["nfs-home"])] = None
    workload: WorkloadName | None = None
    metric: Annotated[str | None, Field(max_length=100, examples=["write_rate"])] = None
    least_shift_ratio: Annotated[float, Field(ge=0.03, le=10, description="Smaller changes raise no alert")] = 0.03
    directions: Directions = Directions.WORSE
    channel_ids: Annotated[
        list[RowId], Field(max_length=100, description="Channels for its alerts; none: they are only shown")
    ] = Field(default_factory=list)
    missing_runs: Annotated[bool, Field(description="Also raise alerts for stale series")] = True
    control_workload: Annotated[
        WorkloadName | None,
        Field(description="Control workload: if it changed as well, the environment is the first suspect"),
    ] = None
    muted_until: WrittenTime | None = None


class AlertRuleOutput(Output):
    """Rule that raises alerts for changes of some series; the most specific rule of a series applies."""

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
    open_alerts: Annotated[int, Field(description="Number of alerts that removing the rule closes")]


class RemovedRule(Output):
    closed_alerts: int
