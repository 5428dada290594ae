"""API schemas of events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import Row

from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.runs.schemas import OptionalId
from iotide_server.statistics.course import Effect
from iotide_server.trends import models
from iotide_server.trends.changes.words import (
    event_words,
    seen_change_words,
    shift_words,
)
from iotide_server.trends.models import ChangePoint, EventEffect
from iotide_wire.base import Name, WrittenTime


class EventOutput(Output):
    """A change outside of the results, after `since` and not after `at`."""

    id: int
    cluster_id: int
    kind: Literal["environment", "manual"]
    since: datetime
    at: datetime
    text: Annotated[str, Field(examples=["kernel: 6.1.0-30 -> 6.1.0-35"])]
    node_ids: list[int]
    target_ids: list[int]
    run_id: Annotated[int | None, Field(description="First run after the event; null if a user added it")]
    told_by: Annotated[PersonShown, Field(description="User who added the event; null if runs detected it")]
    judged_series: Annotated[int, Field(description="Series with enough points before and after the event")]
    shifted_series: Annotated[int, Field(description="Those with p below 0.01 and a shift of 3 %, also by chance")]
    series_words: Annotated[
        str | None,
        Field(
            description="Null with fewer than two such series",
            examples=["3 of 50 series shifted, 0.5 expected by chance"],
        ),
    ]


@dataclass(frozen=True, slots=True)
class EventFilter:
    cluster_id: OptionalId = None
    node_id: OptionalId = None
    target_id: OptionalId = None


class EventInput(Input):
    """An event to add. Without nodes and targets it concerns the whole cluster."""

    cluster: Annotated[Name, Field(examples=["hpc1"])]
    text: Annotated[str, Field(min_length=1, max_length=500, examples=["RAID set 2 rebuilt"])]
    at: Annotated[WrittenTime | None, Field(description="Time of the event; null: now")] = None
    nodes: Annotated[tuple[Name, ...], Field(max_length=10_000)] = ()
    targets: Annotated[tuple[Name, ...], Field(max_length=1000)] = ()


class SeriesEvent(Output):
    """An event and its effect on a series: the last 6 to 20 points before it compared with the first 4 or 8 after.

    `effect` is `shifted` only at a false discovery rate of 5 % among all series of the event. If a change lies between
    the same two points, `change_id` names it and the numbers are those of the change.
    """

    event: EventOutput
    effect: Effect
    change_id: int | None
    words: Annotated[str, Field(examples=["12.0 % lower, worse (8 points after, 20 before)"])]
    n_before: int
    n_after: int
    shift_ratio: float | None
    p_value: float | None

    @classmethod
    def of(
        cls, found: Row[models.Event, EventEffect], better: str, changes: Sequence[ChangePoint] = ()
    ) -> "SeriesEvent":
        event, row = found
        change = next((one for one in changes if one.previous_at < event.at <= one.at), None)
        shown: EventEffect | ChangePoint = row if change is None else change
        if change is None:
            is_chance = row.effect == Effect.SHIFTED and not event.is_discovery(row.p_value)
            effect = Effect.NONE_SHOWN if is_chance else Effect(row.effect)
            words = event_words(Effect(row.effect), row.shift_ratio, row.points_before, row.points_after, better)
            words = f"{words}: may be chance" if is_chance else words
        else:
            effect = Effect.SHIFTED
            words = seen_change_words(shift_words(change.shift_ratio), change.at)
        return cls.of_row(
            shown,
            event=event,
            effect=effect,
            change_id=None if change is None else change.id,
            words=words,
            n_before=shown.points_before,
            n_after=shown.points_after,
        )
