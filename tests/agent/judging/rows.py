"""Generated phases: steps of given lengths and the rows that the sampler would have written meanwhile."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from iotide_agent.judging.phases import ParallelSteps
from iotide_agent.workloads.base import Before, Place, Step, StepOutcome
from iotide_wire.measured import Answer, Flag, SampleMessage, StepRole

START = datetime(2026, 11, 21, tzinfo=UTC)
MEGABYTE = 1_000_000.0
Counters = Mapping[str, float | Callable[[int], float]]
"""By name, a constant or a function of the second."""


def done(
    name: str = "write",
    *,
    seconds: float = 60.0,
    user: float = 0.0,
    system: float = 0.0,
    bytes_moved: int | None = None,
    role: StepRole = StepRole.CLIENT,
    is_even: bool = True,
    is_bulk: bool = False,
    threads: int | None = 1,
    before_done: Before = Before.SYNC,
) -> StepOutcome:
    """Return a successful step."""
    return StepOutcome(
        step=Step(
            name,
            name,
            ("dd",),
            1,
            role=role,
            bytes_moved=bytes_moved,
            is_even=is_even,
            is_bulk=is_bulk,
            threads=threads,
        ),
        stdout="",
        stderr="",
        truncated=False,
        files={},
        exit_status=0,
        signal=None,
        started_at=START,
        wall_seconds=seconds,
        user_seconds=user,
        system_seconds=system,
        max_rss_bytes=0,
        before_done=before_done,
    )


def row(second: int, counters: Counters, step: int = 0) -> dict[str, float]:
    """Return the row that ends this number of seconds after its step began."""
    values = {name: value(second) if callable(value) else value for name, value in counters.items()}
    return {"step": step, "step_seconds": float(second), **values}


def sample(operation: str, target_id: int | None = 1, **labels: str | int) -> SampleMessage:
    """Return a sample of that operation."""
    return SampleMessage(metric="throughput", value=1.0, labels={"operation": operation, **labels}, target_id=target_id)


def phase(outcome: StepOutcome, counters: Counters, seconds: int = 60) -> ParallelSteps:
    """Return a phase of one step with this number of whole seconds."""
    rows = tuple(row(second, counters) for second in range(1, seconds + 1))
    return ParallelSteps((outcome,), (sample("write"),), rows)


def place(fstype: str = "ext4", **facts: str | int) -> Place:
    """Return a working directory on a node of four CPUs."""
    everything: dict[str, str | int | float | bool | None] = {"cpu.count": 4, **facts}
    return Place(
        1, Path("/t/run"), Path("/s"), fstype, direct_works=True, total_bytes=0, free_bytes=0, facts=everything
    )


def flags_of(found: Iterable[Answer]) -> list[Flag]:
    """Return the flags among the answers of checks."""
    return [answer for answer in found if isinstance(answer, Flag)]
