from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from iotide_server.statistics.course import CONFIRMING_RUNS, ScatterChange

SAME_POINTS: Final = 15
"""A change of spread that moves by fewer points is the same change."""


class NoiseChange(BaseModel):
    model_config = ConfigDict(frozen=True)

    at: datetime
    previous_at: datetime
    # points_before to p_value: see `iotide_server.statistics.course.ScatterChange`
    points_before: int
    points_after: int
    spread_before: float
    spread_after: float
    p_value: float
    # found_at, found_points: of the first analysis that found it
    found_at: datetime
    found_points: int
    confirmed_at: datetime | None  # None: not found by CONFIRMING_RUNS more points yet

    @property
    def is_noisier(self) -> bool:
        return self.spread_after > self.spread_before


def noise_change(
    found: ScatterChange, times: Sequence[datetime], before: NoiseChange | None, point_count: int, now: datetime
) -> NoiseChange:
    """Return the change to store: `before`, perhaps now confirmed, or a new one."""
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
