"""ior: several tasks that write and read one shared file or a file each, as parallel programs do."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Self

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
from iotide_agent.workloads.ior_report import AccessResult, IorReport, Operation, read_report
from iotide_agent.workloads.metrics import DURATION, IOPS, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.mpi import MpiWorkload
from iotide_agent.workloads.option_types import Bytes, WholeSeconds, choices
from iotide_agent.workloads.writers import Part, side_by_side, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.measured import Answer
from iotide_wire.units import GIB, MIB, format_bytes

CLOCK_SECONDS: Final = 1e-4
"""ior prints its times with four decimals."""

_FLAGS: Final[dict[Operation, str]] = {"write": "-w", "read": "-r"}
"""In the order in which they are done."""
_LABELS: Final = ("operation", "direct")
_DIRECT_UNIT_BYTES: Final = 512
_OFFSET_BYTES: Final = 8
_COUNTED_BYTES: Final = 1e-4 * MIB
"""The total is printed in MiB with four decimals."""


class IorOptions(Options):
    """The pattern of the tasks. Each segment of the data holds one block of each task."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"direct": {"const": True}}, "required": ["direct"]},
            "then": {"properties": {"transfer_size_bytes": {"multipleOf": _DIRECT_UNIT_BYTES}}},
            "not": {
                "properties": {
                    "random": {"const": True},
                    "reorder": {"const": True},
                    "file_per_process": {"const": False},
                },
                "required": ["random", "reorder", "file_per_process"],
            },
        }
    )

    tasks: int = Field(default=4, ge=1, le=4096, title="Tasks")
    """Processes side by side."""
    operations: tuple[Operation, ...] = choices("write", "read", title="Operations", needs="write")
    """write makes the files; read reads them after the caches were dropped."""
    transfer_size_bytes: Bytes = Field(default=MIB, ge=8, le=GIB, multiple_of=8, title="Transfer size")
    """What one call moves, a multiple of 8 bytes, with O_DIRECT of 512."""
    transfers_per_block: int = Field(default=256, ge=1, le=2**40, title="Transfers in a block")
    """The block that lies in one piece is so many transfers long: 256 of 1 MiB are a block of 256 MiB. Files of less
    than twice the node's memory in all may be measured in the cache unless O_DIRECT goes around it."""
    segments: int = Field(default=1, ge=1, le=2**31 - 1, title="Segments")
    """How often the blocks of all tasks follow each other; above 1 a shared file is written in stripes."""
    file_per_process: bool = Field(default=True, title="File per task")
    """A file for each task; otherwise all share one."""
    fsync: bool = Field(default=True, title="Flush at the end")
    """fsync inside the time. A buffered write without it is rejected from comparison."""
    direct: bool = Field(default=False, title="O_DIRECT")
    """Past the page cache."""
    reorder: bool = Field(default=False, title="Read the neighbour's")
    """Each task reads what the next one wrote."""
    random: bool = Field(default=False, title="Random order")
    """Transfers in random instead of ascending order; not in a shared file whose parts are reordered."""
    stonewall_seconds: WholeSeconds = Field(default=0, ge=0, le=86_400, title="Stop writing after")
    """After so long all tasks come to where the fastest is and end, and as much is read; 0 writes everything."""

    @property
    def block_bytes(self) -> int:
        return self.transfer_size_bytes * self.transfers_per_block

    @property
    def total_bytes(self) -> int:
        return self.block_bytes * self.segments * self.tasks

    def at_work(self) -> AtWork:
        """Return none besides its tasks, which `memory_needed` counts."""
        return AtWork(0)

    def memory_needed(self) -> MemoryNeed:
        """Return a transfer for each task, the task itself, and in random order the list of its offsets."""
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
            raise ValueError(f"operations = {list(self.operations)}: name write, and read at most once")
        if self.direct and self.transfer_size_bytes % _DIRECT_UNIT_BYTES:
            raise ValueError(
                f"transfer_size_bytes = {self.transfer_size_bytes}: with direct take a multiple of {_DIRECT_UNIT_BYTES}"
            )
        if self.random and self.reorder and not self.file_per_process:
            raise ValueError("random = true: not with reorder in a shared file; set file_per_process")
        return self


