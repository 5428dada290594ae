"""What the API gives for trends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import Query
from pydantic import Field
from sqlalchemy import Row

from iotide_server.kit.web import Output
from iotide_server.results.models import Point
from iotide_server.results.schemas import SeriesOutput
from iotide_server.runs.schemas import OptionalId
from iotide_server.statistics.course import Course
from iotide_server.statistics.lateness import FoundGaps
from iotide_server.statistics.shifts import Direction
from iotide_server.statistics.thinning import FEWEST_POINTS
from iotide_server.trends import models
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.noise import NoiseChange
from iotide_server.trends.changes.recoveries import described, direction_of
from iotide_server.trends.changes.words import (
    course_words,
    noise_missing_points,
    noise_words,
)
from iotide_server.trends.events.schemas import EventOutput, SeriesEvent
from iotide_server.trends.models import ChangePoint, EventEffect, SeriesCourse
from iotide_wire.base import WrittenTime

ChangeDirection = Literal["better", "worse", "recovered"]
_SHOWN_DIRECTIONS: Final[Mapping[Direction, ChangeDirection]] = {
    Direction.BETTER: "better",
    Direction.WORSE: "worse",
    Direction.RECOVERED: "recovered",
}

_SAME_NAMES: Final = (
    *("at", "median", "low", "high", "variation_ratio", "robust_spread_ratio"),
    *("cell_id", "campaign_id", "flags"),
)  # of points as rows and as columns


class Gap(Output):
    """A stretch without data: longer than twice the usual gap between days with points."""

    since: Annotated[datetime, Field(description="The last point before it")]
    until: Annotated[datetime | None, Field(description="The first point after it; null: it lasts until now")]


class Failure(Output):
    """The failed runs of a cell that would have given the series a point; the reason is that of the last of them."""

    at: Annotated[datetime, Field(description="When the last of them ended")]
    campaign_id: int
    cell_id: int
    run_id: Annotated[int, Field(description="The last of them")]
    run_count: int
    reason_code: str | None
    reason: str | None


class Points(Output):
    """The points of a series in time order, one list a column, all of one length; values in the series' base unit.

    `n` counts the runs behind a point; the spreads are null below four of them. `gaps` and `failures` are those of the
    span, the newest hundred of each.
    """

    series: SeriesOutput
    left_out: Annotated[int, Field(description="So many more points lie in the span that was asked for")]
    at: list[datetime]
    median: list[float]
    low: list[float]
    high: list[float]
    n: list[int]
    variation_ratio: list[float | None]
    robust_spread_ratio: list[float | None]
    cell_id: list[int]
    campaign_id: list[int]
    flags: Annotated[list[list[str]], Field(examples=[[["ENV_CHANGED"], []]])]
    gaps: list[Gap]
    gap_missing_days: Annotated[int, Field(description="So many more days with points allow to judge gaps")]
    failures: list[Failure]

    @classmethod
    def of(
        cls,
        series: SeriesOutput,
        points: Sequence[Point],
        left_out: int,
        found: FoundGaps,
        failures: Sequence[Row[Any]],
    ) -> "Points":
        """As the API shows the rows."""
        columns = {name: [getattr(point, name) for point in points] for name in _SAME_NAMES}
        return cls(
            **columns,
            series=series,
            left_out=left_out,
            n=[point.run_count for point in points],
            gap_missing_days=found.missing_days,
            gaps=[Gap.model_validate(gap) for gap in found.gaps],
            failures=[Failure.model_validate(row) for row in failures],
        )


class SeriesChange(Output):
    """A change of a series' level, with its segments: the points from the change before to the next one.

    It lies between `previous_at` and `at`. Until `confirmed_at` no analysis of two more points has found it still.
    A change for the worse that a confirmed change took back has ended: `recovered_by` is the id of that one, and
    `ended_at` its `at`. A change for the better that only leads back towards the level before one for the worse is
    `recovered`, not better.
    `p_value` is that of Mann and Whitney, for as many points as are independent.
    """

    id: int
    series_id: int
    at: datetime
    previous_at: datetime
    cell_id: int
    n_before: int
    n_after: int
    median_before: float
    median_after: float
    shift_ratio: Annotated[float | None, Field(description="Of the median before; null where that is 0")]
    direction: Annotated[ChangeDirection | None, Field(description="Null where neither way is better")]
    ended_at: datetime | None
    recovered_by: int | None
    p_value: float
    words: Annotated[str, Field(examples=["12.0 % lower, worse: 40 points against 60 before"])]
    found_at: datetime
    confirmed_at: datetime | None
    detector: Annotated[str, Field(examples=["kernel-cpd-3"])]

    @classmethod
    def of(cls, row: ChangePoint, better: str) -> "SeriesChange":
        """As the API shows the row."""
        return cls.of_row(
            row,
            n_before=row.points_before,
            n_after=row.points_after,
            direction=_SHOWN_DIRECTIONS.get(direction_of(row, better)),
            ended_at=row.recovered_at,
            recovered_by=row.recovered_by_id,
            words=described(row, better),
        )


class Noise(Output):
    """The last change of how far points scatter around their level, of that level; 1.4826 x the median distance.

    It lies between `previous_at` and `at`; until `confirmed_at` no analysis of two more points has found it still.
    """

    at: datetime
    previous_at: datetime
    n_before: int
    n_after: int
    spread_before_ratio: float
    spread_after_ratio: float
    is_noisier: bool
    p_value: float
    words: Annotated[str, Field(examples=["2.4 times as noisy, 1.2 % -> 2.9 %: 40 points against 100 before"])]
    found_at: datetime
    confirmed_at: datetime | None

    @classmethod
    def of(cls, kept: NoiseChange) -> "Noise":
        """As the API shows it."""
        return cls.of_row(
            kept,
            n_before=kept.points_before,
            n_after=kept.points_after,
            spread_before_ratio=kept.spread_before,
            spread_after_ratio=kept.spread_after,
            words=noise_words(kept.spread_before, kept.spread_after, kept.points_before, kept.points_after),
        )


class Suspect(Output):
    """Two of the last three points lie outside of these bounds on one side; nothing is shown yet."""

    centre: float
    low: float
    high: float
    is_higher: bool


class NamedChange(Output):
    """A change with its series, and the events that this met within three points of it; they need not be its cause."""

    series: SeriesOutput
    change: SeriesChange
    events: Annotated[list[EventOutput], Field(description="At most 20, the newest, in time order")]
    events_more: Annotated[int, Field(description="How many there are besides these")]


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes are wanted, as query parameters; what is left out stays open."""

    cluster_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    direction: Annotated[
        Literal["better", "worse"] | None,
        Query(description="For the better or for the worse; a recovery belongs to the change that it took back"),
    ] = None
    with_unconfirmed: Annotated[bool, Query(description="Also those that only one number of points shows yet")] = False


