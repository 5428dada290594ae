"""rawread: reads the device below a target, or an existing file, and never writes."""

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

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
    Workload,
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
from iotide_wire.measured import Answer, FlagCode
from iotide_wire.units import GIB, MIB, format_percent

Pattern = Literal["sequential", "random"]

_TOOL: Final = "fio"
_LABELS: Final = ("operation", "pattern", "direct")
_RAW_FILE: Final = Path(__file__).parent.parent / "loads" / "raw_file.py"
_SIZE: Final = re.compile(r"\d{1,18}\n")
_ANY_SIZE_BYTES: Final = 2**63 - 1
_LOOK: Final = "allocation"
_UNWRITTEN_RATIO: Final = 0.01
"""Above it, the rate is higher than that of a medium that was written everywhere."""
_MOST_UNWRITTEN_RATIO: Final = 0.1
"""Above it, the numbers are rejected."""
_CUT_AT: Final = re.compile("[;#]|\\s$")
"""fio reads this and what follows as a comment, even in a file name on its command line, and opens another file."""


def _check_readable(text: str) -> str:
    path = PurePosixPath(text)
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError("write an absolute path without '..', for instance /dev/sdb")
    return str(path)


class RawreadSettings(Settings):
    readable: tuple[Annotated[str, AfterValidator(_check_readable)], ...] = ()

    def outside_paths(self) -> tuple[str, ...]:
        return self.readable


class RawreadOptions(Options):
    path: str = Field(default="", pattern=r"^(/?[^/\s.][^/\s]*(/[^/\s.][^/\s]*)*)?$", title="Device or file")
    """Empty: the block device that the target is mounted from. Otherwise a file on the target, or an absolute path.
    Devices and absolute paths must be listed in `readable` of [workloads.rawread] in the node's agent.toml.
    """
    patterns: tuple[Pattern, ...] = Field(
        default=("sequential", "random"),
        min_length=1,
        max_length=2,
        title="Patterns",
        json_schema_extra={"uniqueItems": True},
    )
    """sequential: from the start, one operation after another. random: anywhere, several at once."""
    block_size_bytes: Bytes = Field(default=MIB, ge=512, le=GIB, multiple_of=512, title="Sequential block size")
    """Bytes per sequential operation, a multiple of 512."""
    random_block_size_bytes: Bytes = Field(default=4096, ge=512, le=GIB, multiple_of=512, title="Random block size")
    """Bytes per random operation, a multiple of 512."""
    io_depth: int = Field(default=32, ge=1, le=4096, title="I/O depth")
    """Random operations in flight. Sequential reads have one."""
    runtime_seconds: Seconds = Field(default=30, ge=1, le=86_400, title="Run time")
    """Duration of each pattern. At the end of the data, reading starts again."""
    direct: bool = Field(default=True, title="O_DIRECT")
    """Bypass the page cache."""

    def memory_needed(self) -> MemoryNeed:
        needs = {"sequential": ("block_size_bytes",), "random": ("random_block_size_bytes", "io_depth")}
        return max(product(self, *needs[pattern]) for pattern in self.patterns)

    @model_validator(mode="after")
    def _patterns_come_once(self) -> Self:
        if len(set(self.patterns)) != len(self.patterns):
            raise ValueError(f"patterns = {list(self.patterns)}: list each pattern only once")
        return self


class _RawFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    size_bytes: Annotated[int, Field(ge=0, le=2**63 - 1)]


class _Header(_RawFile):
    """First line of a pattern's output. `direct_problem` is why O_DIRECT failed; empty if it works."""

    direct_problem: str


class _Allocation(_RawFile):
    """Parts that were never written.

    Attributes:
        hole_bytes: without allocated data, in a file or the file behind a loop device.
        sampled, zeroes: blocks that were read, and those with zeroes only.
        discards: the device forgets blocks that were discarded, as thin volumes and SSDs do.
    """

    hole_bytes: Annotated[int, Field(ge=0)]
    sampled: Annotated[int, Field(ge=0)]
    zeroes: Annotated[int, Field(ge=0)]
    discards: bool


