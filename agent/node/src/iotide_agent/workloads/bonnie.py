"""bonnie++: sequential and per-character I/O, seeks and small files."""

import os
import re
import signal
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

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
    in_turn,
)
from iotide_agent.workloads.bonnie_report import PHASES, TOO_FAST, BonniePhase, BonnieReport, read_report
from iotide_agent.workloads.metrics import IOPS, LATENCY, OPERATION_RATE, THROUGHPUT, MetricKind, race_by
from iotide_agent.workloads.option_types import Bytes, choices, size_bytes
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import race
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Holds, Operation, Option
from iotide_wire.measured import Answer, Flag, FlagCode
from iotide_wire.units import GIB, KIB, MIB, Unit, format_bytes

CLOCK_SECONDS: Final = 1e-6
SHOWN_SECONDS: Final = 0.5
"""bonnie++ prints no figure for a shorter phase."""
STALL_SECONDS: Final = 900.0
"""After a read error it reads forever. No write-back of dirty pages takes this long."""
SLOWEST_FILES_A_SECOND: Final = 10
"""Creating empty files moves no bytes, so large numbers of files need a longer limit."""
BYTES_PER_FILE: Final = 4096
"""Space of an empty file or directory."""

_FILES_UNIT: Final = 1024
_NODE_NAME: Final = "iotide"
"""A comma in the name would break the line of figures."""
# An error message may follow the title of a phase on the same line.
_COMPLAINT: Final = re.compile(
    r"(?:^|\.\.\.)(?P<what>(?:Can't |Bonnie: |Expected |[Ee]xceeded |[Ee]rror |Not enough |You must |File size "
    r"|re[ -]write|lseek |semop).*)",
    re.MULTILINE,
)
_STREAM_LABELS: Final = ("operation", "file_size_bytes", "direct")


class BonnieOptions(Options):
    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"direct": {"const": True}}, "required": ["direct"]},
            "then": {"properties": {"tests": {"not": {"contains": {"const": "char"}}}}},
        }
    )

    tests: tuple[Literal["block", "char", "files"], ...] = choices("block", "files", title="Tests")
    """block: write, rewrite and read a large file in blocks, then seek in it. char: the same, and byte by byte too,
    which measures the C library. files: create, stat and delete many files.
    """
    file_size_bytes: Annotated[
        Annotated[Bytes, Field(ge=2 * MIB, le=2**50, multiple_of=MIB)] | Literal["auto"],
        Field(union_mode="left_to_right", title="File size"),
    ] = "auto"
    """Size of the large file, in whole MiB. auto: twice the node's memory, the minimum that bonnie++ recommends."""
    block_size_bytes: Literal[1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576] = Field(
        default=8192, title="Block size", json_schema_extra={"x-unit": "bytes"}
    )
    """Bytes per call of the block tests and per seek."""
    direct: bool = Field(default=False, title="O_DIRECT")
    """Bypass the page cache for the large file. Not with char."""
    file_count: int = Field(
        default=16 * _FILES_UNIT, ge=_FILES_UNIT, le=10_240_000, multiple_of=_FILES_UNIT, title="Files"
    )
    """Number of files to create, stat and delete; a multiple of 1024."""
    small_file_size_bytes: Bytes = Field(default=0, ge=0, le=GIB, title="Small file size")
    """Bytes written to each file and read again by stat. 0: empty files."""
    directories: int = Field(default=1, ge=1, le=99_999, title="Directories")
    """Number of directories that hold the files."""
    sync_files: bool = Field(default=False, title="Flush per file")
    """Call fsync after each file is created or deleted."""

    @model_validator(mode="after")
    def _tests_can_be_done(self) -> Self:
        if len(set(self.tests)) != len(self.tests):
            raise ValueError(f"tests = {list(self.tests)}: list each test only once")
        if self.direct and "char" in self.tests:
            raise ValueError(
                "direct = true does not work with test char: O_DIRECT moves no single bytes; remove one of them"
            )
        return self


_STARTS: Final = {"streams": frozenset({"block", "char"}), "files": frozenset({"files"})}
_LARGE: Final = Operation(op="max", args=(Holds.of("tests", "block"), Holds.of("tests", "char")))
_FILES_BYTES: Final = Holds.of("tests", "files") * (
    Option.of("file_count") * (Option.of("small_file_size_bytes") + BYTES_PER_FILE)
    + Option.of("directories") * BYTES_PER_FILE
)


