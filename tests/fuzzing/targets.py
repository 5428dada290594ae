"""All fuzz targets: each parser of foreign texts, fed with bytes, and the errors that it promises."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import ClassVar, Final

from factories.outcomes import MEMORY_BYTES
from factories.recorded import PROBE_DATA, sample
from factories.tiny_runs import SETTINGS
from fuzzing.announced_targets import AnnouncedSchema, SaidHello
from fuzzing.mpi_targets import mpi_targets
from fuzzing.probe_targets import ProbedMount, ProbedNode
from fuzzing.target import Target
from fuzzing.texts import files
from fuzzing.tool_targets import GivenOptions, ParsedNodes, ParsedOutput
from pydantic import TypeAdapter, ValidationError
from wire_recordings import KINDS, kind_of
from wire_recordings import recordings as wire_recordings

from iotide_agent.batch import flux, lsf, pbs, slurm
from iotide_agent.batch.system import BatchProblemError, JobKey
from iotide_agent.cli.plan_file import read_plan, read_schedule
from iotide_agent.cli.problems import RefusedError
from iotide_agent.node.config import ConfigError, load_config
from iotide_agent.probes.mounts import MountinfoError
from iotide_agent.probes.mounts import parse_mountinfo as parse_mounts
from iotide_agent.probes.registry import all_probes
from iotide_agent.runner.mounts import parse_mountinfo as parse_mount_lines
from iotide_agent.runner.orphans import read_mark
from iotide_agent.workloads.base import OutputRefusedError
from iotide_agent.workloads.fio_job_file import (
    JobFileError,
    groups_of,
    is_even,
    largest_buffers,
    left_out_keys,
    read_job_file,
    write_job_file,
)
from iotide_agent.workloads.fio_report import read_report, read_series
from iotide_agent.workloads.registry import all_workloads
from iotide_agent.workloads.registry import workload as workload_of
from iotide_server.kit.errors import InvalidInputError
from iotide_server.schedules.calendar import Calendar
from iotide_wire import schedule as wire_schedule
from iotide_wire.expressions import Expression, ExpressionError, evaluate
from iotide_wire.units import Unit, UnitError, format_value, parse_bytes, parse_rate, parse_seconds

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


class TextParser(Target):
    """A function of a text, with the errors that it promises."""

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
    """A function of a file, with the errors that it promises."""

    directory: ClassVar[Path]
    """Path of the file; the caller sets it."""

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
    """Every message of the wire; the first byte chooses one."""

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


def _batches() -> Iterator[str]:
    job = JobKey(7, 255).job_name
    yield f"12|{job}|PENDING|Resources\n13|{job}|RUNNING|None\n14|x|COMPLETED|\n"
    yield "node01|idle\nnode02|down*\nnode03|mixed#\n"
    yield f"12^PEND^{job}^-^Job slot limit reached;\n13^EXIT^{job}^TERM_OWNER: job killed by owner^-\n"
    yield "HOST_NAME STATUS JL/U MAX\nn1 ok - 8\nn2 unavail - 8\n"
    yield f'{{\n "Jobs":{{\n  "8.pbs":{{\n   "Job_Name":"{job}",\n   "Job_Owner":"bench@n1",\n   "job_state":"F"\n}}}}'
    yield '{\n    "nodes":{\n        "n1":{\n            "state":"free,job-busy"\n        }\n    }\n}\n'
    yield f"17|{job}|FAILED|exec|lost contact\n18|x|RUN||\n"
    yield "free|n[01-03/2],m[1-2]x[3]\ndown|n4\n"


def _read_job_file(text: str) -> None:
    jobs = read_job_file(text, 2**70)
    written = write_job_file(jobs, direct_works=True)
    again = read_job_file(written, 2**70)
    assert write_job_file(again, direct_works=True) == written
    groups = groups_of(jobs)
    assert sum(map(len, groups)) == len(jobs)
    assert largest_buffers(jobs)[0] > 0
    assert [is_even(group) for group in groups]
    assert all(job.unflushed_writes >= 0 for job in jobs)
    left_out_keys(text)


def _read_batches(text: str) -> None:
    tables = (slurm.parse_jobs, slurm.parse_hosts, lsf.parse_jobs, lsf.parse_hosts)
    others = (partial(pbs.parse_jobs, user="bench"), pbs.parse_hosts, flux.parse_jobs, flux.parse_hosts)
    for parse in (*tables, *others):
        with suppress(BatchProblemError):
            parse(text)


def _marks() -> Iterator[str]:
    yield '{"made_by": "iotide-agent", "order_id": 70, "fence": 7, "agent": "a", "parent": "/scratch"}'


def _others() -> Iterator[Target]:
    yield ProbedNode()
    yield WireMessage()
    yield AnnouncedSchema()
    yield SaidHello()
    yield TextParser("calendar", _read_calendar, (InvalidInputError, ValidationError), _calendars)
    yield TextParser("units", _read_units, (), _units)
    yield TextParser("expressions", _evaluate, (ValidationError, ExpressionError), _expressions)
    yield TextParser("mountinfo", parse_mounts, (MountinfoError,), _mountinfos)
    yield TextParser("mountinfo-runner", parse_mount_lines, (ValueError,), _mountinfos)
    yield TextParser(
        "fio-series",
        read_series,
        (OutputRefusedError,),
        lambda: map(bytes.decode, files("tests/data/fio/*.log", "tests/data/fio/made/*.log")),
    )
    yield TextParser(
        "fio-report",
        lambda text: read_report("measure", text),
        (OutputRefusedError,),
        lambda: map(bytes.decode, files("tests/data/fio/made/*.json")),
    )
    yield TextParser(
        "fio-job-file",
        _read_job_file,
        (JobFileError,),
        lambda: map(bytes.decode, files("tests/data/fio/made/*.fio")),
    )
    yield TextParser("batch", _read_batches, (), _batches)
    yield TextParser("mark", lambda text: read_mark(text.encode()), (), _marks)
    yield FileParser(
        "plan-file", read_plan, (RefusedError,), partial(files, "examples/*.yaml", "examples/small/*.yaml")
    )
    yield FileParser("schedule-file", read_schedule, (RefusedError,), partial(files, "examples/schedules/*.yaml"))
    yield FileParser("agent-toml", load_config, (ConfigError,), partial(files, "deploy/*/agent.toml"))


@cache
def all_targets() -> Mapping[str, Target]:
    """Return every parser by name."""
    found: list[Target] = [
        *map(ParsedOutput, sorted(all_workloads())),
        *map(ParsedNodes, ("ior", "mdtest")),
        *mpi_targets(),
        *map(GivenOptions, sorted(all_workloads())),
        *map(ProbedMount, sorted(all_probes())),
        *_others(),
    ]
    return {target.name: target for target in found}
