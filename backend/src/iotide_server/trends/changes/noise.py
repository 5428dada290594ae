"""The change of a series' spread that an analysis found, beside the one that the analysis before it did; pure."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from iotide_server.statistics.course import CONFIRMING_RUNS, ScatterChange

SAME_POINTS: Final = 15
"""A spread is sure of its moment within so many points, and a change of it that moves by fewer is the same."""


class NoiseChange(BaseModel):
    """As the course of a series keeps it."""

    model_config = ConfigDict(frozen=True)

    at: datetime  # when the first point after it was measured
    previous_at: datetime  # the last one before it
    # points_before, points_after, spread_before, spread_after, p_value: as
    # `iotide_server.statistics.course.ScatterChange`
    points_before: int
    points_after: int
    spread_before: float
    spread_after: float
    p_value: float
    # found_at, found_points: of the analysis that found it first, and how many points that had
    found_at: datetime
    found_points: int
    confirmed_at: datetime | None  # when one of CONFIRMING_RUNS more points still found it; None: not yet

    @property
    def is_noisier(self) -> bool:
        """Whether the points scatter more since then."""
        return self.spread_after > self.spread_before


def noise_change(
    found: ScatterChange, times: Sequence[datetime], before: NoiseChange | None, point_count: int, now: datetime
) -> NoiseChange:
    """Return what is kept of an analysis: the change `before`, confirmed by enough more points, or a new one."""
    made = NoiseChange(
        at=times[found.index],
        previous_at=times[found.index - 1],
        points_before=found.runs_before,
        points_after=found.runs_after,
        spread_before=found.spread_before,
        spread_after=found.spread_after,
        p_value=found.p_value,
        found_at=now,
        found_points=point_count,
        confirmed_at=None,
    )
    if before is None or before.is_noisier != made.is_noisier:
        return made
    if abs(bisect_left(times, before.at) - found.index) > SAME_POINTS:
        return made
    is_sure = point_count - before.found_points >= CONFIRMING_RUNS
    return made.model_copy(
        update={
            "found_at": before.found_at,
            "found_points": before.found_points,
            "confirmed_at": before.confirmed_at or (now if is_sure else None),
        }
    )
