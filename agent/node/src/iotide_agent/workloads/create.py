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
        description="How many empty files are made in one directory.",
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
    """Rates of metadata operations of one process."""

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
            labels=("operation",),
        ),
        MetricSpec(
            name="duration",
            title="Duration, by operation",
            unit=Unit.SECONDS,
            better="lower",
            labels=("operation",),
        ),
    )
    bytes_needed: ClassVar[Expression] = Option.of("file_count") * BYTES_PER_FILE
    bytes_moved: ClassVar[Expression] = Option.of("file_count") * BYTES_PER_FILE
    options_type = CreateOptions

    def steps(self, options: CreateOptions, place: Place) -> list[Step]:
        """Three processes, so that caches can be dropped before the files are looked up."""
        return [
            Step(
                name=name,
                phase=f"{verb} {options.file_count:,} files",
                argv=_argv(name, options, place),
                target_id=place.target_id,
                before=before,
            )
            for name, verb, before in _PARTS
        ]

    def parse(self, options: CreateOptions, place: Place, outcomes: Sequence[StepOutcome]) -> Parsed:
        """Rates and durations from the load's own clock, which leaves out the start of its process."""
        samples: list[Sample] = []
        flags: list[Flag] = []
        for outcome in outcomes:
            operation = outcome.step.name
            report = _checked_report(options, outcome)
            samples += _samples(operation, report, place)
            flags += quality.judge_metadata_duration(operation, report.seconds, CLOCK_SECONDS)
            if operation == "stat":
                flags += quality.judge_cache_drop(outcome, direct=False)
            if operation == "create" and options.mode == "fork-touch":
                flags.append(_fork_bound(outcome, report))
        return Parsed(samples, flags)

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


def _argv(name: str, options: CreateOptions, place: Place) -> tuple[str, ...]:
    arguments = (_load_operation(name, options), str(place.directory / "files"), str(options.file_count))
    return (sys.executable, "-I", "-S", str(_LOAD), *arguments)


def _load_operation(name: str, options: CreateOptions) -> str:
    return "touch" if name == "create" and options.mode == "fork-touch" else name


def _checked_report(options: CreateOptions, outcome: StepOutcome) -> _Report:
    name, text = outcome.step.name, outcome.stdout
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


def _samples(operation: str, report: _Report, place: Place) -> list[Sample]:
    samples = [
        Sample("operation_rate", report.file_count / report.seconds, {"operation": operation}, place.target_id),
        Sample("duration", report.seconds, {"operation": operation}, place.target_id),
    ]
    if report.directory_fsync_seconds is not None:
        labels = {"operation": "directory_fsync"}
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
