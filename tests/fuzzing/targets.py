"""What is fuzzed: each parser of texts that others wrote, fed with bytes, and which errors it promises.

An input is a few bytes that choose (options, step, mount, how the tool ended) and texts with SEPARATOR between them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Final

from agent.workloads.test_captures import CAPTURES, FILES, READ
from factories.outcomes import MEMORY_BYTES
from factories.outcomes import captured as captured_outcome
from factories.recorded import PROBE_DATA, Recorded, sample
from factories.recordings import recordings
from factories.tiny_runs import SETTINGS, TINY
from fuzzing.target import Target
from pydantic import TypeAdapter, ValidationError
from wire_recordings import KINDS, kind_of
from wire_recordings import recordings as wire_recordings

from iotide_agent.batch import lsf, slurm
from iotide_agent.batch.system import BatchProblemError, JobKey
from iotide_agent.cli.plan_file import read_plan, read_schedule
from iotide_agent.cli.problems import RefusedError
from iotide_agent.config import ConfigError, load_config
from iotide_agent.probes import node
from iotide_agent.probes.base import Probe, gather
from iotide_agent.probes.condition import look_below
from iotide_agent.probes.mounts import Mount, MountinfoError
from iotide_agent.probes.mounts import parse_mountinfo as parse_mounts
from iotide_agent.probes.reader import Reader, Unavailable, Want
from iotide_agent.probes.registry import all_probes
from iotide_agent.runner.mounts import parse_mountinfo as parse_mount_lines
from iotide_agent.runner.strays import read_mark
from iotide_agent.tool_curves import check_curve
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
from iotide_agent.workloads.fio_series import read_series
from iotide_agent.workloads.registry import all_workloads
from iotide_agent.workloads.registry import workload as workload_of
from iotide_server.kit.errors import InvalidInputError
from iotide_server.schedules.calendar import Calendar
from iotide_wire import schedule as wire_schedule
from iotide_wire.expressions import Expression, ExpressionError, evaluate
from iotide_wire.facts import Facts
from iotide_wire.measured import SampleMessage
from iotide_wire.units import Unit, UnitError, format_value, parse_bytes, parse_rate, parse_seconds

SEPARATOR: Final = b"\x1e"
"""Between the texts of an input; no tool prints it."""
PLACE: Final = Path("/var/tmp/iotide-fuzz")  # noqa: S108 - a name in texts, nothing is there
_ROOT: Final = Path(__file__).parents[2]
_ENDS: Final[tuple[tuple[int | None, int | None], ...]] = ((0, None), (1, None), (None, 9), (None, 15))
"""Exit status and signal."""
_WALL_SECONDS: Final = (1.5, 1e-6, 0.3, 1e5)
_FACTS: Final[TypeAdapter[Facts]] = TypeAdapter(Facts)
_EXPRESSION: Final[TypeAdapter[Expression]] = TypeAdapter(Expression)
_VALUES: Final[dict[str, object]] = {
    "file_size_bytes": 2**30,
    "writers": 4,
    "size": "auto",
    "operations": ["write", "read"],
    "memory.total_bytes": MEMORY_BYTES,
    "huge": 10**400,
    "name": "text",
}
_SPACE: Final = {
    "memory.total_bytes": MEMORY_BYTES,
    "target.total_bytes": 10 * MEMORY_BYTES,
    "target.free_bytes": 5 * MEMORY_BYTES,
    "target.reserve_bytes": 0,
    "targets.count": 1,
}


def encode(choices: Sequence[int], texts: Sequence[str]) -> bytes:
    """An input of these choices, each a byte, and texts."""
    return bytes(choices) + SEPARATOR.join(text.encode(errors="replace") for text in texts)


def decode(data: bytes, count: int) -> tuple[list[int], list[str]]:
    """The choices, `count` of them, and the texts of an input."""
    choices = [*data[:count], *bytes(max(0, count - len(data)))]
    return choices, [part.decode(errors="replace") for part in data[count:].split(SEPARATOR)]


class ParsedOutput(Target):
    """A workload's reading of what its tool printed."""

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
        return list(dict.fromkeys([*map(validate, TINY[self.name]), *captures]))[:256]

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
            beside = _ROOT / f"tests/data/{FILES.get(capture, capture)}.json"
            printed = beside.read_text() if beside.exists() else outcome.stdout
            ends = (outcome.exit_status, outcome.signal)
            end = _ENDS.index(ends) if ends in _ENDS else 1
            for step in (0, 255):
                choices = (self.options.index(options) if options else 0, step, end, 0)
                yield encode(choices, (outcome.stdout, outcome.stderr, printed))
        for number in range(min(len(self.options), 4)):
            yield encode((number, 0, 0, 0), ("",))
        yield from _files(f"tests/data/fuzz/seeds/{self.name}/*")

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
        """What was read must be what may be sent."""
        for curve in parsed.curves:
            check_curve(curve)
        for found in parsed.samples:
            SampleMessage(metric=found.metric, value=found.value, labels=dict(found.labels), target_id=found.target_id)


