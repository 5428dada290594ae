"""dd: one file written in a row and read back, the tool that everybody has and quotes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Before,
    Counters,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    Sample,
    Step,
    StepOutcome,
    Workload,
)
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.messages import Flag
from iotide_wire.units import Unit, format_bytes

CLOCK_SECONDS: Final = 1e-9
"""What dd reads; it prints six significant digits of the difference, which is a millionth of any figure."""

Operation = Literal["write", "read"]


_ORDER: Final[tuple[Operation, ...]] = ("write", "read")


class DdOptions(Options):
    """What dd writes and how it makes sure that the data arrived."""

    file_size_bytes: int = Field(
        default=1024**3,
        ge=512,
        le=2**60,
        title="File size",
        description="Size of the one file. Larger than twice the memory, or with O_DIRECT, the cache cannot hold it.",
        json_schema_extra={"x-unit": "bytes"},
    )
    block_size_bytes: int = Field(
        default=16 * 1024**2,
        ge=512,
        le=1024**3,
        multiple_of=512,
        title="Block size",
        description="What one read or write call moves, a multiple of 512 bytes. dd holds one block in memory.",
        json_schema_extra={"x-unit": "bytes"},
    )
    flush: Literal["fsync", "direct", "dsync", "none"] = Field(
        default="fsync",
        title="Flush",
        description=(
            "fsync: through the page cache, flushed inside the time. direct: past the cache with O_DIRECT, then "
            "flushed. dsync: each block waits for stable storage. none: into the page cache only; rejected from "
            "comparison."
        ),
    )
    operations: tuple[Operation, ...] = Field(
        default=("write", "read"),
        min_length=1,
        title="Operations",
        description="write makes the file; read reads it back after the caches were dropped.",
        json_schema_extra={"uniqueItems": True, "contains": {"const": "write"}},
    )

    @model_validator(mode="after")
    def _write_comes_once(self) -> Self:
        if "write" not in self.operations or len(set(self.operations)) != len(self.operations):
            raise ValueError("operations name write, and read at most once: read needs the file that write made")
        return self


class DdWorkload(Workload[DdOptions]):
    """Sequential throughput of one stream, and what the processor spent on it."""

    name: ClassVar[str] = "dd"
    title: ClassVar[str] = "dd: one sequential stream"
    description: ClassVar[str] = "Writes one file of zeroes from start to end, flushes it and reads it back."
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "dd"
    package: ClassVar[str] = "coreutils"
    version_argv: ClassVar[tuple[str, ...]] = ("dd", "--version")
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        MetricSpec(
            name="throughput",
            title="Throughput",
            unit=Unit.BYTES_PER_SECOND,
            better="higher",
            labels=("operation", "file_size_bytes", "direct"),
        ),
        MetricSpec(
            name="duration",
            title="Duration, by part: real, user, sys, and wait = real - user - sys",
            unit=Unit.SECONDS,
            better="lower",
            labels=("operation", "file_size_bytes", "direct", "part"),
        ),
    )
    bytes_needed: ClassVar[Expression] = Option.of("file_size_bytes")
    bytes_moved: ClassVar[Expression] = Option.of("file_size_bytes") * Option.of("operations")
    options_type = DdOptions

    def steps(self, options: DdOptions, place: Place) -> list[Step]:
        """One dd for each operation, the write first."""
        return [_step(operation, options, place) for operation in _ORDER if operation in options.operations]

    def parse(self, options: DdOptions, place: Place, outcomes: Sequence[StepOutcome]) -> Parsed:
        """Rates from dd's own byte count and seconds, times from wait4."""
        direct = _is_direct(options, place)
        flags = quality.judge_direct(place, wanted=options.flush == "direct")
        if outcomes:
            flags += quality.judge_cache_size(place, options.file_size_bytes, direct=direct)
        samples: list[Sample] = []
        for outcome in outcomes:
            report = _checked_report(options, outcome)
            samples += _samples(options, place, outcome, report)
            flags += _flags(options, outcome, report, direct=direct)
        return Parsed(samples, flags)

    def failure(self, outcome: StepOutcome) -> str | None:
        """The message of dd itself, which stands above the record counts that it prints after any error."""
        complaint = _COMPLAINT.search(outcome.stderr)
        if outcome.signal is None and outcome.exit_status != 0 and complaint:
            return complaint[0]
        return super().failure(outcome)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """By the file's bytes: dd reads as many as it writes, from /dev/zero or to /dev/null."""
        del output_tail
        if not step.bytes_moved:
            return None
        return min(1.0, max(counters.written_bytes, counters.read_bytes) / step.bytes_moved)


