"""ior: parallel tasks that write and read one shared file, or a file each."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from pydantic import ConfigDict, Field, model_validator

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Before,
    Counters,
    Group,
    Labels,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    Sample,
    Step,
    StepOutcome,
)
from iotide_agent.workloads.bounds import TASK_BYTES, AtWork, MemoryNeed, product
from iotide_agent.workloads.ior_report import (
    AccessResult,
    Interface,
    IorReport,
    Operation,
    api_of,
    is_collective,
    read_report,
)
from iotide_agent.workloads.metrics import DURATION, IOPS, START_SKEW, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.mpi import PROGRAM_PER_NODE, MpiWorkload, tasks_of
from iotide_agent.workloads.option_types import Bytes, WholeSeconds, choices
from iotide_agent.workloads.rank_report import read_ior_ranks
from iotide_agent.workloads.ranks import check_amount, check_layout, of_ranks
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import Part, side_by_side, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.measured import Answer
from iotide_wire.units import GIB, MIB, format_bytes

CLOCK_SECONDS: Final = 1e-4
"""ior prints times with four decimals."""

_IGNORED: Final = "for -l random; generic assumed"
_FLAGS: Final[dict[Operation, str]] = {"write": "-w", "read": "-r"}
_LABELS: Final = ("operation", "direct")
_DIRECT_UNIT_BYTES: Final = 512
_OFFSET_BYTES: Final = 8
_FINISHED: Final = re.compile(r'"Finished"|^Finished +: ', re.MULTILINE)


def _given(**values: bool | str) -> dict[str, Any]:
    return {"properties": {name: {"const": value} for name, value in values.items()}, "required": list(values)}


class IorOptions(Options):
    """Pattern of the tasks. Each segment of the data holds one block of each task."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"direct": {"const": True}}, "required": ["direct"]},
            "then": {"properties": {"transfer_size_bytes": {"multipleOf": _DIRECT_UNIT_BYTES}}},
            "not": {
                "anyOf": [
                    _given(random=True, reorder=True, file_per_process=False),
                    _given(direct=True, api="MPIIO"),
                    _given(direct=True, api="MPIIO-collective"),
                    _given(random=True, api="MPIIO-collective"),
                ]
            },
        }
    )

    tasks: int = Field(default=4, ge=1, le=4096, title="Tasks")
    """Number of parallel processes on each node."""
    operations: tuple[Operation, ...] = choices("write", "read", title="Operations", needs="write")
    """write creates the files; read reads them after the caches were dropped."""
    transfer_size_bytes: Bytes = Field(default=MIB, ge=8, le=GIB, multiple_of=8, title="Transfer size")
    """Bytes per call: a multiple of 8, or of 512 with O_DIRECT."""
    transfers_per_block: int = Field(default=256, ge=1, le=2**40, title="Transfers per block")
    """Length of a contiguous block in transfers: 256 of 1 MiB are a block of 256 MiB. If all files together are smaller
    than twice the node's memory, they may measure the cache unless O_DIRECT bypasses it.
    """
    segments: int = Field(default=1, ge=1, le=2**31 - 1, title="Segments")
    """How often the blocks of all tasks follow each other. Above 1, a shared file is written in stripes."""
    file_per_process: bool = Field(default=True, title="File per task")
    """One file per task; otherwise all tasks share one file."""
    fsync: bool = Field(default=True, title="Final flush")
    """Call fsync within the measured time. Buffered writes without it are rejected as not comparable."""
    direct: bool = Field(default=False, title="O_DIRECT")
    """Bypass the page cache."""
    reorder: bool = Field(default=False, title="Shifted reads")
    """Each task reads what a task of the next node wrote. On one node, IOR from 3.3 on reads each task's own data."""
    random: bool = Field(default=False, title="Random order")
    """Transfers in random instead of ascending order. Not with shifted reads in a shared file."""
    stonewall_seconds: WholeSeconds = Field(default=0, ge=0, le=86_400, title="Stonewall time")
    """After this time all tasks catch up with the fastest one and stop; as much is read. 0: write everything."""
    api: Interface = Field(default="POSIX", title="Interface")
    """MPIIO writes and reads through the MPI library, without O_DIRECT. MPIIO-collective: all tasks make each transfer
    together, in ascending order, so that the library can combine them.
    """

    program_per_node: bool = Field(default=False, title="Program per node")
    """With several nodes at once, each node starts a program of its own. Otherwise one program has tasks on all of
    them.
    """

    @property
    def block_bytes(self) -> int:
        return self.transfer_size_bytes * self.transfers_per_block

    @property
    def task_bytes(self) -> int:
        return self.block_bytes * self.segments

    def at_work(self) -> AtWork:
        """Return no process: `memory_needed` counts the tasks."""
        return AtWork(0)

    def memory_needed(self) -> MemoryNeed:
        own = product(self, "transfer_size_bytes", "tasks")
        needed_bytes = own.needed_bytes + self.tasks * TASK_BYTES
        if not self.random:
            return own._replace(needed_bytes=needed_bytes)
        offsets = self.transfers_per_block * self.segments
        because = f"{own.because}, in random order with transfers_per_block x segments = {offsets} offsets each"
        return MemoryNeed(needed_bytes + _OFFSET_BYTES * offsets * self.tasks, because)

    @model_validator(mode="after")
    def _pattern_is_possible(self) -> Self:
        if "write" not in self.operations or len(set(self.operations)) != len(self.operations):
            raise ValueError(f"operations = {list(self.operations)}: include write, and list each operation only once")
        if self.direct and self.transfer_size_bytes % _DIRECT_UNIT_BYTES:
            raise ValueError(
                f"transfer_size_bytes = {self.transfer_size_bytes}: with direct use a multiple of {_DIRECT_UNIT_BYTES}"
            )
        if self.random and self.reorder and not self.file_per_process:
            raise ValueError("random = true does not work with reorder in a shared file; set file_per_process")
        if self.direct and self.api != "POSIX":
            raise ValueError("direct = true: MPIIO has no O_DIRECT; use api = POSIX")
        if self.random and self.api == "MPIIO-collective":
            raise ValueError("random = true: tasks may make different numbers of calls; use api = MPIIO")
        return self