@dataclass(frozen=True, slots=True)
class SpanChoice:
    """Which points of each series are wanted, as query parameters."""

    limit: Annotated[int, Query(ge=1, le=10_000, description="The newest points, at most so many")] = 2000
    points: Annotated[
        int | None,
        Query(ge=FEWEST_POINTS, le=10_000, description="Of these at most so many, which look as all of them do"),
    ] = None
    since: Annotated[WrittenTime | None, Query(alias="from", description="The first moment")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="The last moment")] = None


class SeriesAnalysis(Output):
    """How a series went by its last analysis, a few seconds after its newest point; null before the first.

    `memory` is the lag-1 autocorrelation of its points within segments: how much of a point the one before it tells.
    """

    series_id: int
    course: Course | None
    words: Annotated[str, Field(examples=["no change shown in 60 points"])]
    n: int
    missing_points: Annotated[int, Field(description="So many more allow an answer")]
    memory: float | None
    drift: Drift | None
    noise: Noise | None
    noise_missing_points: Annotated[int, Field(description="So many more allow to judge the noise")]
    suspect: Suspect | None
    changes: list[SeriesChange]
    events: list[SeriesEvent]
    detector: str | None
    analysed_at: datetime | None

    @classmethod
    def of(
        cls,
        series: SeriesOutput,
        row: SeriesCourse | None,
        changes: Sequence[ChangePoint],
        events: Sequence[Row[models.Event, EventEffect]],
    ) -> "SeriesAnalysis":
        """As the API shows the rows."""
        if row is None:
            nothing = dict.fromkeys(cls.model_fields) | {"changes": [], "events": []}
            known = {
                "series_id": series.id,
                "words": "not analysed yet",
                "n": series.point_count,
                "missing_points": 0,
                "noise_missing_points": noise_missing_points(series.point_count),
            }
            return cls.model_validate(nothing | known)
        course = Course(row.course)
        drift = Drift.read(row.drift)
        recoveries = {change.id for change in changes if change.is_recovery}
        return cls.of_row(
            row,
            words=course_words(
                course,
                row.point_count,
                missing_points=row.missing_points,
                changes=len(changes) - len({change.recovered_by_id for change in changes} & recoveries),
                drift=drift,
            ),
            n=row.point_count,
            drift=drift,
            noise=None if row.noise is None else Noise.of(NoiseChange.model_validate(row.noise)),
            noise_missing_points=noise_missing_points(row.point_count),
            changes=[SeriesChange.of(change, series.better) for change in changes],
            events=[SeriesEvent.of(found, series.better, changes) for found in events],
        )
