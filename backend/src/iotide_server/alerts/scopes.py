"""Which rule an alert of a series has: the narrowest that covers it; pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from iotide_server.statistics.shifts import Direction, Shift


class Directions(StrEnum):
    """Which changes a rule alerts of."""

    WORSE = "worse"
    BOTH = "both"


class RuleScope(Protocol):
    """What of a rule decides; as `models.AlertRule`."""

    id: int
    target_id: int | None
    workload: str | None
    metric: str | None
    least_shift_ratio: float
    directions: str
    missing_runs: bool
    muted_until: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SeriesScope:
    """A series, as far as scopes go."""

    target_ids: Collection[int]
    workload: str
    metric: str


def narrowest(rules: Iterable[RuleScope], subject: SeriesScope) -> RuleScope | None:
    """Of those that cover the series the one that names most of it, and of equals the oldest; None: no rule does.

    One rule answers for an alert, so that removing it ends what it raised, and nobody is told twice.
    """
    covering = [rule for rule in rules if _covers(rule, subject)]
    return min(covering, key=lambda rule: (-_named(rule), rule.id), default=None)


def asks_for(rule: RuleScope, shift: Shift, better: str) -> bool:
    """Whether the rule alerts of such a change; one of a metric without a better side is not worse."""
    is_wanted = rule.directions == Directions.BOTH or shift.direction(better) is Direction.WORSE
    return is_wanted and shift.is_at_least(rule.least_shift_ratio)


def _covers(rule: RuleScope, subject: SeriesScope) -> bool:
    return (
        (rule.target_id is None or rule.target_id in subject.target_ids)
        and rule.workload in {None, subject.workload}
        and rule.metric in {None, subject.metric}
    )


def _named(rule: RuleScope) -> int:
    return sum(part is not None for part in (rule.target_id, rule.workload, rule.metric))
