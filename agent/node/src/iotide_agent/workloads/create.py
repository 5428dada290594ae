"""create: many empty files created, looked up and removed, natively or with one touch process per file."""

import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
from iotide_agent.workloads.bounds import AtWork
from iotide_agent.workloads.metrics import DURATION, OPERATION_RATE, TOTAL_OPERATION_RATE, race_by
from iotide_agent.workloads.writers import Part, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import KIB, MIB, format_percent, format_seconds

CLOCK_SECONDS: Final = 1e-9
BYTES_PER_FILE: Final = 1024
"""Space of an empty file: its inode and its directory entry."""
BYTES_PER_DIRECTORY: Final = 5 * KIB
"""The same for a directory, with its block."""
_LONGEST_UP_SECONDS: Final = 1e10
"""No node has been up for longer, so a larger value is not a time."""
_LOAD: Final = Path(__file__).parent.parent / "loads" / "create_files.py"
_PHASES: Final = (
    ("create", "creating", Before.SYNC),
    ("stat", "looking up", Before.DROP),
    ("delete", "removing", Before.SYNC),
)
_DONE: Final = re.compile(r"^done (?P<files>\d{1,15}) (?P<seconds>\d{1,15}\.\d{6})$", re.MULTILINE)


_PYTHON_BYTES: Final = 12 * MIB


class CreateOptions(Options):
    file_count: int = Field(default=10_000, ge=1, le=10_000_000, title="Files")
    """Number of empty files that each process creates."""
    processes: int = Field(default=1, ge=1, le=256, title="Processes")
    """Number of parallel processes."""
    directories: int = Field(default=1, ge=1, le=10_000, title="Directories")
    """Number of directories over which each process spreads its files, round robin."""
    shared: bool = Field(default=False, title="Shared directories")
    """All processes work in the same directories and contend for them, as ranks of a job often do."""
    mode: Literal["native", "fork-touch"] = Field(default="native", title="Mode")
    """native: one process opens and closes each file. fork-touch: one touch process per file, as in shell scripts; most
    of its time goes into starting processes.
    """

    def at_work(self) -> AtWork:
        return AtWork(self.processes, _PYTHON_BYTES)


_DIRECTORIES: Final = Option.of("directories") * (
    Option.of("processes") - Option.of("shared") * (Option.of("processes") - 1)
)
_ROOM: Final = Option.of("file_count") * Option.of("processes") * BYTES_PER_FILE + _DIRECTORIES * BYTES_PER_DIRECTORY


