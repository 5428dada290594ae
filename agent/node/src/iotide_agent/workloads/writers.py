"""Results of parallel writers together: total, first and last to finish, fairness."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Final, NamedTuple, Self

from iotide_agent.workloads.base import AnyLabels, Parsed, Place, Sample, StepOutcome
from iotide_agent.workloads.quality import marked
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import format_percent, format_seconds

STRAGGLER_FACTOR: Final = 1.5
"""A writer that takes this many times as long as the median of the others is a straggler."""
LATE_RATIO: Final = 0.01
"""Share of the longest writer's time. A later start makes the total too small by about as much."""
_START_SECONDS: Final = 0.01
STRAGGLER_LIMIT: Final = f"{STRAGGLER_FACTOR} x the median of the others"


class Straggler(NamedTuple):
    number: int
    seconds: float
    median_seconds: float

    @property
    def others(self) -> str:
        return f"the median of the others {format_seconds(self.median_seconds)}"


def straggler(seconds: Sequence[float]) -> Straggler | None:
    number = max(range(len(seconds)), key=seconds.__getitem__, default=0)
    others = [*seconds[:number], *seconds[number + 1 :]]
    if not others or seconds[number] <= STRAGGLER_FACTOR * median(others):
        return None
    return Straggler(number, seconds[number], median(others))


@dataclass(frozen=True, slots=True)
class Part:
    """Work of one writer in bytes or operations from `began_at`, by the tool's own clock."""

    target_id: int | None
    began_at: datetime
    amount: int
    seconds: float

    @classmethod
    def at_end(cls, outcome: StepOutcome, amount: int, seconds: float, after_seconds: float = 0.0) -> Self:
        """Return work that ended `after_seconds` before its step; the step may begin earlier."""
        before_seconds = max(0.0, outcome.wall_seconds - after_seconds - seconds)
        began_at = outcome.started_at + timedelta(seconds=before_seconds)
        return cls(outcome.step.target_id, began_at, amount, seconds)

    @property
    def rate(self) -> float:
        return self.amount / self.seconds


def together(parts: Sequence[Part], labels: AnyLabels, total: str = "total_throughput") -> Parsed:
    """Return samples and flags of parallel writers, none for a single one; `total` is the metric of their rate."""
    if len(parts) == 1:
        return Parsed()
    done = _done(parts)
    targets = {part.target_id for part in parts}
    target_id = targets.pop() if len(targets) == 1 else None
    of_all = Sample(total, sum(part.amount for part in parts) / max(done), labels, target_id)
    race = _race(parts, done, labels, target_id)
    return Parsed([of_all, *race.samples], race.flags)


def side_by_side(places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> list[list[StepOutcome]]:
    by_name: dict[str, list[StepOutcome]] = {}
    for outcome in outcomes if len(places) > 1 else ():
        by_name.setdefault(outcome.step.name, []).append(outcome)
    return list(by_name.values())


def race(outcomes: Sequence[StepOutcome], labels: AnyLabels) -> Parsed:
    """Return the same without the total, for commands with phases of their own: their rates do not add up."""
    parts = [Part.at_end(outcome, 1, outcome.wall_seconds) for outcome in outcomes]
    return _race(parts, _done(parts), labels, None)


def _race(parts: Sequence[Part], done: Sequence[float], labels: AnyLabels, target_id: int | None) -> Parsed:
    values = {"first_done": min(done), "last_done": max(done), "fairness": fairness([part.rate for part in parts])}
    samples = [Sample(metric, value, labels, target_id) for metric, value in values.items()]
    return Parsed(samples, _straggler(parts, done, labels, target_id) + _late(parts, labels, target_id))


def fairness(rates: Sequence[float]) -> float:
    """Return Jain's index, (sum x)^2 / (n sum x^2) of the rates x (Jain, Chiu, Hawe 1984, DEC-TR-301)."""
    return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


def _done(parts: Sequence[Part]) -> list[float]:
    begin = min(part.began_at for part in parts)
    return [(part.began_at - begin).total_seconds() + part.seconds for part in parts]


def _straggler(parts: Sequence[Part], done: Sequence[float], labels: AnyLabels, target_id: int | None) -> list[Flag]:
    found = straggler(done)
    if found is None:
        return []
    last = parts[found.number]
    is_over_targets = any(part.target_id != last.target_id for part in parts)
    who = f"last writer, on target {last.target_id}," if is_over_targets else "last writer"
    measured = f"{who} finished after {format_seconds(found.seconds)}, {found.others}"
    return [marked(FlagCode.STRAGGLER, measured, STRAGGLER_LIMIT, labels, target_id)]


def _late(parts: Sequence[Part], labels: AnyLabels, target_id: int | None) -> list[Flag]:
    """Return LATE_START if writers began late, because the total then includes time without them."""
    starts = [part.began_at for part in parts]
    late_seconds = (max(starts) - min(starts)).total_seconds()
    longest_seconds = max(part.seconds for part in parts)
    if late_seconds <= max(LATE_RATIO * longest_seconds, _START_SECONDS):
        return []
    measured = f"a writer began {format_seconds(late_seconds)} after the first; the longest took "
    limit = f"{format_percent(LATE_RATIO)} of the time of the longest"
    return [marked(FlagCode.LATE_START, measured + format_seconds(longest_seconds), limit, labels, target_id)]
