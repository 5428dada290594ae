"""Several writers side by side as one: their total, the first and the last to be done, and how fairly they shared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Final

from iotide_agent.workloads.base import Parsed, Sample, StepOutcome
from iotide_wire.catalogue import MetricSpec
from iotide_wire.messages import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit

STRAGGLER_FACTOR: Final = 1.5
"""A writer that takes so many times as long as the median one holds the others up."""

WRITER_METRICS: Final = (
    MetricSpec(
        name="total_throughput",
        title="Throughput of all writers: their bytes from the first start to the last end",
        unit=Unit.BYTES_PER_SECOND,
        better="higher",
        labels=(),
    ),
    MetricSpec(name="first_done", title="First writer done after", unit=Unit.SECONDS, better="neither", labels=()),
    MetricSpec(name="last_done", title="Last writer done after", unit=Unit.SECONDS, better="lower", labels=()),
    MetricSpec(
        name="fairness",
        title="Fairness between writers: 1 when all are equally fast, 1/n when one has it all (Jain)",
        unit=Unit.RATIO,
        better="higher",
        labels=(),
    ),
)
"""To be announced with the labels that `together` is given."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one writer did."""

    outcome: StepOutcome
    moved_bytes: int

    @property
    def rate(self) -> float:
        """Bytes per second of its own wall clock."""
        return self.moved_bytes / self.outcome.wall_seconds


def together(parts: Sequence[Part], labels: Mapping[str, str | int | float | bool]) -> Parsed:
    """The samples and flags of writers that ran side by side."""
    begin = min(part.outcome.started_at for part in parts)
    done = sorted(_seconds_after(begin, part) for part in parts)
    rates = [part.rate for part in parts]
    values = {
        "total_throughput": sum(part.moved_bytes for part in parts) / done[-1],
        "first_done": done[0],
        "last_done": done[-1],
        "fairness": fairness(rates),
    }
    targets = {part.outcome.step.target_id for part in parts}
    target_id = targets.pop() if len(targets) == 1 else None
    return Parsed(
        [Sample(metric, value, labels, target_id) for metric, value in values.items()], _straggler(done, labels)
    )


def fairness(rates: Sequence[float]) -> float:
    """Jain's index, (sum x)^2 / (n sum x^2) over the rates x (Jain, Chiu, Hawe 1984, DEC-TR-301)."""
    return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


def _seconds_after(begin: datetime, part: Part) -> float:
    return (part.outcome.started_at - begin).total_seconds() + part.outcome.wall_seconds


def _straggler(done: Sequence[float], labels: Mapping[str, str | int | float | bool]) -> list[Flag]:
    middle = median(done)
    if done[-1] <= STRAGGLER_FACTOR * middle:
        return []
    return [
        Flag(
            code=FlagCode.STRAGGLER,
            effect=FlagEffect.MARKED,
            measured=f"last writer done after {done[-1]:.3g} s, the median after {middle:.3g} s",
            limit=f"{STRAGGLER_FACTOR} x the median",
            labels=dict(labels),
        )
    ]
