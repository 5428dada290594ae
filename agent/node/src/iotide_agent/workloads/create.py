"""create: many empty files made, looked up and removed, natively or by the real touch as shell scripts do it."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
)
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.messages import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit

CLOCK_SECONDS: Final = 1e-9
BYTES_PER_FILE: Final = 1024
"""Room that an empty file takes: its inode and its name in the directory."""
_LOAD: Final = Path(__file__).parent.parent / "loads" / "create_files.py"
_PARTS: Final = (
    ("create", "creating", Before.SYNC),
    ("stat", "looking up", Before.DROP),
    ("delete", "removing", Before.SYNC),
)
_DONE: Final = re.compile(r"^done (\d+)$", re.MULTILINE)


class CreateOptions(Options):
    """How many files, and who makes them."""

    file_count: int = Field(
        default=10_000,
        ge=1,
        le=10_000_000,
        title="Files",
        description="How many empty files each process makes.",
    )
    processes: int = Field(default=1, ge=1, le=256, title="Processes", description="Processes side by side.")
    directories: int = Field(
        default=1,
        ge=1,
        le=10_000,
        title="Directories",
        description="Over how many directories a process spreads its files, one after another.",
    )
    shared: bool = Field(
        default=False,
        title="Shared directories",
        description="All processes work in the same directories, as ranks of a job often do, and contend for them.",
    )
    mode: Literal["native", "fork-touch"] = Field(
        default="native",
        title="Made by",
        description=(
            "native: one process that opens and closes each file. fork-touch: one process of the real touch for each "
            "file, as shell scripts do it; most of its time is the start of processes."
        ),
    )


class CreateWorkload(Workload[CreateOptions]):
    """Rates of metadata operations."""

    name: ClassVar[str] = "create"
    title: ClassVar[str] = "create: many empty files"
    description: ClassVar[str] = (
        "Makes empty files in a fresh directory, flushes the directory, looks each file up and removes it; "
        "each part is timed on its own."
    )
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = None
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        MetricSpec(
            name="operation_rate",
            title="Files created, looked up or removed",
            unit=Unit.OPERATIONS_PER_SECOND,
            better="higher",
            labels=("operation", "writer"),
        ),
        MetricSpec(
            name="total_operation_rate",
            title="Files, all processes",
            description="Files created, looked up or removed by all processes together, by the time of the slowest.",
            unit=Unit.OPERATIONS_PER_SECOND,
            better="higher",
            labels=("operation",),
        ),
        MetricSpec(
            name="duration",
            title="Duration, by operation",
            unit=Unit.SECONDS,
            better="lower",
            labels=("operation", "writer"),
        ),
    )
    bytes_needed: ClassVar[Expression] = Option.of("file_count") * Option.of("processes") * BYTES_PER_FILE
    bytes_moved: ClassVar[Expression] = Option.of("file_count") * Option.of("processes") * BYTES_PER_FILE
    options_type = CreateOptions

    def groups(self, options: CreateOptions, place: Place) -> list[Group]:
        """Three groups of processes, so that caches can be dropped before the files are looked up."""
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
                    threads=1,
                )
                for number in numbers
            )
            for name, verb, before in _PARTS
        ]

    def read(self, options: CreateOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Rate and duration from the load's own clock, which leaves out the start of its process."""
        operation = _operation(outcome)
        report = _checked_report(options, outcome)
        flags = quality.judge_metadata_duration(operation, report.seconds, CLOCK_SECONDS)
        if operation == "stat":
            flags += quality.judge_cache_drop(outcome, direct=False)
        if operation == "create" and options.mode == "fork-touch":
            flags.append(_fork_bound(outcome, report))
        about = [quality.about(flag, {"operation": operation}, place) for flag in flags]
        return Parsed(_samples(operation, report, outcome.step.writer, place), about)

    def conclude(self, options: CreateOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """The rate of several processes together: their files by the time of the slowest."""
        if len(outcomes) == len(_PARTS):
            return Parsed()
        target_id = places[0].target_id if len(places) == 1 else None
        samples = []
        for operation, _, _ in _PARTS:
            own = [done for done in outcomes if _operation(done) == operation]
            slowest_seconds = max(_checked_report(options, done).seconds for done in own)
            rate = len(own) * options.file_count / slowest_seconds
            samples.append(Sample("total_operation_rate", rate, {"operation": operation}, target_id))
        return Parsed(samples)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """By the count that the load prints about once a second."""
        del counters
        done = _DONE.findall(output_tail)
        return min(1.0, int(done[-1]) / int(step.argv[-1])) if done else None


class _Report(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    operation: Literal["create", "touch", "stat", "delete"]
    file_count: int
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    directory_fsync_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


def _operation(outcome: StepOutcome) -> str:
    return outcome.step.name.partition("-")[0]


def _argv(name: str, options: CreateOptions, place: Place, number: int) -> tuple[str, ...]:
    directory = place.directory / ("files" if options.shared else f"files-{number}")
    counts = (str(options.directories), str(options.file_count))
    operation = _load_operation(name, options)
    return (sys.executable, "-I", "-S", str(_LOAD), operation, str(directory), f"p{number}-", *counts)


def _load_operation(name: str, options: CreateOptions) -> str:
    return "touch" if name == "create" and options.mode == "fork-touch" else name


def _checked_report(options: CreateOptions, outcome: StepOutcome) -> _Report:
    name, text = _operation(outcome), outcome.stdout
    try:
        report = _Report.model_validate_json(text)
    except ValidationError as error:
        raise OutputRefusedError(
            name, f"not the load's one line of JSON ({error.error_count()} errors)", text
        ) from error
    asked_for = _load_operation(name, options)
    if (report.operation, report.file_count) != (asked_for, options.file_count):
        raise OutputRefusedError(name, f"the plan was to {asked_for} {options.file_count} files", text)
    if (report.directory_fsync_seconds is None) == (name == "create"):
        raise OutputRefusedError(name, "the directory is flushed after the files were made, and only then", text)
    return report


def _samples(operation: str, report: _Report, writer: int | None, place: Place) -> list[Sample]:
    own: dict[str, str | int | float | bool] = {} if writer is None else {"writer": writer}
    samples = [
        Sample("operation_rate", report.file_count / report.seconds, {"operation": operation} | own, place.target_id),
        Sample("duration", report.seconds, {"operation": operation} | own, place.target_id),
    ]
    if report.directory_fsync_seconds is not None:
        labels = {"operation": "directory_fsync"} | own
        samples.append(Sample("duration", report.directory_fsync_seconds, labels, place.target_id))
    return samples


def _fork_bound(outcome: StepOutcome, report: _Report) -> Flag:
    file_milliseconds = report.seconds / report.file_count * 1e3
    busy_ratio = (outcome.user_seconds + outcome.system_seconds) / report.seconds
    return Flag(
        code=FlagCode.FORK_BOUND,
        effect=FlagEffect.MARKED,
        measured=f"{file_milliseconds:.2g} ms a file, {busy_ratio:.0%} of it processor time",
        limit="native mode, which starts no process for a file",
    )
