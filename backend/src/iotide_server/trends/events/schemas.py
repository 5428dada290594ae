"""What the API takes and gives for events: what changed outside of the results."""

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
    """Something that changed outside of the results, after `since` and before `at`."""

    id: int
    cluster_id: int
    kind: Literal["environment", "manual"]
    since: datetime
    at: datetime
    text: Annotated[str, Field(examples=["kernel: 6.1.0-30 -> 6.1.0-35"])]
    node_ids: list[int]
    target_ids: list[int]
    run_id: Annotated[int | None, Field(description="The first run after it, where runs saw it")]
    told_by: Annotated[PersonShown, Field(description="Who said it; null where runs saw it")]


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Selects events by query parameters; what is of all of a cluster is of each node and target in it."""

    cluster_id: OptionalId = None
    node_id: OptionalId = None
    target_id: OptionalId = None


class EventInput(Input):
    """Describes what a person says has changed; without nodes and targets it concerns all of the cluster."""

    cluster: Annotated[Name, Field(examples=["hpc1"])]
    text: Annotated[str, Field(min_length=1, max_length=500, examples=["RAID set 2 rebuilt"])]
    at: Annotated[WrittenTime | None, Field(description="When; null: now")] = None
    nodes: Annotated[tuple[Name, ...], Field(max_length=10_000)] = ()
    targets: Annotated[tuple[Name, ...], Field(max_length=1000)] = ()


class SeriesEvent(Output):
    """An event and what it did to a series: up to 20 points before it (6 at least) against the first 4 or 8 after.

    Where a change lies between the same two points, the event has the numbers of that change: `change_id`.
    """

    event: EventOutput
    effect: Effect
    change_id: int | None
    words: Annotated[str, Field(examples=["12.0 % lower, worse: 8 points after it, 20 before"])]
    n_before: int
    n_after: int
    shift_ratio: float | None
    p_value: float | None

    @classmethod
    def of(
        cls, found: Row[models.Event, EventEffect], better: str, changes: Sequence[ChangePoint] = ()
    ) -> "SeriesEvent":
        """Return the rows as the API shows them, with the changes of the series."""
        event, row = found
        change = next((one for one in changes if one.previous_at < event.at <= one.at), None)
        told: EventEffect | ChangePoint = row if change is None else change
        if change is None:
            effect = Effect(row.effect)
            words = event_words(effect, row.shift_ratio, row.points_before, row.points_after, better)
        else:
            effect = Effect.SHIFTED
            words = seen_change_words(shift_words(change.shift_ratio), change.at)
        return cls.of_row(
            told,
            event=event,
            effect=effect,
            change_id=None if change is None else change.id,
            words=words,
            n_before=told.points_before,
            n_after=told.points_after,
        )
