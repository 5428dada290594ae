"""dd: a file written, overwritten and read back sequentially, by one or several writers."""

import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

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
    Workload,
)
from iotide_agent.workloads.bounds import AtWork, MemoryNeed, product
from iotide_agent.workloads.metrics import DURATION, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.option_types import AutoSize, Bytes, choices, size_bytes
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import Part, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.measured import Answer
from iotide_wire.units import GIB, KIB, MIB, format_bytes

CLOCK_SECONDS: Final = 1e-9
"""Resolution of dd's clock. Six significant digits of a duration are exact to a millionth."""

Operation = Literal["write", "overwrite", "read"]

VERSION_ARGV: Final = ("dd", "--version")
VERSION_PATTERN: Final = r"(?:[\s\S]*?(?=BusyBox v))?(\S.*)"
"""BusyBox names itself in its usage message only, which may follow an error message."""
# BusyBox lacks oflag=dsync and prints its counts otherwise.
RELEASES: Final = (
    Releases("uutils dd", "0.8", "0.8", mark="uutils"),
    Releases("GNU dd", "8.0", "9", mark="coreutils)"),
)

_SOURCE: Final = Path(__file__).parent.parent / "loads" / "random_source.py"
_VERBS: Final[dict[Operation, str]] = {"write": "writing", "overwrite": "overwriting", "read": "reading"}
_LABELS: Final = ("operation", "file_size_bytes", "direct")

BlockSize = Annotated[
    Bytes,
    Field(
        ge=512,
        le=GIB,
        multiple_of=512,
        title="Block size",
        description="Bytes per read or write call, a multiple of 512. dd holds one block in memory.",
    ),
]
Flush = Annotated[
    Literal["fsync", "direct", "dsync", "none"],
    Field(
        title="Flush",
        description=(
            "fsync: through the page cache, flushed within the measured time. direct: bypass the cache with O_DIRECT, "
            "then flush. dsync: each block waits for stable storage. none: into the page cache only; rejected as not "
            "comparable."
        ),
    ),
]


class DdOptions(Options):
    file_size_bytes: Annotated[AutoSize, Field(title="File size")] = "auto"
    """Size of each writer's file. auto: twice the node's memory, which measures the storage. Smaller files may
    measure the cache unless O_DIRECT bypasses it.
    """
    block_size_bytes: BlockSize = 16 * MIB
    flush: Flush = "fsync"
    operations: tuple[Operation, ...] = choices("write", "read", title="Operations", needs="write")
    """write creates the file, overwrite writes it again in place, read reads it back after the caches were dropped.
    Always in this order.
    """
    data: Literal["zeroes", "random"] = Field(default="zeroes", title="Data")
    """zeroes: the usual choice, but storage that compresses or deduplicates shows rates that are too high. random:
    incompressible blocks that never repeat; iotide checks that their source is fast enough.
    """
    writers: int = Field(default=1, ge=1, le=64, title="Writers")
    """Number of parallel dd processes, each with its own file."""

    def memory_needed(self) -> MemoryNeed:
        return product(self, "block_size_bytes", "writers")

    def at_work(self) -> AtWork:
        return AtWork(self.writers * (2 if self.data == "random" else 1))

    @model_validator(mode="after")
    def _write_comes_once(self) -> Self:
        if "write" not in self.operations or len(set(self.operations)) != len(self.operations):
            raise ValueError(
                f"operations = {list(self.operations)}: include write, which creates the file, and list each operation "
                "only once"
            )
        return self


_COMPLAINT: Final = re.compile(r"^dd: .*", re.MULTILINE)
"""Precedes the record counts, which dd prints after any error."""


