"""Commands that an agent would have run, with durations."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from iotide_server.demo_history.sites import Figure, SampleLoad
from iotide_wire.units import MIB, format_bytes

PYTHON: Final = "/opt/iotide-agent/bin/python"
LOADS: Final = "/opt/iotide-agent/lib/python3.11/site-packages/iotide_agent/loads"
"""As in deploy/README.md."""
_DD_BLOCK_BYTES: Final = 16 * MIB
_LAYOUT_BYTES_PER_SECOND: Final = 450e6  # not a result
_VERBS: Final = {"create": "creating", "stat": "looking up", "delete": "removing"}
_BEFORE: Final = {"read": "drop", "stat": "drop"}
_MDTEST_FLAGS: Final = {"create": "-C", "stat": "-T", "delete": "-r"}


@dataclass(frozen=True, slots=True)
class Directories:
    run: str
    scratch: str


@dataclass(frozen=True, slots=True)
class Phase:
    operation: str
    seconds: float
    # None without data
    bytes_per_second: float | None


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    title: str
    argv: tuple[str, ...]
    before: str  # done just before it
    phases: tuple[Phase, ...]

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)


def commands_of(load: SampleLoad, directories: Directories, values: Sequence[float]) -> tuple[Command, ...]:
    phases = [_phase(load, figure, value) for figure, value in zip(load.figures, values, strict=True)]
    return tuple(_MAKERS[load.workload](load.options, directories, phases))


def work_of(load: SampleLoad, figure: Figure) -> float | None:
    """Return the bytes or files behind a rate; None for fio."""
    options = load.options
    if load.workload == "create":
        return float(options.get("file_count", 10_000))
    if load.workload == "mdtest":
        return float(options.get("tasks", 4) * options.get("item_count", 10_000))
    return None if load.workload == "fio" else float(figure.labels["file_size_bytes"])


def _phase(load: SampleLoad, figure: Figure, value: float) -> Phase:
    operation, work = str(figure.labels["operation"]), work_of(load, figure)
    rate = value if figure.metric == "throughput" else None
    return Phase(operation, 0.0 if work is None else work / value, rate)


def _dd(options: Mapping[str, Any], directories: Directories, phases: Sequence[Phase]) -> Iterator[Command]:
    size, file = options["file_size_bytes"], f"{directories.run}/dd.data"
    source: tuple[str, ...] = ("dd", "if=/dev/zero")
    flags = "iflag=count_bytes"
    if options.get("data") == "random":
        source, flags = (PYTHON, "-I", "-S", f"{LOADS}/random_source.py", "dd"), "iflag=count_bytes,fullblock"
    block = f"bs={_DD_BLOCK_BYTES}"
    argv = {
        "write": (*source, f"of={file}", block, f"count={size}", flags, "conv=fsync"),
        "read": ("dd", f"if={file}", "of=/dev/null", block),
    }
    for phase in phases:
        name = phase.operation
        verb = "reading" if name == "read" else "writing"
        yield Command(name, f"{verb} {format_bytes(size)}", argv[name], _BEFORE.get(name, "sync"), (phase,))


def _create(options: Mapping[str, Any], directories: Directories, phases: Sequence[Phase]) -> Iterator[Command]:
    count = options.get("file_count", 10_000)
    for phase in phases:
        name = phase.operation
        load = (PYTHON, "-I", "-S", f"{LOADS}/create_files.py", name)
        where = (f"{directories.scratch}/{name}.meeting", "1", f"{directories.run}/files-1", "p1-", "1", str(count))
        title = f"{_VERBS[name]} {count:,} files"
        yield Command(name, title, (*load, *where), _BEFORE.get(name, "sync"), (phase,))


def _mdtest(options: Mapping[str, Any], directories: Directories, phases: Sequence[Phase]) -> Iterator[Command]:
    tasks, count = options.get("tasks", 4), options.get("item_count", 10_000)
    for phase in phases:
        name = phase.operation
        items = (_MDTEST_FLAGS[name], "-F", "-n", str(count), "-d", directories.run, "-u")
        title = f"{tasks} tasks {_VERBS[name]} {count:,} items each"
        yield Command(name, title, ("mpirun", "-n", str(tasks), "mdtest", *items), _BEFORE.get(name, "sync"), (phase,))


def _iozone(options: Mapping[str, Any], directories: Directories, phases: Sequence[Phase]) -> Iterator[Command]:
    size, records = options["file_size_bytes"], (options["min_record_size_bytes"], options["max_record_size_bytes"])
    smallest = max(options["min_file_size_bytes"], records[0]) if options.get("mode") == "auto" else size
    sizes = zip(("-n", "-g", "-y", "-q"), (smallest, size, *records), strict=True)
    ranges = (word for name, number in sizes for word in (name, str(number // 1024)))
    argv = ("iozone", "-a", *ranges, "-i", "0", "-i", "1", "-e", "-c", "-f", f"{directories.run}/iozone-1.data")
    yield Command("iozone", f"iozone up to {format_bytes(size)}", argv, "drop", tuple(phases))


def _fio(options: Mapping[str, Any], directories: Directories, phases: Sequence[Phase]) -> Iterator[Command]:
    size, pattern = options["file_size_bytes"], options["rw"]
    common = (f"--directory={directories.run}", "--thread", "--fallocate=none", "--output-format=json+", "--eta=never")
    job = ("fio", "--name=iotide", *common, f"--size={size}", "--numjobs=1")
    layout = ("--rw=write", "--ioengine=psync", "--direct=0", "--end_fsync=1", "--bs=1048576")
    written = Phase("write", size / _LAYOUT_BYTES_PER_SECOND, _LAYOUT_BYTES_PER_SECOND)
    report = f"--output={directories.scratch}/fio-layout.json"
    yield Command("layout", f"laying out {format_bytes(size)}", (*job, *layout, report), "sync", (written,))
    moved = [phase for phase in phases if phase.bytes_per_second]
    seconds = float(options["runtime_seconds"])
    measured = tuple(Phase(phase.operation, seconds, phase.bytes_per_second) for phase in moved[:1])
    argv = (*job, *_fio_arguments(options, directories), f"--output={directories.scratch}/fio-measure.json")
    before = "sync" if pattern.endswith("write") else "drop"
    yield Command("measure", f"{pattern} {format_bytes(size)}", argv, before, measured)


def _fio_arguments(options: Mapping[str, Any], directories: Directories) -> Iterator[str]:
    yield f"--rw={options['rw']}"
    yield f"--bs={options['block_size_bytes']}"
    yield f"--ioengine={options.get('io_engine', 'psync')}"
    yield f"--iodepth={options.get('io_depth', 1)}"
    yield from ("--direct=1", "--end_fsync=1")
    yield f"--write_bw_log={directories.scratch}/fio-measure"
    yield from ("--log_avg_msec=1000", "--log_unix_epoch=1", "--per_job_logs=0")
    if not options["rw"].endswith("read") and options["block_size_bytes"] < MIB:
        yield "--refill_buffers=1"
    if options["rw"].endswith("rw"):
        yield "--rwmixread=50"
    yield from ("--time_based=1", f"--runtime={round(options['runtime_seconds'] * 1000)}ms")


_Maker = Callable[[Mapping[str, Any], Directories, Sequence[Phase]], Iterator[Command]]
_MAKERS: Final[Mapping[str, _Maker]] = {
    "dd": _dd,
    "create": _create,
    "fio": _fio,
    "iozone": _iozone,
    "mdtest": _mdtest,
}
