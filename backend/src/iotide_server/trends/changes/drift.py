"""Drift of a series."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.kit.db import Json
from iotide_server.kit.web import Output
from iotide_server.statistics.course import DriftShape, FittedDrift


class DriftPoint(Output):
    at: datetime
    value: float


class Drift(Output):
    """A slow change from `start` to `end`, in the series' base unit.

    `shift_ratio` is the change as a share of `start`, null where `start` is 0. Only a line has its 95 % interval, `low`
    to `high`.
    """

    shape: Annotated[
        DriftShape,
        Field(
            description="`curve`: not at a constant rate; `wave`: takes back half of itself or more, as a season does"
        ),
    ]
    shift_ratio: float | None
    low: float | None
    high: float | None
    start: float
    end: float
    start_at: datetime
    end_at: datetime
    path: Annotated[list[DriftPoint], Field(description="The line or curve, to be drawn")]

    @classmethod
    def of(cls, found: FittedDrift, times: Sequence[datetime]) -> "Drift":
        return cls(
            shape=found.shape,
            shift_ratio=found.shift_ratio,
            low=found.low,
            high=found.high,
            start=found.start,
            end=found.end,
            start_at=times[0],
            end_at=times[-1],
            path=[DriftPoint(at=times[run], value=value) for run, value in found.path],
        )

    @classmethod
    def read(cls, stored: Json | None) -> "Drift | None":
        """Return None for a drift that an earlier release stored relative to the median.

        The previous release stored lines only, without a path.
        """
        if stored is None or "start" not in stored:
            return None
        ends = [{"at": stored[f"{end}_at"], "value": stored[end]} for end in ("start", "end")]
        return cls.model_validate({"shape": DriftShape.LINE, "path": ends} | stored)

    @property
    def is_up(self) -> bool:
        return self.end > self.start

    @property
    def swing_ratio(self) -> float | None:
        """Return the distance between the lowest and the highest value of the path, relative to the lowest."""
        values = [point.value for point in self.path]
        lowest = min(values)
        return (max(values) - lowest) / abs(lowest) if lowest else None
