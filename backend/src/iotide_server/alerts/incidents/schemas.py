"""Schemas of incidents."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.alerts.incidents.lifecycle import IncidentMove, IncidentState
from iotide_server.alerts.lifecycle import AlertState
from iotide_server.alerts.schemas import AlertOutput, RowId
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.results.schemas import SeriesOutput
from iotide_server.runs.schemas import OptionalId
from iotide_server.trends.events.schemas import EventOutput
from iotide_server.trends.schemas import SeriesChange
from iotide_wire.base import Text

IncidentKind = Literal["worse", "better", "neither", "stale"]
ListedState = Literal[
    IncidentState.OPEN,
    IncidentState.ACKNOWLEDGED,
    IncidentState.EXPECTED,
    IncidentState.IGNORED,
    IncidentState.ENDED,
]


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """Filter of incidents, as query parameters."""

    state: Annotated[list[ListedState] | None, Query(description="Any of these states", max_length=10)] = None
    kind: Annotated[IncidentKind | None, Query()] = None
    cluster_id: OptionalId = None
    series_id: Annotated[list[RowId] | None, Query(description="With one of these series", max_length=50)] = None
    target_id: OptionalId = None
    owner: Annotated[str | None, Query(max_length=100, description="Name of the user who acknowledged it")] = None


class IncidentOutput(Output):
    """Related changes: of one event, or of one time and of series that share a node, a target or a workload.

    `kind` is that of its gravest change; `stale` are series without new points. Improvements are never `open`.
    `series` and `change` are the worst ones, by `worst_ratio`. `moves` are the possible actions.
    """

    id: int
    cluster_id: int
    cluster_name: str
    kind: IncidentKind
    state: IncidentState
    words: Annotated[str, Field(examples=["scratch: dd read and write up to \u221218.1 % since 11 Aug 2026, 4 series"])]
    at: Annotated[datetime, Field(description="Of the first point after its first change")]
    ended_at: Annotated[datetime | None, Field(description="When the last of its changes recovered or was over")]
    worst_ratio: Annotated[float | None, Field(description="Null for stale series, and where the level before is 0")]
    series_count: int
    series: SeriesOutput | None
    change: SeriesChange | None
    event: Annotated[EventOutput | None, Field(description="Its cause: set by a user, or the nearest event")]
    is_event_set: Annotated[bool, Field(description="A user set the cause")]
    owner: PersonShown
    is_environment: Annotated[bool, Field(description="A control workload changed as well")]
    told_at: Annotated[datetime | None, Field(description="When channels were notified")]
    moves: list[IncidentMove]


class IncidentMember(Output):
    """A change of an incident; `alert_id` is null for changes that raise none, such as improvements."""

    series: SeriesOutput
    change: SeriesChange
    alert_id: int | None
    alert_state: AlertState | None


class IncidentStep(Output):
    """Action on an incident or on some of its alerts; `who` is null for analyses."""

    at: datetime
    who: PersonShown
    action: Annotated[str, Field(examples=["acknowledge"])]
    comment: str
    alerts: Annotated[int, Field(description="Number of its alerts that the action changed")]


class IncidentDetail(Output):
    """Incident with its changes, largest first, its alerts of stale series, and its actions, oldest first."""

    incident: IncidentOutput
    changes: Annotated[list[IncidentMember], Field(description="The largest 200")]
    changes_left_out: int
    stale: Annotated[list[AlertOutput], Field(description="Stale series, the first 200")]
    actions: Annotated[list[IncidentStep], Field(description="The last 200 actions")]
    events: Annotated[list[EventOutput], Field(description="Events near its worst change, in time order")]


class IncidentActionInput(Input):
    """Action on all alerts of an incident; `owner` (default: the caller) belongs to `acknowledge`.

    `event_id` belongs to `set_cause`, which needs it, and to `expect`. `undo` reverses the last action that is no
    comment.
    """

    action: IncidentMove
    comment: Text = ""
    owner: Annotated[str | None, Field(max_length=100, examples=["ada"])] = None
    event_id: Annotated[RowId | None, Field(description="Event that caused the changes")] = None
