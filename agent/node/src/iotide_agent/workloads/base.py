"""What every workload plug-in is: options, commands, progress and parsing, without any input or output of its own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression
from iotide_wire.facts import Facts
from iotide_wire.messages import Flag


class Options(BaseModel):
    """Base of a workload's options: frozen, unknown keys refused; its JSON Schema is the form in the browser.

    A size field carries `json_schema_extra={"x-unit": "bytes"}`, a duration `{"x-unit": "seconds"}`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class Before(StrEnum):
    """What the runner does just before a step, outside its timing."""

    NONE = "none"
    SYNC = "sync"
    DROP = "drop"
    """sync, then drop what the page cache holds of the step's declared files (all caches where the agent may)."""
    REMOUNT = "remount"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run works.

    Attributes:
        target_id: the target's id; samples of this place carry it.
        directory: the run's own fresh directory on the target.
        scratch: a private working directory on the agent's disk for tool output that is not under test.
        fstype: of the target's mount.
        direct_works: whether a trial write with O_DIRECT succeeded in `directory`.
        facts: facts of node and mount, base units.
    """

    target_id: int
    directory: Path
    scratch: Path
    fstype: str
    direct_works: bool
    facts: Facts


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a run.

    Attributes:
        name: unique in the run, for instance `write`.
        phase: what a person reads while it runs, for instance `writing 1.00 GiB`.
        argv: exact argument list; no shell ever sees it.
        target_id: which target it loads.
        writer: number of the writer when several work side by side, else None.
        bytes_moved: what it is expected to write and read, for progress; None where unknown.
        before: what the runner does first, outside the timing.
        declared_files: files below the run's directory that it makes or reads, removed at the end whatever happens.
        output_files: files below `scratch` whose text the parser wants and which are kept as raw output.
    """

    name: str
    phase: str
    argv: tuple[str, ...]
    target_id: int
    writer: int | None = None
    bytes_moved: int | None = None
    before: Before = Before.NONE
    declared_files: tuple[Path, ...] = ()
    output_files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step as it really went.

    Attributes:
        step: what was asked for.
        stdout, stderr: as UTF-8 with undecodable bytes replaced; capped, see `truncated`.
        truncated: whether a cap cut either of them.
        files: texts of `step.output_files` by file name, those that exist.
        exit_status: None where a signal ended it.
        signal: the signal's number, or None.
        wall_seconds: from before exec to after wait, CLOCK_MONOTONIC.
        user_seconds, system_seconds: of the process and its waited-for children (wait4).
        before_done: what was really done before it; less than asked for where the agent may not drop caches.
    """

    step: Step
    stdout: str
    stderr: str
    truncated: bool
    files: Mapping[str, str]
    exit_status: int | None
    signal: int | None
    started_at: datetime
    wall_seconds: float
    user_seconds: float
    system_seconds: float
    max_rss_bytes: int
    before_done: Before


@dataclass(frozen=True, slots=True)
class Counters:
    """What the sampler saw of a running step, in all since its start: bytes by /proc/PID/io, and its elapsed time."""

    written_bytes: int
    read_bytes: int
    elapsed_seconds: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One number in its metric's base unit."""

    metric: str
    value: float
    labels: Mapping[str, str | int | float | bool]
    target_id: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a run's raw output says."""

    samples: Sequence[Sample]
    flags: Sequence[Flag]


class OutputRefusedError(Exception):
    """Raw output does not say what its tool's documentation promises; carries the offending text.

    The run counts as failed with this sentence: a parser never answers "nothing".
    """

    def __init__(self, step: str, problem: str, offending_text: str) -> None:
        shown = offending_text if len(offending_text) <= 500 else offending_text[:500] + " ..."  # noqa: PLR2004
        super().__init__(f"step {step}: {problem}; the output reads: {shown!r}")


OptionsT = TypeVar("OptionsT", bound=Options)


class Workload(ABC, Generic[OptionsT]):
    """One benchmark tool as iotide runs and reads it.

    Attributes:
        name: what campaigns call it.
        revision: raised whenever commands or parsing change what the numbers mean.
        breaks_series: whether this revision's numbers must not be drawn in one line with the one before.
        options_type: the model of its options.
        tool: the program it needs on PATH, or None where Python is enough.
        package: what to install where the tool is absent.
        version_argv: prints the tool's version; its first word is the tool.
        bytes_needed, bytes_moved: see `WorkloadAnnouncement`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    revision: ClassVar[int]
    breaks_series: ClassVar[bool] = False
    tool: ClassVar[str | None]
    package: ClassVar[str] = ""
    version_argv: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[tuple[MetricSpec, ...]]
    bytes_needed: ClassVar[Expression]
    bytes_moved: ClassVar[Expression]
    options_type: type[OptionsT]

    @abstractmethod
    def steps(self, options: OptionsT, place: Place) -> list[Step]:
        """The commands of one run, in order, every path below `place`."""

    @abstractmethod
    def parse(self, options: OptionsT, place: Place, outcomes: Sequence[StepOutcome]) -> Parsed:
        """The samples and flags that raw output supports.

        Called once per place, with every step there when all succeeded, or with those before a cut when the run failed
        (partial results).

        Raises:
            OutputRefusedError: the output is not what the tool promises, or its totals contradict the plan.
        """

    def failure(self, outcome: StepOutcome) -> str | None:
        """Why this step failed, or None: by default the exit status or the signal; a tool that lies overrides it."""
        if outcome.signal is not None:
            return f"{outcome.step.argv[0]} was ended by signal {outcome.signal}"
        if outcome.exit_status != 0:
            last_line = (outcome.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
            return f"{outcome.step.argv[0]} ended with status {outcome.exit_status}: {last_line}"
        return None

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """Fraction of the step that is done, 0 to 1, by bytes unless a tool says better; None where unknown.

        Args:
            output_tail: the last lines that the step printed.
        """
        del output_tail
        if not step.bytes_moved:
            return None
        return min(1.0, (counters.written_bytes + counters.read_bytes) / step.bytes_moved)
