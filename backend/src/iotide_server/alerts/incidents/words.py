"""An incident in one line; pure."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from iotide_server.alerts.incidents.causes import short_event
from iotide_server.kit.clock import day_written, days_written
from iotide_wire.units import format_shift

_MOST_NAMES: Final = 2


@dataclass(frozen=True, slots=True)
class IncidentFacts:
    kind: str  # as stored
    at: datetime
    ended_at: datetime | None
    worst_ratio: float | None
    series_count: int
    is_over: bool  # the worst shift came and ended without another change
    is_withdrawn: bool
    event: str | None
    title: str | None  # of the metric, if there is one series
    targets: Collection[str]
    workloads: Collection[str]
    operations: Collection[str]


def incident_words(facts: IncidentFacts) -> str:
    """Return e.g. `scratch: dd read and write up to -18.1 % from 11 Aug to 20 Sep 2026, OST0007 out of service`."""
    subject = f"{_named(facts.targets, 'targets')}: {_named(facts.workloads, 'workloads')}"
    parts = [" ".join(part for part in (subject, *_changed(facts), _when(facts)) if part)]
    if facts.event is not None:
        parts.append(short_event(facts.event))
    if facts.ended_at is not None:
        parts.append("over" if facts.is_over else "recovered")
    if facts.series_count > 1:
        parts.append(f"{facts.series_count} series")
    return ", ".join(parts)


def _changed(facts: IncidentFacts) -> list[str]:
    if facts.is_withdrawn:
        return ["change withdrawn"]
    if facts.kind == "missing":
        return ["without data"]
    operations = _named(sorted(facts.operations), "operations") if facts.operations else ""
    title = facts.title[:1].lower() + facts.title[1:] if facts.title else ""
    shift = "no longer 0" if facts.worst_ratio is None else format_shift(1 + facts.worst_ratio)
    several = "up to" if facts.series_count > 1 and facts.worst_ratio is not None else ""
    return [operations, title, several, shift]


def _when(facts: IncidentFacts) -> str:
    return f"since {day_written(facts.at)}" if facts.ended_at is None else days_written(facts.at, facts.ended_at)


def _named(names: Collection[str], several: str) -> str:
    known = sorted(set(names))
    return " and ".join(known) if len(known) <= _MOST_NAMES else f"{len(known)} {several}"
