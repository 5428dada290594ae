"""Fuzz targets for workloads: the output of their tools, and their options as an order has them."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

from agent.workloads.test_captures import CAPTURES, FILES, READ
from agent.workloads.test_mpi_nodes import RUNS, on_nodes, outcome_of
from factories.outcomes import MEMORY_BYTES
from factories.outcomes import captured as captured_outcome
from factories.released_outputs import FOLDER, RELEASED
from factories.tiny_runs import SETTINGS, TINY
from fuzzing.target import Target
from fuzzing.texts import decode, encode, files
from pydantic import ValidationError

from iotide_agent.orders.progress import check_curve
from iotide_agent.workloads.base import (
    Before,
    Counters,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    PlanRefusedError,
    Step,
    StepOutcome,
    Workload,
)
from iotide_agent.workloads.io500 import FILES as IO500_FILES
from iotide_agent.workloads.registry import workload as workload_of
from iotide_wire.expressions import ExpressionError, evaluate
from iotide_wire.measured import SampleMessage

PLACE: Final = Path("/var/tmp/iotide-fuzz")  # noqa: S108 - a name in texts, nothing is there
_ROOT: Final = Path(__file__).parents[2]
_ENDS: Final[tuple[tuple[int | None, int | None], ...]] = ((0, None), (1, None), (None, 9), (None, 15))
"""Exit status and signal."""
_WALL_SECONDS: Final = (1.5, 1e-6, 0.3, 1e5)
_SPACE: Final = {
    "memory.total_bytes": MEMORY_BYTES,
    "target.total_bytes": 10 * MEMORY_BYTES,
    "target.free_bytes": 5 * MEMORY_BYTES,
    "target.reserve_bytes": 0,
    "targets.count": 1,
}


class ParsedOutput(Target):
    """A workload's reading of its tool's output."""

    choices = 4

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def workload(self) -> Workload[Any]:
        return workload_of(self.name, SETTINGS)

    @cached_property
    def options(self) -> list[Options]:
        validate = self.workload.options_type.model_validate
        captures = [given for capture, given in READ.items() if capture.startswith(f"{self.name}/")]
        released = [validate(one.options) for one in RELEASED if one.workload == self.name]
        return list(dict.fromkeys([*map(validate, TINY[self.name]), *captures, *released]))[:256]

    @cached_property
    def place(self) -> Place:
        return Place(
            target_id=7,
            directory=PLACE / "target/run",
            scratch=PLACE / "scratch",
            fstype="ext4",
            direct_works=True,
            total_bytes=10 * MEMORY_BYTES,
            free_bytes=5 * MEMORY_BYTES,
            facts={"memory.total_bytes": MEMORY_BYTES},
            source="/dev/iotide-test",
        )

    def steps(self, options: Options) -> list[Step]:
        return list(chain.from_iterable(self.workload.plan(options, [self.place])))

    def seeds(self) -> Iterator[bytes]:
        for capture in (capture for capture in CAPTURES if capture.startswith(f"{self.name}/")):
            outcome = captured_outcome(capture)
            options = READ.get(capture)
            recorded = _ROOT / f"tests/data/{FILES.get(capture, capture)}.json"
            printed = recorded.read_text() if recorded.exists() else outcome.stdout
            ends = (outcome.exit_status, outcome.signal)
            end = _ENDS.index(ends) if ends in _ENDS else 1
            for step in (0, 255):
                choices = (self.options.index(options) if options else 0, step, end, 0)
                yield encode(choices, (outcome.stdout, outcome.stderr, printed))
        for one in (one for one in RELEASED if one.workload == self.name):
            options, text = self.workload.options_type.model_validate(one.options), (FOLDER / one.file).read_text()
            yield encode((self.options.index(options), 0, 0, 0), (text, text, text))
        if self.name == "io500":
            texts = [(_ROOT / "tests/data/mpi/io500-one" / name).read_text() for name in ("io500.stdout", *IO500_FILES)]
            yield encode((0, 0, 0, 0), (texts[0], "", *texts[1:]))
        for number in range(min(len(self.options), 4)):
            yield encode((number, 0, 0, 0), ("",))
        yield from files(f"tests/data/fuzz/seeds/{self.name}/*")

    def feed(self, data: bytes) -> None:
        (option, number, end, wall), texts = decode(data, self.choices)
        options = self.options[option % len(self.options)]
        steps = self.steps(options)
        status, signal = _ENDS[end % len(_ENDS)]
        outcomes = [
            self._outcome(step, texts, status, signal, _WALL_SECONDS[wall % len(_WALL_SECONDS)])
            for step in (steps[min(number, len(steps) - 1)], *steps[:8])
        ]
        self._read(options, outcomes[0])
        read = [self._read(options, outcome) for outcome in outcomes[1:]]
        if len(read) == len(steps) and None not in read:
            with suppress(OutputRefusedError):
                self._check(self.workload.conclude(options, [self.place], outcomes[1:]))

    def _outcome(
        self, step: Step, texts: Sequence[str], status: int | None, signal: int | None, wall_seconds: float
    ) -> StepOutcome:
        stdout, stderr, *files = [*texts, "", ""][: max(2, len(texts))]
        return StepOutcome(
            step=step,
            stdout=stdout,
            stderr=stderr,
            truncated=False,
            files={file.name: text for file, text in zip(step.output_files, files or [stdout], strict=False)},
            exit_status=status,
            signal=signal,
            started_at=datetime(2026, 11, 21, tzinfo=UTC),
            wall_seconds=wall_seconds,
            user_seconds=0.1,
            system_seconds=0.2,
            max_rss_bytes=2**20,
            before_done=Before.SYNC if step.before is Before.DROP else step.before,
        )

    def _read(self, options: Options, outcome: StepOutcome) -> Parsed | None:
        failure = self.workload.failure(outcome)
        assert failure is None or failure.strip(), "a failure without words"
        fraction = self.workload.progress(outcome.step, Counters(2**20, 2**20, 1.0), outcome.stdout[-4000:])
        assert fraction is None or 0 <= fraction <= 1, f"progress of {fraction}"
        with suppress(OutputRefusedError):
            self._check(self.workload.read_cut(options, self.place, outcome))
        try:
            read = self.workload.read(options, self.place, outcome)
        except OutputRefusedError:
            return None
        self._check(read)
        return None if failure else read

    def _check(self, parsed: Parsed) -> None:
        """Check that the reading may be sent."""
        for curve in parsed.curves:
            check_curve(curve)
        for found in parsed.samples:
            SampleMessage(metric=found.metric, value=found.value, labels=dict(found.labels), target_id=found.target_id)


class ParsedNodes(ParsedOutput):
    """The same for one MPI program of two nodes, with its table of ranks."""

    def __init__(self, workload: str) -> None:
        super().__init__(workload)
        self._tool = workload
        self.name = f"{workload}-nodes"

    @cached_property
    def workload(self) -> Workload[Any]:
        return workload_of(self._tool, SETTINGS)

    @cached_property
    def options(self) -> list[Options]:
        found = [given for workload, given, *_ in RUNS.values() if workload.name == self._tool]
        return list(dict.fromkeys(map(self.workload.options_type.model_validate, found)))

    @cached_property
    def place(self) -> Place:
        return on_nodes(ParsedOutput(self._tool).place)

    def seeds(self) -> Iterator[bytes]:
        for name, (workload, given, operation, _) in RUNS.items():
            if workload.name != self._tool:
                continue
            options = self.workload.options_type.model_validate(given)
            step = [step.name for step in self.steps(options)].index(operation)
            outcome = outcome_of(name, self.place)
            yield encode((self.options.index(options), step, 0, 0), (outcome.stdout, "", *outcome.files.values()))


class GivenOptions(Target):
    """A workload's options as an order has them, and the plan and the needs that follow from them."""

    def __init__(self, workload: str) -> None:
        self.name = f"options-{workload}"
        self._output = ParsedOutput(workload)

    def seeds(self) -> Iterator[bytes]:
        for options in self._output.options:
            yield options.model_dump_json(exclude_defaults=True).encode()
        yield json.dumps(self._output.workload.options_type().model_dump(mode="json")).encode()

    def feed(self, data: bytes) -> None:
        workload = self._output.workload
        with suppress(ValidationError, PlanRefusedError, ExpressionError):
            options = workload.options_type.model_validate_json(data)
            values = _SPACE | options.model_dump(mode="json")
            for expression in (workload.bytes_needed, workload.bytes_moved, workload.run_seconds):
                evaluate(expression, values)
            for step in self._output.steps(options):
                assert all(type(word) is str and "\0" not in word for word in step.argv), step.argv
