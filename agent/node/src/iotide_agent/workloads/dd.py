"""dd: a file written in a row, overwritten and read back, by one or several writers; the tool that everybody quotes."""

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
from iotide_agent.workloads.writers import Part, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.measured import Answer
from iotide_wire.units import GIB, KIB, MIB, format_bytes

CLOCK_SECONDS: Final = 1e-9
"""What dd reads; it prints six significant digits of the difference, which is a millionth of any figure."""

Operation = Literal["write", "overwrite", "read"]

_SOURCE: Final = Path(__file__).parent.parent / "loads" / "random_source.py"
_VERBS: Final[dict[Operation, str]] = {"write": "writing", "overwrite": "overwriting", "read": "reading"}
"""In the order in which they are done."""
_LABELS: Final = ("operation", "file_size_bytes", "direct")

BlockSize = Annotated[
    Bytes,
    Field(
        ge=512,
        le=GIB,
        multiple_of=512,
        title="Block size",
        description="What one read or write call moves, a multiple of 512 bytes. dd holds one block in memory.",
    ),
]
Flush = Annotated[
    Literal["fsync", "direct", "dsync", "none"],
    Field(
        title="Flush",
        description=(
            "fsync: through the page cache, flushed inside the time. direct: past the cache with O_DIRECT, then "
            "flushed. dsync: each block waits for stable storage. none: into the page cache only; rejected from "
            "comparison."
        ),
    ),
]
"""When the written data counts as arrived."""


class DdOptions(Options):
    """What dd writes and how it makes sure that the data arrived."""

    file_size_bytes: Annotated[AutoSize, Field(title="File size")] = "auto"
    """Size of each writer's file; auto is twice the node's memory, which measures the storage. A smaller one may be
    measured in the cache unless O_DIRECT goes around it."""
    block_size_bytes: BlockSize = 16 * MIB
    flush: Flush = "fsync"
    operations: tuple[Operation, ...] = choices("write", "read", title="Operations", needs="write")
    """write makes the file; overwrite writes it again in place; read reads it back after the caches were dropped. Done
    in this order."""
    data: Literal["zeroes", "random"] = Field(default="zeroes", title="Data")
    """zeroes, as everybody does; file systems and arrays that compress or dedupe them show too much. random: from a
    source of incompressible blocks that never repeat, whose own speed is checked."""
    writers: int = Field(default=1, ge=1, le=64, title="Writers")
    """dd processes side by side, each on a file of its own."""

    def memory_needed(self) -> MemoryNeed:
        return product(self, "block_size_bytes", "writers")

    def at_work(self) -> AtWork:
        """Return a process for each writer, and its source of random data."""
        return AtWork(self.writers * (2 if self.data == "random" else 1))

    @model_validator(mode="after")
    def _write_comes_once(self) -> Self:
        if "write" not in self.operations or len(set(self.operations)) != len(self.operations):
            raise ValueError(
                f"operations = {list(self.operations)}: name write, and overwrite and read at most once: they need the "
                "file that write made"
            )
        return self


_COMPLAINT: Final = re.compile(r"^dd: .*", re.MULTILINE)
"""Stands above the record counts that dd prints after any error."""


class DdWorkload(Workload[DdOptions]):
    """Sequential throughput of streams, and what the processor spent on them."""

    name: ClassVar[str] = "dd"
    title: ClassVar[str] = "dd: sequential streams"
    description: ClassVar[str] = "Writes a file from start to end, flushes it, overwrites it and reads it back."
    revision: ClassVar[int] = 2
    tool: ClassVar[str | None] = "dd"
    package: ClassVar[str] = "coreutils"
    version_argv: ClassVar[tuple[str, ...]] = ("dd", "--version")
    complaint: ClassVar[re.Pattern[str] | None] = _COMPLAINT
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(*_LABELS, "writer", description="Of each writer, by dd's own bytes and seconds.", primary=True),
        DURATION.by(
            *_LABELS,
            "writer",
            "part",
            description=(
                "Of the whole process of dd, with its start: elapsed time (real), processor time (user, sys), and wait "
                "= real - user - sys."
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
        """The rate from dd's own byte count and seconds, times from wait4."""
        report = _checked_report(options, place, outcome)
        labels = _labels(options, place, outcome.step)
        if outcome.step.writer is not None:
            labels["writer"] = outcome.step.writer
        cost = quality.source_report(outcome) or outcome
        parts = {
            "real": cost.wall_seconds,
            "user": cost.user_seconds,
            "sys": cost.system_seconds,
            # The kernel counts processor time in ticks, so a run that never waits can show a hair more than it took.
            "wait": max(0.0, cost.wall_seconds - cost.user_seconds - cost.system_seconds),
        }
        samples = [
            Sample("throughput", report.copied_bytes / report.seconds, labels, place.target_id),
            *(Sample("duration", seconds, labels | {"part": part}, place.target_id) for part, seconds in parts.items()),
        ]
        return Parsed(samples, _flags(options, place, outcome, report))

    def read_cut(self, options: DdOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """How fast it was until it was cut: dd says so when it is interrupted, and after most errors."""
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
            found.append(together(parts, _labels(options, places[0], own[0].step)))
        return Parsed.of_all(found)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        if not step.bytes_moved:
            return None
        return min(1.0, max(counters.written_bytes, counters.read_bytes) / step.bytes_moved)


@dataclass(frozen=True, slots=True)
class DdReport:
    """What dd counted, and its own seconds."""

    whole_records: int
    partial_records: int
    copied_bytes: int
    seconds: float


_BULK_FLUSH_BYTES: Final = 4 * MIB
"""With each flush a journal or a tree writes up to some hundred kibibytes."""
_BULK_BLOCK_BYTES: Final = 64 * KIB
"""Past the cache each block may become an extent of its own, with some hundred bytes about it."""
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
        # dd says how far it came when it is interrupted, and nothing when it is terminated.
        stop_signal=signal.SIGINT,
        is_even=True,
        is_bulk=operation != "read" and _is_bulk(options, place),
        threads=2 if options.data == "random" and operation != "read" else 1,
    )


def _is_bulk(options: DdOptions, place: Place) -> bool:
    direct = _is_direct(options, place)
    return is_bulk(options.flush, options.block_size_bytes, _file_bytes(options, place), direct=direct)


def is_bulk(flush: str, block_bytes: int, file_bytes: int, *, direct: bool) -> bool:
    """Whether what a dd flushes at a time, or writes past the cache, is long against a file system's blocks."""
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
    """A dd that writes as many bytes as its `count=` says, flushed as asked for.

    A refused O_DIRECT becomes a write through the cache, flushed; blocks that waited need no flush.
    """
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
    """Read what a dd says that was to move `file_bytes` in blocks; raise OutputRefusedError for anything else."""
    match = _REPORT.search(text)
    if match is None or _COMPLAINT.search(text):
        raise OutputRefusedError(step, "dd did not end with its three lines of counts alone", text)
    if (match["whole_in"], match["partial_in"]) != (match["whole_out"], match["partial_out"]):
        raise OutputRefusedError(step, "dd read another number of records than it wrote", text)
    report = DdReport(int(match["whole_in"]), int(match["partial_in"]), int(match["bytes"]), float(match["seconds"]))
    whole, rest = divmod(file_bytes, block_bytes)
    expected = (whole, 1 if rest else 0, file_bytes)
    if (report.whole_records, report.partial_records, report.copied_bytes) != expected:
        raise OutputRefusedError(step, f"the plan was {expected[0]}+{expected[1]} records of {expected[2]} bytes", text)
    if report.seconds <= 0:
        raise OutputRefusedError(step, "no time passed", text)
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
