"""Whether a node is quiet: its idle sample and who is on it against limits, and what becomes of a run by its policy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from iotide_agent.config import QuietLimits
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import Outcome
from iotide_wire.plan import QuietPolicy
from iotide_wire.units import format_rate

SAMPLE_SECONDS: Final = 5.0
"""How long a sample must be: long enough that what a node does every second counts by its mean, short enough that a
load which ended is soon forgotten."""
PATIENCE_SECONDS: Final = 60.0
"""How long a run is held back for a sample that cannot begin, since this agent itself still works on the node."""
NODE_BUSY: Final = "node_busy"
"""The reason code of runs that were turned away."""
_MAX_TEXT: Final = 4000
_MAX_JOBS_NAMED: Final = 5
_REMEDY: Final = (
    "find what runs there (top, iotop, squeue) and end it, choose `quiet: flag` or `wait`, or change the limits in "
    "[quiet] of the node's agent.toml"
)


@dataclass(frozen=True, slots=True)
class Idle:
    """What a node did while nothing of ours loaded it; None is what it does not tell.

    Attributes: as those of `ForeignBefore`.
    """

    seconds: float
    processors: int
    running_tasks: float | None = None
    load1: float | None = None
    cpu_ratio: float | None = None
    psi_cpu_ratio: float | None = None
    psi_io_ratio: float | None = None
    disk_bytes_per_second: float | None = None
    network_bytes_per_second: float | None = None

    @property
    def is_complete(self) -> bool:
        """Whether it is long enough to be judged."""
        return self.seconds >= SAMPLE_SECONDS


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Who else is on the node; None where nobody could tell.

    Attributes:
        jobs: their numbers in the batch system.
    """

    sessions: int | None
    jobs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Wait:
    """The run is held back; why, in words for whoever looks on."""

    words: str


@dataclass(frozen=True, slots=True)
class TurnAway:
    """The run does not start."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Start:
    """The run may start."""


Decision = Start | Wait | TurnAway


def excess_of(idle: Idle | None, neighbours: Neighbours | None, limits: QuietLimits) -> str:
    """What is above the limits, in words; empty where nothing is. A sample that is too short is not judged."""
    found: list[str] = []
    if idle is not None and idle.is_complete:
        found += _busy(idle, limits)
        found += _moving(idle, limits)
    if neighbours is not None:
        found += _others(neighbours, limits)
    return "; ".join(found)[:_MAX_TEXT]


def _busy(idle: Idle, limits: QuietLimits) -> Iterator[str]:
    tasks = None if idle.running_tasks is None else idle.running_tasks / idle.processors
    if tasks is not None and tasks > limits.tasks_per_processor:
        yield f"load {tasks:.1f} of at most {limits.tasks_per_processor:g} per processor"
    shares = (
        (idle.cpu_ratio, limits.cpu_ratio, "processors busy"),
        (idle.psi_cpu_ratio, limits.psi_cpu_ratio, "tasks waited for a processor"),
        (idle.psi_io_ratio, limits.psi_io_ratio, "tasks waited for storage"),
    )
    for share, limit, what in shares:
        if share is not None and share > limit:
            yield f"{what} {share:.0%} of at most {limit:.0%} of the time"


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
        yield f"{sessions} sessions of people of at most {limits.sessions}"
    if len(jobs) > limits.jobs:
        more = " and more" if len(jobs) > _MAX_JOBS_NAMED else ""
        yield f"batch jobs {', '.join(jobs[:_MAX_JOBS_NAMED])}{more}: {len(jobs)} of at most {limits.jobs}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known when a run is to start.

    Attributes:
        idle: None while this agent itself works on the node.
        is_asked: whether it is known who else is on the node.
        excess: from `excess_of`.
        waited_seconds: since the run came.
    """

    idle: Idle | None
    is_asked: bool
    excess: str
    waited_seconds: float


def decide(policy: QuietPolicy, wait_seconds: float, seen: Seen) -> Decision:
    """What becomes of a run. Who only flags or ignores never waits: nothing of theirs depends on the sample.

    Args:
        wait_seconds: how long a run of the policy `wait` is held back at most.
    """
    if policy in {QuietPolicy.IGNORE, QuietPolicy.FLAG}:
        return Start()
    if seen.idle is None or not seen.idle.is_complete or not seen.is_asked:
        return _without_sample(seen)
    if not seen.excess:
        return Start()
    waited = f"{seen.waited_seconds:.0f} s of {wait_seconds:.0f} s"
    if policy is QuietPolicy.WAIT and seen.waited_seconds < wait_seconds:
        return Wait(f"waiting for a quiet node: {seen.excess}; {waited}"[:_MAX_TEXT])
    how_long = f" after {waited}" if policy is QuietPolicy.WAIT else ""
    reason = f"the node is not quiet{how_long}: {seen.excess}; {_REMEDY}"[:_MAX_TEXT]
    # Declined, the run gives its nodes to others and is tried again; who refuses wants to know now.
    return TurnAway(Outcome.DECLINED if policy is QuietPolicy.WAIT else Outcome.FAILED, reason)


def _without_sample(seen: Seen) -> Decision:
    if seen.waited_seconds < PATIENCE_SECONDS:
        sampled = seen.idle.seconds if seen.idle else 0.0
        return Wait(f"sampling how quiet the node is: {sampled:.0f} s of {SAMPLE_SECONDS:.0f} s")
    reason = (
        f"nobody could say within {PATIENCE_SECONDS:.0f} s how quiet the node is, since its agent works there itself "
        "or its batch system does not answer; see the agent's log"
    )
    return TurnAway(Outcome.DECLINED, reason)


def judge_before(before: ForeignBefore | None, policy: QuietPolicy) -> list[Flag]:
    """Marks a run that was started on a node that was not quiet, unless its campaign ignores that."""
    if before is None or not before.excess or policy is QuietPolicy.IGNORE:
        return []
    measured = f"just before the run: {before.excess}"[:_MAX_TEXT]
    return [Flag(code=FlagCode.FOREIGN_LOAD, effect=FlagEffect.MARKED, measured=measured, limit="a quiet node")]
