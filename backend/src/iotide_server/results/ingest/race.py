"""Check that the nodes of a gang ran at the same time; otherwise their sum means little."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Final

from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_percent, format_seconds

LATE_RATIO: Final = 0.01  # share of the shortest duration, for the span of all starts
LATE_SECONDS: Final = 0.1  # for clocks kept by NTP

STRAGGLER_FACTOR: Final = 1.5


@dataclass(frozen=True, slots=True)
class Racer:
    name: str
    started_at: datetime
    seconds: float


def race_flags(racers: Sequence[Racer]) -> list[Flag]:
    return [*_late(racers), *_straggler(racers)]


def _late(racers: Sequence[Racer]) -> list[Flag]:
    first, last = min(racers, key=lambda one: one.started_at), max(racers, key=lambda one: one.started_at)
    late_seconds = (last.started_at - first.started_at).total_seconds()
    if late_seconds <= max(LATE_SECONDS, LATE_RATIO * min(one.seconds for one in racers)):
        return []
    measured = f"{last.name} started {format_seconds(late_seconds)} after {first.name}"
    limit = f"{format_percent(LATE_RATIO)} of the shortest duration, or {format_seconds(LATE_SECONDS)}"
    return [Flag(code=FlagCode.LATE_START, effect=FlagEffect.MARKED, measured=measured, limit=limit)]


def _straggler(racers: Sequence[Racer]) -> list[Flag]:
    slowest = max(racers, key=lambda one: one.seconds)
    others = [one.seconds for one in racers if one is not slowest]
    if not others or slowest.seconds <= STRAGGLER_FACTOR * median(others):
        return []
    measured = f"{slowest.name} took {format_seconds(slowest.seconds)}, the others {format_seconds(median(others))}"
    limit = f"{STRAGGLER_FACTOR} x the median of the others"
    return [Flag(code=FlagCode.STRAGGLER, effect=FlagEffect.MARKED, measured=measured, limit=limit)]
