"""Metric kinds that workloads share. A workload adds its own labels and texts."""

from dataclasses import dataclass
from typing import Final, Literal

from iotide_wire.catalogue import MetricSpec
from iotide_wire.units import Unit


@dataclass(frozen=True, slots=True)
class MetricKind:
    name: str
    title: str
    unit: Unit
    better: Literal["higher", "lower", "neither"]
    description: str = ""

    def by(self, *labels: str, title: str = "", description: str = "", primary: bool = False) -> MetricSpec:
        """Title and description replace the usual ones."""
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
    "Bytes of all writers, from the first start to the last end, by the tool's own clock.",
)
"""Announce it before the rate of one writer, with the same labels as for `writers.together`."""
SUMMED_THROUGHPUT: Final = MetricKind(
    "summed_throughput",
    "Sum of rates",
    Unit.BYTES_PER_SECOND,
    "higher",
    "Sum of the processes' rates, each over its own time, of one program over several nodes. A total is smaller.",
)
IOPS: Final = MetricKind("iops", "IOPS", Unit.OPERATIONS_PER_SECOND, "higher")
OPERATION_RATE: Final = MetricKind("operation_rate", "File operations", Unit.OPERATIONS_PER_SECOND, "higher")
TOTAL_OPERATION_RATE: Final = MetricKind(
    "total_operation_rate", "Total file operations", Unit.OPERATIONS_PER_SECOND, "higher"
)
LATENCY: Final = MetricKind("latency", "Completion latency", Unit.SECONDS, "lower")
DURATION: Final = MetricKind("duration", "Duration", Unit.SECONDS, "lower")

RACE: Final = (
    MetricKind("first_done", "First finish", Unit.SECONDS, "neither", "Time until the first writer finished."),
    MetricKind("last_done", "Last finish", Unit.SECONDS, "lower", "Time until the last writer finished."),
    MetricKind(
        "fairness",
        "Fairness",
        Unit.RATIO,
        "higher",
        "Jain's index of the writers' rates: 1 if all are equally fast, 1/n if one of n gets everything.",
    ),
)

START_SKEW: Final = MetricKind(
    "start_skew",
    "Late start",
    Unit.SECONDS,
    "lower",
    "Time of all tasks without that of the slowest one: at least one task began this much later than the first.",
)


def race_by(*labels: str) -> tuple[MetricSpec, ...]:
    """Return the metrics of `writers.race` with its labels; announce them after all others."""
    return tuple(kind.by(*labels) for kind in RACE)
