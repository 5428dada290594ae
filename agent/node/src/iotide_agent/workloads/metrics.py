"""Kinds of numbers that workloads yield. A workload names a kind and adds its labels and its own words."""

from dataclasses import dataclass
from typing import Final, Literal

from iotide_wire.catalogue import MetricSpec
from iotide_wire.units import Unit


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A kind of number, with the title and description that most workloads give it."""

    name: str
    title: str
    unit: Unit
    better: Literal["higher", "lower", "neither"]
    description: str = ""

    def by(self, *labels: str, title: str = "", description: str = "", primary: bool = False) -> MetricSpec:
        """Return the metric of a workload with these labels; title and description replace those of the kind."""
        return MetricSpec(
            name=self.name,
            title=title or self.title,
            description=description or self.description,
            unit=self.unit,
            better=self.better,
            labels=labels,
            primary=primary,
        )


THROUGHPUT: Final = MetricKind("throughput", "Throughput", Unit.BYTES_PER_SECOND, "higher")
TOTAL_THROUGHPUT: Final = MetricKind(
    "total_throughput",
    "Total throughput",
    Unit.BYTES_PER_SECOND,
    "higher",
    "Of several writers: their bytes from the first start to the last end, by the tool's own clock.",
)
"""Announce it before the rate of one writer, with the labels that `writers.together` is given."""
IOPS: Final = MetricKind("iops", "Operations", Unit.OPERATIONS_PER_SECOND, "higher")
OPERATION_RATE: Final = MetricKind("operation_rate", "File operations", Unit.OPERATIONS_PER_SECOND, "higher")
TOTAL_OPERATION_RATE: Final = MetricKind(
    "total_operation_rate", "File operations, all processes", Unit.OPERATIONS_PER_SECOND, "higher"
)
LATENCY: Final = MetricKind("latency", "Completion latency", Unit.SECONDS, "lower")
DURATION: Final = MetricKind("duration", "Duration", Unit.SECONDS, "lower")

RACE: Final = (
    MetricKind("first_done", "First writer done after", Unit.SECONDS, "neither"),
    MetricKind("last_done", "Last writer done after", Unit.SECONDS, "lower"),
    MetricKind(
        "fairness",
        "Fairness",
        Unit.RATIO,
        "higher",
        "Between writers, after Jain: 1 when all are equally fast, 1/n when one of n has it all.",
    ),
)


def race_by(*labels: str) -> tuple[MetricSpec, ...]:
    """Return the metrics of `writers.race`; announce them after all others, with the labels that it is given."""
    return tuple(kind.by(*labels) for kind in RACE)
