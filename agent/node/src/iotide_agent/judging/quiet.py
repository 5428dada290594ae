"""Idle check: compares a node's idle sample, sessions and jobs with limits, and decides on a run by its policy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from iotide_agent.judging.phases import ENOUGH_ROWS
from iotide_agent.node.config import QuietLimits
from iotide_agent.workloads.quality import MOST_TEXT, marked
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import Answer, Check, Flag, FlagCode, NotJudged
from iotide_wire.messages import Outcome
from iotide_wire.plan import QuietPolicy
from iotide_wire.units import format_number, format_percent, format_rate, format_seconds

SAMPLE_SECONDS: Final = 5.0
"""Long enough to average what a node does every second, short enough to forget a load that has ended."""
RECENT_SECONDS: Final = 60.0
"""Maximum age of a sampled second with policy `flag`. Idle seconds between short runs are collected, so that few runs
wait five seconds for a new sample.
"""
FLAG_PATIENCE_SECONDS: Final = SAMPLE_SECONDS + 2.0
"""Longest wait of a run with policy `flag` for a sample: 5 s, and the agent's clock ticks."""
PATIENCE_SECONDS: Final = 60.0
"""Delay of a run if no sample can begin, because this agent uses the node."""
NODE_BUSY: Final = "node_busy"
_SLACK_SECONDS: Final = 2.0
"""A sample is from just before the run if it is at most this much older than its own length."""
_MAX_JOBS_NAMED: Final = 5
_REMEDY: Final = (
    "find and stop what runs there (top, iotop, squeue), choose `quiet: flag` or `wait`, or change the limits in "
    "[quiet] of the node's agent.toml"
)


@dataclass(frozen=True, slots=True)
class Idle:
    """Idle sample, as in `ForeignBefore`. `within_seconds` None: sampled just now."""

    seconds: float
    processors: int
    running_tasks: float | None = None
    load1: float | None = None
    cpu_ratio: float | None = None
    psi_cpu_ratio: float | None = None
    psi_io_ratio: float | None = None
    disk_bytes_per_second: float | None = None
    network_bytes_per_second: float | None = None
    within_seconds: float | None = None

    @property
    def is_complete(self) -> bool:
        return self.seconds >= SAMPLE_SECONDS


def collected(parts: Sequence[Idle], within_seconds: float) -> Idle:
    """Return several samples, oldest first, as one. A value that one of them lacks is None."""
    total_seconds = sum(part.seconds for part in parts)

    def mean(name: str) -> float | None:
        values = [getattr(part, name) for part in parts]
        if None in values:
            return None
        return fmean(values, [part.seconds for part in parts])

    shares = ("running_tasks", "cpu_ratio", "psi_cpu_ratio", "psi_io_ratio")
    rates = ("disk_bytes_per_second", "network_bytes_per_second")
    means = {name: mean(name) for name in (*shares, *rates)}
    newest = parts[-1]
    return Idle(total_seconds, newest.processors, load1=newest.load1, within_seconds=within_seconds, **means)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """None if unknown."""

    sessions: int | None
    jobs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Wait:
    """The run is held back; `words` is the displayed reason."""

    words: str


@dataclass(frozen=True, slots=True)
class Reject:
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Start:
    """The run may start."""


Decision = Start | Wait | Reject


def excess_of(idle: Idle | None, neighbours: Neighbours | None, limits: QuietLimits) -> str:
    """Return what exceeds the limits. Short samples are not judged."""
    found: list[str] = []
    if idle is not None and idle.is_complete:
        found += _busy(idle, limits)
        found += _moving(idle, limits)
    if neighbours is not None:
        found += _others(neighbours, limits)
    return "; ".join(found)[:MOST_TEXT]


def _busy(idle: Idle, limits: QuietLimits) -> Iterator[str]:
    tasks = None if idle.running_tasks is None else idle.running_tasks / idle.processors
    if tasks is not None and tasks > limits.tasks_per_processor:
        yield f"load {format_number(tasks)} of at most {format_number(limits.tasks_per_processor)} per CPU"
    shares = (
        (idle.cpu_ratio, limits.cpu_ratio, "CPUs busy"),
        (idle.psi_cpu_ratio, limits.psi_cpu_ratio, "tasks waited for a CPU"),
        (idle.psi_io_ratio, limits.psi_io_ratio, "tasks waited for storage"),
    )
    for share, limit, what in shares:
        if share is not None and share > limit:
            yield f"{what} {format_percent(share)} of at most {format_percent(limit)} of the time"


def _moving(idle: Idle, limits: QuietLimits) -> Iterator[str]:
    rates = (
        (idle.disk_bytes_per_second, limits.disk_bytes_per_second, "disks"),
        (idle.network_bytes_per_second, limits.network_bytes_per_second, "network"),
    )
    for rate, limit, what in rates:
        if rate is not None and rate > limit:
            yield f"{what} {format_rate(rate)} of at most {format_rate(limit)}"


def _others(neighbours: Neighbours, limits: QuietLimits) -> Iterator[str]:
    sessions, jobs = neighbours.sessions, neighbours.jobs or ()
    if sessions is not None and limits.sessions is not None and sessions > limits.sessions:
        yield f"{sessions} user sessions of at most {limits.sessions}"
    if len(jobs) > limits.jobs:
        more = " and more" if len(jobs) > _MAX_JOBS_NAMED else ""
        yield f"batch jobs {', '.join(jobs[:_MAX_JOBS_NAMED])}{more}: {len(jobs)} of at most {limits.jobs}"


