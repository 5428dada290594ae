"""Runs told by their median and range, and one such set in terms of another; pure."""

from dataclasses import dataclass
from typing import Protocol

from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_wire.units import format_number


class Ranged(Protocol):
    """What so many independent runs say."""

    @property
    def n(self) -> int:
        """Independent runs."""

    @property
    def median(self) -> float:
        """In the unit of the values, as low and high."""

    @property
    def low(self) -> float:
        """The smallest run."""

    @property
    def high(self) -> float:
        """The largest run."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """One set of runs in terms of another."""

    median: float  # of the medians
    # low, high: the smallest and the largest ratio that runs of both sides have, which hold the exact 95 % interval of
    # Hodges and Lehmann and from four runs a side on are never narrower; None below
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """Such as `4.21 (3.92 to 4.6)`."""
        if self.low is None or self.high is None:
            return format_number(self.median)
        return f"{format_number(self.median)} ({format_number(self.low)} to {format_number(self.high)})"


def ratio(a: Ranged, b: Ranged) -> Ratio:
    """B / A; with intervals where both have four runs and none of A is 0."""
    if min(a.n, b.n) < ENOUGH_RUNS or a.low <= 0:
        return Ratio(b.median / a.median, None, None)
    return Ratio(b.median / a.median, b.low / a.high, b.high / a.low)
