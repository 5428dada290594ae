"""CPU and memory use of a server's parts during `./dev bench load`, and their growth.

Memory is what only the part itself can release: anonymous pages (`Pss_Anon` of smaps_rollup). PostgreSQL's shared
buffers and files in the page cache are excluded; shared buffers fill up to their configured size and then stay.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from local_stack import LocalStack
from rich.table import Table
from windows import family

PARTS: Final = ("api", "scheduler", "worker", "postgres", "redis")
CLIENT: Final = "this client"
ATTACKERS: Final = "attackers"
OTHERS: Final = "others"
"""Everything else on the machine: what it used was missing, and results of such a time mean little."""
WARM_UP_SHARE: Final = 0.2
"""Share of the time in which caches and pools fill; nothing is judged."""
WINDOW_SHARE: Final = 0.1
"""Length of the two windows that are compared: the third minute of ten, and the last."""
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """Sample of the parts at one moment: bytes of memory, and CPU seconds since they started."""

    at_seconds: float
    memory_bytes: Mapping[str, int]
    cpu_seconds: Mapping[str, float]


class Parts:
    """The processes of one server, this one, and the attackers'.

    Attributes:
        attackers_pid: None while nothing attacks.
    """

    def __init__(self, stack: LocalStack) -> None:
        self.attackers_pid: int | None = None
        self._roots = {name: stack.part_pid(name) for name in PARTS}

    def look(self, at_seconds: float) -> Look:
        """Take a sample."""
        families = {name: family(pid) for name, pid in self._roots.items()}
        families[CLIENT] = [os.getpid()]  # excluded: the server is a child of it
        families[ATTACKERS] = [] if self.attackers_pid is None else [self.attackers_pid]
        cpu = {name: sum(map(_worked_seconds, pids)) for name, pids in families.items()}
        for name, pid in self._roots.items():
            cpu[name] += ended_seconds(Path(f"/proc/{pid}/stat").read_text())
        cpu[OTHERS] = busy_seconds(Path("/proc/stat").read_text()) - sum(cpu.values())
        memory = {name: sum(map(anonymous_bytes, pids)) for name, pids in families.items()}
        return Look(at_seconds, memory, cpu)


def worked_seconds(stat: str) -> float:
    """Return the CPU seconds of a process, including threads that have ended."""
    return _ticks_to_seconds(stat, 11)


def ended_seconds(stat: str) -> float:
    """Return the CPU seconds of ended children of a process, such as PostgreSQL backends."""
    return _ticks_to_seconds(stat, 13)


def _worked_seconds(pid: int) -> float:
    try:
        return worked_seconds(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
        return 0.0


def _ticks_to_seconds(stat: str, place: int) -> float:
    """Return the sum of two fields, user and kernel time, from this position after the process name on."""
    user, system = stat.rpartition(")")[2].split()[place : place + 2]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def busy_seconds(stat: str) -> float:
    """Return the CPU seconds of the machine since boot, including those stolen by its host."""
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, stat.split()[1:9])
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def anonymous_bytes(pid: int) -> int:
    """Return the bytes that only this process holds, without files; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss_Anon:")), 0)


def growth_mb(looks: Sequence[Look], name: str, whole_seconds: float) -> float:
    """Return the growth of a part from the third tenth of the time to the last: the difference of both medians.

    A leak grows between any two windows. Filling caches and delayed garbage collection do not grow for long, and a
    median ignores a single large answer.
    """
    begin = _in_window(looks, name, WARM_UP_SHARE * whole_seconds, (WARM_UP_SHARE + WINDOW_SHARE) * whole_seconds)
    end = _in_window(looks, name, (1 - WINDOW_SHARE) * whole_seconds, whole_seconds)
    return (median(end) - median(begin)) / _MEGABYTE


def _in_window(looks: Sequence[Look], name: str, begin: float, end: float) -> list[int]:
    found = [look.memory_bytes[name] for look in looks if begin <= look.at_seconds <= end]
    if not found:
        raise ValueError(f"no sample between {begin:g} s and {end:g} s")
    return found


def cores_taken(looks: Sequence[Look], name: str) -> float:
    """Return the mean over all samples: 1 is one core all the time."""
    first, last = looks[0], looks[-1]
    return (last.cpu_seconds[name] - first.cpu_seconds[name]) / (last.at_seconds - first.at_seconds)


def cores_of(looks: Sequence[Look]) -> str:
    """Return the CPU use of each part, in one line."""
    return " ".join(
        f"{name.replace(' ', '_')}={cores_taken(looks, name):.2f}" for name in (*PARTS, CLIENT, ATTACKERS, OTHERS)
    )


def parts_table(looks: Sequence[Look], growths: dict[str, float]) -> Table:
    """Return a row for each process, or group of them."""
    table = Table("part", title=f"Use of {os.cpu_count()} cores, and of memory")
    for heading in ("cores", "first MB", "last MB", "growth MB"):
        table.add_column(heading, justify="right")
    for name in (*PARTS, CLIENT):
        first, last = (look.memory_bytes[name] / 1e6 for look in (looks[0], looks[-1]))
        growth = f"{growths[name]:.1f}" if name in growths else ""
        table.add_row(name, f"{cores_taken(looks, name):.2f}", f"{first:.1f}", f"{last:.1f}", growth)
    table.add_row(OTHERS, f"{cores_taken(looks, OTHERS):.2f}")
    return table
