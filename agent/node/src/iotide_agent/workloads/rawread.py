"""rawread: the device below a target, or a file that is there, read and never written."""

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Before,
    Group,
    Labels,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    PlanRefusedError,
    Settings,
    Step,
    StepOutcome,
    in_turn,
)
from iotide_agent.workloads.bounds import MemoryNeed, product
from iotide_agent.workloads.fio import (
    CLOCK_SECONDS,
    INTERRUPTED_STATUS,
    FioPlan,
    FioTool,
    checked_jobs,
    output_of,
    samples_of,
)
from iotide_agent.workloads.fio_report import Direction, latency_flags, read_report
from iotide_agent.workloads.fio_steps import JOB_NAME
from iotide_agent.workloads.metrics import IOPS, LATENCY, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.option_types import Bytes, Seconds
from iotide_agent.workloads.writers import Part, side_by_side, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Number, Option
from iotide_wire.measured import Answer
from iotide_wire.units import GIB, MIB

Pattern = Literal["sequential", "random"]

_TOOL: Final = "fio"
_LABELS: Final = ("operation", "pattern", "direct")
_SIZE_OF: Final = Path(__file__).parent.parent / "loads" / "size_of.py"
_SIZE: Final = re.compile(r"\d+\n")
_CUT_AT: Final = re.compile("[;#]|\\s$")
"""fio takes what begins there for a comment, also in a file name on its command line, and reads another file."""


def _check_readable(text: str) -> str:
    path = PurePosixPath(text)
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError("write an absolute path without '..', for instance /dev/sdb")
    return str(path)


class RawreadSettings(Settings):
    """Devices and files that may be read here, as runs name them or as the target is mounted from."""

    readable: tuple[Annotated[str, AfterValidator(_check_readable)], ...] = ()

    def outside_paths(self) -> tuple[str, ...]:
        return self.readable


class RawreadOptions(Options):
    """What is read, and how."""

    path: str = Field(default="", pattern=r"^(/?[^/\s.][^/\s]*(/[^/\s.][^/\s]*)*)?$", title="Device or file")
    """Empty: the block device that the target is mounted from. Otherwise a file on the target, or an absolute path.
    Devices and absolute paths must stand in readable of [workloads.rawread] in the node's agent.toml."""
    patterns: tuple[Pattern, ...] = Field(
        default=("sequential", "random"),
        min_length=1,
        max_length=2,
        title="Patterns",
        json_schema_extra={"uniqueItems": True},
    )
    """sequential: from the start on, one operation after another. random: anywhere, several at once."""
    block_size_bytes: Bytes = Field(default=MIB, ge=512, le=GIB, multiple_of=512, title="Sequential block size")
    """What one sequential operation reads, a multiple of 512 bytes."""
    random_block_size_bytes: Bytes = Field(default=4096, ge=512, le=GIB, multiple_of=512, title="Random block size")
    """What one random operation reads, a multiple of 512 bytes."""
    io_depth: int = Field(default=32, ge=1, le=4096, title="Depth")
    """Random operations in flight; sequential ones are alone."""
    runtime_seconds: Seconds = Field(default=30, ge=1, le=86_400, title="Run time")
    """Of each pattern; it begins again at the start where the end is reached before."""
    direct: bool = Field(default=True, title="O_DIRECT")
    """Past the page cache."""

    def memory_needed(self) -> MemoryNeed:
        needs = {"sequential": ("block_size_bytes",), "random": ("random_block_size_bytes", "io_depth")}
        return max(product(self, *needs[pattern]) for pattern in self.patterns)

    @model_validator(mode="after")
    def _patterns_come_once(self) -> Self:
        if len(set(self.patterns)) != len(self.patterns):
            raise ValueError(f"patterns = {list(self.patterns)}: name each at most once")
        return self


