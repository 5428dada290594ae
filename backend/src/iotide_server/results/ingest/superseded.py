"""Values of earlier agents that a wrong clock or duplication invalidates.

They stay with their runs, in separate series without points. `iotide run reparse` with a newer agent replaces them
where raw output is kept.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from iotide_server.results.ingest.keys import Label
from iotide_server.workloads.primary import WRITER
from iotide_wire.measured import SampleMessage


class Superseded(StrEnum):
    NODE_CLOCK = "node_clock"
    MIXED_TARGETS = "mixed_targets"
    ONE_WRITER = "one_writer"
    REJOINED = "rejoined"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS: Final = {
    Superseded.NODE_CLOCK: (
        "Timed by the node's clock, including the start of processes and of the data source. "
        "The run's throughput is correct. If raw output is kept, iotide run reparse computes the correct total."
    ),
    Superseded.MIXED_TARGETS: (
        "One series holds totals of single targets and of all targets. If raw output is kept, "
        "iotide run reparse computes the total of all targets."
    ),
    Superseded.ONE_WRITER: "A total of one writer repeats its throughput and is no longer measured.",
    Superseded.REJOINED: "An admin undid the catalogue entry that split this series. The series before it continues.",
}
_TOTAL: Final = "total_"
_OF_ONE_WRITER: Final = frozenset({"total_throughput", "total_operation_rate"})
_OF_WRITERS: Final = frozenset({"total_throughput", "first_done", "last_done", "fairness"})
_RIGHT_FROM: Final = {"dd": 2, "fill": 2, "fio": 3}
"""First revision that times several writers by the tool's own clock."""

_Key = tuple[str, frozenset[tuple[str, Label]], int | None]


def superseded(
    workload: str, revision: int, target_count: int, samples: Sequence[SampleMessage]
) -> list[Superseded | None]:
    """Return for each sample why it does not count, or None."""
    plain = Counter(_without_writer(sample) for sample in samples)
    is_old = revision < _RIGHT_FROM.get(workload, 0)
    of_writers = None
    if is_old and (workload == "dd" or target_count > 1):
        of_writers = Superseded.MIXED_TARGETS if workload == "fio" else Superseded.NODE_CLOCK
    return [of_writers if of_writers and sample.metric in _OF_WRITERS else _twice(sample, plain) for sample in samples]


def _twice(sample: SampleMessage, plain: Counter[_Key]) -> Superseded | None:
    """Return ONE_WRITER for a total that repeats a single value."""
    if sample.metric not in _OF_ONE_WRITER:
        return None
    of_one = (sample.metric.removeprefix(_TOTAL), frozenset(sample.labels.items()), sample.target_id)
    return Superseded.ONE_WRITER if plain[of_one] == 1 else None


def _without_writer(sample: SampleMessage) -> _Key:
    labels = frozenset((name, value) for name, value in sample.labels.items() if name != WRITER)
    return sample.metric, labels, sample.target_id