@dataclass(frozen=True, slots=True)
class Seen:
    """State of the node when a run waits; `idle` is None while this agent uses the node.

    `is_asked`: sessions and jobs are known. `is_shared`: another run may load the node for long, so that no sample
    comes.
    """

    idle: Idle | None
    is_asked: bool
    excess: str
    waited_seconds: float
    is_shared: bool = False

    @property
    def is_sampled(self) -> bool:
        return self.idle is not None and self.idle.is_complete and self.is_asked


def decide(policy: QuietPolicy, wait_seconds: float, seen: Seen) -> Decision:
    """Decide on a run: IGNORE never waits, FLAG waits briefly, others up to `wait_seconds`."""
    if policy is QuietPolicy.IGNORE:
        return Start()
    if policy is QuietPolicy.FLAG:
        is_over = seen.is_shared or seen.waited_seconds >= FLAG_PATIENCE_SECONDS
        return Start() if seen.is_sampled or is_over else _sampling(seen)
    if not seen.is_sampled:
        return _without_sample(seen)
    if not seen.excess:
        return Start()
    waited = f"{format_seconds(round(seen.waited_seconds))} of {format_seconds(wait_seconds)}"
    if policy is QuietPolicy.WAIT and seen.waited_seconds < wait_seconds:
        return Wait(f"waiting for an idle node: {seen.excess}; {waited}"[:MOST_TEXT])
    how_long = f" after {waited}" if policy is QuietPolicy.WAIT else ""
    reason = f"the node is not idle{how_long}: {seen.excess}; {_REMEDY}"[:MOST_TEXT]
    # A declined run frees its nodes and is tried again. REFUSE fails at once.
    return Reject(Outcome.DECLINED if policy is QuietPolicy.WAIT else Outcome.FAILED, reason)


def _without_sample(seen: Seen) -> Decision:
    if seen.waited_seconds < PATIENCE_SECONDS:
        return _sampling(seen)
    reason = (
        f"the load of the node is still unknown after {format_seconds(PATIENCE_SECONDS)}: its agent is busy there, or "
        "its batch system does not answer; see the agent's log"
    )
    return Reject(Outcome.DECLINED, reason)


def _sampling(seen: Seen) -> Wait:
    if seen.idle is not None and seen.idle.is_complete:
        return Wait("waiting for the batch system to list other jobs on the node")
    sampled = seen.idle.seconds if seen.idle else 0.0
    return Wait(f"sampling the idle node: {format_seconds(round(sampled))} of {format_seconds(SAMPLE_SECONDS)}")


def judge_before(before: ForeignBefore | None, policy: QuietPolicy) -> list[Answer]:
    """Mark a run that began on a busy node, and report what was not judged."""
    if policy is QuietPolicy.IGNORE:
        return []
    if before is not None and before.excess:
        within = before.within_seconds or 0.0
        is_old = within > before.seconds + _SLACK_SECONDS
        when = f"within {format_seconds(round(within))} before the run" if is_old else "just before the run"
        return [marked(FlagCode.FOREIGN_LOAD, f"{when}: {before.excess}", "an idle node")]
    return [*_unsampled(before), *_unasked(before)]


def is_measured(before: ForeignBefore | None) -> bool:
    return before is not None and before.seconds >= SAMPLE_SECONDS and before.cpu_ratio is not None


def _unsampled(before: ForeignBefore | None) -> Iterator[NotJudged]:
    if not is_measured(before):
        yield NotJudged(check=Check.LOAD_BEFORE, because=why_unmeasured(before))
        return
    names = {
        "running_tasks": "running tasks",
        "psi_cpu_ratio": "waits for CPU",
        "psi_io_ratio": "waits for storage",
        "disk_bytes_per_second": "disk traffic",
        "network_bytes_per_second": "network traffic",
    }
    missing = [words for name, words in names.items() if getattr(before, name) is None]
    if missing:
        because = f"the node does not report {', '.join(missing)}, or part of it was the previous run's own"
        yield NotJudged(check=Check.LOAD_BEFORE, because=because)


def why_unmeasured(before: ForeignBefore | None) -> str:
    seconds = 0.0 if before is None else before.seconds
    if seconds >= SAMPLE_SECONDS:
        return "the kernel does not report CPU time"
    return f"sample {format_seconds(seconds)} of {format_seconds(SAMPLE_SECONDS)}"


def _unasked(before: ForeignBefore | None) -> Iterator[NotJudged]:
    if before is None or (before.sessions is None and before.jobs is None):
        yield NotJudged(check=Check.NEIGHBOURS, because="neither `who` nor a batch system answered")


def judge_unmeasured(before: ForeignBefore | None, during: str, flags: Sequence[Flag]) -> list[Flag]:
    """Return LOAD_NOT_MEASURED if other load is unknown both before the run and `during` it.

    A sample just before a short run is enough.
    """
    if is_measured(before) or not during or any(flag.code is FlagCode.FOREIGN_LOAD for flag in flags):
        return []
    measured = f"before the run: {why_unmeasured(before)}; during the run: {during}"
    limit = f"{format_number(SAMPLE_SECONDS)} idle seconds before the run, or {ENOUGH_ROWS} whole seconds of a phase"
    return [marked(FlagCode.LOAD_NOT_MEASURED, measured, limit)]