class IorWorkload(MpiWorkload[IorOptions]):
    """What parallel programs get from a shared file system."""

    name: ClassVar[str] = "ior"
    title: ClassVar[str] = "ior: parallel reads and writes"
    description: ClassVar[str] = (
        "Several tasks write and read one shared file or a file each with IOR, the measure of parallel file systems."
    )
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "ior"
    package: ClassVar[str] = "ior with an MPI (or name both in [workloads.ior] of agent.toml)"
    version_pattern: ClassVar[str] = r"\bIOR-(\S+)"
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(*_LABELS, description="Of all tasks on one target.", primary=True),
        IOPS.by(*_LABELS, title="Transfers", description="By the time of the transfers alone."),
        DURATION.by(*_LABELS, "part", title="Duration of the slowest task, by part"),
        *race_by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = (
        Option.of("transfer_size_bytes") * Option.of("transfers_per_block") * Option.of("segments") * Option.of("tasks")
    )
    bytes_moved: ClassVar[Expression] = bytes_needed * Option.of("operations")
    run_seconds: ClassVar[Expression] = Option.of("stonewall_seconds") * Option.of("operations")
    options_type = IorOptions

    def groups(self, options: IorOptions, place: Place) -> list[Group]:
        """The writers, then the readers, as two starts, so that caches can be dropped between them."""
        return [(self._step(operation, options, place),) for operation in _FLAGS if operation in options.operations]

    def read(self, options: IorOptions, place: Place, outcome: StepOutcome) -> Parsed:
        operation = _operation(outcome)
        report = read_report(outcome.step.name, _output(outcome), operation)
        moved_bytes = _checked_bytes(options, outcome, report)
        result = report.results[operation]
        labels = _labels(options, place, outcome)
        samples = [
            Sample("throughput", moved_bytes / result.total_seconds, labels, place.target_id),
            Sample(
                "iops", moved_bytes / options.transfer_size_bytes / result.transfer_seconds, labels, place.target_id
            ),
            *(
                Sample("duration", seconds, labels | {"part": part}, place.target_id)
                for part, seconds in result.parts.items()
            ),
        ]
        return Parsed(samples, _flags(options, place, outcome, result, moved_bytes))

    def conclude(self, options: IorOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return Parsed.of_all(
            together([_part(options, outcome) for outcome in access], _labels(options, places[0], access[0]))
            for access in side_by_side(places, outcomes)
        )

    def is_whole(self, outcome: StepOutcome) -> bool:
        return '"Finished"' in _output(outcome)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        # What the program and its launcher read of themselves is none of the data that is written.
        moved_bytes = counters.written_bytes if step.name == "write" else counters.read_bytes
        by_bytes = min(1.0, moved_bytes / step.bytes_moved) if step.bytes_moved else 0.0
        limit = step.argv[step.argv.index("-D") + 1] if "-D" in step.argv else None
        return max(by_bytes, min(1.0, counters.elapsed_seconds / int(limit))) if limit else by_bytes

    def _step(self, operation: Operation, options: IorOptions, place: Place) -> Step:
        return Step(
            name=operation,
            phase=f"{options.tasks} tasks {operation} {format_bytes(options.total_bytes)}",
            argv=(*self.command(options.tasks, place), *_arguments(operation, options, place)),
            target_id=place.target_id,
            bytes_moved=options.total_bytes,
            before=Before.DROP if operation == "read" else Before.SYNC,
            declared_files=tuple(
                place.directory / (f"ior.{task:08}" if options.file_per_process else "ior")
                for task in range(options.tasks if options.file_per_process else 1)
            ),
            output_files=(place.scratch / f"ior-{operation}.json",),
            is_even=True,
        )


def _is_direct(options: IorOptions, place: Place) -> bool:
    return options.direct and place.direct_works


def _arguments(operation: Operation, options: IorOptions, place: Place) -> Iterator[str]:
    yield from ("-a", "POSIX", _FLAGS[operation], "-k", "-i", "1")
    yield from ("-t", str(options.transfer_size_bytes), "-b", str(options.block_bytes), "-s", str(options.segments))
    yield from ("-o", str(place.directory / "ior"))
    switches = {
        "-F": options.file_per_process,
        "-e": options.fsync,
        "-C": options.reorder,
        "-z": options.random,
        "--posix.odirect": _is_direct(options, place),
    }
    yield from (switch for switch, is_on in switches.items() if is_on)
    if options.stonewall_seconds:
        if operation == "write":
            yield from ("-D", str(options.stonewall_seconds), "-O", "stoneWallingWearOut=1")
        # How far the writers came; ior's only way to let the readers know where the files end.
        yield from ("-O", f"stoneWallingStatusFile={place.scratch / 'ior-stonewall'}")
    # In a file of its own: its warnings go to stdout, into the middle of the JSON that would stand there.
    yield from ("-O", "summaryFormat=JSON", "-O", f"summaryFile={place.scratch / f'ior-{operation}.json'}")


def _operation(outcome: StepOutcome) -> Operation:
    return "write" if outcome.step.name == "write" else "read"


def _labels(options: IorOptions, place: Place, outcome: StepOutcome) -> Labels:
    return {"operation": _operation(outcome), "direct": _is_direct(options, place)}


def _part(options: IorOptions, outcome: StepOutcome) -> Part:
    operation = _operation(outcome)
    report = read_report(outcome.step.name, _output(outcome), operation)
    return Part.at_end(outcome, _checked_bytes(options, outcome, report), report.results[operation].total_seconds)


def _output(outcome: StepOutcome) -> str:
    return outcome.files.get(outcome.step.output_files[0].name, "")


def _checked_bytes(options: IorOptions, outcome: StepOutcome, report: IorReport) -> int:
    """The bytes that were moved, of a report that says what was planned; anything else is refused."""
    planned = {
        "tasks": options.tasks,
        "transfer size": options.transfer_size_bytes,
        "block size": options.block_bytes,
        "segments": options.segments,
        "file per task": options.file_per_process,
        "fsync": options.fsync,
        "reordered": options.reorder,
        "random": options.random,
    }
    name, text = outcome.step.name, _output(outcome)[-500:]
    moved_bytes = report.summaries[_operation(outcome)].moved_mebibytes * MIB
    for what, found in report.ran(_operation(outcome)).items():
        if found != planned[what]:
            raise OutputRefusedError(name, f"{what} {planned[what]} was planned, ior reports {found}", text)
    if abs(moved_bytes - options.total_bytes) <= _COUNTED_BYTES:
        return options.total_bytes
    if options.stonewall_seconds and 0 < moved_bytes < options.total_bytes:
        return round(moved_bytes / options.transfer_size_bytes) * options.transfer_size_bytes
    raise OutputRefusedError(
        name, f"{options.total_bytes} bytes were planned, it moved about {round(moved_bytes)}", text
    )


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
    return [quality.about(flag, {"operation": operation}, place) for flag in flags]
