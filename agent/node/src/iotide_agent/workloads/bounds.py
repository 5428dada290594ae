"""What a node judges of a workload before it starts it: the memory that options ask for, and paths of agent.toml."""

from math import prod
from typing import Any, Final, NamedTuple

from iotide_agent.runner.memory import Memory
from iotide_wire.units import MIB, format_bytes, format_percent

TASK_BYTES: Final = 16 * MIB
"""What each task of an MPI program takes besides its buffers, at least."""
PROCESS_BYTES: Final = 4 * MIB
"""Counts for each process of another tool besides its buffers, at least."""

MEMORY_RATIO: Final = 0.8
"""Bounds the share that a load may take; the rest is for the system, the agent and what else runs on the node."""


_WORTH_NAMING: Final = 10
"""A refusal names the processes where they take a tenth at least."""


class MemoryNeed(NamedTuple):
    """A need of memory, because of the options that decide it, with their values."""

    needed_bytes: int
    because: str

    def times(self, count: int, what: str) -> "MemoryNeed":
        return self if count == 1 else MemoryNeed(self.needed_bytes * count, f"{self.because} x {count} {what}")


def product(options: object, *names: str) -> MemoryNeed:
    """Return the need that is the product of these options, of which one is a size."""
    values = {name: getattr(options, name) for name in names}
    return MemoryNeed(prod(values.values()), " x ".join(_shown(name, value) for name, value in values.items()))


def _shown(name: str, value: Any) -> str:  # noqa: ANN401 - an option of any type
    return f"{name} {format_bytes(value) if name.endswith('_bytes') else value}"


class AtWork(NamedTuple):
    """The processes that load one target at once, and what each takes besides its buffers, at least."""

    processes: int = 1
    process_bytes: int = PROCESS_BYTES


class MemoryRefusal(NamedTuple):
    """States why a run is not started; `is_final`: the node can never give that much."""

    code: str
    reason: str
    is_final: bool


def why_too_large(need: MemoryNeed, memory: Memory) -> MemoryRefusal | None:
    """Return why a need is more than a load may take of a node's memory, or None where it is not."""
    asked = f"{need.because} needs {format_bytes(need.needed_bytes)} of memory"
    most_bytes, now_bytes = (int(MEMORY_RATIO * of_node) for of_node in memory)
    if need.needed_bytes > most_bytes:
        bound = f"a load may take {format_bytes(most_bytes)} here, {format_percent(MEMORY_RATIO)} of the node's"
        return MemoryRefusal("memory_too_small", f"{asked}; {bound}; choose smaller values", is_final=True)
    if need.needed_bytes > now_bytes:
        bound = f"a load may take {format_bytes(now_bytes)} here now, {format_percent(MEMORY_RATIO)} of what is free"
        reason = f"{asked}; {bound}; end what uses the rest, or choose smaller values"
        return MemoryRefusal("memory_short", reason, is_final=False)
    return None


class BoundedOptions:
    """Part of the base of all options."""

    def memory_needed(self) -> MemoryNeed:
        """Return what the buffers take of the node's memory for one target; 0 where no option decides it.

        A run that asks for more than the node can give is not started.
        """
        return MemoryNeed(0, "")

    def memory_needed_for(self, target_count: int) -> MemoryNeed:
        """Return the same for a run that loads several targets at once, with the processes that do so."""
        own, at_work = self.memory_needed(), self.at_work()
        of_processes = at_work.processes * at_work.process_bytes
        because = own.because
        if of_processes * _WORTH_NAMING > own.needed_bytes:
            said = f"{at_work.processes} processes of {format_bytes(at_work.process_bytes)}"
            because = f"{because} and {said}" if because else said
        return MemoryNeed(own.needed_bytes + of_processes, because).times(target_count, "targets")

    def at_work(self) -> AtWork:
        """Return the processes that load one target at once; without those that `memory_needed` counts."""
        return AtWork()


class BoundedSettings:
    """Part of the base of all settings."""

    def outside_paths(self) -> tuple[str, ...]:
        """Return the absolute paths of agent.toml that commands start or read besides what lies on a target.

        Where others could exchange one of them the workload is not available.
        """
        return ()

    def outside_programs(self) -> tuple[str, ...]:
        """Return the outside paths that commands start.

        Where the user who runs the loads may not execute one of them the workload is not available.
        """
        return ()
