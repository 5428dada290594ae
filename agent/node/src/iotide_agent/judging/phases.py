"""Phases: parallel steps, their samples, and the seconds that were sampled meanwhile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby
from statistics import fmean
from typing import Any, Final

from iotide_agent.workloads.base import Group, StepOutcome
from iotide_agent.workloads.quality import marked
from iotide_wire.measured import Check, Flag, FlagCode, NotJudged, SampleMessage

Row = Mapping[str, Any]
"""Values of one second; a counter that the node lacks is absent."""

ENOUGH_ROWS: Final = 5
"""In fewer whole seconds, the first and last moments of a phase weigh too much."""
LOAD: Final = ("read_bytes_per_second", "write_bytes_per_second")
STORAGE: Final = tuple(
    f"{kind}_{direction}_bytes_per_second" for kind in ("disk", "nfs", "lustre") for direction in ("read", "write")
)
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
"""Judged columns of a row. All columns of several days would fill the node's memory."""
_ALIKE: Final = 2.0
"""Journals may double the written bytes. A larger factor means bytes of others."""
_SLACK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class ParallelSteps:
    """`rows` lie entirely within the steps."""

    outcomes: tuple[StepOutcome, ...]
    samples: tuple[SampleMessage, ...]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return ", ".join(outcome.step.name for outcome in self.outcomes)

    @property
    def began_at(self) -> float:
        """Return when the first step began, in seconds since 1970."""
        return min(outcome.started_at.timestamp() for outcome in self.outcomes)

    @property
    def ended_at(self) -> float:
        return max(outcome.started_at.timestamp() + outcome.wall_seconds for outcome in self.outcomes)

    @property
    def expected_bytes(self) -> int | None:
        known = [outcome.step.bytes_moved for outcome in self.outcomes]
        return None if None in known else sum(filter(None, known))

    @property
    def shared_rows(self) -> tuple[Row, ...]:
        spans = _spans(self.outcomes)
        return _between(self.rows, max(begin for begin, _ in spans), min(end for _, end in spans))

    def explains(self, rates: Sequence[float] | None) -> bool:
        moved_bytes = self.expected_bytes or sum(self.values(*LOAD) or [])
        return rates is not None and moved_bytes / _ALIKE <= sum(rates) <= moved_bytes * _ALIKE

    def values(self, *counters: str) -> list[float] | None:
        """Return the sum of these counters per second, or None if the node has none."""
        present = [name for name in counters if all(name in row for row in self.rows)]
        return [sum(row[name] for name in present) for row in self.rows] if present and self.rows else None

    def mean(self, counter: str) -> float | None:
        values = self.values(counter) if len(self.rows) >= ENOUGH_ROWS else None
        return None if values is None else fmean(values)

    def marked(self, code: FlagCode, measured: str, limit: str) -> Flag:
        common = [sample.labels.items() for sample in self.samples]
        labels = dict(item for item in common[0] if all(item in items for items in common)) if common else {}
        targets = {sample.target_id for sample in self.samples}
        target_id = targets.pop() if len(targets) == 1 else None
        return marked(code, f"{self.name}: {measured}", limit, labels, target_id)

    def not_judged(self, check: Check, because: str) -> NotJudged:
        return NotJudged(check=check, because=because[:4000], phase=self.name[:4000])

    @property
    def too_short(self) -> str:
        """Return why the phase is too short to judge; empty if it is long enough."""
        seen = len(self.rows)
        return "" if seen >= ENOUGH_ROWS else f"{seen} whole second{'' if seen == 1 else 's'}, {ENOUGH_ROWS} needed"


def phases_of(
    groups: Iterable[Group],
    outcomes: Sequence[StepOutcome],
    samples: Sequence[Sequence[SampleMessage]],
    rows: Iterable[Row],
) -> list[ParallelSteps]:
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


def operations_of(phase: ParallelSteps, least_seconds: int) -> list[ParallelSteps]:
    """Return the operations of a sequence that surely ran for this many whole seconds, each with these seconds.

    Size and rate of an operation give its duration; the time between two operations is unknown. An operation began
    after the sum of the durations before it, and later than that by at most the unexplained time of the step.
    """
    if len(phase.outcomes) != 1 or not phase.outcomes[0].step.is_sequence:
        return []
    [outcome] = phase.outcomes
    operations = [tuple(own) for _, own in groupby(filter(_is_timed, phase.samples), key=_of_operation)]
    seconds = [max(float(one.labels["file_size_bytes"]) / one.value for one in own) for own in operations]
    gap = max(0.0, outcome.wall_seconds - sum(seconds))
    found = []
    for own, begin, end in zip(operations, accumulate(seconds, initial=0.0), accumulate(seconds), strict=False):
        # The fastest of several processes ends first.
        together = min(float(one.labels["file_size_bytes"]) / one.value for one in own)
        if end - begin - gap < least_seconds:
            continue
        rows = _between(phase.rows, begin + gap, begin + together)
        moved_bytes = round(sum(one.value for one in own) * len(rows))
        step = replace(outcome.step, name=f"{outcome.step.name} {own[0].labels['operation']}", bytes_moved=moved_bytes)
        found.append(ParallelSteps((replace(outcome, step=step),), own, rows))
    return found


def _is_timed(sample: SampleMessage) -> bool:
    return sample.metric == "throughput" and isinstance(sample.labels.get("file_size_bytes"), int) and sample.value > 0


def _of_operation(sample: SampleMessage) -> list[tuple[str, Any]]:
    return sorted((name, value) for name, value in sample.labels.items() if name != "writer")


def _whole_seconds(outcomes: Sequence[StepOutcome], rows: Iterable[Row]) -> tuple[Row, ...]:
    return _between(rows, 0.0, max(end for _, end in _spans(outcomes)))


def _spans(outcomes: Sequence[StepOutcome]) -> list[tuple[float, float]]:
    begin = min(outcome.started_at for outcome in outcomes)
    starts = [(outcome.started_at - begin).total_seconds() for outcome in outcomes]
    return [(start, start + done.wall_seconds) for start, done in zip(starts, outcomes, strict=True)]


def _between(rows: Iterable[Row], begin: float, end: float) -> tuple[Row, ...]:
    whole: list[Row] = []
    for seconds, same in groupby(rows, key=lambda row: row["step_seconds"]):
        gap = list(same)  # seconds that the sampler missed share one row's means
        if seconds - len(gap) >= begin - _SLACK_SECONDS and seconds <= end + _SLACK_SECONDS:
            whole += gap
    return tuple(whole)
