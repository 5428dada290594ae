"""Choice of the rule of a series; pure."""

from collections.abc import Iterable
from enum import StrEnum

from iotide_server.alerts.models import AlertRule
from iotide_server.results.models import Series
from iotide_server.statistics.shifts import Direction, Shift


class Directions(StrEnum):
    WORSE = "worse"
    BOTH = "both"


def narrowest(rules: Iterable[AlertRule], series: Series) -> AlertRule | None:
    """Return the rule that covers the series with the most fields, the oldest of equals."""
    # One rule owns an alert, so that removing it closes its alerts, and no alert is sent twice.
    covering = [rule for rule in rules if _covers(rule, series)]
    return min(covering, key=lambda rule: (-_named(rule), rule.id), default=None)


def asks_for(rule: AlertRule, shift: Shift, better: str) -> bool:
    """Return whether the rule covers the change. Without a better direction, a change is never worse."""
    is_wanted = rule.directions == Directions.BOTH or shift.direction(better) is Direction.WORSE
    return is_wanted and shift.is_at_least(rule.least_shift_ratio)


def _covers(rule: AlertRule, series: Series) -> bool:
    return (
        (rule.target_id is None or rule.target_id in series.target_ids)
        and rule.workload in {None, series.workload}
        and rule.metric in {None, series.metric}
    )


def _named(rule: AlertRule) -> int:
    return sum(part is not None for part in (rule.target_id, rule.workload, rule.metric))
