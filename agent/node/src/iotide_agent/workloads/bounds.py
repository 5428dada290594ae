"""Checks of a node before it starts a workload: memory that options need, and paths of agent.toml."""

from math import prod
from typing import Any, Final, NamedTuple

from iotide_agent.runner.memory import Memory
from iotide_wire.units import MIB, format_bytes, format_percent

TASK_BYTES: Final = 16 * MIB
"""Minimum memory of an MPI task, without buffers."""
PROCESS_BYTES: Final = 4 * MIB
"""Minimum memory of another tool's process, without buffers."""

MEMORY_RATIO: Final = 0.8
"""Share of memory that a load may use. The system, the agent and other programs need the rest."""


_WORTH_NAMING: Final = 10
"""A refusal names the processes if they need more than a tenth of the buffers' memory."""


class MemoryNeed(NamedTuple):
    needed_bytes: int
    because: str

    def times(self, count: int, what: str) -> "MemoryNeed":
        return self if count == 1 else MemoryNeed(self.needed_bytes * count, f"{self.because} x {count} {what}")


def product(options: object, *names: str) -> MemoryNeed:
    values = {name: getattr(options, name) for name in names}
    return MemoryNeed(prod(values.values()), " x ".join(_shown(name, value) for name, value in values.items()))


def _shown(name: str, value: Any) -> str:  # noqa: ANN401 - an option of any type
    return f"{name} {format_bytes(value) if name.endswith('_bytes') else value}"


class AtWork(NamedTuple):
    processes: int = 1
    process_bytes: int = PROCESS_BYTES


class MemoryRefusal(NamedTuple):
    code: str
    reason: str
    is_final: bool


def why_too_large(need: MemoryNeed, memory: Memory) -> MemoryRefusal | None:
    asked = f"{need.because} needs {format_bytes(need.needed_bytes)} of memory"
    most_bytes, now_bytes = (int(MEMORY_RATIO * of_node) for of_node in memory)
    if need.needed_bytes > most_bytes:
        bound = f"a load may use {format_bytes(most_bytes)} on this node, {format_percent(MEMORY_RATIO)} of its memory"
        return MemoryRefusal("memory_too_small", f"{asked}; {bound}; choose smaller values", is_final=True)
    if need.needed_bytes > now_bytes:
        bound = f"a load may use {format_bytes(now_bytes)} now, {format_percent(MEMORY_RATIO)} of the free memory"
        reason = f"{asked}; {bound}; free memory, or choose smaller values"
        return MemoryRefusal("memory_short", reason, is_final=False)
    return None


class BoundedOptions:
    def memory_needed(self) -> MemoryNeed:
        """Return the memory of the buffers for one target; 0 if no option decides it."""
        return MemoryNeed(0, "")

    def memory_needed_for(self, target_count: int) -> MemoryNeed:
        own, at_work = self.memory_needed(), self.at_work()
        of_processes = at_work.processes * at_work.process_bytes
        because = own.because
        if of_processes * _WORTH_NAMING > own.needed_bytes:
            said = f"{at_work.processes} processes of {format_bytes(at_work.process_bytes)}"
            because = f"{because} and {said}" if because else said
        return MemoryNeed(own.needed_bytes + of_processes, because).times(target_count, "targets")

    def at_work(self) -> AtWork:
        """Exclude processes that `memory_needed` counts."""
        return AtWork()


class BoundedSettings:
    def outside_paths(self) -> tuple[str, ...]:
        """Return absolute paths outside the target that commands start or read. Others must not replace them."""
        return ()

    def outside_programs(self) -> tuple[str, ...]:
        """Return the outside paths that commands start. The loads' user must be able to execute them."""
        return ()