class CreateWorkload(Workload[CreateOptions]):
    name: ClassVar[str] = "create"
    title: ClassVar[str] = "create: many empty files"
    description: ClassVar[str] = (
        "Creates empty files in a new directory, flushes the directory, looks up each file and removes it. "
        "Each part is timed separately."
    )
    revision: ClassVar[int] = 3
    tool: ClassVar[str | None] = None
    needs_python: ClassVar[bool] = True
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_OPERATION_RATE.by(
            "operation",
            description=(
                "Files created, looked up or removed per second by all processes, from the first start to the last end."
            ),
            primary=True,
        ),
        OPERATION_RATE.by(
            "operation",
            "writer",
            description="Files created, looked up or removed per second, by each process if several work at once.",
            primary=True,
        ),
        DURATION.by("operation", "writer"),
        *race_by("operation"),
    )
    bytes_needed: ClassVar[Expression] = _ROOM
    files_needed: ClassVar[Expression] = Option.of("file_count") * Option.of("processes") + _DIRECTORIES
    bytes_moved: ClassVar[Expression] = _ROOM
    options_type = CreateOptions

    def plan(self, options: CreateOptions, places: Sequence[Place]) -> list[Group]:
        """The processes of all targets meet in the first scratch directory."""
        return super().plan(options, [replace(place, scratch=places[0].scratch) for place in places])

    def groups(self, options: CreateOptions, place: Place) -> list[Group]:
        numbers = range(1, options.processes + 1) if options.processes > 1 else (None,)
        return [
            tuple(
                Step(
                    name=name if number is None else f"{name}-{number}",
                    phase=f"{verb} {options.file_count:,} files",
                    argv=_argv(name, options, place, number or 1),
                    target_id=place.target_id,
                    writer=number,
                    before=before,
                    # On SIGINT it reports how far it came.
                    stop_signal=signal.SIGINT,
                    threads=1,
                )
                for number in numbers
            )
            for name, verb, before in _PHASES
        ]

    def read(self, options: CreateOptions, place: Place, outcome: StepOutcome) -> Parsed:
        operation = _operation(outcome)
        report = _checked_report(options, outcome)
        flags = quality.judge_metadata_duration(operation, report.seconds, CLOCK_SECONDS)
        if operation == "stat":
            flags += quality.judge_cache_drop(place, outcome, direct=False)
        if operation == "create" and options.mode == "fork-touch":
            flags.append(_fork_bound(outcome, report))
        about = [quality.about(flag, {"operation": operation}, place) for flag in flags]
        return Parsed(_samples(report, outcome, place), about)

    def read_cut(self, options: CreateOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Return the rate that the load last reported, once a second and at an error."""
        reported = list(_DONE.finditer(outcome.stderr))
        if not reported or not int(reported[-1]["files"]) or not float(reported[-1]["seconds"]):
            return Parsed()
        rate = int(reported[-1]["files"]) / float(reported[-1]["seconds"])
        return Parsed([Sample("operation_rate", rate, _labels(outcome), place.target_id)])

    def conclude(self, options: CreateOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        found = []
        for operation, _, _ in _PHASES:
            parts = [_part(options, done) for done in outcomes if _operation(done) == operation]
            found.append(together(parts, {"operation": operation}, total="total_operation_rate"))
        return Parsed.of_all(found)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        reported = list(_DONE.finditer(output_tail))
        return min(1.0, int(reported[-1]["files"]) / int(step.argv[-1])) if reported else None


class _Report(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    operation: Literal["create", "touch", "stat", "delete"]
    file_count: int
    started_seconds: Annotated[float, Field(ge=0, le=_LONGEST_UP_SECONDS, allow_inf_nan=False)]
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    directory_fsync_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


def _operation(outcome: StepOutcome) -> str:
    return outcome.step.name.partition("-")[0]


def _labels(outcome: StepOutcome) -> Labels:
    own: Labels = {"operation": _operation(outcome)}
    return own if outcome.step.writer is None else own | {"writer": outcome.step.writer}


def _argv(name: str, options: CreateOptions, place: Place, number: int) -> tuple[str, ...]:
    meeting = (str(place.scratch / f"{name}.meeting"), str(options.processes * place.target_count))
    directory = place.directory / ("files" if options.shared else f"files-{number}")
    counts = (str(options.directories), str(options.file_count))
    operation = _load_operation(name, options)
    return (sys.executable, "-I", "-S", str(_LOAD), operation, *meeting, str(directory), f"p{number}-", *counts)


def _load_operation(name: str, options: CreateOptions) -> str:
    return "touch" if name == "create" and options.mode == "fork-touch" else name


def _checked_report(options: CreateOptions, outcome: StepOutcome) -> _Report:
    name, text = _operation(outcome), outcome.stdout
    try:
        report = _Report.model_validate_json(text)
    except ValidationError as error:
        raise OutputRefusedError(
            name, f"expected one line of JSON from the load ({error.error_count()} errors)", text
        ) from error
    asked_for = _load_operation(name, options)
    if (report.operation, report.file_count) != (asked_for, options.file_count):
        raise OutputRefusedError(name, f"the plan was to {asked_for} {options.file_count} files", text)
    if (report.directory_fsync_seconds is None) == (name == "create"):
        raise OutputRefusedError(
            name, "create must report the flush of the directory, and no other operation may", text
        )
    return report


def _part(options: CreateOptions, outcome: StepOutcome) -> Part:
    report = _checked_report(options, outcome)
    began_at = datetime.fromtimestamp(report.started_seconds, UTC)
    return Part(outcome.step.target_id, began_at, report.file_count, report.seconds)


def _samples(report: _Report, outcome: StepOutcome, place: Place) -> list[Sample]:
    labels = _labels(outcome)
    samples = [
        Sample("operation_rate", report.file_count / report.seconds, labels, place.target_id),
        Sample("duration", report.seconds, labels, place.target_id),
    ]
    if report.directory_fsync_seconds is not None:
        flush = labels | {"operation": "directory_fsync"}
        samples.append(Sample("duration", report.directory_fsync_seconds, flush, place.target_id))
    return samples


def _fork_bound(outcome: StepOutcome, report: _Report) -> Flag:
    file_seconds = report.seconds / report.file_count
    busy_ratio = (outcome.user_seconds + outcome.system_seconds) / report.seconds
    measured = f"{format_seconds(file_seconds)} per file, {format_percent(busy_ratio)} of it CPU time"
    return quality.marked(FlagCode.FORK_BOUND, measured, "native mode, which starts no process per file")
