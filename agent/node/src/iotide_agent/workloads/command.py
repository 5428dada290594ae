"""command: a program listed by the node's administrator, with the numbers that it prints."""

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model, model_validator

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
    Settings,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.metrics import RACE, MetricKind, race_by
from iotide_agent.workloads.option_types import Bytes, Seconds
from iotide_agent.workloads.writers import race, side_by_side
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.units import GIB, Unit

CLOCK_SECONDS: Final = 1e-9
_OWN_METRICS: Final = frozenset(kind.name for kind in RACE)
_REMEDY: Final = "no command is configured; list one in [workloads.command.commands.NAME] of this node's agent.toml"

CommandName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,40}$")]
MetricName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]


def _check_pattern(text: str) -> str:
    try:
        groups = re.compile(text).groupindex
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    if "value" not in groups:
        raise ValueError("it has no group for the number; add (?P<value>...)")
    return text


class CommandMetric(BaseModel):
    """A number that a program prints.

    Attributes:
        json_path: path in the JSON object on stdout, for instance `jobs.0.read.iops`.
        pattern: finds the one line of stdout with the number, as group `(?P<value>...)`.
        factor: from the printed unit to the base unit, for instance 1e-3 for milliseconds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(min_length=1, max_length=200)
    unit: Unit
    better: Literal["higher", "lower", "neither"]
    json_path: Annotated[str, Field(pattern=r"^[^.]+(\.[^.]+)*$")] | None = None
    pattern: Annotated[str, AfterValidator(_check_pattern)] | None = None
    factor: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _stands_in_one_place(self) -> Self:
        if (self.json_path is None) == (self.pattern is None):
            raise ValueError("give either json_path or pattern, to find the number")
        return self


class Command(BaseModel):
    """A program that runs may start.

    Attributes:
        argv: arguments. `{directory}` is the run's own directory on the target, `{target}` the target's.
        metrics: numbers that it prints, by name. The first one represents a run in lists.
        expected_seconds: usual duration on this node, for the progress.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    argv: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    metrics: dict[MetricName, CommandMetric] = Field(min_length=1)
    expected_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class CommandSettings(Settings):
    commands: dict[CommandName, Command] = Field(default_factory=dict)

    def outside_paths(self) -> tuple[str, ...]:
        return tuple(command.argv[0] for command in self.commands.values() if command.argv[0].startswith("/"))

    def outside_programs(self) -> tuple[str, ...]:
        return self.outside_paths()

    @model_validator(mode="after")
    def _metrics_of_one_name_are_alike(self) -> Self:
        seen: dict[str, CommandMetric] = {}
        for name, command in self.commands.items():
            for metric, found in command.metrics.items():
                if metric in _OWN_METRICS:
                    raise ValueError(
                        f"metric {metric} of command {name}: iotide uses this name for runs on several targets; choose "
                        "another name"
                    )
                first = seen.setdefault(metric, found)
                if (first.title, first.unit, first.better) != (found.title, found.unit, found.better):
                    raise ValueError(
                        f"metric {metric} of command {name} has a different title, unit or direction than in an "
                        "earlier command; use the same or choose another name"
                    )
        return self


class CommandOptions(Options):
    command: str = Field(default="", title="Command")
    """Program that the node's administrator listed."""
    space_bytes: Bytes = Field(default=GIB, ge=1, le=2**60, title="Maximum space")
    """Maximum space that it needs; the target must have this much free."""
    expected_seconds: Seconds = Field(default=60, ge=1, le=30 * 86_400, title="Expected duration")
    """Usual duration, to estimate when the run ends."""


