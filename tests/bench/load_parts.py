"""What the parts of a server take of the cores and of memory while `./dev bench load` goes on, and whether it grows.

Memory is what only a part itself can give back: anonymous pages (`Pss_Anon` of smaps_rollup). PostgreSQL's shared
buffers and files in the page cache are left out; the former fill up to what is set, and then stay.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from local_stack import LocalStack
from windows import cpu_seconds, family

PARTS: Final = ("api", "scheduler", "worker", "postgres", "redis")
CLIENT: Final = "this client"
OTHERS: Final = "others"
"""All else on the machine: what it took was missing, and figures beside it say little."""
WARM_UP_SHARE: Final = 0.2
"""Of the time: caches and pools fill, and nothing is judged."""
WINDOW_SHARE: Final = 0.1
"""As long are the two windows that are compared: the third minute of ten, and the last."""
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """What the parts had at a moment: bytes of memory, and seconds of a processor since they started."""

    at_seconds: float
    memory_bytes: Mapping[str, int]
    cpu_seconds: Mapping[str, float]


class Parts:
    """The processes of one server, and this one."""

    def __init__(self, stack: LocalStack) -> None:
        self._roots = {name: stack.part_pid(name) for name in PARTS}
        self._cpu = dict.fromkeys((*PARTS, CLIENT, OTHERS), 0.0)

    def look(self, at_seconds: float) -> Look:
        """How it is now."""
        families = {name: family(pid) for name, pid in self._roots.items()}
        families[CLIENT] = [os.getpid()]  # alone: the server is a child of it
        for name, pids in families.items():
            # A backend of PostgreSQL that ends takes its time with it.
            self._cpu[name] = max(self._cpu[name], cpu_seconds(pids))
        ours = sum(self._cpu[name] for name in families)
        self._cpu[OTHERS] = max(self._cpu[OTHERS], busy_seconds(Path("/proc/stat").read_text()) - ours)
        memory = {name: sum(map(anonymous_bytes, pids)) for name, pids in families.items()}
        return Look(at_seconds, memory, dict(self._cpu))


def busy_seconds(stat: str) -> float:
    """How long all processors together have worked since the machine started, or were taken away by its host."""
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, stat.split()[1:9])
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def anonymous_bytes(pid: int) -> int:
    """What a process has that no file and no other process holds; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss_Anon:")), 0)


def growth_mb(looks: Sequence[Look], name: str, whole_seconds: float) -> float:
    """How much more a part had in the last tenth of the time than in the third: between the medians of both.

    A leak grows between any two windows; a process that fills its caches and one that waits for its collector do not
    for long, and a median passes over a single answer that was large.
    """
    begin = _in_window(looks, name, WARM_UP_SHARE * whole_seconds, (WARM_UP_SHARE + WINDOW_SHARE) * whole_seconds)
    end = _in_window(looks, name, (1 - WINDOW_SHARE) * whole_seconds, whole_seconds)
    return (median(end) - median(begin)) / _MEGABYTE


def _in_window(looks: Sequence[Look], name: str, begin: float, end: float) -> list[int]:
    found = [look.memory_bytes[name] for look in looks if begin <= look.at_seconds <= end]
    if not found:
        raise ValueError(f"nobody looked between {begin:g} s and {end:g} s")
    return found


def cores_taken(looks: Sequence[Look], name: str) -> float:
    """Mean over all looks: 1 is one core all the time."""
    first, last = looks[0], looks[-1]
    return (last.cpu_seconds[name] - first.cpu_seconds[name]) / (last.at_seconds - first.at_seconds)
