"""What every workload plug-in is: options, commands, progress and parsing, without any input or output of its own."""

import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from iotide_agent.workloads.bounds import BoundedOptions, BoundedSettings
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Number
from iotide_wire.facts import Facts
from iotide_wire.measured import Answer, Flag, NotJudged, StepRole


class Options(BoundedOptions, BaseModel):
    """Base of a workload's options: frozen, unknown keys refused; its JSON Schema is the form in the browser.

    The text below an option is its description there; `option_types` has types that give its unit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        for option in handler.resolve_ref_schema(schema).get("properties", {}).values():
            if text := option.get("description"):
                option["description"] = " ".join(text.split())  # it may stand on several lines
        return schema


class Before(StrEnum):
    """What the runner does just before a step, outside its timing.

    A workload asks for NONE, SYNC, or DROP before a read; the campaign's cache policy makes of DROP what it says.
    """

    NONE = "none"
    SYNC = "sync"
    DROP = "drop"
    """sync, then drop all caches, or DROP_FILES where the agent may not."""
    DROP_FILES = "drop_files"
    """sync, then drop what the page cache holds of the step's declared files; only ever said of what was done."""
    REMOUNT = "remount"
    """sync, then unmount all targets and mount them again."""
    LARGER_THAN_MEMORY = "larger_than_memory"
    """sync alone: the data is too large for any cache of the node to hold."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run works.

    Attributes:
        target_id: samples of this place carry it. None: the node loads no target, and `directory` is on its own disk.
        directory: the run's own fresh directory on the target.
        scratch: a directory of this run and place alone, on the agent's disk, for output that is not under test.
        fstype: of the target's mount.
        direct_works: whether a trial write with O_DIRECT succeeded in `directory` and went past the page cache.
        total_bytes, free_bytes: of the file system when the run began.
        facts: facts of node and mount, base units.
        source: what the mount is of: a block device, a server's export, or whatever its file system says.
        reserve_bytes: what must stay free of the file system in any case.
        target_count: how many targets the run loads together; the plan of one place is carried out on each.
        step_role: which of its workload's `step_roles` this node does; CLIENT does all of the work.
        endpoint: the file that holds the run's `Endpoint` once its commands start, where nodes do parts of the work.
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


@dataclass(frozen=True, slots=True)
class InputFile:
    """A text that a step's command reads; the agent writes it below `scratch` before the run starts."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a run.

    Attributes:
        name: unique in the run, for instance `write`.
        phase: what a person reads while it runs, for instance `writing 1.00 GiB`.
        argv: exact argument list; no shell ever sees it.
        target_id: which target it loads; None where it loads none.
        writer: number of the writer on its target, from 1, when several work side by side; else None.
        role: what it does in the run.
        bytes_moved: what it is expected to write and read, for progress; None where unknown.
        before: what the runner does first, outside the timing.
        declared_files: files below the run's directory that it makes or reads, removed at the end whatever happens.
        input_files: files below `scratch` that the command reads, and what stands in them.
        output_files: files below `scratch` whose text the parser wants and which are kept as raw output.
        stop_signal: what ends it most gently: SIGINT where the tool then still says how far it came.
        stall_seconds: it hangs when it moved no byte and printed nothing for so long; None: it always ends by itself.
        complained_stall_seconds: the same once it printed on stderr, for a tool that prints there only what went wrong.
        is_even: whether it moves bytes in one way from begin to end, so that its rate should stay the same.
        is_bulk: whether it writes long runs of bytes, each once, so that journals and trees of a file system add little
            to them; `bytes_moved` then says how many. Small writes that are flushed one by one are none.
        threads: how many of its threads work at most at a time; None where unknown.
        socket: which of the run's sockets is its standard input, from 0, see `Workload.sockets`; None: none is.
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
    is_bulk: bool = False
    threads: int | None = None
    socket: int | None = None


Group = tuple[Step, ...]
"""Steps that run side by side."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step as it really went.

    Attributes:
        step: what was asked for.
        stdout, stderr: as UTF-8 with undecodable bytes replaced; `truncated` tells whether a cap cut either of them.
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


LabelValue = str | int | float | bool
Labels = dict[str, LabelValue]
AnyLabels = Mapping[str, LabelValue]
"""Labels that are only read, whichever of these types their values are of."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One number in its metric's base unit; `target_id` is None where it is of several targets together."""

    metric: str
    value: float
    labels: AnyLabels
    target_id: int | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Values of one counter for each second after `started_at`, in the base unit that ends the counter's name.

    Where steps side by side tell of the same counter and second, their values are added up.
    """

    counter: str
    started_at: datetime
    values: Sequence[float]


@dataclass(frozen=True, slots=True, init=False)
class Parsed:
    """What raw output says: numbers, flags, checks that found too little to judge, and curves."""

    samples: Sequence[Sample]
    flags: Sequence[Flag]
    curves: Sequence[Curve]
    not_judged: Sequence[NotJudged]

    def __init__(
        self, samples: Sequence[Sample] = (), flags: Sequence[Answer] = (), curves: Sequence[Curve] = ()
    ) -> None:
        """Takes flags as the checks of `quality` give them, with what they did not judge."""
        own = [answer for answer in flags if isinstance(answer, Flag)]
        not_judged = tuple(answer for answer in flags if isinstance(answer, NotJudged))
        for name, value in (("samples", samples), ("flags", own), ("curves", curves), ("not_judged", not_judged)):
            object.__setattr__(self, name, value)

    @classmethod
    def of_all(cls, parts: Iterable["Parsed"]) -> "Parsed":
        """All that the parts say, each flag once."""
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
    """Raw output does not say what its tool's documentation promises; carries the offending text.

    The run counts as failed with this sentence: a parser never answers "nothing".
    """

    def __init__(self, step: str, problem: str, offending_text: str) -> None:
        shown = offending_text if len(offending_text) <= 500 else offending_text[:500] + " ..."  # noqa: PLR2004
        super().__init__(f"step {step}: {problem}; the output reads: {shown!r}")


class PlanRefusedError(Exception):
    """The options ask for what this node's administrator has not allowed; the sentence names option and remedy."""


