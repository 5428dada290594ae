"""fill: one new file after another with dd, to show how the rate falls as a file system fills."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from pathlib import Path
from statistics import median
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

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
    PlanRefusedError,
    Sample,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.dd import (
    RELEASES,
    VERSION_ARGV,
    VERSION_PATTERN,
    BlockSize,
    Flush,
    is_bulk,
    read_report,
    write_argv,
)
from iotide_agent.workloads.metrics import THROUGHPUT, TOTAL_THROUGHPUT, MetricKind, race_by
from iotide_agent.workloads.option_types import Bytes
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import Part, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import (
    TARGET_COUNT,
    TARGET_FREE,
    TARGET_RESERVE,
    TARGET_TOTAL,
    Expression,
    Number,
    Operation,
    Option,
    evaluate,
)
from iotide_wire.measured import Answer, FlagCode
from iotide_wire.scratch_sets import MOUNT_ROOT
from iotide_wire.units import GIB, MIB, Unit, format_bytes, format_percent, format_seconds


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    used_bytes: Annotated[int, Field(ge=0, le=2**63 - 1)]
    total_bytes: Annotated[int, Field(gt=0, le=2**63 - 1)]


class File(_Line):
    file: Annotated[int, Field(ge=1)]
    wall_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    stdout: str
    stderr: str


class End(_Line):
    ended_by: Literal["count", "share", "reserve"]
    files: Annotated[int, Field(ge=1)]


_LINE: Final[TypeAdapter[File | End]] = TypeAdapter(File | End)


def read_lines(step: str, text: str) -> tuple[list[File], End | None]:
    """Return the files in order and the load's last line, if any; raise OutputRefusedError."""
    try:
        lines = [_LINE.validate_json(line) for line in text.splitlines()]
    except ValidationError as error:
        raise OutputRefusedError(step, "a line is not JSON of the load", text[-500:]) from error
    end = lines.pop() if lines and isinstance(lines[-1], End) and text.endswith("\n") else None
    files = [line for line in lines if isinstance(line, File)]
    if [file.file for file in files] != list(range(1, len(lines) + 1)):
        raise OutputRefusedError(step, "the files are not numbered consecutively from 1", text[-500:])
    return files, end if isinstance(end, End) else None


CLOCK_SECONDS: Final = 1e-9
BAND_PERCENT: Final = 5
"""Step of the fill levels that group files: series by level stay comparable from run to run, series by file do not."""
SLOW_FACTOR: Final = 1.5
"""A file that takes this many times as long as the median file is slow."""
SHOWN_FILES: Final = 10
MOST_NUMBERS: Final = 200
"""Maximum number of series by file number. With more files, neighbours share one."""
SPARE_RATIO: Final = 0.12
"""The runner requires a tenth more space than a run needs. The rest is for writes of others before the start."""
MEANWHILE_RATIO: Final = 0.02
"""Share of the needed space that others may use before the run checks the target's reserve again."""

KEPT: Final = ".iotide-filled"
"""Directory on a scratch disk with the files that stay. The search for orphaned directories skips hidden ones."""
TOLERATED_RATIO: Final = 0.01
"""Share of the target by which kept files may miss their level."""

_LOAD: Final = Path(__file__).parent.parent / "loads" / "fill_files.py"
_LABELS: Final = ("operation", "file_size_bytes", "direct")
_TENTH: Final = 10
_WIDTHS: Final = (1, 10, 100, 1000)


class FillOptions(Options):
    file_size_bytes: Bytes = Field(default=GIB, ge=512, le=2**50, title="File size")
    """Size of each file. All files together should exceed twice the node's memory, or the cache is measured too."""
    block_size_bytes: BlockSize = 16 * MIB
    flush: Flush = "fsync"
    data: Literal["zeroes", "random"] = Field(default="zeroes", title="Data")
    """zeroes: some file systems compress or deduplicate them. random: blocks that never repeat."""
    fill_percent: float = Field(default=80, gt=0, le=95, title="Fill level")
    """Maximum used share of the target at the end, in percent, with what was there before."""
    file_count: int = Field(default=100, ge=1, le=100_000, title="File limit")
    """Number of files after which the run ends in any case."""
    reserve_bytes: Bytes = Field(default=GIB, ge=0, le=2**60, title="Reserved space")
    """Space of the target that always stays free; never less than the target's own reserve."""
    keep: bool = Field(default=False, title="Keep files")
    """Leave the files there after the run. Only on scratch disks, whose next make or cleaning removes them."""