class CommandWorkload(Workload[CommandOptions]):
    name: ClassVar[str] = "command"
    title: ClassVar[str] = "command: site-specific program"
    description: ClassVar[str] = "Runs a program that the node's administrator listed, and reads the numbers it prints."
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = None
    metrics: ClassVar[tuple[MetricSpec, ...]] = ()
    bytes_needed: ClassVar[Expression] = Option.of("space_bytes")
    bytes_moved: ClassVar[Expression] = Option.of("space_bytes")
    run_seconds: ClassVar[Expression] = Option.of("expected_seconds")
    options_type = CommandOptions
    settings_type: ClassVar[type[Settings]] = CommandSettings

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._commands = self.settings.commands if isinstance(self.settings, CommandSettings) else {}
        if self._commands:
            self.options_type = _options_of(sorted(self._commands))

    def unavailable_because(self) -> str | None:
        return None if self._commands else _REMEDY

    def metric_specs(self) -> tuple[MetricSpec, ...]:
        metrics = {name: metric for command in self._commands.values() for name, metric in command.metrics.items()}
        firsts = {next(iter(command.metrics)) for command in self._commands.values()}
        own = (
            MetricKind(name, metric.title, metric.unit, metric.better).by("command", primary=name in firsts)
            for name, metric in sorted(metrics.items())
        )
        return (*own, *(race_by("command") if metrics else ()))

    def groups(self, options: CommandOptions, place: Place) -> list[Group]:
        filled = {"{directory}": str(place.directory), "{target}": str(place.directory.parent)}
        return in_turn(
            Step(
                name=options.command,
                phase=f"running {options.command}",
                argv=tuple(_filled(argument, filled) for argument in self._commands[options.command].argv),
                target_id=place.target_id,
                before=Before.SYNC,
            )
        )

    def read(self, options: CommandOptions, place: Place, outcome: StepOutcome) -> Parsed:
        labels = {"command": options.command}
        samples = [
            Sample(name, _number(metric, outcome), labels, place.target_id)
            for name, metric in self._commands[options.command].metrics.items()
        ]
        flags = quality.judge_duration(options.command, outcome.wall_seconds, CLOCK_SECONDS)
        return Parsed(samples, [quality.about(flag, labels, place) for flag in flags])

    def conclude(self, options: CommandOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return the race between targets, without totals: not every number adds up."""
        return Parsed.of_all(race(own, {"command": options.command}) for own in side_by_side(places, outcomes))

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        expected_seconds = self._commands[step.name].expected_seconds
        return min(1.0, counters.elapsed_seconds / expected_seconds) if expected_seconds else None


def _options_of(names: list[str]) -> type[CommandOptions]:
    field = CommandOptions.model_fields["command"]
    choices: Any = Field(default=names[0], title=field.title, description=field.description)
    one_of: Any = Literal[tuple(names)]
    return create_model("CommandOptions", __base__=CommandOptions, command=(one_of, choices))


def _filled(argument: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        argument = argument.replace(placeholder, value)
    return argument


def _number(metric: CommandMetric, outcome: StepOutcome) -> float:
    printed = _by_path(metric.json_path, outcome) if metric.json_path else _by_pattern(str(metric.pattern), outcome)
    try:
        value = float(printed) * metric.factor
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if isinstance(printed, bool) or not isfinite(value):
        raise OutputRefusedError(outcome.step.name, f"{metric.title}: {printed!r} is not a number", outcome.stdout)
    return value


def _by_path(path: str, outcome: StepOutcome) -> Any:  # noqa: ANN401 - JSON
    try:
        found = json.loads(outcome.stdout)
    except (ValueError, RecursionError) as error:  # numbers too long, nesting too deep
        raise OutputRefusedError(outcome.step.name, f"stdout is not JSON ({error})", outcome.stdout) from error
    if not isinstance(found, dict):
        raise OutputRefusedError(outcome.step.name, "stdout is not a JSON object", outcome.stdout)
    for part in path.split("."):
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise OutputRefusedError(outcome.step.name, f"the JSON on stdout has no {path}", outcome.stdout) from error
    return found


def _by_pattern(pattern: str, outcome: StepOutcome) -> str:
    matches = list(re.finditer(pattern, outcome.stdout, re.MULTILINE))
    if len(matches) != 1:
        raise OutputRefusedError(
            outcome.step.name, f"{pattern} matches {len(matches)} times instead of once", outcome.stdout
        )
    if "\n" not in outcome.stdout[matches[0].end() :]:
        raise OutputRefusedError(
            outcome.step.name, f"the line with {pattern} has no end, so the number may be cut", outcome.stdout
        )
    return matches[0]["value"]