class RawreadWorkload(FioTool[RawreadOptions]):
    """What the device gives without a file system, or a file without a benchmark's own layout."""

    name: ClassVar[str] = "rawread"
    title: ClassVar[str] = "rawread: a device or file, read only"
    description: ClassVar[str] = (
        "Reads the device below the target, or an existing file, in a row and at random; it never writes."
    )
    revision: ClassVar[int] = 2
    writes: ClassVar[bool] = False
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(*_LABELS, primary=True),
        IOPS.by(*_LABELS),
        LATENCY.by(*_LABELS, "percentile"),
        *race_by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = Number.of(0)
    bytes_moved: ClassVar[Expression] = Number.of(0)
    run_seconds: ClassVar[Expression] = Option.of("runtime_seconds") * Option.of("patterns")
    options_type = RawreadOptions
    settings_type: ClassVar[type[Settings]] = RawreadSettings

    def groups(self, options: RawreadOptions, place: Place) -> list[Group]:
        """Return a step for each pattern; raise PlanRefusedError for what runs may not read."""
        path = self._readable_path(options, place)
        cut = _CUT_AT.search(path)
        if cut is not None:
            raise PlanRefusedError(f"path: fio would not read {path!r} on from its {cut[0]!r}; give it another name")
        return in_turn(*(_step(pattern, path, options, place) for pattern in options.patterns))

    def read(self, options: RawreadOptions, place: Place, outcome: StepOutcome) -> Parsed:
        plan = _planned(options, outcome)
        [[job]] = checked_jobs([plan], outcome)
        if job.write.total_ios:
            problem = f"it wrote {job.write.total_ios} times"
            raise OutputRefusedError(outcome.step.name, problem, output_of(outcome)[-500:])
        return Parsed(samples_of(plan, [job], place), _flags(options, place, outcome, job.read))

    def read_cut(self, options: RawreadOptions, place: Place, outcome: StepOutcome) -> Parsed:
        if outcome.exit_status != INTERRUPTED_STATUS:
            return Parsed()
        jobs = read_report(outcome.step.name, output_of(outcome)).jobs
        return Parsed(samples_of(_planned(options, outcome), jobs, place))

    def conclude(self, options: RawreadOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return Parsed.of_all(
            together([_part(options, outcome) for outcome in pattern], _labels(options, pattern[0]))
            for pattern in side_by_side(places, outcomes)
        )

    def _readable_path(self, options: RawreadOptions, place: Place) -> str:
        if options.path and not options.path.startswith("/"):
            return f"{place.directory}/{options.path}"
        path = options.path or place.source
        if not path.startswith("/dev/") and not options.path:
            raise PlanRefusedError(
                f"path: the target is mounted from {path!r}, which is no block device; name a device or a file"
            )
        readable = self.settings.readable if isinstance(self.settings, RawreadSettings) else ()
        if path not in readable:
            raise PlanRefusedError(
                f"path: {path} may not be read here ({', '.join(readable) or 'nothing may'}); its administrator can "
                "add it to readable of [workloads.rawread] in agent.toml"
            )
        return path


def _step(pattern: Pattern, path: str, options: RawreadOptions, place: Place) -> Step:
    output = place.scratch / f"fio-{pattern}.json"
    return Step(
        name=pattern,
        phase=f"reading {path}, {pattern}",
        argv=(*_sized(path, options), _TOOL, *_arguments(pattern, path, options), f"--output={output}"),
        target_id=place.target_id,
        before=Before.DROP,
        # Nothing is declared: declared files are removed at the end.
        output_files=(output,),
        stop_signal=signal.SIGINT,
        is_even=True,
        threads=1,
    )


def _sized(path: str, options: RawreadOptions) -> tuple[str, ...]:
    """What tells the size first, on which it depends whether the page cache can answer; O_DIRECT goes past it."""
    return () if options.direct else (sys.executable, "-I", "-S", str(_SIZE_OF), path)


def _arguments(pattern: Pattern, path: str, options: RawreadOptions) -> Iterator[str]:
    yield f"--name={JOB_NAME}"
    # fio would make a missing file, and one that grew too short, unless it is told not to.
    yield "--readonly"
    yield "--allow_file_create=0"
    # It splits a list of files at colons.
    yield "--filename=" + path.replace(":", r"\:")
    if pattern == "sequential":
        yield from ("--rw=read", f"--bs={options.block_size_bytes}", "--ioengine=psync", "--iodepth=1")
    else:
        yield from ("--rw=randread", f"--bs={options.random_block_size_bytes}")
        yield from ("--ioengine=libaio", f"--iodepth={options.io_depth}", "--norandommap")
    yield f"--direct={int(options.direct)}"
    yield "--time_based=1"
    yield f"--runtime={round(options.runtime_seconds * 1000)}ms"
    yield "--thread"
    yield "--output-format=json+"
    yield "--eta=never"


def _planned(options: RawreadOptions, outcome: StepOutcome) -> FioPlan:
    return FioPlan(JOB_NAME, 1, ("read",), _labels(options, outcome), timed_seconds=options.runtime_seconds)


def _part(options: RawreadOptions, outcome: StepOutcome) -> Part:
    [[job]] = checked_jobs([_planned(options, outcome)], outcome)
    return Part.at_end(outcome, job.read.io_bytes, job.read.runtime * CLOCK_SECONDS)


def _labels(options: RawreadOptions, outcome: StepOutcome) -> Labels:
    return {"operation": "read", "pattern": outcome.step.name, "direct": options.direct}


def _flags(options: RawreadOptions, place: Place, outcome: StepOutcome, done: Direction) -> list[Answer]:
    flags = quality.judge_duration(outcome.step.name, done.runtime * CLOCK_SECONDS, CLOCK_SECONDS)
    flags += quality.judge_clock(outcome, done.runtime * CLOCK_SECONDS)
    flags += quality.judge_cache_size(place, _different_bytes(outcome, done), direct=options.direct)
    flags += quality.judge_cache_drop(place, outcome, direct=options.direct)
    beyond = latency_flags([done], _labels(options, outcome), place.target_id)
    return beyond + [quality.about(flag, {"pattern": outcome.step.name}, place) for flag in flags]


def _different_bytes(outcome: StepOutcome, done: Direction) -> int:
    """How much of what was read can have come from the target: what comes again after the end may be cached."""
    if outcome.step.argv[0] == _TOOL:  # nothing told the size first
        return done.io_bytes
    size = _SIZE.match(outcome.stdout)
    if size is None:
        raise OutputRefusedError(outcome.step.name, "it does not begin with the size of what is read", outcome.stdout)
    return min(done.io_bytes, int(size[0]))
