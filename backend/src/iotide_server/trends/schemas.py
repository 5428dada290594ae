"""API schemas of trends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import Query
from pydantic import Field
from sqlalchemy import Row

from iotide_server.kit.web import Output
from iotide_server.results.schemas import SeriesOutput
from iotide_server.runs.schemas import OptionalId
from iotide_server.statistics.course import Course
from iotide_server.statistics.findable import findable_shifts
from iotide_server.statistics.lateness import FoundGaps
from iotide_server.statistics.shifts import Direction
from iotide_server.statistics.thinning import FEWEST_POINTS
from iotide_server.trends import models
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.noise import NoiseChange
from iotide_server.trends.changes.recoveries import described, direction_of
from iotide_server.trends.changes.words import (
    course_words,
    findable_words,
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
    *("cell_id", "campaign_id", "flags", "usual_flags"),
)  # same names as rows and as columns


class Gap(Output):
    """A stretch without data, longer than twice the usual gap."""

    since: Annotated[datetime, Field(description="Last point before the gap")]
    until: Annotated[datetime | None, Field(description="First point after the gap; null: the gap lasts until now")]


class Failure(Output):
    """Failed runs of a cell without a point; the reason is that of the last run."""

    at: Annotated[datetime, Field(description="End of the last of these runs")]
    campaign_id: int
    cell_id: int
    run_id: Annotated[int, Field(description="Last of these runs")]
    run_count: int
    reason_code: str | None
    reason: str | None


class Points(Output):
    """Points of a series in time order: one list per column, values in the series' base unit.

    `n` counts runs; the spreads are null below four. `gaps` and `failures` are the newest hundred of the span each.
    """

    series: SeriesOutput
    left_out: Annotated[int, Field(description="Number of points of the span that are not listed")]
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
    usual_flags: Annotated[
        list[list[str]], Field(description="Flags of at least 90 % of the 20 runs before", examples=[[[], ["ZEROES"]]])
    ]
    gaps: list[Gap]
    gap_missing_days: Annotated[int, Field(description="Further days with points needed to detect gaps")]
    failures: list[Failure]

    @classmethod
    def of(
        cls,
        series: SeriesOutput,
        points: Sequence[Row[Any]],
        left_out: int,
        found: FoundGaps,
        failures: Sequence[Row[Any]],
    ) -> "Points":
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
    """A change of a series' level, between `previous_at` and `at`; segments reach to the neighbouring changes.

    `confirmed_at` is null until the change is still found with two more points. A change for the worse ends when the
    confirmed change `recovered_by` recovers it at `ended_at`. A reported change that is over ended at `ended_at` too,
    without another change. `recovered`: the level only returned towards that before a change for the worse. `p_value`
    is that of ranks or five times that of means, whichever is smaller, corrected for autocorrelation.
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
    shift_ratio: Annotated[float | None, Field(description="Share of the median before; null where that is 0")]
    direction: Annotated[ChangeDirection | None, Field(description="Null where neither direction is better")]
    ended_at: datetime | None
    is_over: Annotated[bool, Field(description="The shift came and ended; later points no longer show it as a change")]
    recovered_by: int | None
    p_value: float
    words: Annotated[str, Field(examples=["12.0 % lower, worse (40 points after, 60 before)"])]
    found_at: datetime
    confirmed_at: datetime | None
    detector: Annotated[str, Field(examples=["kernel-cpd-4"])]
    reasons: Annotated[
        list[str],
        Field(
            description="Flags that at least half more of the runs after it have than before",
            examples=[["other load", "no longer: read warm"]],
        ),
    ]

    @classmethod
    def of(cls, row: ChangePoint, better: str, reasons: Sequence[str]) -> "SeriesChange":
        return cls.of_row(
            row,
            n_before=row.points_before,
            n_after=row.points_after,
            direction=_SHOWN_DIRECTIONS.get(direction_of(row, better)),
            ended_at=row.over_at or row.recovered_at,
            is_over=row.over_at is not None,
            recovered_by=row.recovered_by_id,
            words=described(row, better),
            reasons=list(reasons),
        )