class BonnieWorkload(Workload[BonnieOptions]):
    name: ClassVar[str] = "bonnie"
    title: ClassVar[str] = "bonnie++: streams, seeks and files"
    description: ClassVar[str] = (
        "Writes, rewrites and reads a large file, seeks in it, and creates, looks up and deletes many files."
    )
    revision: ClassVar[int] = 2
    tool: ClassVar[str | None] = "bonnie++"
    package: ClassVar[str] = "bonnie++"
    version_argv: ClassVar[tuple[str, ...]] = ("bonnie++", "-h")
    version_pattern: ClassVar[str] = r"\bVersion: (.+)"
    supported: ClassVar[tuple[Releases, ...]] = (Releases("bonnie++", "1.96", "2.00"),)
    version_in_usage: ClassVar[bool] = True
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        THROUGHPUT.by(*_STREAM_LABELS, primary=True),
        IOPS.by(*_STREAM_LABELS, title="Seek rate", primary=True),
        OPERATION_RATE.by(
            "operation", "order", description="Files created, looked up or deleted per second.", primary=True
        ),
        MetricKind("cpu_ratio", "CPU use", Unit.RATIO, "lower").by(
            *_STREAM_LABELS,
            "order",
            description="CPU time of all bonnie++ processes divided by elapsed time, as bonnie++ prints it.",
        ),
        LATENCY.by(*_STREAM_LABELS, "order", "percentile", title="Maximum latency"),
        *race_by("operation"),
    )
    bytes_needed: ClassVar[Expression] = _LARGE * Option.of("file_size_bytes") + _FILES_BYTES
    files_needed: ClassVar[Expression] = Holds.of("tests", "files") * Option.of("file_count")
    # Four passes: write, rewrite (read and write) and read.
    bytes_moved: ClassVar[Expression] = _LARGE * Option.of("file_size_bytes") * 4 + _FILES_BYTES * 4
    options_type = BonnieOptions

    def groups(self, options: BonnieOptions, place: Place) -> list[Group]:
        """Return a command for each half: bonnie++ prints figures only at its end."""
        return in_turn(
            *(_step(name, options, place) for name, tests in _STARTS.items() if tests.intersection(options.tests))
        )

    def read(self, options: BonnieOptions, place: Place, outcome: StepOutcome) -> Parsed:
        report = _checked_report(options, place, outcome)
        phases = list(_phases(_tests(outcome.step.name, options)))
        samples = [sample for phase in phases for sample in _samples(options, place, phase, report)]
        return Parsed(samples, [flag for phase in phases for flag in _flags(options, place, phase, report, outcome)])

    def conclude(self, options: BonnieOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        if len(places) == 1:
            return Parsed()
        names = dict.fromkeys(done.step.name for done in outcomes)
        return Parsed.of_all(
            race([done for done in outcomes if done.step.name == name], {"operation": name}) for name in names
        )

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return bonnie++'s error message: it exits with status 0 after a failed fsync."""
        complaint = _COMPLAINT.search(outcome.stderr)
        if complaint is None:
            return super().failure(outcome)
        ended = f"; {super().failure(outcome)}" if outcome.signal is not None else ""
        return f"bonnie++: {complaint['what']}{ended}"

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        titles = [phase.title for phase in PHASES if bool(phase.order) is (step.name == "files")]
        begun = [number for number, title in enumerate(titles) if title in output_tail]
        by_phase = begun[-1] / len(titles) if begun else 0.0
        by_bytes = super().progress(step, counters, output_tail) or 0.0
        return max(by_phase, by_bytes * (len(titles) - 1) / len(titles))


def _tests(start: str, options: BonnieOptions) -> frozenset[str]:
    """Return the tests of a start. Revision 1 had one start for all."""
    return _STARTS.get(start, frozenset(options.tests)).intersection(options.tests)


def _sizes(tests: frozenset[str], options: BonnieOptions, place: Place) -> tuple[int, int]:
    large_bytes = size_bytes(options.file_size_bytes, place) if tests & _STARTS["streams"] else 0
    return large_bytes, options.file_count if "files" in tests else 0


def _is_direct(options: BonnieOptions, place: Place) -> bool:
    return options.direct and place.direct_works


def _step(name: str, options: BonnieOptions, place: Place) -> Step:
    large_bytes, files = _sizes(_tests(name, options), options, place)
    return Step(
        name=name,
        phase=f"bonnie++ with {format_bytes(large_bytes)}" if large_bytes else f"bonnie++ with {files:,} files",
        argv=tuple(_argv(options, place, large_bytes, files)),
        target_id=place.target_id,
        bytes_moved=4 * (large_bytes + files * (options.small_file_size_bytes + BYTES_PER_FILE)),
        before=Before.DROP,
        is_sequence=True,
        # bonnie++ removes its files on SIGINT, but not on SIGTERM.
        stop_signal=signal.SIGINT,
        stall_seconds=STALL_SECONDS + files / SLOWEST_FILES_A_SECOND,
        direct_files=(place.directory,) if large_bytes and _is_direct(options, place) else (),
    )


def _argv(options: BonnieOptions, place: Place, large_bytes: int, files: int) -> Iterator[str]:
    large_mib = large_bytes // MIB
    yield from ("bonnie++", "-d", str(place.directory), "-x", "1", "-m", _NODE_NAME)
    # bonnie++ requires a user name from root; for others this is their own.
    yield from ("-u", f"{os.geteuid()}:{os.getegid()}")
    yield from ("-s", f"{large_mib}:{options.block_size_bytes}")
    if large_mib:
        # bonnie++ refuses a file below twice the given memory; the run's flags report that instead. Without -r it
        # uses the node's memory, which its list of many small files needs.
        yield from ("-r", str(max(1, large_mib // 2)))
    size = options.small_file_size_bytes
    yield from ("-n", f"{files // _FILES_UNIT}:{size}:{size}:{options.directories}" if files else "0")
    if "char" not in options.tests:
        yield "-f"
    if _is_direct(options, place):
        yield "-D"
    if options.sync_files:
        yield "-b"


def _phases(tests: frozenset[str]) -> Iterator[BonniePhase]:
    for phase in PHASES:
        of_streams = "char" in tests or ("block" in tests and not phase.by_byte)
        if "files" in tests if phase.order else of_streams:
            yield phase


def _checked_report(options: BonnieOptions, place: Place, outcome: StepOutcome) -> BonnieReport:
    name, text = outcome.step.name, outcome.stdout
    report = read_report(name, text)
    tests = _tests(name, options)
    large_bytes, files = _sizes(tests, options, place)
    large_mib, count = large_bytes // MIB, files // _FILES_UNIT
    if (report.file_mib, report.file_thousands) != (large_mib, count):
        raise OutputRefusedError(name, f"{large_mib} MiB and {count} x 1024 files were planned", text[-500:])
    wanted = set(_phases(tests))
    for phase in PHASES:
        if (phase in wanted) is not bool(report.rates[phase] and report.cpu_percents[phase]):
            problem = "has no figure" if phase in wanted else "has a figure but was not requested"
            raise OutputRefusedError(name, f"{phase.title!r} {problem}", text[-500:])
        if phase in wanted and report.rates[phase] != TOO_FAST and not float(report.rates[phase]):
            raise OutputRefusedError(name, f"{phase.title!r} moved nothing", text[-500:])
    return report


def _labels(options: BonnieOptions, place: Place, phase: BonniePhase) -> Labels:
    if phase.order:
        return {"operation": phase.operation, "order": phase.order}
    return {
        "operation": phase.operation,
        "file_size_bytes": size_bytes(options.file_size_bytes, place),
        "direct": _is_direct(options, place),
    }


def _samples(options: BonnieOptions, place: Place, phase: BonniePhase, report: BonnieReport) -> Iterator[Sample]:
    labels = _labels(options, place, phase)
    rate, cpu, latency = report.rates[phase], report.cpu_percents[phase], report.latencies[phase]
    if rate != TOO_FAST:
        value = float(rate) * (KIB if phase.metric == "throughput" else 1)
        yield Sample(phase.metric, value, labels, place.target_id)
    if cpu != TOO_FAST:
        yield Sample("cpu_ratio", float(cpu) / 100, labels, place.target_id)
    if latency is not None:
        yield Sample("latency", latency, labels | {"percentile": "max"}, place.target_id)


def _flags(
    options: BonnieOptions, place: Place, phase: BonniePhase, report: BonnieReport, outcome: StepOutcome
) -> Iterator[Answer]:
    labels = _labels(options, place, phase)
    rate = report.rates[phase]
    file_bytes = size_bytes(options.file_size_bytes, place)
    flags: list[Answer] = []
    if rate == TOO_FAST:
        flags.append(_too_fast(phase))
    elif phase.order:
        flags += quality.judge_metadata_duration(phase.operation, options.file_count / float(rate), CLOCK_SECONDS)
    elif phase.metric == "throughput" and not phase.by_byte:
        seconds = file_bytes / (float(rate) * KIB)
        flags += quality.judge_duration(phase.operation, seconds, CLOCK_SECONDS)
    # A file twice as large as the memory has left the cache by the time it is read.
    is_cold = outcome.before_done is Before.LARGER_THAN_MEMORY and not phase.order
    if not phase.order:
        flags += quality.judge_direct(place, wanted=options.direct)
        cached = quality.judge_cache_size(place, file_bytes, direct=_is_direct(options, place))
        is_cold = is_cold and not cached
        flags += cached
    is_bypassed = labels.get("direct", False) and not quality.kept_despite_direct(place)
    if phase.reads and not is_cold and not is_bypassed:
        flags += quality.judge_warm(phase.operation, "bonnie++")
    if phase.operation in {"write", "rewrite"}:
        flags += quality.judge_reducible("bonnie++ writes data that compresses to less than 1 %")
    yield from (quality.about(flag, labels, place) for flag in flags)


def _too_fast(phase: BonniePhase) -> Flag:
    measured = f"{phase.operation} took less than {SHOWN_SECONDS} s, so bonnie++ shows no figure"
    limit = f"{SHOWN_SECONDS} s; raise the {'file count' if phase.order else 'file size'}"
    return quality.rejected(FlagCode.TOO_FAST, measured, limit)
