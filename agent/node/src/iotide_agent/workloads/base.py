"""Base classes of workload plug-ins: options, commands, progress and parsing. Workloads do no I/O themselves."""

import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from iotide_agent.workloads.bounds import BoundedOptions, BoundedSettings
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.releases import Releases
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Number
from iotide_wire.facts import Facts
from iotide_wire.measured import Answer, Flag, NotJudged, StepRole

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
"""File systems in the node's memory, whatever the file size and with O_DIRECT too."""


class Options(BoundedOptions, BaseModel):
    """Base class of a workload's options. Its JSON Schema is the browser's form.

    The text below an option is its help text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        for option in handler.resolve_ref_schema(schema).get("properties", {}).values():
            if text := option.get("description"):
                option["description"] = " ".join(text.split())
        return schema


class Before(StrEnum):
    """Preparation before a step, outside its timing.

    Workloads ask for NONE, SYNC, or DROP before a read. The campaign's cache policy may replace DROP.
    """

    NONE = "none"
    SYNC = "sync"
    DROP = "drop"
    """sync, then drop all caches; DROP_FILES if the agent has no permission."""
    DROP_FILES = "drop_files"
    """sync, then drop the page cache of the step's declared files. Only reported as done, never requested."""
    REMOUNT = "remount"
    LARGER_THAN_MEMORY = "larger_than_memory"
    """sync only: the data is larger than any cache of the node."""


@dataclass(frozen=True, slots=True)
class Place:
    """Directory where a run works, with facts about its target.

    Attributes:
        target_id: None on a node that loads no target; `directory` is then on its own disk.
        directory: new directory of the run on the target.
        scratch: directory on the agent's disk for output that is not under test.
        direct_works: a trial with O_DIRECT in `directory` bypassed the page cache, and so did the step that is read.
        total_bytes, free_bytes: when the run began.
        source: of the mount, such as a block device or an export.
        reserve_bytes: space that must stay free.
        target_count: targets that the run loads together, each with the plan of one place.
        step_role: this node's part of the workload's `step_roles`; CLIENT does all.
        endpoint: file with the run's `Endpoint`, if nodes share the work. It exists once commands start.
        cached_because: see `StepOutcome`, of the step that is read.
        layout: nodes of one MPI program, its head first, if it runs over several.
    """

    target_id: int | None
    directory: Path
    scratch: Path
    fstype: str
    direct_works: bool
    total_bytes: int
    free_bytes: int
    facts: Facts
    source: str = ""
    reserve_bytes: int = 0
    target_count: int = 1
    step_role: StepRole = StepRole.CLIENT
    endpoint: Path | None = None
    cached_because: str = ""
    layout: RankLayout | None = None

    def seen_by(self, outcome: "StepOutcome") -> "Place":
        """Return the place as a step used it: without O_DIRECT if the step was seen to use the page cache.

        In memory, the pages are the files themselves.
        """
        if not outcome.cached_because or self.fstype in IN_MEMORY:
            return self
        return replace(self, direct_works=False, cached_because=outcome.cached_because)


@dataclass(frozen=True, slots=True)
class InputFile:
    """Text that a step's command reads; written before the run."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a run.

    Attributes:
        name: unique in the run, for instance `write`.
        phase: progress text, for instance `writing 1.00 GiB`.
        argv: exact argument list, never passed to a shell.
        writer: number on its target, from 1; None for a single writer.
        bytes_moved: planned bytes to write and read; None if unknown.
        declared_files: files of the run that it makes or reads. They are always removed at the end.
        output_files: files below `scratch` for the parser, kept as raw output.
        stop_signal: gentlest way to end it. SIGINT if the tool then reports how far it came.
        stall_seconds: it hangs if it moves no byte and prints nothing for this long. None: it always ends.
        complained_stall_seconds: the same after output on stderr, for tools that print only errors there.
        is_even: its rate should stay the same.
        is_sequence: its throughput samples are of operations in this order, each with an even rate.
        is_bulk: it writes `bytes_moved` in long runs, each once, so that journals and trees add little.
        threads: maximum number of busy threads; None if unknown.
        socket: index of the run's socket that becomes stdin, see `Workload.sockets`.
        direct_files: files, or directories of files, that it opens with O_DIRECT. The runner checks that it does.
        end_mark: its output is whole once this text is in the last line of stdout, or at the end of `end_file`.
    """

    name: str
    phase: str
    argv: tuple[str, ...]
    target_id: int | None
    writer: int | None = None
    role: StepRole = StepRole.CLIENT
    bytes_moved: int | None = None
    before: Before = Before.NONE
    declared_files: tuple[Path, ...] = ()
    input_files: tuple[InputFile, ...] = ()
    output_files: tuple[Path, ...] = ()
    stop_signal: int = signal.SIGTERM
    stall_seconds: float | None = None
    complained_stall_seconds: float | None = None
    is_even: bool = False
    is_sequence: bool = False
    is_bulk: bool = False
    threads: int | None = None
    socket: int | None = None
    direct_files: tuple[Path, ...] = ()
    end_mark: str = ""
    end_file: Path | None = None