class Noise(Output):
    """Last change of the spread, between `previous_at` and `at`.

    Spreads are 1.4826 x the median distance from the level, relative to it. `confirmed_at` is null until the change
    is still found with two more points.
    """

    at: datetime
    previous_at: datetime
    n_before: int
    n_after: int
    spread_before_ratio: float
    spread_after_ratio: float
    is_noisier: bool
    p_value: float
    words: Annotated[str, Field(examples=["2.4 times as noisy, 1.2 % -> 2.9 % (40 points after, 100 before)"])]
    found_at: datetime
    confirmed_at: datetime | None

    @classmethod
    def of(cls, kept: NoiseChange) -> "Noise":
        return cls.of_row(
            kept,
            n_before=kept.points_before,
            n_after=kept.points_after,
            spread_before_ratio=kept.spread_before,
            spread_after_ratio=kept.spread_after,
            words=noise_words(kept.spread_before, kept.spread_after, kept.points_before, kept.points_after),
        )


class Suspect(Output):
    """Bounds that two of the last three points exceed on one side."""

    centre: float
    low: float
    high: float
    is_higher: bool


class NamedChange(Output):
    """A change with its series and nearby events, which need not be its cause."""

    series: SeriesOutput
    change: SeriesChange
    events: Annotated[list[EventOutput], Field(description="The newest 20 at most, in time order")]
    events_more: Annotated[int, Field(description="Number of further events")]


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    cluster_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    direction: Annotated[
        Literal["better", "worse"] | None,
        Query(description="Better or worse; a recovery belongs to the change that it ended"),
    ] = None
    with_unconfirmed: Annotated[bool, Query(description="Include changes that are not confirmed yet")] = False


@dataclass(frozen=True, slots=True)
class SpanChoice:
    limit: Annotated[int, Query(ge=1, le=10_000, description="Return at most this many points, the newest")] = 2000
    points: Annotated[
        int | None,
        Query(ge=FEWEST_POINTS, le=10_000, description="Thin these to at most this many points that keep the shape"),
    ] = None
    since: Annotated[WrittenTime | None, Query(alias="from", description="Start of the span")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="End of the span")] = None


class Findable(Output):
    """Smallest change that the analysis finds in four of five such series, once it has this many points after it."""

    points_after: int
    shift_ratio: Annotated[float, Field(description="Share of the level")]


class SeriesAnalysis(Output):
    """Last analysis of a series; null before the first.

    `memory` is the lag-1 autocorrelation within segments, `scatter_ratio` the robust spread of the newest points around
    their level. `findable` follows from both, and is empty if they are unknown.
    """

    series_id: int
    course: Course | None
    words: Annotated[str, Field(examples=["no significant change in 60 points"])]
    n: int
    missing_points: Annotated[int, Field(description="Further points needed for a result")]
    memory: float | None
    scatter_ratio: float | None
    findable: list[Findable]
    findable_words: Annotated[
        str | None,
        Field(examples=["with this scatter (5.2 %), a change of 17 % can be found after 10 points, of 9 % after 40"]),
    ]
    drift: Drift | None
    noise: Noise | None
    noise_missing_points: Annotated[int, Field(description="Further points needed to analyse the noise")]
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
        reasons: Mapping[int, Sequence[str]],
    ) -> "SeriesAnalysis":
        if row is None:
            nothing = dict.fromkeys(cls.model_fields) | {"changes": [], "events": [], "findable": []}
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
        present = [change for change in changes if change.gone_at is None]
        recoveries = {change.id for change in changes if change.is_recovery}
        level_points = present[-1].points_after if present else row.point_count
        shifts = [] if drift else findable_shifts(row.scatter_ratio, row.memory, level_points)
        return cls.of_row(
            row,
            findable=[Findable.model_validate(shift) for shift in shifts],
            findable_words=findable_words(row.scatter_ratio, shifts),
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
            changes=[SeriesChange.of(change, series.better, reasons[change.id]) for change in changes],
            events=[SeriesEvent.of(found, series.better, changes) for found in events],
        )