class GivenOptions(Target):
    """A workload's options as an order brings them, and the plan and the needs that follow from them."""

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


class _Answers(Reader):
    """Answers the wants in the order in which they come; an empty text is none."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._given: dict[Want, str | Unavailable] = {}

    def read(self, want: Want) -> str | Unavailable:
        if want not in self._given:
            number = len(self._given)
            text = self._texts[number] if number < len(self._texts) else ""
            self._given[want] = text or Unavailable("it is not there")
        return self._given[want]


class _InOrder(Recorded):
    """Keeps what was answered, in order."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.answered: list[str] = []

    def read(self, want: Want) -> str | Unavailable:
        answer = super().read(want)
        self.answered.append("" if isinstance(answer, Unavailable) else answer)
        return answer


@cache
def _mounts() -> list[Mount]:
    return [mount for path in sorted(PROBE_DATA.glob("mountinfo.*")) for mount in parse_mounts(sample(path.name))]


class ProbedMount(Target):
    """A probe's reading of what files and commands say of a mount."""

    choices = 1

    def __init__(self, name: str) -> None:
        self.name = f"probe-{name}"
        self._probe: Probe = all_probes()[name]

    @cached_property
    def mounts(self) -> list[Mount]:
        known = list(dict.fromkeys(filter(self._probe.matches, _mounts())))[:255]
        return known or [replace(_mounts()[0], fstype=self._probe.name)]

    def seeds(self) -> Iterator[bytes]:
        for recording in recordings().values():
            if recording.mount in self.mounts:
                reader = _InOrder(recording.texts)
                self._facts(recording.mount, reader)
                yield encode((self.mounts.index(recording.mount),), reader.answered)
        for number, _ in enumerate(self.mounts[:3]):
            yield encode((number,), ("text",) * 4)

    def feed(self, data: bytes) -> None:
        (number,), texts = decode(data, self.choices)
        self._facts(self.mounts[number % len(self.mounts)], _Answers(texts))

    def _facts(self, mount: Mount, reader: Reader) -> None:
        _FACTS.validate_python(self._probe.facts(mount, gather(reader, partial(self._probe.wants, mount))), strict=True)


class ProbedNode(Target):
    """What is said of the node itself, and of the condition of what lies below a directory."""

    name = "probe-node"

    def seeds(self) -> Iterator[bytes]:
        texts = [sample("mountinfo.local.txt"), sample("mountinfo.md.txt"), sample("btrfs-usage.txt")]
        yield encode((), texts)
        yield encode((), ("MemTotal: 8 kB\n", "model name : x\nprocessor : 0\n", "NAME=Debian\n"))

    def feed(self, data: bytes) -> None:
        _, texts = decode(data, self.choices)
        _FACTS.validate_python(node.facts(gather(_Answers(texts), node.wants)), strict=True)
        with suppress(MountinfoError):
            look_below(["/mnt/ext4", "/mnt/btrfs"], _Answers(texts))


class TextParser(Target):
    """A function from a text, with the errors that it promises."""

    def __init__(
        self,
        name: str,
        parse: Callable[[str], object],
        promised: tuple[type[Exception], ...],
        seeds: Callable[[], Iterator[str]],
    ) -> None:
        self.name = name
        self._parse = parse
        self._promised = promised
        self._seeds = seeds

    def seeds(self) -> Iterator[bytes]:
        return (text.encode() for text in self._seeds())

    def feed(self, data: bytes) -> None:
        with suppress(*self._promised):
            self._parse(data.decode(errors="replace"))


class FileParser(Target):
    """A function from a file, with the errors that it promises."""

    directory: ClassVar[Path]
    """Where the file is written; set by whoever feeds it."""

    def __init__(
        self,
        name: str,
        read: Callable[[Path], object],
        promised: tuple[type[Exception], ...],
        seeds: Callable[[], Iterator[bytes]],
    ) -> None:
        self.name = name
        self._read_file = read
        self._promised = promised
        self._seeds = seeds

    def seeds(self) -> Iterator[bytes]:
        return self._seeds()

    def feed(self, data: bytes) -> None:
        file = self.directory / f"{self.name}.input"
        file.write_bytes(data)
        with suppress(*self._promised):
            self._read_file(file)


class WireMessage(Target):
    """Every message of the wire; the first byte says which."""

    name = "wire"
    choices = 1

    def __init__(self) -> None:
        self._kinds = sorted(KINDS)

    def seeds(self) -> Iterator[bytes]:
        for file in wire_recordings():
            yield bytes((self._kinds.index(kind_of(file).__name__),)) + file.read_bytes()

    def feed(self, data: bytes) -> None:
        kind = KINDS[self._kinds[(data[0] if data else 0) % len(self._kinds)]]
        with suppress(ValidationError):
            said = kind.model_validate_json(data[1:])
            kind.model_validate_json(said.model_dump_json())