class Settings(BoundedSettings, BaseModel):
    """Base of what a workload takes from the table `[workloads.NAME]` of agent.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")


OptionsT = TypeVar("OptionsT", bound=Options)

NO_NUMBER: Final = Number.of(0)


class Workload(ABC, Generic[OptionsT]):
    """One benchmark tool as iotide runs and reads it.

    Attributes:
        name: what campaigns call it.
        revision: raised whenever commands or parsing change what the numbers mean.
        breaks_series: whether this revision's numbers must not be drawn in one line with the one before.
        options_type: the model of its options.
        settings_type: the model of what a node's administrator may set for it in agent.toml.
        tool: the program it needs on PATH, or None where Python is enough.
        package: what to install where the tool is absent.
        version_argv: prints the tool's version; its first word is the tool.
        version_pattern: finds the version in what it prints on stdout and stderr; its first group where it has one.
        version_in_usage: whether a tool tells its version only in its usage message, with any exit status.
        complaint: finds the tool's own message in stderr of a step that failed; None: the last line is shown.
        step_roles: parts of a run that two nodes may do, each one; `plan` then makes the steps of the part that its
            places name. Empty: each node does all of the work.
        writes: whether it makes anything on its target. One that only reads gets the target's own directory as its
            place, and nothing is made there.
        needs_python: whether each run starts programs of the agent's own, besides the tool.
        bytes_needed, bytes_moved, run_seconds: see `WorkloadAnnouncement`; `bytes_needed` is for one target.
        files_needed: how many files and directories it makes on one target at most, over options; 0 for few.
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
    complaint: ClassVar[re.Pattern[str] | None] = None
    needs_python: ClassVar[bool] = False
    step_roles: ClassVar[tuple[StepRole, ...]] = ()
    writes: ClassVar[bool] = True
    metrics: ClassVar[tuple[MetricSpec, ...]]
    bytes_needed: ClassVar[Expression]
    files_needed: ClassVar[Expression] = NO_NUMBER
    bytes_moved: ClassVar[Expression]
    run_seconds: ClassVar[Expression] = NO_NUMBER
    options_type: type[OptionsT]
    settings_type: ClassVar[type[Settings]] = Settings

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        """Take the node's own settings; raise ValidationError where they do not fit `settings_type`."""
        self.settings = self.settings_type.model_validate(settings or {})

    def options_schema(self) -> dict[str, Any]:
        """JSON Schema of the options; one that depends on the node's settings is made here."""
        return self.options_type.model_json_schema()

    def metric_specs(self) -> tuple[MetricSpec, ...]:
        """What it yields; metrics that depend on the node's settings are made here."""
        return self.metrics

    def version_commands(self) -> tuple[tuple[str, ...], ...]:
        """What each program that it starts must answer; the tool's own, which tells its version, comes first."""
        return (self.version_argv,)

    def unavailable_because(self) -> str | None:
        """What the node's settings lack for it to run, with the remedy; None where it can."""
        return None

    def sockets(self, options: OptionsT) -> int:
        """How many UDP sockets a RECEIVER needs, each at a port of its own; they are open before any command starts."""
        return 0

    @abstractmethod
    def groups(self, options: OptionsT, place: Place) -> list[Group]:
        """The commands of one run on one target, a group after another, every path below `place`."""

    def plan(self, options: OptionsT, places: Sequence[Place]) -> list[Group]:
        """The commands of one run on all its targets: by default all of them are loaded at once, group by group."""
        by_place = (self.groups(options, place) for place in places)
        return [tuple(chain.from_iterable(ranked)) for ranked in zip_longest(*by_place, fillvalue=())]

    @abstractmethod
    def read(self, options: OptionsT, place: Place, outcome: StepOutcome) -> Parsed:
        """Return samples and flags of a step that did not fail.

        Raise OutputRefusedError where the output is not what the tool promises, or its totals contradict the plan.
        """

    def read_cut(self, options: OptionsT, place: Place, outcome: StepOutcome) -> Parsed:
        """Return what can be trusted of a step that failed or was cut, by default nothing; raise OutputRefusedError."""
        return Parsed()

    def conclude(self, options: OptionsT, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return what only all steps together say, as a total; called where none failed or was refused."""
        return Parsed()

    def failure(self, outcome: StepOutcome) -> str | None:
        """Why this step failed, or None: by default the exit status or the signal; a tool that lies overrides it."""
        program = outcome.step.argv[0]
        if outcome.signal is not None:
            return f"{program} was ended by signal {outcome.signal}"
        if outcome.exit_status == 0:
            return None
        complaint = self.complaint and self.complaint.search(outcome.stderr)
        last_line = (outcome.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        return complaint[0] if complaint else f"{program} ended with status {outcome.exit_status}: {last_line}"

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """Return the fraction of the step that is done, by bytes unless a tool's last lines say better, or None."""
        moved_bytes = counters.written_bytes + counters.read_bytes
        return min(1.0, moved_bytes / step.bytes_moved) if step.bytes_moved else None


def in_turn(*steps: Step) -> list[Group]:
    """The steps one after another, each alone."""
    return [(step,) for step in steps]
