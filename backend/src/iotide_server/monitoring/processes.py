"""Processes of one part that count together, by prometheus_client: in files, which each of them reads."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from prometheus_client import PLATFORM_COLLECTOR, CollectorRegistry, Metric, ProcessCollector
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

_DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client's own name; `kit/meters.py` has a forked process count there."""
_BEGAN: Final = "process_start_time_seconds"


@contextmanager
def counting_together() -> Iterator[None]:
    """Have the processes that are started in the block count together."""
    with TemporaryDirectory(prefix="iotide-counts-") as directory:
        os.environ[_DIRECTORY] = directory
        try:
            yield
        finally:
            del os.environ[_DIRECTORY]


def are_counted_together() -> bool:
    """Whether this process is one of several."""
    return _DIRECTORY in os.environ


def shared_directory() -> Path | None:
    """Return the directory that the processes of this part share; None: there is one process."""
    return Path(os.environ[_DIRECTORY]) if are_counted_together() else None


def told_by_all() -> Iterator[Metric]:
    """What all processes counted since the first of them began, and what those that live take of the machine."""
    directory = Path(os.environ[_DIRECTORY])
    living = []
    for pid in {int(path.stem.rpartition("_")[2]) for path in directory.glob("*.db")}:
        if _is_alive(pid):
            living.append(pid)
        else:
            # What it counted stays; what it held open is gone with it.
            mark_process_dead(pid, str(directory))  # type: ignore[no-untyped-call] # of the library
    counted = MultiProcessCollector(CollectorRegistry(), str(directory))  # type: ignore[no-untyped-call] # of the library
    yield from counted.collect()  # type: ignore[no-untyped-call] # of the library
    yield from PLATFORM_COLLECTOR.collect()
    yield from _taken_by(living)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _taken_by(pids: Sequence[int]) -> Iterator[Metric]:
    """`process_...` as of one process: sums, and when the first of them began."""
    found: defaultdict[str, list[Metric]] = defaultdict(list)
    for pid in pids:
        for family in ProcessCollector(pid=partial(int, pid), registry=None).collect():
            found[family.name].append(family)
    for first, *others in found.values():
        values = [sample.value for family in (first, *others) for sample in family.samples]
        told = Metric(first.name, first.documentation, first.type)
        told.add_sample(first.samples[0].name, {}, min(values) if first.name == _BEGAN else sum(values))
        yield told