class DdWorkload(Workload[DdOptions]):
    name: ClassVar[str] = "dd"
    title: ClassVar[str] = "dd: sequential streams"
    description: ClassVar[str] = "Writes a file from start to end, flushes it, overwrites it and reads it back."
    revision: ClassVar[int] = 2
    tool: ClassVar[str | None] = "dd"
    package: ClassVar[str] = "coreutils"
    version_argv: ClassVar[tuple[str, ...]] = VERSION_ARGV
    version_pattern: ClassVar[str] = VERSION_PATTERN
    version_in_usage: ClassVar[bool] = True
    supported: ClassVar[tuple[Releases, ...]] = RELEASES
    complaint: ClassVar[re.Pattern[str] | None] = _COMPLAINT
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(*_LABELS, "writer", description="Of each writer, by dd's own bytes and seconds.", primary=True),
        DURATION.by(
            *_LABELS,
            "writer",
            "part",
            description=(
                "Of the dd process including its start: elapsed time (real), CPU time (user, sys), and wait = real - "
                "user - sys."
            ),
        ),
        *race_by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = Option.of("file_size_bytes") * Option.of("writers")
    bytes_moved: ClassVar[Expression] = Option.of("file_size_bytes") * Option.of("writers") * Option.of("operations")
    options_type = DdOptions

    def groups(self, options: DdOptions, place: Place) -> list[Group]:
        numbers = range(1, options.writers + 1) if options.writers > 1 else (None,)
        return [
            tuple(_step(operation, options, place, number) for number in numbers)
            for operation in _VERBS
            if operation in options.operations
        ]

    def read(self, options: DdOptions, place: Place, outcome: StepOutcome) -> Parsed:
        report = _checked_report(options, place, outcome)
        labels = _labels(options, place, outcome.step)
        if outcome.step.writer is not None:
            labels["writer"] = outcome.step.writer
        cost = quality.source_report(outcome) or outcome
        parts = {
            "real": cost.wall_seconds,
            "user": cost.user_seconds,
            "sys": cost.system_seconds,
            # The kernel counts CPU time in ticks: a run that never waits may show slightly more than its elapsed
            # time.
            "wait": max(0.0, cost.wall_seconds - cost.user_seconds - cost.system_seconds),
        }
        samples = [
            Sample("throughput", report.copied_bytes / report.seconds, labels, place.target_id),
            *(Sample("duration", seconds, labels | {"part": part}, place.target_id) for part, seconds in parts.items()),
        ]
        return Parsed(samples, _flags(options, place, outcome, report))

    def read_cut(self, options: DdOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Return the rate that dd prints when interrupted, and after most errors."""
        match = _REPORT.search(outcome.stderr)
        if match is None or not int(match["bytes"]) or float(match["seconds"]) <= 0:
            return Parsed()
        labels = _labels(options, place, outcome.step)
        if outcome.step.writer is not None:
            labels["writer"] = outcome.step.writer
        rate = int(match["bytes"]) / float(match["seconds"])
        return Parsed([Sample("throughput", rate, labels, place.target_id)])

    def conclude(self, options: DdOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        place_of = {place.target_id: place for place in places}
        found = []
        for operation in options.operations:
            own = [done for done in outcomes if _operation(done.step) == operation]
            reports = [_checked_report(options, place_of[done.step.target_id], done) for done in own]
            parts = [
                Part.at_end(done, report.copied_bytes, report.seconds)
                for done, report in zip(own, reports, strict=True)
            ]
            found.append(together(parts, _labels(options, places[0].seen_by(own[0]), own[0].step)))
        return Parsed.of_all(found)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        if not step.bytes_moved:
            return None
        return min(1.0, max(counters.written_bytes, counters.read_bytes) / step.bytes_moved)


@dataclass(frozen=True, slots=True)
class DdReport:
    whole_records: int
    partial_records: int
    copied_bytes: int
    seconds: float


_BULK_FLUSH_BYTES: Final = 4 * MIB
"""Each flush makes a journal or a tree write up to some hundred KiB."""
_BULK_BLOCK_BYTES: Final = 64 * KIB
"""With O_DIRECT each block may become its own extent, with some hundred bytes of metadata."""
_REPORT: Final = re.compile(
    r"^(?P<whole_in>\d{1,18})\+(?P<partial_in>\d{1,18}) records in\n"
    r"(?P<whole_out>\d{1,18})\+(?P<partial_out>\d{1,18}) records out\n"
    r"(?P<bytes>\d{1,18}) bytes?(?: \([^()\n]*\))? copied, "
    r"(?P<seconds>\d{1,15}(?:\.\d{1,15})?(?:e-\d{1,2})?) s, [\d.]+ [kMGTPE]?B/s\n\Z",
    re.MULTILINE,
)


def _is_direct(options: DdOptions, place: Place) -> bool:
    return options.flush == "direct" and place.direct_works


def _file_bytes(options: DdOptions, place: Place) -> int:
    return size_bytes(options.file_size_bytes, place)


def _operation(step: Step) -> str:
    return step.name.partition("-")[0]


def _labels(options: DdOptions, place: Place, step: Step) -> Labels:
    return {
        "operation": _operation(step),
        "file_size_bytes": _file_bytes(options, place),
        "direct": _is_direct(options, place),
    }


def _step(operation: Operation, options: DdOptions, place: Place, writer: int | None) -> Step:
    number = f"-{writer}" if writer else ""
    file = place.directory / f"dd{number}.data"
    file_bytes = _file_bytes(options, place)
    return Step(
        name=f"{operation}{number}",
        phase=f"{_VERBS[operation]} {format_bytes(file_bytes)}" + (" each" if writer else ""),
        argv=_argv(operation, options, place, file),
        target_id=place.target_id,
        writer=writer,
        bytes_moved=file_bytes,
        before=Before.DROP if operation == "read" else Before.SYNC,
        declared_files=(file,),
        direct_files=(file,) if _is_direct(options, place) else (),
        # dd reports how far it came on SIGINT, but not on SIGTERM.
        stop_signal=signal.SIGINT,
        is_even=True,
        is_bulk=operation != "read" and _is_bulk(options, place),
        threads=2 if options.data == "random" and operation != "read" else 1,
    )


def _is_bulk(options: DdOptions, place: Place) -> bool:
    direct = _is_direct(options, place)
    return is_bulk(options.flush, options.block_size_bytes, _file_bytes(options, place), direct=direct)


def is_bulk(flush: str, block_bytes: int, file_bytes: int, *, direct: bool) -> bool:
    flushed_bytes = min(block_bytes, file_bytes) if flush == "dsync" else file_bytes
    return flushed_bytes >= _BULK_FLUSH_BYTES and (not direct or block_bytes >= _BULK_BLOCK_BYTES)


def _argv(operation: Operation, options: DdOptions, place: Place, file: Path) -> tuple[str, ...]:
    block = f"bs={options.block_size_bytes}"
    direct = _is_direct(options, place)
    if operation == "read":
        return ("dd", f"if={file}", "of=/dev/null", block, *(("iflag=direct",) if direct else ()))
    return write_argv(
        options.data,
        (f"of={file}", block, f"count={_file_bytes(options, place)}"),
        options.flush,
        direct=direct,
        conversions=("notrunc",) if operation == "overwrite" else (),
    )


def write_argv(
    data: str, operands: Sequence[str], flush: str, *, direct: bool, conversions: Sequence[str] = ()
) -> tuple[str, ...]:
    """Without a working O_DIRECT, dd uses the cache and flushes."""
    flushing = ["fsync"] if flush in {"fsync", "direct"} else []
    flags = [f"oflag={'direct' if direct else 'dsync'}"] if direct or flush == "dsync" else []
    ending = [*flags, *([f"conv={','.join((*conversions, *flushing))}"] if (*conversions, *flushing) else [])]
    # count_bytes: any size works with any block size.
    if data == "random":
        source = (sys.executable, "-I", "-S", str(_SOURCE))
        return (*source, "dd", *operands, "iflag=count_bytes,fullblock", *ending)
    return ("dd", "if=/dev/zero", *operands, "iflag=count_bytes", *ending)


def _checked_report(options: DdOptions, place: Place, outcome: StepOutcome) -> DdReport:
    return read_report(outcome.step.name, outcome.stderr, _file_bytes(options, place), options.block_size_bytes)


def read_report(step: str, text: str, file_bytes: int, block_bytes: int) -> DdReport:
    match = _REPORT.search(text)
    if match is None or _COMPLAINT.search(text):
        raise OutputRefusedError(step, "expected only dd's three lines of counts at the end", text)
    if (match["whole_in"], match["partial_in"]) != (match["whole_out"], match["partial_out"]):
        raise OutputRefusedError(step, "dd read and wrote different numbers of records", text)
    report = DdReport(int(match["whole_in"]), int(match["partial_in"]), int(match["bytes"]), float(match["seconds"]))
    whole, rest = divmod(file_bytes, block_bytes)
    expected = (whole, 1 if rest else 0, file_bytes)
    if (report.whole_records, report.partial_records, report.copied_bytes) != expected:
        raise OutputRefusedError(step, f"the plan was {expected[0]}+{expected[1]} records of {expected[2]} bytes", text)
    if report.seconds <= 0:
        raise OutputRefusedError(step, "dd reports no elapsed time", text)
    return report


def _flags(options: DdOptions, place: Place, outcome: StepOutcome, report: DdReport) -> list[Answer]:
    direct = _is_direct(options, place)
    flags = quality.judge_direct(place, wanted=options.flush == "direct")
    flags += quality.judge_cache_size(place, report.copied_bytes * options.writers, direct=direct)
    flags += quality.judge_duration(outcome.step.name, report.seconds, CLOCK_SECONDS)
    flags += quality.judge_clock(outcome, report.seconds)
    if _operation(outcome.step) == "read":
        flags += quality.judge_cache_drop(place, outcome, direct=direct)
    else:
        flags += quality.judge_flush(_operation(outcome.step), flushed=options.flush != "none")
        flags += quality.judge_data(options.data)
        flags += quality.judge_source(outcome) if options.data == "random" else []
    labels = {"operation": _operation(outcome.step)}
    return [quality.about(flag, labels, place) for flag in flags]
