"""What a change of level means for an alert: worse or better, back to what it was, or on to what was accepted; pure."""

from dataclasses import dataclass
from enum import StrEnum

from iotide_server.statistics.course import LEAST_SHIFT


class Direction(StrEnum):
    """What a change is to those who use the system."""

    WORSE = "worse"
    BETTER = "better"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Shift:
    """The medians before and after a change, in the series' base unit."""

    before: float
    after: float

    @property
    def is_up(self) -> bool:
        """Whether it went up."""
        return self.after > self.before

    @property
    def ratio(self) -> float | None:
        """(after - before) / |before|; None where it was 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None

    def direction(self, better: str) -> Direction:
        """What it means where `better` values are `higher`, `lower` or `neither`."""
        if better not in {"higher", "lower"}:
            return Direction.NEITHER
        return Direction.BETTER if self.is_up == (better == "higher") else Direction.WORSE

    def is_at_least(self, least_ratio: float) -> bool:
        """Whether it is as large; what was 0 has no ratio, and any change of it is."""
        return self.ratio is None or abs(self.ratio) >= least_ratio

    def is_taken_back_by(self, later: "Shift") -> bool:
        """Whether a later change in the other direction ends where this one began, within 3 %, or beyond.

        One that goes half of the way back leaves the alert as it is.
        """
        if later.is_up == self.is_up:
            return False
        return is_near(later.after, self.before) or (later.after > self.before) == later.is_up


def is_near(value: float, level: float) -> bool:
    """Within what nobody acts upon: 3 % of the level."""
    return abs(value - level) <= LEAST_SHIFT * abs(level)