_FREE: Final = Option.of(TARGET_FREE)
_TOTAL: Final = Option.of(TARGET_TOTAL)
_ROOM: Final = Operation(
    op="min",
    args=(
        Option.of("file_size_bytes") * Option.of("file_count"),
        _FREE - _TOTAL * (Number.of(1) - Option.of("fill_percent") / 100),
        _FREE - Option.of("reserve_bytes"),
        (_FREE - Option.of(TARGET_RESERVE)) / (1 + MEANWHILE_RATIO),
        _FREE / (1 + SPARE_RATIO),
    ),
)


class FillWorkload(Workload[FillOptions]):
    name: ClassVar[str] = "fill"
    title: ClassVar[str] = "fill: writes until the target is full"
    description: ClassVar[str] = (
        "Writes one file after another with dd until a share of the target is used. Reports the rate at each fill "
        "level and of the slowest files."
    )
    revision: ClassVar[int] = 2
    tool: ClassVar[str | None] = "dd"
    needs_python: ClassVar[bool] = True
    package: ClassVar[str] = "coreutils"
    version_argv: ClassVar[tuple[str, ...]] = VERSION_ARGV
    version_pattern: ClassVar[str] = VERSION_PATTERN
    version_in_usage: ClassVar[bool] = True
    supported: ClassVar[tuple[Releases, ...]] = RELEASES
    complaint: ClassVar[re.Pattern[str] | None] = re.compile(r"^dd: .*", re.MULTILINE)
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(
            *_LABELS,
            title="Throughput of the whole fill",
            description=(
                "All files by dd's own seconds. On several targets: all of them together, from the first start to the "
                "last end."
            ),
            primary=True,
        ),
        THROUGHPUT.by(
            *_LABELS,
            "fill_percent",
            title="Throughput by fill level",
            description=f"In steps of {BAND_PERCENT} % of the file system.",
        ),
        MetricKind("file_throughput", "Throughput by file number", Unit.BYTES_PER_SECOND, "higher").by(
            *_LABELS,
            "file",
            description=f"Above {MOST_NUMBERS} files, 10, 100 or 1000 of them together, by the number of the last one.",
        ),
        MetricKind("part_throughput", "Throughput by part of the fill", Unit.BYTES_PER_SECOND, "higher").by(
            *_LABELS,
            "part",
            description="First and last tenth of the files; slowest, median and fastest file.",
        ),
        MetricKind("end_ratio", "Last-to-first ratio", Unit.RATIO, "higher").by(
            *_LABELS,
            description="Throughput of the last tenth of the files divided by that of the first. Below 1: slower.",
        ),
        MetricKind("slowest_ratio", "Slowest-to-median ratio", Unit.RATIO, "higher").by(
            *_LABELS, description="Throughput of the slowest file divided by that of the median file."
        ),
        *race_by(*_LABELS),
        MetricKind("used_ratio", "Final fill level", Unit.RATIO, "neither").by(),
    )
    bytes_needed: ClassVar[Expression] = Operation(op="max", args=(Option.of("file_size_bytes"), _ROOM))
    bytes_moved: ClassVar[Expression] = bytes_needed
    options_type = FillOptions

    def groups(self, options: FillOptions, place: Place) -> list[Group]:
        operands = (f"bs={options.block_size_bytes}", f"count={options.file_size_bytes}")
        command = write_argv(options.data, operands, options.flush, direct=_is_direct(options, place))
        files = _planned_files(options, place)
        if options.keep:
            _check_keeping(options, place, files)
        free_bytes = max(options.reserve_bytes, place.reserve_bytes)
        # A repeated attempt replaces the kept files, so the free space does not limit their number.
        limits = (
            options.file_count if options.keep else files,
            *(options.file_size_bytes, options.fill_percent, free_bytes),
        )
        directory = place.directory.parent / KEPT if options.keep else place.directory
        return in_turn(
            Step(
                name="fill",
                phase=f"filling with up to {files:,} files of {format_bytes(options.file_size_bytes)}",
                argv=(sys.executable, "-I", "-S", str(_LOAD), str(directory), *map(str, limits), *command),
                target_id=place.target_id,
                bytes_moved=files * options.file_size_bytes,
                before=Before.SYNC,
                is_bulk=is_bulk(
                    options.flush, options.block_size_bytes, options.file_size_bytes, direct=_is_direct(options, place)
                ),
                is_even=True,
                threads=2 if options.data == "random" else 1,
                direct_files=(directory,) if _is_direct(options, place) else (),
            )
        )

    def read(self, options: FillOptions, place: Place, outcome: StepOutcome) -> Parsed:
        files, end = read_lines(outcome.step.name, outcome.stdout)
        if end is None or end.files != len(files):
            raise OutputRefusedError(outcome.step.name, "the load's last line is missing", outcome.stdout[-500:])
        written = [_written(options, outcome, file) for file in files]
        used = Sample("used_ratio", end.used_bytes / end.total_bytes, {}, place.target_id)
        return Parsed([*_samples(options, place, written), used], _flags(options, place, outcome, written))

    def read_cut(self, options: FillOptions, place: Place, outcome: StepOutcome) -> Parsed:
        whole_lines = outcome.stdout[: outcome.stdout.rfind("\n") + 1]
        files, _ = read_lines(outcome.step.name, whole_lines)
        written = [_written(options, outcome, file) for file in files]
        return Parsed([*_band_samples(options, place, written), *_file_samples(options, place, written)])

    def conclude(self, options: FillOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return together(
            [_part(options, outcome) for outcome in outcomes], _labels(options, places[0].seen_by(outcomes[0]))
        )

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        return min(1.0, counters.written_bytes / step.bytes_moved) if step.bytes_moved else None


@dataclass(frozen=True, slots=True)
class _Written:
    """File by dd's own seconds, with the target's used share at half of it."""

    number: int
    size_bytes: int
    seconds: float
    level_ratio: float
    source_stdout: str

    @property
    def rate(self) -> float:
        return self.size_bytes / self.seconds


def _is_direct(options: FillOptions, place: Place) -> bool:
    return options.flush == "direct" and place.direct_works


def _check_keeping(options: FillOptions, place: Place, files: int) -> None:
    """Raise PlanRefusedError on other disks, and if limits of space end the files below their level."""
    if not place.directory.is_relative_to(MOUNT_ROOT):
        raise PlanRefusedError(f"keep: files stay only on scratch disks, below {MOUNT_ROOT}; set keep to false")
    used_bytes = place.total_bytes - place.free_bytes + files * options.file_size_bytes
    wanted_ratio, reached_ratio = options.fill_percent / 100, used_bytes / place.total_bytes
    if reached_ratio < wanted_ratio - TOLERATED_RATIO:
        raise PlanRefusedError(
            f"fill: only {format_percent(reached_ratio)} of the file system can be filled instead of "
            f"{format_percent(wanted_ratio)}; fill less, or lower the target's reserve"
        )


def _planned_files(options: FillOptions, place: Place) -> int:
    """Return how many files fit. The load ends earlier if others fill the target."""
    space = {
        TARGET_TOTAL: place.total_bytes,
        TARGET_FREE: place.free_bytes,
        TARGET_RESERVE: place.reserve_bytes,
        TARGET_COUNT: place.target_count,
    }
    needed_bytes = evaluate(FillWorkload.bytes_needed, {**space, **options.model_dump()})
    return int(needed_bytes) // options.file_size_bytes


def _written(options: FillOptions, outcome: StepOutcome, file: File) -> _Written:
    name = f"{outcome.step.name}, file {file.file}"
    report = read_report(name, file.stderr, options.file_size_bytes, options.block_size_bytes)
    level_ratio = (file.used_bytes + options.file_size_bytes / 2) / file.total_bytes
    return _Written(file.file, report.copied_bytes, report.seconds, level_ratio, file.stdout)


def _part(options: FillOptions, outcome: StepOutcome) -> Part:
    files, _ = read_lines(outcome.step.name, outcome.stdout)
    written = [_written(options, outcome, file) for file in files]
    return Part.at_end(outcome, sum(file.size_bytes for file in written), sum(file.seconds for file in written))


def _rate(written: Sequence[_Written]) -> float:
    return sum(file.size_bytes for file in written) / sum(file.seconds for file in written)


def _labels(options: FillOptions, place: Place) -> Labels:
    return {"operation": "write", "file_size_bytes": options.file_size_bytes, "direct": _is_direct(options, place)}


def _band_samples(options: FillOptions, place: Place, written: Sequence[_Written]) -> list[Sample]:
    bands: dict[int, list[_Written]] = {}
    for file in written:
        bands.setdefault(BAND_PERCENT * floor(100 * file.level_ratio / BAND_PERCENT + 0.5), []).append(file)
    labels = _labels(options, place)
    return [
        Sample("throughput", _rate(files), labels | {"fill_percent": percent}, place.target_id)
        for percent, files in bands.items()
    ]


def _file_samples(options: FillOptions, place: Place, written: Sequence[_Written]) -> list[Sample]:
    planned = _planned_files(options, place)
    # By an option: the free space would give different series from run to run.
    width = next(width for width in _WIDTHS if options.file_count <= MOST_NUMBERS * width)
    labels = _labels(options, place)
    return [
        Sample(
            "file_throughput",
            _rate(written[begin : begin + width]),
            labels | {"file": min(begin + width, planned)},
            place.target_id,
        )
        for begin in range(0, len(written), width)
    ]


def _samples(options: FillOptions, place: Place, written: Sequence[_Written]) -> list[Sample]:
    labels = _labels(options, place)
    tenth = max(1, len(written) // _TENTH)
    rates = [file.rate for file in written]
    parts = {
        "first_tenth": _rate(written[:tenth]),
        "last_tenth": _rate(written[-tenth:]),
        "slowest_file": min(rates),
        "median_file": median(rates),
        "fastest_file": max(rates),
    }
    whole = {
        # With several targets, `conclude` gives their total in the same series.
        **({"total_throughput": _rate(written)} if place.target_count == 1 else {}),
        "end_ratio": parts["last_tenth"] / parts["first_tenth"],
        "slowest_ratio": parts["slowest_file"] / parts["median_file"],
    }
    return [
        *_band_samples(options, place, written),
        *_file_samples(options, place, written),
        *(Sample("part_throughput", rate, labels | {"part": part}, place.target_id) for part, rate in parts.items()),
        *(Sample(metric, value, labels, place.target_id) for metric, value in whole.items()),
    ]


def _flags(options: FillOptions, place: Place, outcome: StepOutcome, written: Sequence[_Written]) -> list[Answer]:
    flags = quality.judge_direct(place, wanted=options.flush == "direct")
    flags += quality.judge_flush("fill", flushed=options.flush != "none")
    flags += quality.judge_data(options.data)
    flags += quality.judge_duration("fill", sum(file.seconds for file in written), CLOCK_SECONDS)
    total_bytes = sum(file.size_bytes for file in written)
    flags += quality.judge_cache_size(place, total_bytes, direct=_is_direct(options, place))
    fed = written if options.data == "random" else ()
    sources = (quality.judge_source(replace(outcome, stdout=file.source_stdout)) for file in fed)
    flags += next(filter(None, sources), [])
    flags += _slow_files(written)
    return [quality.about(flag, {"operation": "write"}, place) for flag in flags]


def _slow_files(written: Sequence[_Written]) -> list[Answer]:
    middle = median(file.seconds for file in written)
    slow = [file for file in written if file.seconds > SLOW_FACTOR * middle]
    if not slow:
        return []
    shown = ", ".join(f"{file.number} ({format_seconds(file.seconds)})" for file in slow[:SHOWN_FILES])
    measured = f"{len(slow)} of {len(written)} files were slow, median {format_seconds(middle)}: {shown}"
    return [quality.marked(FlagCode.STRAGGLER, measured, f"{SLOW_FACTOR} x the median file")]
