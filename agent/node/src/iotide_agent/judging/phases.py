"""A phase: the steps that ran side by side, what was read from them, and the seconds that were sampled meanwhile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from statistics import fmean
from typing import Any, Final

from iotide_agent.workloads.base import Group, StepOutcome
from iotide_agent.workloads.quality import marked
from iotide_wire.measured import Check, Flag, FlagCode, NotJudged, SampleMessage

Row = Mapping[str, Any]
"""One second as the sampler wrote it; what a node cannot count is absent."""

ENOUGH_ROWS: Final = 5
"""Fewer whole seconds say nothing of a phase: its first and last moments weigh too much."""
LOAD: Final = ("read_bytes_per_second", "write_bytes_per_second")
"""What the load's own processes moved."""
STORAGE: Final = tuple(
    f"{kind}_{direction}_bytes_per_second" for kind in ("disk", "nfs", "lustre") for direction in ("read", "write")
)
"""What went to and from the targets' devices and servers."""
NETWORK: Final = ("net_receive_bytes_per_second", "net_send_bytes_per_second")
JUDGED: Final = frozenset(
    {
        "step",
        "step_seconds",
        *LOAD,
        *STORAGE,
        *NETWORK,
        "cpu_user_ratio",
        "cpu_system_ratio",
        "net_link_ratio",
        "psi_cpu_some_ratio",
        "psi_io_some_ratio",
    }
)
"""What of a row is looked at; all of it, for each second of some days, would fill the node's memory."""
_ALIKE: Final = 2.0
"""Journals may double what is written; beyond that, somebody else's bytes are among what was counted."""
_SLACK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class ParallelSteps:
    """Steps side by side: what was read of each, and the `rows` that lie wholly between first start and last end."""

    outcomes: tuple[StepOutcome, ...]
    samples: tuple[SampleMessage, ...]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """The names of its steps."""
        return ", ".join(outcome.step.name for outcome in self.outcomes)

    @property
    def expected_bytes(self) -> int | None:
        """What its steps were to move; None where a step did not say."""
        known = [outcome.step.bytes_moved for outcome in self.outcomes]
        return None if None in known else sum(filter(None, known))

    @property
    def shared_rows(self) -> tuple[Row, ...]:
        """The seconds in which all of its steps ran."""
        spans = _spans(self.outcomes)
        return _between(self.rows, max(begin for begin, _ in spans), min(end for _, end in spans))

    def explains(self, rates: Sequence[float] | None) -> bool:
        """Whether the bytes that were counted elsewhere, second by second, are about those that its steps moved."""
        moved_bytes = self.expected_bytes or sum(self.values(*LOAD) or [])
        return rates is not None and moved_bytes / _ALIKE <= sum(rates) <= moved_bytes * _ALIKE

    def values(self, *counters: str) -> list[float] | None:
        """The sum of these counters, second by second, of those that this node counts; None where it counts none."""
        present = [name for name in counters if all(name in row for row in self.rows)]
        return [sum(row[name] for name in present) for row in self.rows] if present and self.rows else None

    def mean(self, counter: str) -> float | None:
        """The mean of a counter; None where the node does not count it, or too few seconds were seen."""
        values = self.values(counter) if len(self.rows) >= ENOUGH_ROWS else None
        return None if values is None else fmean(values)

    def marked(self, code: FlagCode, measured: str, limit: str) -> Flag:
        """A mark on the numbers of this phase: those that bear what the labels of all its samples have in common."""
        common = [sample.labels.items() for sample in self.samples]
        labels = dict(item for item in common[0] if all(item in items for items in common)) if common else {}
        targets = {sample.target_id for sample in self.samples}
        target_id = targets.pop() if len(targets) == 1 else None
        return marked(code, f"{self.name}: {measured}", limit, labels, target_id)

    def not_judged(self, check: Check, because: str) -> NotJudged:
        """A check that has no answer for this phase."""
        return NotJudged(check=check, because=because[:4000], phase=self.name[:4000])

    @property
    def too_short(self) -> str:
        """Why nothing can be said of what the node did in it, in words; empty where it is long enough."""
        seen = len(self.rows)
        return "" if seen >= ENOUGH_ROWS else f"{seen} whole second{'' if seen == 1 else 's'}, {ENOUGH_ROWS} needed"


def phases_of(
    groups: Iterable[Group],
    outcomes: Sequence[StepOutcome],
    samples: Sequence[Sequence[SampleMessage]],
    rows: Iterable[Row],
) -> list[ParallelSteps]:
    """Return the phases of a run; `outcomes` and `samples` are by ordinal of the step, `rows` are all."""
    by_group = {ordinal: list(own) for ordinal, own in groupby(rows, key=lambda row: row["step"])}
    sizes = [len(group) for group in groups]
    return [
        ParallelSteps(
            tuple(outcomes[end - size : end]),
            tuple(chain.from_iterable(samples[end - size : end])),
            _whole_seconds(outcomes[end - size : end], by_group.get(end - size, [])),
        )
        for size, end in zip(sizes, accumulate(sizes), strict=True)
        if end <= len(outcomes)
    ]


def _whole_seconds(outcomes: Sequence[StepOutcome], rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows of seconds in which nothing but these steps ran: not what came before them, and no sync after them."""
    return _between(rows, 0.0, max(end for _, end in _spans(outcomes)))


def _spans(outcomes: Sequence[StepOutcome]) -> list[tuple[float, float]]:
    """When each began and ended, in seconds after the first of them began."""
    begin = min(outcome.started_at for outcome in outcomes)
    starts = [(outcome.started_at - begin).total_seconds() for outcome in outcomes]
    return [(start, start + done.wall_seconds) for start, done in zip(starts, outcomes, strict=True)]


def _between(rows: Iterable[Row], begin: float, end: float) -> tuple[Row, ...]:
    """Rows of seconds that lie wholly between two times, in seconds after their group began."""
    whole: list[Row] = []
    for seconds, same in groupby(rows, key=lambda row: row["step_seconds"]):
        gap = list(same)  # seconds that were overslept share one row's means
        if seconds - len(gap) >= begin - _SLACK_SECONDS and seconds <= end + _SLACK_SECONDS:
            whole += gap
    return tuple(whole)
