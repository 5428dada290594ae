"""The drift of a series, as its course stores it and the API shows it; pure."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from iotide_server.kit.db import Json
from iotide_server.kit.web import Output
from iotide_server.statistics.course import LinearDrift


class Drift(Output):
    """A slow change: a straight line from `start` to `end`, in the series' base unit.

    `shift_ratio` is what the line gains or loses from `start_at` to `end_at`, as a share of `start`, with its 95 %
    interval; null where the line starts at 0.
    """

    shift_ratio: float | None
    low: float | None
    high: float | None
    start: float
    end: float
    start_at: datetime
    end_at: datetime

    @classmethod
    def of(cls, found: LinearDrift, times: Sequence[datetime]) -> "Drift":
        """Place a drift on the times of the points that it was found in."""
        return cls(**asdict(found), start_at=times[0], end_at=times[-1])

    @classmethod
    def read(cls, stored: Json | None) -> "Drift | None":
        """Return the drift of a course; None where there is none, or where an earlier release stored it."""
        return None if stored is None or "start" not in stored else cls.model_validate(stored)

    @property
    def is_up(self) -> bool:
        """Check that the line rises."""
        return self.end > self.start