@dataclass(frozen=True, slots=True)
class _Report:
    whole_records: int
    partial_records: int
    copied_bytes: int
    seconds: float


_COMPLAINT: Final = re.compile(r"^dd: .*", re.MULTILINE)
_REPORT: Final = re.compile(
    r"^(?P<whole_in>\d+)\+(?P<partial_in>\d+) records in\n"
    r"(?P<whole_out>\d+)\+(?P<partial_out>\d+) records out\n"
    r"(?P<bytes>\d+) bytes?(?: \([^()\n]*\))? copied, (?P<seconds>\d+(?:\.\d+)?(?:e-\d+)?) s, [\d.]+ [kMGTPE]?B/s\n\Z",
    re.MULTILINE,
)


def _is_direct(options: DdOptions, place: Place) -> bool:
    return options.flush == "direct" and place.direct_works


def _step(operation: Operation, options: DdOptions, place: Place) -> Step:
    file = place.directory / "dd.data"
    block = f"bs={options.block_size_bytes}"
    direct = _is_direct(options, place)
    if operation == "write":
        count = (f"count={options.file_size_bytes}", "iflag=count_bytes")
        argv = ("dd", "if=/dev/zero", f"of={file}", block, *count, *_flush_arguments(options, direct=direct))
    else:
        argv = ("dd", f"if={file}", "of=/dev/null", block, *(("iflag=direct",) if direct else ()))
    verb = "writing" if operation == "write" else "reading"
    return Step(
        name=operation,
        phase=f"{verb} {format_bytes(options.file_size_bytes)}",
        argv=argv,
        target_id=place.target_id,
        bytes_moved=options.file_size_bytes,
        before=Before.SYNC if operation == "write" else Before.DROP,
        declared_files=(file,),
    )


def _flush_arguments(options: DdOptions, *, direct: bool) -> tuple[str, ...]:
    match options.flush:
        case "none":
            return ()
        case "dsync":
            return ("oflag=dsync",)
        case "direct" if direct:
            return ("oflag=direct", "conv=fsync")
        case _:
            return ("conv=fsync",)


def _checked_report(options: DdOptions, outcome: StepOutcome) -> _Report:
    name, text = outcome.step.name, outcome.stderr
    match = _REPORT.search(text)
    if match is None or _COMPLAINT.search(text):
        raise OutputRefusedError(name, "dd did not end with its three lines of counts alone", text)
    if (match["whole_in"], match["partial_in"]) != (match["whole_out"], match["partial_out"]):
        raise OutputRefusedError(name, "dd read another number of records than it wrote", text)
    report = _Report(int(match["whole_in"]), int(match["partial_in"]), int(match["bytes"]), float(match["seconds"]))
    whole, rest = divmod(options.file_size_bytes, options.block_size_bytes)
    expected = (whole, 1 if rest else 0, options.file_size_bytes)
    if (report.whole_records, report.partial_records, report.copied_bytes) != expected:
        raise OutputRefusedError(name, f"the plan was {expected[0]}+{expected[1]} records of {expected[2]} bytes", text)
    if report.seconds <= 0:
        raise OutputRefusedError(name, "no time passed", text)
    return report


def _samples(options: DdOptions, place: Place, outcome: StepOutcome, report: _Report) -> list[Sample]:
    labels: dict[str, str | int | float | bool] = {
        "operation": outcome.step.name,
        "file_size_bytes": options.file_size_bytes,
        "direct": _is_direct(options, place),
    }
    busy_seconds = outcome.user_seconds + outcome.system_seconds
    parts = {
        "real": outcome.wall_seconds,
        "user": outcome.user_seconds,
        "sys": outcome.system_seconds,
        # The kernel counts processor time in ticks, so a run that never waits can show a hair more than it took.
        "wait": max(0.0, outcome.wall_seconds - busy_seconds),
    }
    return [
        Sample("throughput", report.copied_bytes / report.seconds, labels, place.target_id),
        *(Sample("duration", seconds, labels | {"part": part}, place.target_id) for part, seconds in parts.items()),
    ]


def _flags(options: DdOptions, outcome: StepOutcome, report: _Report, *, direct: bool) -> list[Flag]:
    duration = quality.judge_duration(outcome.step.name, report.seconds, CLOCK_SECONDS)
    if outcome.step.name == "read":
        return duration + quality.judge_cache_drop(outcome, direct=direct)
    return duration + quality.judge_flush("write", flushed=options.flush != "none")
