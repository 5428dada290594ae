"""Changes of level and their recovery."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from iotide_server.statistics.course import LEAST_SHIFT


class Direction(StrEnum):
    """RECOVERED: better, but only back towards the level before a change for the worse."""

    WORSE = "worse"
    BETTER = "better"
    RECOVERED = "recovered"
    NEITHER = "neither"


IMPROVEMENTS: Final = frozenset({Direction.BETTER, Direction.RECOVERED})


@dataclass(frozen=True, slots=True)
class Shift:
    before: float
    after: float

    @property
    def is_up(self) -> bool:
        return self.after > self.before

    @property
    def ratio(self) -> float | None:
        """Return (after - before) / |before|; None from 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None

    def direction(self, better: str) -> Direction:
        if better not in {"higher", "lower"}:
            return Direction.NEITHER
        return Direction.BETTER if self.is_up == (better == "higher") else Direction.WORSE

    def is_at_least(self, least_ratio: float) -> bool:
        """Check the size; a change from 0 is always large enough."""
        return self.ratio is None or abs(self.ratio) >= least_ratio

    def is_taken_back_by(self, later: "Shift") -> bool:
        """Check that a later change returns to this one's start, within 3 %, or beyond it."""
        if later.is_up == self.is_up:
            return False
        return is_near(later.after, self.before) or (later.after > self.before) == later.is_up


@dataclass(frozen=True, slots=True)
class Traced:
    direction: Direction  # RECOVERED, not BETTER, up to the last healthy level
    # of a change for the worse: index of the change that recovered it
    recovered_by: int | None = None
    # of a change for the better: index of the change for the worse whose `before` is the last healthy level
    away_since: int | None = None


def trace(shifts: Sequence[Shift], better: str, accepted: Collection[int] = ()) -> list[Traced]:
    """Match each change for the worse with its recovery. The changes are in time order.

    Args:
        better: with `neither`, nothing recovers.
        accepted: indices of changes whose level counts as healthy from then on.
    """
    traced: list[Traced] = []
    away: list[int] = []
    for index, shift in enumerate(shifts):
        direction = shift.direction(better)
        since = away[0] if away and direction is Direction.BETTER else None
        if index in accepted:
            away = []
        elif direction is Direction.WORSE:
            away.append(index)
        elif since is not None:
            back = [earlier for earlier in away if shifts[earlier].is_taken_back_by(shift)]
            for earlier in back:
                traced[earlier] = replace(traced[earlier], recovered_by=index)
            away = [earlier for earlier in away if earlier not in back]
            if since in away or is_near(shift.after, shifts[since].before):
                direction = Direction.RECOVERED
        traced.append(Traced(direction, away_since=since))
    return traced


def is_near(value: float, level: float) -> bool:
    return abs(value - level) <= LEAST_SHIFT * abs(level)