_LINE: Final[TypeAdapter[_Header | _Allocation]] = TypeAdapter(_Header | _Allocation)


class RawreadWorkload(FioTool[RawreadOptions]):
    name: ClassVar[str] = "rawread"
    title: ClassVar[str] = "rawread: a device or file, read only"
    description: ClassVar[str] = (
        "Reads the device below the target, or an existing file, sequentially and randomly. It never writes."
    )
    revision: ClassVar[int] = 3
    needs_python: ClassVar[bool] = True
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
        """Return a step that looks for unwritten parts, and one per pattern; raise PlanRefusedError."""
        path = self._readable_path(options, place)
        cut = _CUT_AT.search(path)
        if cut is not None:
            raise PlanRefusedError(f"path: fio ignores the part of {path!r} from {cut[0]!r} on; rename it")
        return in_turn(_look_step(path, place), *(_step(name, path, options, place) for name in options.patterns))

    def failure(self, outcome: StepOutcome) -> str | None:
        return Workload.failure(self, outcome) if outcome.step.name == _LOOK else super().failure(outcome)

    def read(self, options: RawreadOptions, place: Place, outcome: StepOutcome) -> Parsed:
        if outcome.step.name == _LOOK:
            return Parsed((), _unwritten_flags(_line(outcome, _Allocation), place))
        plan = _planned(options, outcome)
        [[job]] = checked_jobs([plan], outcome)
        if job.write.total_ios:
            problem = f"fio wrote {job.write.total_ios} times"
            raise OutputRefusedError(outcome.step.name, problem, output_of(outcome)[-500:])
        return Parsed(samples_of(plan, [job], place), _flags(options, place, outcome, job.read))

    def read_cut(self, options: RawreadOptions, place: Place, outcome: StepOutcome) -> Parsed:
        if outcome.step.name == _LOOK or outcome.exit_status != INTERRUPTED_STATUS:
            return Parsed()
        jobs = read_report(outcome.step.name, output_of(outcome)).jobs
        return Parsed(samples_of(_planned(options, outcome), jobs, place))

    def conclude(self, options: RawreadOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return Parsed.of_all(
            together([_part(options, outcome) for outcome in pattern], _labels(options, pattern[0]))
            for pattern in side_by_side(places, [done for done in outcomes if done.step.name != _LOOK])
        )

    def _readable_path(self, options: RawreadOptions, place: Place) -> str:
        if options.path and not options.path.startswith("/"):
            return f"{place.directory}/{options.path}"
        path = options.path or place.source
        if not path.startswith("/dev/") and not options.path:
            raise PlanRefusedError(
                f"path: the target is mounted from {path!r}, which is not a block device; give a device or a file"
            )
        readable = self.settings.readable if isinstance(self.settings, RawreadSettings) else ()
        if path not in readable:
            raise PlanRefusedError(
                f"path: runs may not read {path} on this node (readable: {', '.join(readable) or 'nothing'}); its "
                "administrator can add it to readable of [workloads.rawread] in agent.toml"
            )
        return path


def _step(pattern: Pattern, path: str, options: RawreadOptions, place: Place) -> Step:
    output = place.scratch / f"fio-{pattern}.json"
    return Step(
        name=pattern,
        phase=f"reading {path}, {pattern}",
        argv=(*_program("read", path), _TOOL, *_arguments(pattern, path, options), f"--output={output}"),
        target_id=place.target_id,
        before=Before.DROP,
        # Declared files are removed at the end, so nothing is declared.
        output_files=(output,),
        stop_signal=signal.SIGINT,
        is_even=True,
        threads=1,
        direct_files=(Path(path),) if options.direct else (),
    )


def _look_step(path: str, place: Place) -> Step:
    return Step(
        name=_LOOK,
        phase=f"looking for parts of {path} that were never written",
        argv=_program("look", path),
        target_id=place.target_id,
    )


def _program(verb: str, path: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", str(_RAW_FILE), verb, path)


LineT = TypeVar("LineT", _Header, _Allocation)


def _line(outcome: StepOutcome, kind: type[LineT]) -> LineT:
    try:
        found = _LINE.validate_json(outcome.stdout.partition("\n")[0])
    except ValidationError:
        found = None
    if not isinstance(found, kind):
        problem = "the output does not begin with the line about the file or device"
        raise OutputRefusedError(outcome.step.name, problem, outcome.stdout)
    return found


def _header(outcome: StepOutcome) -> _Header:
    """Return what was printed before fio. Up to revision 2 that was the size, and nothing with O_DIRECT."""
    if outcome.step.argv[0] == _TOOL:
        return _Header(size_bytes=_ANY_SIZE_BYTES, direct_problem="")
    size = _SIZE.match(outcome.stdout)
    return _Header(size_bytes=int(size[0]), direct_problem="") if size else _line(outcome, _Header)


def _unwritten_flags(found: _Allocation, place: Place) -> list[Answer]:
    """Reject a large share without allocated data. Sampled zeroes count as that where the device discards blocks."""
    hole_ratio = found.hole_bytes / found.size_bytes if found.size_bytes else 0.0
    zero_ratio = found.zeroes / found.sampled if found.sampled else 0.0
    if max(hole_ratio, zero_ratio) <= _UNWRITTEN_RATIO:
        return []
    limit = f"{format_percent(_UNWRITTEN_RATIO)}; write all of it once before it is read"
    if hole_ratio > _UNWRITTEN_RATIO:
        measured = f"{format_percent(hole_ratio)} of it were never written, so the storage reads nothing there"
    else:
        why = (
            "it discards blocks, so they may be unwritten" if found.discards else "they compress or were never written"
        )
        measured = f"{format_percent(zero_ratio)} of {found.sampled} sampled blocks hold only zeroes; {why}"
    is_unread = hole_ratio > _MOST_UNWRITTEN_RATIO or (found.discards and zero_ratio > _MOST_UNWRITTEN_RATIO)
    make = quality.rejected if is_unread else quality.marked
    return [quality.about(make(FlagCode.ZEROES, measured, limit), {}, place)]


def _arguments(pattern: Pattern, path: str, options: RawreadOptions) -> Iterator[str]:
    yield f"--name={JOB_NAME}"
    # Otherwise fio creates a missing file and extends a file that is too short.
    yield "--readonly"
    yield "--allow_file_create=0"
    # fio splits lists of files at colons.
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
    return {"operation": "read", "pattern": outcome.step.name, "direct": _was_direct(options, outcome)}


def _was_direct(options: RawreadOptions, outcome: StepOutcome) -> bool:
    return options.direct and not outcome.cached_because and not _header(outcome).direct_problem


def _flags(options: RawreadOptions, place: Place, outcome: StepOutcome, done: Direction) -> list[Answer]:
    header, direct = _header(outcome), _was_direct(options, outcome)
    problem = (
        header.direct_problem and f"{outcome.step.name}: O_DIRECT failed ({header.direct_problem}); buffered instead"
    )
    # The file system of the target is not that of a device.
    fstype = "" if (options.path or place.source).startswith("/dev/") else place.fstype
    read_from = replace(
        place, fstype=fstype, direct_works=direct, cached_because=outcome.cached_because or problem or ""
    )
    flags = quality.judge_direct(read_from, wanted=options.direct)
    flags += quality.judge_duration(outcome.step.name, done.runtime * CLOCK_SECONDS, CLOCK_SECONDS)
    flags += quality.judge_clock(outcome, done.runtime * CLOCK_SECONDS)
    # Repeated bytes may be cached.
    flags += quality.judge_cache_size(read_from, min(done.io_bytes, header.size_bytes), direct=direct)
    flags += quality.judge_cache_drop(read_from, outcome, direct=direct)
    beyond = latency_flags([done], _labels(options, outcome), place.target_id)
    return beyond + [quality.about(flag, {"pattern": outcome.step.name}, place) for flag in flags]
