"""The memory of the node that a load may take, and what ends a load first where memory runs short."""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.files import closing

_CGROUPS: Final = Path("/sys/fs/cgroup")
_KIBIBYTE: Final = 1024
_DIES_FIRST: Final = b"1000"
"""The most that oom_score_adj takes."""


class Memory(NamedTuple):
    """Memory of the node, or of a cgroup that bounds this process to less; available counts caches."""

    total_bytes: int
    available_bytes: int


def read_memory(meminfo: Path = Path("/proc/meminfo"), cgroups: Path = _CGROUPS) -> Memory:
    """Read what this process and its children may take; raise OSError or KeyError without /proc."""
    lines = (line.split() for line in meminfo.read_text(encoding="ascii").splitlines())
    kibibytes = {name: int(value) for name, value, *_ in lines}
    found = Memory(kibibytes["MemTotal:"] * _KIBIBYTE, kibibytes["MemAvailable:"] * _KIBIBYTE)
    for limit_bytes, left_bytes in _cgroup_limits(cgroups):
        found = Memory(min(found.total_bytes, limit_bytes), min(found.available_bytes, left_bytes))
    return found


def bound_load(limit_bytes: int) -> None:
    """Bound this process and what it starts, 0 for no bound, and let the kernel kill these before anything else.

    RLIMIT_DATA bounds private memory alone. RLIMIT_AS would count the files that a tool maps, and memory.max of a
    cgroup the page cache, which is then measured.
    """
    with suppress(OSError):  # without /proc, or where a tracer forbids it
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        with closing(descriptor):
            os.write(descriptor, _DIES_FIRST)
    if limit_bytes:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))


def _cgroup_limits(cgroups: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and what is left of it for each cgroup of version 2 around this process that has one."""
    with suppress(OSError, ValueError):
        own = [line[3:].strip("/") for line in _lines(Path("/proc/self/cgroup")) if line.startswith("0::")]
        for directory in (it for path in own for it in (cgroups / path, *(cgroups / path).parents)):
            limit = directory / "memory.max"
            if directory.is_relative_to(cgroups) and limit.exists() and _lines(limit) != ["max"]:
                limit_bytes, used_bytes = (
                    int(_lines(directory / name)[0]) for name in ("memory.max", "memory.current")
                )
                stat = dict(line.split() for line in _lines(directory / "memory.stat"))
                # Pages of files that nobody used lately are given back before anything is killed.
                yield limit_bytes, max(0, limit_bytes - used_bytes + int(stat.get("inactive_file", 0)))


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="ascii").splitlines()
