"""Processes of one part that count together, in shared files of prometheus_client."""

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
"""Name given by prometheus_client; `kit/meters.py` makes a forked process count there."""
_BEGAN: Final = "process_start_time_seconds"


@contextmanager
def counting_together() -> Iterator[None]:
    with TemporaryDirectory(prefix="iotide-counts-") as directory:
        os.environ[_DIRECTORY] = directory
        try:
            yield
        finally:
            del os.environ[_DIRECTORY]


def are_counted_together() -> bool:
    return _DIRECTORY in os.environ


def shared_directory() -> Path | None:
    return Path(os.environ[_DIRECTORY]) if are_counted_together() else None


def counted_by_all() -> Iterator[Metric]:
    """Yield the counters of all processes since the first began, and the resource use of the living ones."""
    directory = Path(os.environ[_DIRECTORY])
    living = []
    for pid in {int(path.stem.rpartition("_")[2]) for path in directory.glob("*.db")}:
        if _is_alive(pid):
            living.append(pid)
        else:
            # Keeps its counters; its open connections are gone.
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
    found: defaultdict[str, list[Metric]] = defaultdict(list)
    for pid in pids:
        for family in ProcessCollector(pid=partial(int, pid), registry=None).collect():
            found[family.name].append(family)
    for first, *others in found.values():
        values = [sample.value for family in (first, *others) for sample in family.samples]
        metric = Metric(first.name, first.documentation, first.type)
        metric.add_sample(first.samples[0].name, {}, min(values) if first.name == _BEGAN else sum(values))
        yield metric
