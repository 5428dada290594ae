from collections.abc import Sequence

from iotide_server.statistics.shifts import Direction, Shift, trace
from iotide_server.trends.changes.words import Ended, Regained, change_words, direction
from iotide_server.trends.models import ChangePoint


def write_recoveries(rows: Sequence[ChangePoint], better: str) -> None:
    """Store for each change the confirmed change that recovered it; `rows` are in time order."""
    found = [row for row in rows if row.gone_at is None]
    for row in rows:
        row.recovered_by_id = row.recovered_at = row.healthy_level = row.healthy_until = None
        row.is_recovery = False
    traced = trace([Shift(row.median_before, row.median_after) for row in found], better)
    for row, own in zip(found, traced, strict=True):
        later = None if own.recovered_by is None else found[own.recovered_by]
        if later is not None and later.confirmed_at is not None:
            row.recovered_by_id, row.recovered_at = later.id, later.at
        if own.away_since is not None:
            away = found[own.away_since]
            row.healthy_level, row.healthy_until = away.median_before, away.at
            row.is_recovery = own.direction is Direction.RECOVERED


def described(row: ChangePoint, better: str) -> str:
    return change_words(row.shift_ratio, row.points_before, row.points_after, better, _past(row))


def direction_of(row: ChangePoint, better: str) -> Direction:
    """Return RECOVERED, not BETTER, for a change that only returns towards the healthy level."""
    if row.is_recovery:
        return Direction.RECOVERED
    found = direction(row.shift_ratio, better)
    return Direction.NEITHER if found is None else Direction(found)


def _past(row: ChangePoint) -> Ended | Regained | None:
    if row.over_at is not None:
        return Ended(row.at, row.over_at, "over")
    if row.recovered_at is not None:
        return Ended(row.at, row.recovered_at, "recovered")
    if row.healthy_level is not None and row.healthy_until is not None:
        return Regained(row.median_after, row.healthy_level, row.healthy_until, row.is_recovery)
    return None
