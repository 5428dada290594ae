"""fio: any mix of sequential or random reads and writes, with latencies."""

import errno
import os
import re
import signal
from collections.abc import Iterator, Sequence
from statistics import median
from typing import ClassVar, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Before,
    Counters,
    Group,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    Sample,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.fio_report import MILLISECONDS, Direction, Job, merged_bins, percentile_seconds, read_report
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Holds, Number, Option
from iotide_wire.messages import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit, format_bytes

CLOCK_SECONDS: Final = MILLISECONDS
"""fio states run times in whole milliseconds."""
INTERRUPTED_STATUS: Final = 128
STRAGGLER_FACTOR: Final = 1.5
PERCENTILES: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}
ENDED_EARLY_RATIO: Final = 0.98

_JOB_NAME: Final = "iotide"
_COMPLAINT: Final = re.compile(r"^fio: (?!pid=).*", re.MULTILINE)
_RUNTIME: Final = re.compile(r"--runtime=(\d+)ms")
_SYNCHRONOUS: Final = ("psync", "sync", "mmap")

Operation = Literal["read", "write"]
_Labels = dict[str, str | int | float | bool]


class FioOptions(Options):
    """One fio job, or several alike side by side."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"io_engine": {"enum": list(_SYNCHRONOUS)}}},
            "then": {"properties": {"io_depth": {"maximum": 1}}},
        }
    )

    rw: Literal["write", "read", "randwrite", "randread", "rw", "randrw"] = Field(
        default="write",
        title="Pattern",
        description="What is done and in which order; rw and randrw mix reads with writes.",
    )
    block_size_bytes: int = Field(
        default=1024**2,
        ge=512,
        le=1024**3,
        multiple_of=512,
        title="Block size",
        description="What one operation moves, a multiple of 512 bytes.",
        json_schema_extra={"x-unit": "bytes"},
    )
    file_size_bytes: int = Field(
        default=1024**3,
        ge=4096,
        le=2**60,
        title="File size",
        description="Size of the file of each job.",
        json_schema_extra={"x-unit": "bytes"},
    )
    io_engine: Literal["psync", "sync", "libaio", "io_uring", "mmap"] = Field(
        default="psync",
        title="Engine",
        description="How operations reach the kernel; libaio and io_uring keep several in flight.",
    )
    io_depth: int = Field(
        default=1,
        ge=1,
        le=4096,
        title="Depth",
        description="Operations in flight for each job; above 1 with libaio or io_uring only.",
    )
    num_jobs: int = Field(
        default=1, ge=1, le=64, title="Jobs", description="Threads side by side, each on its own file."
    )
    direct: bool = Field(default=True, title="O_DIRECT", description="Past the page cache.")
    end_fsync: bool = Field(
        default=True,
        title="Flush at the end",
        description="fsync inside the time. A buffered write without it is rejected from comparison.",
    )
    runtime_seconds: float = Field(
        default=0,
        ge=0,
        le=30 * 86_400,
        title="Run time",
        description="Goes on over the same file for this long; 0 means once over the file.",
        json_schema_extra={"x-unit": "seconds"},
    )
    read_percent: int = Field(
        default=50, ge=1, le=99, title="Reads in a mix", description="Share of reads with rw and randrw, in percent."
    )

    @model_validator(mode="after")
    def _depth_needs_an_engine(self) -> Self:
        if self.io_depth > 1 and self.io_engine in _SYNCHRONOUS:
            raise ValueError(
                f"io_depth {self.io_depth} needs io_engine libaio or io_uring; {self.io_engine} has depth 1"
            )
        return self


class FioWorkload(Workload[FioOptions]):
    """Throughput, operations per second and latency."""

    name: ClassVar[str] = "fio"
    title: ClassVar[str] = "fio: reads and writes with latencies"
    description: ClassVar[str] = "Sequential or random reads and writes of one or more jobs, with latency percentiles."
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "fio"
    package: ClassVar[str] = "fio"
    version_argv: ClassVar[tuple[str, ...]] = ("fio", "--version")
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        MetricSpec(
            name="throughput",
            title="Throughput",
            unit=Unit.BYTES_PER_SECOND,
            better="higher",
            labels=("operation", "direct"),
        ),
        MetricSpec(
            name="iops",
            title="Operations",
            unit=Unit.OPERATIONS_PER_SECOND,
            better="higher",
            labels=("operation", "direct"),
        ),
        MetricSpec(
            name="latency",
            title="Completion latency",
            unit=Unit.SECONDS,
            better="lower",
            labels=("operation", "direct", "percentile"),
        ),
    )
    bytes_needed: ClassVar[Expression] = Option.of("file_size_bytes") * Option.of("num_jobs")
    bytes_moved: ClassVar[Expression] = (
        Option.of("file_size_bytes") * Option.of("num_jobs") * (Number.of(2) - Holds.of("rw", "write"))
    )
    run_seconds: ClassVar[Expression] = Option.of("runtime_seconds")
    options_type = FioOptions

    def groups(self, options: FioOptions, place: Place) -> list[Group]:
        """The measured job, after a job that lays the files out where they must exist before."""
        measured = _step("measure", options, place)
        return in_turn(measured) if options.rw == "write" else in_turn(_step("layout", options, place), measured)

    def read(self, options: FioOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Rates from bytes and milliseconds, percentiles from the latency bins of all jobs together."""
        jobs = _checked_jobs(options, outcome)
        if outcome.step.name == "layout":
            return Parsed()
        return Parsed(_all_samples(options, place, jobs), _flags(options, place, outcome, jobs))

    def read_cut(self, options: FioOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """What an interrupted fio reports of the part that it did: its JSON is complete then."""
        if outcome.step.name == "layout" or outcome.exit_status != INTERRUPTED_STATUS:
            return Parsed()
        jobs = read_report(outcome.step.name, _output(outcome)).jobs
        directions = [_direction(job, operation) for job in jobs for operation in _operations(options)]
        if not jobs or any(direction.runtime == 0 or direction.total_ios == 0 for direction in directions):
            return Parsed()
        return Parsed(_all_samples(options, place, jobs))

    def failure(self, outcome: StepOutcome) -> str | None:
        """By fio's JSON too: it can end with status 0 after errors that it was told to go on from."""
        if outcome.signal is not None:
            return super().failure(outcome)
        if outcome.exit_status == INTERRUPTED_STATUS:
            return "fio was interrupted before its end (status 128)"
        text = _output(outcome)
        complaint = _COMPLAINT.search(outcome.stderr) or _COMPLAINT.search(text.partition("{")[0])
        try:
            broken = next((job.error for job in read_report(outcome.step.name, text).jobs if job.error), None)
        except OutputRefusedError:
            broken = None
        if broken is not None:
            name = errno.errorcode.get(broken, "unknown")
            return f"fio reports {name}, {os.strerror(broken)}" + (f": {complaint[0]}" if complaint else "")
        if outcome.exit_status != 0 and complaint:
            return complaint[0]
        return super().failure(outcome)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """By time where the job has a run time, else by bytes."""
        runtime = next((match for argument in step.argv if (match := _RUNTIME.fullmatch(argument))), None)
        if runtime is None:
            return super().progress(step, counters, output_tail)
        return min(1.0, counters.elapsed_seconds / (int(runtime[1]) * MILLISECONDS))


def _is_direct(options: FioOptions, place: Place) -> bool:
    return options.direct and place.direct_works


def _operations(options: FioOptions) -> tuple[Operation, ...]:
    match options.rw:
        case "read" | "randread":
            return ("read",)
        case "write" | "randwrite":
            return ("write",)
        case "rw" | "randrw":
            return ("read", "write")


def _step(name: Literal["layout", "measure"], options: FioOptions, place: Place) -> Step:
    total_bytes = options.file_size_bytes * options.num_jobs
    output = place.scratch / f"fio-{name}.json"
    measured = name == "measure"
    arguments = _measured_arguments(options, place) if measured else _LAYOUT_ARGUMENTS
    reads = "read" in _operations(options)
    return Step(
        name=name,
        phase=f"{options.rw if measured else 'laying out'} {format_bytes(total_bytes)}",
        argv=("fio", *_common_arguments(options, place), *arguments, f"--output={output}"),
        target_id=place.target_id,
        bytes_moved=None if measured and options.runtime_seconds else total_bytes,
        before=Before.DROP if measured and reads else Before.SYNC,
        declared_files=tuple(place.directory / f"{_JOB_NAME}.{number}.0" for number in range(options.num_jobs)),
        output_files=(output,),
        stop_signal=signal.SIGINT,
        is_even=measured,
        threads=options.num_jobs,
    )


def _common_arguments(options: FioOptions, place: Place) -> Iterator[str]:
    """What both jobs share: the files, one process with threads, no preallocation, JSON with latency bins."""
    yield f"--name={_JOB_NAME}"
    # fio splits a list of directories at colons; --directory, unlike --filename, makes no missing one.
    yield "--directory=" + str(place.directory).replace(":", r"\:")
    yield f"--size={options.file_size_bytes}"
    yield f"--numjobs={options.num_jobs}"
    yield "--thread"
    yield "--fallocate=none"
    yield "--output-format=json+"
    yield "--eta=never"


_LAYOUT_ARGUMENTS: Final = ("--rw=write", "--bs=1048576", "--ioengine=psync", "--direct=0", "--end_fsync=1")


def _measured_arguments(options: FioOptions, place: Place) -> Iterator[str]:
    yield f"--rw={options.rw}"
    yield f"--bs={options.block_size_bytes}"
    yield f"--ioengine={options.io_engine}"
    yield f"--iodepth={options.io_depth}"
    yield f"--direct={int(_is_direct(options, place))}"
    yield f"--end_fsync={int(options.end_fsync)}"
    if len(_operations(options)) > 1:
        yield f"--rwmixread={options.read_percent}"
    if options.runtime_seconds:
        yield "--time_based=1"
        yield f"--runtime={round(options.runtime_seconds / MILLISECONDS)}ms"


def _output(outcome: StepOutcome) -> str:
    return outcome.files.get(outcome.step.output_files[0].name, "")


def _checked_jobs(options: FioOptions, outcome: StepOutcome) -> tuple[Job, ...]:
    """The jobs of a report that says what was planned; anything else is refused."""
    name, text = outcome.step.name, _output(outcome)
    jobs = read_report(name, text).jobs
    operations = _operations(options) if name == "measure" else ("write",)
    if len(jobs) != options.num_jobs:
        raise OutputRefusedError(name, f"{options.num_jobs} jobs were planned, {len(jobs)} report", text[-500:])
    timed = name == "measure" and options.runtime_seconds > 0
    for job in jobs:
        directions = [_direction(job, operation) for operation in operations]
        problem = _plan_problem(options, job, directions, timed=timed) or _contradiction(directions)
        if problem:
            raise OutputRefusedError(name, f"job {job.jobname}: {problem}", text[-500:])
    return jobs


def _plan_problem(options: FioOptions, job: Job, directions: Sequence[Direction], *, timed: bool) -> str | None:
    """Where one job did not do what was planned."""
    if job.error or job.total_err:
        return f"error {job.error}, {job.total_err} errors passed over"
    if any(direction.total_ios == 0 or direction.runtime == 0 for direction in directions):
        return "no operation, or none that took a millisecond"
    if timed:
        ran_seconds = max(direction.runtime for direction in directions) * MILLISECONDS
        if ran_seconds < ENDED_EARLY_RATIO * options.runtime_seconds:
            return f"{options.runtime_seconds:g} s were planned, it ran {ran_seconds:g} s"
        return None
    moved_bytes = sum(direction.io_bytes for direction in directions)
    if not 0 <= options.file_size_bytes - moved_bytes < options.block_size_bytes:
        return f"{options.file_size_bytes} bytes were planned, it moved {moved_bytes}"
    return None


def _contradiction(directions: Sequence[Direction]) -> str | None:
    """Where the report of one job contradicts itself."""
    if any(direction.short_ios or direction.drop_ios for direction in directions):
        return "operations that moved less than they should"
    if any(sum(direction.clat_ns.bins.values()) != direction.total_ios for direction in directions):
        return "the latency bins hold another number of operations than the job did"
    return None


def _direction(job: Job, operation: Operation) -> Direction:
    return job.write if operation == "write" else job.read


def _all_samples(options: FioOptions, place: Place, jobs: Sequence[Job]) -> list[Sample]:
    direct = _is_direct(options, place)
    return [
        sample
        for operation in _operations(options)
        for sample in _samples(
            [_direction(job, operation) for job in jobs], {"operation": operation, "direct": direct}, place
        )
    ]


def _samples(directions: Sequence[Direction], labels: _Labels, place: Place) -> list[Sample]:
    seconds = max(direction.runtime for direction in directions) * MILLISECONDS
    bins = merged_bins(directions)
    return [
        Sample("throughput", sum(direction.io_bytes for direction in directions) / seconds, labels, place.target_id),
        Sample("iops", sum(direction.total_ios for direction in directions) / seconds, labels, place.target_id),
        *(
            Sample("latency", percentile_seconds(bins, percent), labels | {"percentile": name}, place.target_id)
            for name, percent in PERCENTILES.items()
        ),
    ]


def _flags(options: FioOptions, place: Place, outcome: StepOutcome, jobs: Sequence[Job]) -> list[Flag]:
    direct = _is_direct(options, place)
    data_bytes = options.file_size_bytes * options.num_jobs
    runtimes = [max(job.read.runtime, job.write.runtime) * MILLISECONDS for job in jobs]
    flags = quality.judge_direct(place, wanted=options.direct)
    flags += quality.judge_duration(options.rw, max(runtimes), CLOCK_SECONDS)
    flags += quality.judge_cache_size(place, data_bytes, direct=direct)
    if "read" in _operations(options):
        flags += quality.judge_cache_drop(outcome, direct=direct)
    if "write" in _operations(options):
        flags += quality.judge_flush(options.rw, flushed=direct or options.end_fsync)
    if max(runtimes) > STRAGGLER_FACTOR * median(runtimes):
        measured = f"slowest job {max(runtimes):.3g} s, median {median(runtimes):.3g} s"
        limit = f"{STRAGGLER_FACTOR} x the median job"
        flags.append(Flag(code=FlagCode.STRAGGLER, effect=FlagEffect.MARKED, measured=measured, limit=limit))
    return flags
