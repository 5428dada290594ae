"""A change of level: worse or better, and back to the level that an earlier change left; pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from iotide_server.statistics.course import LEAST_SHIFT


class Direction(StrEnum):
    """The meaning of a change to the users of a system.

    RECOVERED is a change for the better that only leads back towards the level before a change for the worse.
    """

    WORSE = "worse"
    BETTER = "better"
    RECOVERED = "recovered"
    NEITHER = "neither"


IMPROVEMENTS: Final = frozenset({Direction.BETTER, Direction.RECOVERED})


@dataclass(frozen=True, slots=True)
class Shift:
    """The medians before and after a change, in the series' base unit."""

    before: float
    after: float

    @property
    def is_up(self) -> bool:
        """Check that the level rose."""
        return self.after > self.before

    @property
    def ratio(self) -> float | None:
        """(after - before) / |before|; None where it was 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None

    def direction(self, better: str) -> Direction:
        """Return its direction where `better` values are `higher`, `lower` or `neither`, without looking back."""
        if better not in {"higher", "lower"}:
            return Direction.NEITHER
        return Direction.BETTER if self.is_up == (better == "higher") else Direction.WORSE

    def is_at_least(self, least_ratio: float) -> bool:
        """Check its size; any change from 0 is large enough, since it has no ratio."""
        return self.ratio is None or abs(self.ratio) >= least_ratio

    def is_taken_back_by(self, later: "Shift") -> bool:
        """Check that a later change ends where this one began, within 3 %, or beyond; half of the way does not."""
        if later.is_up == self.is_up:
            return False
        return is_near(later.after, self.before) or (later.after > self.before) == later.is_up


@dataclass(frozen=True, slots=True)
class Traced:
    """A change among all changes of its series."""

    direction: Direction  # RECOVERED, not BETTER, where the change ends at or below the last healthy level
    # of a change for the worse, the index of the later change that took it back; None: it lasts
    recovered_by: int | None = None
    # of a change for the better, the index of the change for the worse that led away from the last healthy level; that
    # level is the `before` of that change. None: the series was at its healthy level
    away_since: int | None = None


def trace(shifts: Sequence[Shift], better: str, accepted: Collection[int] = ()) -> list[Traced]:
    """Pair each change of a series, in time order, for the worse with the change that took it back.

    Args:
        better: `higher`, `lower` or `neither`; of the last kind nothing recovers.
        accepted: indices of changes whose level afterwards counts as the healthy one from then on.
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
    """Check that a value lies within 3 % of a level: nobody acts on less."""
    return abs(value - level) <= LEAST_SHIFT * abs(level)