class IorWorkload(MpiWorkload[IorOptions]):
    name: ClassVar[str] = "ior"
    title: ClassVar[str] = "ior: parallel reads and writes"
    description: ClassVar[str] = (
        "Runs IOR, the usual benchmark of parallel file systems: several tasks write and read one shared file, or "
        "a file each."
    )
    revision: ClassVar[int] = 2
    tool: ClassVar[str | None] = "ior"
    package: ClassVar[str] = "ior with an MPI (or name both in [workloads.ior] of agent.toml)"
    version_pattern: ClassVar[str] = r"\bIOR-(\S+)"
    supported: ClassVar[tuple[Releases, ...]] = (Releases("IOR", "3.2", "4.1"),)
    printed_release: ClassVar[re.Pattern[str] | None] = re.compile(
        r'(?:"Version": "|^IOR-)([^\s":]{1,40})', re.MULTILINE
    )
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(
            *_LABELS,
            "writer",
            description="Of all tasks on one target; of the tasks of a node where it is the writer.",
            primary=True,
        ),
        IOPS.by(*_LABELS, title="Transfer rate", description="Transfers per second, without open and close."),
        DURATION.by(*_LABELS, "part", title="Duration of the slowest task"),
        *race_by(*_LABELS),
        START_SKEW.by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = (
        Option.of("transfer_size_bytes") * Option.of("transfers_per_block") * Option.of("segments") * Option.of("tasks")
    )
    bytes_moved: ClassVar[Expression] = bytes_needed * Option.of("operations")
    run_seconds: ClassVar[Expression] = Option.of("stonewall_seconds") * Option.of("operations")
    own_programs: ClassVar[Expression] = PROGRAM_PER_NODE
    options_type = IorOptions

    def tasks_per_node(self, options: IorOptions) -> int | None:
        return None if options.program_per_node else options.tasks

    def groups(self, options: IorOptions, place: Place) -> list[Group]:
        return [(self._step(operation, options, place),) for operation in _FLAGS if operation in options.operations]

    def read(self, options: IorOptions, place: Place, outcome: StepOutcome) -> Parsed:
        operation = _operation(outcome)
        report = read_report(outcome.step.name, _output(outcome), operation)
        moved_bytes = _checked_bytes(options, place, outcome, report)
        result = report.results[operation]
        labels = _labels(options, place, outcome)
        total = Sample("throughput", moved_bytes / result.total_seconds, labels, place.target_id)
        race = _race_of_ranks(place, outcome, report, total)
        samples = [
            total,
            Sample(
                "iops", moved_bytes / options.transfer_size_bytes / result.transfer_seconds, labels, place.target_id
            ),
            *(
                Sample("duration", seconds, labels | {"part": part}, place.target_id)
                for part, seconds in result.parts.items()
            ),
        ]
        return Parsed.of_all([Parsed(samples, _flags(options, place, outcome, result, moved_bytes)), race])

    def conclude(self, options: IorOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return Parsed.of_all(
            together(
                [_part(options, places[0], outcome) for outcome in access],
                _labels(options, places[0].seen_by(access[0]), access[0]),
            )
            for access in side_by_side(places, outcomes)
        )

    def is_whole(self, outcome: StepOutcome) -> bool:
        return _FINISHED.search(_output(outcome)) is not None

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        # Reads of the program itself and its launcher are not data.
        moved_bytes = counters.written_bytes if step.name == "write" else counters.read_bytes
        by_bytes = min(1.0, moved_bytes / step.bytes_moved) if step.bytes_moved else 0.0
        limit = step.argv[step.argv.index("-D") + 1] if "-D" in step.argv else None
        return max(by_bytes, min(1.0, counters.elapsed_seconds / int(limit))) if limit else by_bytes

    def _step(self, operation: Operation, options: IorOptions, place: Place) -> Step:
        tasks = tasks_of(options.tasks, place)
        ranks = (_ranks_file(operation, place),) if place.layout else ()
        return Step(
            name=operation,
            phase=f"{tasks} tasks {operation} {format_bytes(options.task_bytes * tasks)}",
            argv=(*self.command(options.tasks, place), *_arguments(operation, options, place)),
            target_id=place.target_id,
            bytes_moved=options.task_bytes * tasks,
            before=Before.DROP if operation == "read" else Before.SYNC,
            declared_files=tuple(
                place.directory / (f"ior.{task:08}" if options.file_per_process else "ior")
                for task in range(tasks if options.file_per_process else 1)
            ),
            output_files=(place.scratch / f"ior-{operation}.json", *ranks),
            is_even=True,
            direct_files=(place.directory,) if _is_direct(options, place) else (),
            end_mark='"Finished"',
            end_file=place.scratch / f"ior-{operation}.json",
        )


def _is_direct(options: IorOptions, place: Place) -> bool:
    return options.direct and place.direct_works


def _arguments(operation: Operation, options: IorOptions, place: Place) -> Iterator[str]:
    yield from ("-a", api_of(options.api), _FLAGS[operation], "-k", "-i", "1")
    yield from ("-t", str(options.transfer_size_bytes), "-b", str(options.block_bytes), "-s", str(options.segments))
    yield from ("-o", str(place.directory / "ior"))
    if operation == "write":
        # New data for each transfer. Releases before 4.0 do not know it, report that on stdout, and continue.
        yield from ("-l", "random")
    switches = {
        "-F": options.file_per_process,
        "-e": options.fsync,
        "-C": options.reorder,
        "-c": is_collective(options.api),
        "-z": options.random,
    }
    yield from (switch for switch, is_on in switches.items() if is_on)
    if _is_direct(options, place):
        # Known to all releases, unlike -B and --posix.odirect.
        yield from ("-O", "useO_DIRECT=1")
    if options.stonewall_seconds:
        if operation == "write":
            yield from ("-D", str(options.stonewall_seconds), "-O", "stoneWallingWearOut=1")
        # How far the writers came: ior's readers cannot find the end of the files otherwise.
        yield from ("-O", f"stoneWallingStatusFile={place.scratch / 'ior-stonewall'}")
    if place.layout:
        yield from ("-O", f"saveRankPerformanceDetailsCSV={_ranks_file(operation, place)}")
    # A separate file, because ior prints warnings to stdout, even within JSON.
    yield from ("-O", "summaryFormat=JSON", "-O", f"summaryFile={place.scratch / f'ior-{operation}.json'}")


def _ranks_file(operation: Operation, place: Place) -> Path:
    return place.scratch / f"ior-{operation}-ranks.csv"


def _operation(outcome: StepOutcome) -> Operation:
    return "write" if outcome.step.name == "write" else "read"


def _labels(options: IorOptions, place: Place, outcome: StepOutcome) -> Labels:
    return {"operation": _operation(outcome), "direct": _is_direct(options, place)}


def _part(options: IorOptions, place: Place, outcome: StepOutcome) -> Part:
    operation = _operation(outcome)
    report = read_report(outcome.step.name, _output(outcome), operation)
    return Part.at_end(
        outcome, _checked_bytes(options, place, outcome, report), report.results[operation].total_seconds
    )


def _output(outcome: StepOutcome) -> str:
    """Return the summary file, or the tables on stdout of a build that writes none."""
    return outcome.files.get(outcome.step.output_files[0].name, "") or outcome.stdout


def _checked_bytes(options: IorOptions, place: Place, outcome: StepOutcome, report: IorReport) -> int:
    tasks = tasks_of(options.tasks, place)
    total_bytes = options.task_bytes * tasks
    planned = {
        "tasks": tasks,
        "nodes": len(place.layout.nodes) if place.layout else 1,
        "api": api_of(options.api),
        "collective": is_collective(options.api),
        "transfer size": options.transfer_size_bytes,
        "block size": options.block_bytes,
        "segments": options.segments,
        "file per task": options.file_per_process,
        "fsync": options.fsync,
        "reordered": options.reorder,
        "random": options.random,
    }
    name, text = outcome.step.name, _output(outcome)[-500:]
    summary = report.summaries[_operation(outcome)]
    moved_bytes = summary.moved_mebibytes * MIB
    for what, found in report.ran(_operation(outcome)).items():
        if found != planned[what]:
            raise OutputRefusedError(name, f"{what} {planned[what]} was planned, ior reports {found}", text)
    if abs(moved_bytes - total_bytes) <= summary.counted_mebibytes * MIB:
        return total_bytes
    if options.stonewall_seconds and 0 < moved_bytes < total_bytes:
        return round(moved_bytes / options.transfer_size_bytes) * options.transfer_size_bytes
    raise OutputRefusedError(name, f"{total_bytes} bytes were planned, it moved about {round(moved_bytes)}", text)


def _race_of_ranks(place: Place, outcome: StepOutcome, report: IorReport, total: Sample) -> Parsed:
    if place.layout is None:
        return Parsed()
    name, operation = outcome.step.name, _operation(outcome)
    ran, summary = report.ran(operation), report.summaries[operation]
    check_layout(name, place.layout, int(ran["nodes"]), summary.tasks, outcome.stdout[-500:])
    if report.tasks_per_node not in {None, place.layout.tasks_per_node}:
        problem = f"{place.layout.tasks_per_node} tasks per node were planned, ior reports {report.tasks_per_node}"
        raise OutputRefusedError(name, problem, _output(outcome)[-500:])
    text = outcome.files.get(_ranks_file(operation, place).name, "")
    table = read_ior_ranks(name, text, operation, place.layout.tasks)
    check_amount(name, table, summary.moved_mebibytes * MIB, summary.counted_mebibytes * MIB, text[-500:])
    return of_ranks(table, place.layout, total, report.results[operation].total_seconds)


def _flags(
    options: IorOptions, place: Place, outcome: StepOutcome, result: AccessResult, moved_bytes: int
) -> list[Answer]:
    operation, direct = _operation(outcome), _is_direct(options, place)
    flags = quality.judge_direct(place, wanted=options.direct)
    flags += quality.judge_duration(operation, result.total_seconds, CLOCK_SECONDS)
    flags += quality.judge_clock(outcome, result.total_seconds)
    flags += quality.judge_cache_size(place, moved_bytes, direct=direct)
    if operation == "read":
        flags += quality.judge_cache_drop(place, outcome, direct=direct)
    else:
        flags += quality.judge_flush(operation, flushed=direct or options.fsync)
        if _IGNORED in outcome.stdout:
            flags += quality.judge_reducible("ior before 4.0 writes data that compresses to about 50 %")
    return [quality.about(flag, {"operation": operation}, place) for flag in flags]