Group = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Result of a step.

    Attributes:
        stdout, stderr: UTF-8, undecodable bytes replaced. `truncated`: a cap cut either.
        files: texts of existing `step.output_files`, by file name.
        wall_seconds: from before exec to after wait, CLOCK_MONOTONIC.
        user_seconds, system_seconds: with waited-for children (wait4).
        before_done: less than requested if the agent may not drop caches.
        cached_because: why it was seen to use the page cache although it has `direct_files`; empty otherwise.
        launcher_hung: the launcher of one program over several nodes was killed after the whole output.
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
    cached_because: str = ""
    launcher_hung: bool = False


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals of a running step; bytes are from /proc/PID/io."""

    written_bytes: int
    read_bytes: int
    elapsed_seconds: float


LabelValue = str | int | float | bool
Labels = dict[str, LabelValue]
AnyLabels = Mapping[str, LabelValue]


@dataclass(frozen=True, slots=True)
class Sample:
    """Number in its metric's base unit; `target_id` is None for several targets together."""

    metric: str
    value: float
    labels: AnyLabels
    target_id: int | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Values of one counter per second after `started_at`, in the base unit of its name.

    Parallel steps are added up.
    """

    counter: str
    started_at: datetime
    values: Sequence[float]


@dataclass(frozen=True, slots=True, init=False)
class Parsed:
    samples: Sequence[Sample]
    flags: Sequence[Flag]
    curves: Sequence[Curve]
    not_judged: Sequence[NotJudged]

    def __init__(
        self, samples: Sequence[Sample] = (), flags: Sequence[Answer] = (), curves: Sequence[Curve] = ()
    ) -> None:
        own = [answer for answer in flags if isinstance(answer, Flag)]
        not_judged = tuple(answer for answer in flags if isinstance(answer, NotJudged))
        for name, value in (("samples", samples), ("flags", own), ("curves", curves), ("not_judged", not_judged)):
            object.__setattr__(self, name, value)

    @classmethod
    def of_all(cls, parts: Iterable["Parsed"]) -> "Parsed":
        samples: list[Sample] = []
        answers: list[Answer] = []
        curves: list[Curve] = []
        for part in parts:
            samples += part.samples
            curves += part.curves
            both: list[Answer] = [*part.flags, *part.not_judged]
            answers += (answer for answer in both if answer not in answers)
        return cls(samples, answers, tuple(curves))


class OutputRefusedError(Exception):
    """Raw output that does not match its tool's documentation. It fails the run."""

    def __init__(self, step: str, problem: str, offending_text: str) -> None:
        shown = offending_text if len(offending_text) <= 500 else offending_text[:500] + " ..."  # noqa: PLR2004
        super().__init__(f"step {step}: {problem}; the output reads: {shown!r}")


class PlanRefusedError(Exception):
    """Options that this node's administrator does not allow; the message has the remedy."""


