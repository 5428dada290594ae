"""Memory available to a load, and the order in which the kernel kills processes when memory runs out."""

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


class Memory(NamedTuple):
    """Memory of the node, or of a cgroup with a lower limit; `available` includes caches."""

    total_bytes: int
    available_bytes: int


def read_memory(meminfo: Path = Path("/proc/meminfo"), cgroups: Path = _CGROUPS) -> Memory:
    """Return the memory of this process and its children; raise OSError or KeyError without /proc."""
    lines = (line.split() for line in meminfo.read_text(encoding="ascii").splitlines())
    kibibytes = {name: int(value) for name, value, *_ in lines}
    found = Memory(kibibytes["MemTotal:"] * _KIBIBYTE, kibibytes["MemAvailable:"] * _KIBIBYTE)
    for limit_bytes, left_bytes in _cgroup_limits(cgroups):
        found = Memory(min(found.total_bytes, limit_bytes), min(found.available_bytes, left_bytes))
    return found


def bound_load(limit_bytes: int) -> None:
    """Limit the memory of this process and its children (0: no limit) and make them the kernel's first OOM victims.

    RLIMIT_DATA limits private memory only. RLIMIT_AS would count mapped files, and a cgroup's memory.max the page
    cache, which is measured.
    """
    with suppress(OSError):  # without /proc, or if a tracer forbids it
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        with closing(descriptor):
            os.write(descriptor, _DIES_FIRST)
    if limit_bytes:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))


def _cgroup_limits(cgroups: Path) -> Iterator[tuple[int, int]]:
    with suppress(OSError, ValueError):
        own = [line[3:].strip("/") for line in _lines(Path("/proc/self/cgroup")) if line.startswith("0::")]
        for directory in (it for path in own for it in (cgroups / path, *(cgroups / path).parents)):
            limit = directory / "memory.max"
            if directory.is_relative_to(cgroups) and limit.exists() and _lines(limit) != ["max"]:
                limit_bytes, used_bytes = (
                    int(_lines(directory / name)[0]) for name in ("memory.max", "memory.current")
                )
                stat = dict(line.split() for line in _lines(directory / "memory.stat"))
                # The kernel frees unused files' pages before it kills.
                yield limit_bytes, max(0, limit_bytes - used_bytes + int(stat.get("inactive_file", 0)))


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="ascii").splitlines()
