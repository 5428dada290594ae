"""The drift of a series as its course stores it; pure."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from iotide_server.kit.db import Json
from iotide_server.statistics.course import LinearDrift


class StoredDrift(BaseModel):
    """A line through the points of a series.

    Attributes:
        shift_ratio, low, high, start, end: as `iotide_server.statistics.course.LinearDrift`.
        start_at, end_at: when the first and the last point of the line were measured.
    """

    model_config = ConfigDict(frozen=True)

    shift_ratio: float | None
    low: float | None
    high: float | None
    start: float
    end: float
    start_at: datetime
    end_at: datetime

    @classmethod
    def of(cls, found: LinearDrift, times: Sequence[datetime]) -> "StoredDrift":
        """Place a drift on the times of the points that it was found in."""
        return cls(**asdict(found), start_at=times[0], end_at=times[-1])

    @classmethod
    def read(cls, stored: Json | None) -> "StoredDrift | None":
        """Return the drift of a course; None where there is none, or where the previous release stored it.

        That one had no line, and told the change as a share of the median.
        """
        return None if stored is None or "start" not in stored else cls.model_validate(stored)

    @property
    def is_up(self) -> bool:
        """Check that the line rises."""
        return self.end > self.start