def _read_calendar(text: str) -> None:
    cron, _, rest = text.partition("\n")
    zone, _, monthly = rest.partition("\n")
    given = wire_schedule.Calendar(
        cron=cron or None, monthly=monthly or None, time_zone=zone or "Europe/Zurich", random_offset_seconds=60
    )
    calendar = Calendar.of(given)
    assert calendar.words
    moment = datetime(2026, 3, 28, tzinfo=UTC)
    for planned in calendar.next_firings(moment, 3):
        assert planned > moment
        assert calendar.due(1, planned) >= planned


def _calendars() -> Iterator[str]:
    for cron in ("30 2 * * *", "*/5 0-6,22 1,15 jan-mar mon#1", "0 0 29 2 *", "0 3 L * 5L", "* * * * *", "0 9 * * 1-5"):
        yield f"{cron}\nEurope/Zurich\n"
    yield "\nAmerica/New_York\nfirst sunday at 02:30"
    yield "\nUTC\nlast friday of each month at 22:00"


def _read_units(text: str) -> None:
    for parse in (parse_bytes, parse_rate, parse_seconds):
        with suppress(UnitError):
            value = parse(text)
            for unit in Unit:
                format_value(value, unit)


def _units() -> Iterator[str]:
    yield from ("4096", "64 MiB", "1.5GB", "4096 Mbit/s", "1.5 GB/s", "90", "10 min", "2h", "-1 s", "0.000001 TiB")


def _evaluate(text: str) -> None:
    evaluate(_EXPRESSION.validate_json(text), _VALUES)


def _expressions() -> Iterator[str]:
    for name in all_workloads():
        found = workload_of(name, SETTINGS)
        for expression in (found.bytes_needed, found.bytes_moved, found.run_seconds):
            yield expression.model_dump_json()


def _mountinfos() -> Iterator[str]:
    return (sample(path.name) for path in sorted(PROBE_DATA.glob("mountinfo.*")))


def _files(*patterns: str) -> Iterator[bytes]:
    return (path.read_bytes() for pattern in patterns for path in sorted(_ROOT.glob(pattern)))


def _batches() -> Iterator[str]:
    job = JobKey(7, 255).job_name
    yield f"12|{job}|PENDING|Resources\n13|{job}|RUNNING|None\n14|x|COMPLETED|\n"
    yield "node01|idle\nnode02|down*\nnode03|mixed#\n"
    yield f"12^PEND^{job}^-^Job slot limit reached;\n13^EXIT^{job}^TERM_OWNER: job killed by owner^-\n"
    yield "HOST_NAME STATUS JL/U MAX\nn1 ok - 8\nn2 unavail - 8\n"


def _read_batches(text: str) -> None:
    for parse in (slurm.parse_jobs, slurm.parse_hosts, lsf.parse_jobs, lsf.parse_hosts):
        with suppress(BatchProblemError):
            parse(text)


def _marks() -> Iterator[str]:
    yield '{"made_by": "iotide-agent", "order_id": 70, "fence": 7, "agent": "a", "parent": "/scratch"}'


def _others() -> Iterator[Target]:
    yield ProbedNode()
    yield WireMessage()
    yield TextParser("calendar", _read_calendar, (InvalidInputError, ValidationError), _calendars)
    yield TextParser("units", _read_units, (), _units)
    yield TextParser("expressions", _evaluate, (ValidationError, ExpressionError), _expressions)
    yield TextParser("mountinfo", parse_mounts, (MountinfoError,), _mountinfos)
    yield TextParser("mountinfo-runner", parse_mount_lines, (ValueError,), _mountinfos)
    yield TextParser(
        "fio-series", read_series, (OutputRefusedError,), lambda: map(bytes.decode, _files("tests/data/fio/*.log"))
    )
    yield TextParser("batch", _read_batches, (), _batches)
    yield TextParser("mark", lambda text: read_mark(text.encode()), (), _marks)
    yield FileParser(
        "plan-file", read_plan, (RefusedError,), partial(_files, "examples/*.yaml", "examples/small/*.yaml")
    )
    yield FileParser("schedule-file", read_schedule, (RefusedError,), partial(_files, "examples/schedules/*.yaml"))
    yield FileParser("agent-toml", load_config, (ConfigError,), partial(_files, "deploy/*/agent.toml"))


@cache
def all_targets() -> Mapping[str, Target]:
    """Every parser by name."""
    found: list[Target] = [
        *map(ParsedOutput, sorted(all_workloads())),
        *map(GivenOptions, sorted(all_workloads())),
        *map(ProbedMount, sorted(all_probes())),
        *_others(),
    ]
    return {target.name: target for target in found}