class Settings(BoundedSettings, BaseModel):
    """Base class of a workload's table `[workloads.NAME]` in agent.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")


OptionsT = TypeVar("OptionsT", bound=Options)

NO_NUMBER: Final = Number.of(0)
_EACH_ITS_OWN: Final = Number.of(1)


class Workload(ABC, Generic[OptionsT]):
    """A benchmark tool: how iotide runs it and reads its output.

    Attributes:
        revision: raised when a change of commands or parsing changes the meaning of numbers.
        breaks_series: numbers are not comparable with those of the previous revision.
        tool: program that must be on PATH; None if Python is enough.
        package: what to install if the tool is missing.
        version_pattern: finds the version on stdout and stderr; its first group if it has one.
        supported: releases of the tool that it reads; empty for any.
        printed_release: finds the release in a step's output, of a tool whose version command does not print it.
        version_in_usage: the tool prints its version only in its usage message, with any exit status.
        complaint: finds the tool's error message in stderr of a failed step. None: the last line is used.
        step_roles: parts of a run that two nodes share. `plan` returns the steps of its places' part.
        writes: if false, it gets the target's own directory and makes nothing there.
        needs_python: runs also start programs of the agent.
        bytes_needed, bytes_moved, run_seconds: see `WorkloadAnnouncement`; `bytes_needed` is for one target.
        own_programs: see `WorkloadAnnouncement`. Where it is 0, `tasks_per_node` is a number.
        starts_own_parts: one program over several nodes starts its parts there through RSH, without an MPI launcher.
        files_needed: maximum number of files and directories on one target; 0 for few.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    revision: ClassVar[int]
    breaks_series: ClassVar[bool] = False
    tool: ClassVar[str | None]
    package: ClassVar[str] = ""
    version_argv: ClassVar[tuple[str, ...]] = ()
    version_pattern: ClassVar[str] = r"\S.*"
    version_in_usage: ClassVar[bool] = False
    supported: ClassVar[tuple[Releases, ...]] = ()
    printed_release: ClassVar[re.Pattern[str] | None] = None
    complaint: ClassVar[re.Pattern[str] | None] = None
    needs_python: ClassVar[bool] = False
    step_roles: ClassVar[tuple[StepRole, ...]] = ()
    writes: ClassVar[bool] = True
    metrics: ClassVar[tuple[MetricSpec, ...]]
    bytes_needed: ClassVar[Expression]
    files_needed: ClassVar[Expression] = NO_NUMBER
    bytes_moved: ClassVar[Expression]
    run_seconds: ClassVar[Expression] = NO_NUMBER
    own_programs: ClassVar[Expression] = _EACH_ITS_OWN
    starts_own_parts: ClassVar[bool] = False
    options_type: type[OptionsT]
    settings_type: ClassVar[type[Settings]] = Settings

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        """Raise ValidationError if the settings do not fit `settings_type`."""
        self.settings = self.settings_type.model_validate(settings or {})

    def options_schema(self) -> dict[str, Any]:
        return self.options_type.model_json_schema()

    def metric_specs(self) -> tuple[MetricSpec, ...]:
        return self.metrics

    def version_commands(self) -> tuple[tuple[str, ...], ...]:
        """Return a test command for each program, the version command first."""
        return (self.version_argv,)

    def unavailable_because(self) -> str | None:
        """Return what the node's settings lack, with the remedy, or None."""
        return None

    def sockets(self, options: OptionsT) -> int:
        """Return the number of UDP sockets that a RECEIVER needs before any command starts."""
        return 0

    def tasks_per_node(self, options: OptionsT) -> int | None:
        """Return the tasks on each node of one program over all nodes of a gang; None if each node starts its own."""
        return None

    @abstractmethod
    def groups(self, options: OptionsT, place: Place) -> list[Group]:
        """Return the commands of one run on one target, as groups in order. All paths are below `place`."""

    def plan(self, options: OptionsT, places: Sequence[Place]) -> list[Group]:
        """Return the commands of one run on all targets, by default at once, group by group."""
        by_place = (self.groups(options, place) for place in places)
        return [tuple(chain.from_iterable(ranked)) for ranked in zip_longest(*by_place, fillvalue=())]

    @abstractmethod
    def read(self, options: OptionsT, place: Place, outcome: StepOutcome) -> Parsed:
        """Return samples and flags of a successful step; raise OutputRefusedError."""

    def read_cut(self, options: OptionsT, place: Place, outcome: StepOutcome) -> Parsed:
        """Return what is reliable of a failed or cut step, by default nothing; raise OutputRefusedError."""
        return Parsed()

    def conclude(self, options: OptionsT, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return results of all steps together, such as totals, if all succeeded."""
        return Parsed()

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return why the step failed, by default its status or signal, or None."""
        program = outcome.step.argv[0]
        if outcome.signal is not None:
            return f"{program} was ended by signal {outcome.signal}"
        if outcome.exit_status == 0:
            return None
        complaint = self.complaint and self.complaint.search(outcome.stderr)
        last_line = (outcome.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        return complaint[0] if complaint else f"{program} ended with status {outcome.exit_status}: {last_line}"

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """Return the finished fraction of the step, by default of its bytes."""
        moved_bytes = counters.written_bytes + counters.read_bytes
        return min(1.0, moved_bytes / step.bytes_moved) if step.bytes_moved else None


def in_turn(*steps: Step) -> list[Group]:
    return [(step,) for step in steps]
