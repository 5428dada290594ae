"""iozone: throughput over file size and record size for thirteen operations, or of several processes side by side."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from iotide_agent.workloads.base import (
    Before,
    Group,
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
from iotide_agent.workloads.iozone_quality import judge_blocks, judge_cells
from iotide_agent.workloads.iozone_report import (
    GROUP_OPERATIONS,
    KIBIBYTE,
    STDIO,
    Block,
    Row,
    clock_seconds,
    process_file,
    read_blocks,
    read_cut_blocks,
    read_cut_table,
    read_table,
)
from iotide_agent.workloads.sizes import count_between, size_bytes
from iotide_agent.workloads.writers import WRITER_METRICS, fairness, race
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Holds, Number, Operation, Option
from iotide_wire.units import Unit, format_bytes

STALL_SECONDS: Final = 900.0
COMPLAINED_STALL_SECONDS: Final = 30.0
"""Throughput mode waits for ever for a process that died; without its words on stderr a write-back may take longer."""

_LABELS: Final = ("operation", "file_size_bytes", "record_size_bytes", "direct")
_RECORD_SIZES: Final = tuple(4096 << power for power in range(13))
_COMPLAINT: Final = re.compile(
    r"^(?:iozone: )?(?P<what>Error .*|Can(?:'t|not| not) .*|interrupted|exiting iozone)$", re.MULTILINE
)
_DONE_LINE: Final = "\niozone test complete.\n"

Test = Literal["write", "read", "random", "backward-read", "record-rewrite", "stride-read", "fwrite", "fread"]
RecordSize = Literal[
    4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216
]
_TESTS: Final[dict[Test, tuple[int, tuple[str, ...]]]] = {
    "write": (0, ("write", "rewrite")),
    "read": (1, ("read", "reread")),
    "random": (2, ("random_read", "random_write")),
    "backward-read": (3, ("backward_read",)),
    "record-rewrite": (4, ("record_rewrite",)),
    "stride-read": (5, ("stride_read",)),
    "fwrite": (6, ("fwrite", "frewrite")),
    "fread": (7, ("fread", "freread")),
}
"""iozone's number of each test, and the operations that it times."""
_FileSize = Annotated[int, Field(ge=64 * 1024, le=2**60, multiple_of=1024, json_schema_extra={"x-unit": "bytes"})]
_Labels = dict[str, str | int | float | bool]


class IozoneOptions(Options):
    """Which sizes iozone goes through, and how honestly it times them."""

    mode: Literal["auto", "records", "throughput"] = Field(
        default="records",
        title="Mode",
        description=(
            "auto: every file size from the smallest, doubled up to the file size, with every record size. records: "
            "every record size at one file size. throughput: several processes at one file size and one record size."
        ),
    )
    file_size_bytes: Annotated[
        _FileSize | Literal["auto"],
        Field(
            union_mode="left_to_right",
            title="File size",
            description=(
                "The only one, each process's in throughput mode, the largest in auto mode; auto is twice the node's "
                "memory. A smaller one is measured in the cache unless O_DIRECT goes around it."
            ),
        ),
    ] = 1024**3
    min_file_size_bytes: int = Field(
        default=64 * 1024,
        ge=64 * 1024,
        le=2**60,
        multiple_of=1024,
        title="Smallest file size",
        description="Where auto mode begins, unless the smallest record size is larger.",
        json_schema_extra={"x-unit": "bytes"},
    )
    min_record_size_bytes: RecordSize = Field(
        default=4096,
        title="Smallest record size",
        description="What one read or write call moves, doubled up to the largest; not in throughput mode.",
        json_schema_extra={"x-unit": "bytes"},
    )
    max_record_size_bytes: RecordSize = Field(
        default=16777216,
        title="Largest record size",
        description="Where the record sizes end, or at the file size; the only one in throughput mode.",
        json_schema_extra={"x-unit": "bytes"},
    )
    tests: tuple[Test, ...] = Field(
        default=tuple(_TESTS),
        min_length=1,
        title="Tests",
        description=(
            "write makes the file that the others need. Each but backward-read, record-rewrite and stride-read times "
            "two operations. Throughput mode has no record-rewrite and does fwrite and fread once."
        ),
        json_schema_extra={"uniqueItems": True, "contains": {"const": "write"}},
    )
    flush: Literal["fsync", "direct", "none"] = Field(
        default="fsync",
        title="Flush",
        description=(
            "fsync: through the page cache, flushed inside the time. direct: past the cache with O_DIRECT, then "
            "flushed; fwrite and fread stay buffered. none: into the page cache only; rejected from comparison."
        ),
    )
    close: bool = Field(
        default=True,
        title="Time the close",
        description="The close is inside the time, which matters where closing a file sends its data away, as on NFS.",
    )
    processes: int = Field(
        default=4, ge=1, le=256, title="Processes", description="Side by side in throughput mode, each on its own file."
    )
    stone_walling: bool = Field(
        default=False,
        title="Stone-walling",
        description=(
            "In throughput mode the first process to finish stops the others, as iozone does by itself: slow processes "
            "then move less than their file. Without it each moves its whole file."
        ),
    )

    @model_validator(mode="after")
    def _sizes_are_in_order(self) -> Self:
        if "write" not in self.tests or len(set(self.tests)) != len(self.tests):
            raise ValueError(
                f"tests = {list(self.tests)}: name write, which makes the file, and each other once at most"
            )
        if self.min_record_size_bytes > self.max_record_size_bytes:
            raise ValueError("min_record_size_bytes is larger than max_record_size_bytes")
        if self.file_size_bytes != "auto":
            self._check_file(self.file_size_bytes)
        return self

    def _check_file(self, file_bytes: int) -> None:
        record_bytes = self.max_record_size_bytes if self.mode == "throughput" else self.min_record_size_bytes
        if record_bytes > file_bytes:
            raise ValueError(f"file_size_bytes = {file_bytes} is smaller than a record of {record_bytes}")
        if self.mode == "auto" and self.min_file_size_bytes > file_bytes:
            raise ValueError(f"min_file_size_bytes is larger than file_size_bytes = {file_bytes}")


_THROUGHPUT: Final = Holds.of("mode", "throughput")
_RECORD_COUNT: Final = count_between("min_record_size_bytes", "max_record_size_bytes", _RECORD_SIZES)
_OPERATION_COUNT: Final = Operation(
    op="+",
    args=(Option.of("tests"), *(Holds.of("tests", test) for test, (_, own) in _TESTS.items() if len(own) > 1)),
)
_FILES_BYTES: Final = Option.of("file_size_bytes") * (_THROUGHPUT * (Option.of("processes") - 1) + 1)


class IozoneWorkload(Workload[IozoneOptions]):
    """A surface of throughput over file size and record size."""

    name: ClassVar[str] = "iozone"
    title: ClassVar[str] = "iozone: thirteen operations over sizes"
    description: ClassVar[str] = (
        "Writes and reads files in a row, at random, backwards and in strides, for each file size and record size."
    )
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "iozone"
    package: ClassVar[str] = "iozone3 (in Debian's non-free section)"
    version_argv: ClassVar[tuple[str, ...]] = ("iozone", "-v")
    version_pattern: ClassVar[str] = r"Version \$Revision: (.+?) \$"
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        MetricSpec(
            name="throughput",
            title="Throughput",
            unit=Unit.BYTES_PER_SECOND,
            better="higher",
            labels=(*_LABELS, "writer"),
        ),
        MetricSpec(
            name="duration",
            title="Elapsed time of the whole of iozone",
            unit=Unit.SECONDS,
            better="lower",
            labels=("part",),
        ),
        *(metric.model_copy(update={"labels": _LABELS}) for metric in WRITER_METRICS),
    )
    bytes_needed: ClassVar[Expression] = _FILES_BYTES
    # The sizes of auto mode double, so that their sum is twice the largest less the smallest.
    bytes_moved: ClassVar[Expression] = (
        (_FILES_BYTES + Holds.of("mode", "auto") * (Option.of("file_size_bytes") - Option.of("min_file_size_bytes")))
        * (_THROUGHPUT + _RECORD_COUNT * (Number.of(1) - _THROUGHPUT))
        * _OPERATION_COUNT
    )
    options_type = IozoneOptions

    def groups(self, options: IozoneOptions, place: Place) -> list[Group]:
        """One command, which goes through all sizes and tests by itself."""
        count = options.processes if options.mode == "throughput" else 1
        files = tuple(place.directory / f"iozone-{number}.data" for number in range(1, count + 1))
        sizes = (*_mode_arguments(options, place), *_test_arguments(options))
        named = ("-F", *map(str, files)) if options.mode == "throughput" else ("-f", str(files[0]))
        step = Step(
            name="iozone",
            phase=f"iozone up to {format_bytes(size_bytes(options.file_size_bytes, place))}",
            argv=("iozone", *sizes, *_flush_arguments(options, place), *named),
            target_id=place.target_id,
            bytes_moved=_moved_bytes(options, place),
            before=Before.SYNC,
            declared_files=files,
            stall_seconds=STALL_SECONDS,
            complained_stall_seconds=COMPLAINED_STALL_SECONDS,
            threads=count,
        )
        return in_turn(step)

    def read(self, options: IozoneOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Every cell, or every process of throughput mode, and the elapsed time that iozone itself does not tell."""
        clock = clock_seconds(outcome.step.name, outcome.stdout)
        elapsed = Sample("duration", outcome.wall_seconds, {"part": "real"}, place.target_id)
        if options.mode == "throughput":
            blocks = _checked_blocks(options, place, outcome)
            samples = [sample for block in blocks for sample in _block_samples(options, place, block)]
            return Parsed([*samples, elapsed], judge_blocks(place, blocks, clock, options.flush))
        rows = _checked_rows(options, place, outcome)
        return Parsed([*_cells(options, place, rows), elapsed], judge_cells(place, rows, clock, options.flush))

    def read_cut(self, options: IozoneOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """The cells, or the operations of all processes, that were done: what an error cut is not among them."""
        clock_seconds(outcome.step.name, outcome.stdout)
        if options.mode != "throughput":
            return Parsed(list(_cells(options, place, read_cut_table(outcome.stdout))))
        if _COMPLAINT.search(outcome.stdout) or outcome.stderr.strip():
            # The survivors of a process that died share what it left, and are as fast as they never are together.
            return Parsed()
        blocks = read_cut_blocks(outcome.step.name, outcome.stdout)
        return Parsed([sample for block in blocks for sample in _block_samples(options, place, block)])

    def conclude(self, options: IozoneOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Which of several targets was done first."""
        del options
        return race(outcomes, {"operation": "all"}) if len(places) > 1 else Parsed()

    def failure(self, outcome: StepOutcome) -> str | None:
        """By what it prints: iozone ends with status 0 after a signal and after an fsync that failed."""
        said = [line.strip() for line in outcome.stderr.splitlines() if line.strip()][:1]
        said += [complaint["what"] for complaint in _COMPLAINT.finditer(outcome.stdout)][:1]
        ended = super().failure(outcome)
        if said:
            return "iozone: " + "; ".join([*said, *([ended] if outcome.signal is not None and ended else [])])
        if ended is None and _DONE_LINE not in outcome.stdout:
            return "iozone ended with status 0, but without its last line 'iozone test complete.'"
        return ended


def _is_direct(options: IozoneOptions, place: Place) -> bool:
    return options.flush == "direct" and place.direct_works


def _mode_arguments(options: IozoneOptions, place: Place) -> tuple[str, ...]:
    file_kib = str(size_bytes(options.file_size_bytes, place) // KIBIBYTE)
    if options.mode == "throughput":
        walling = () if options.stone_walling else ("-x",)
        record_kib = str(options.max_record_size_bytes // KIBIBYTE)
        return ("-t", str(options.processes), "-C", *walling, "-s", file_kib, "-r", record_kib)
    min_file_kib = str(_first_file_bytes(options) // KIBIBYTE) if options.mode == "auto" else file_kib
    records = (str(size // KIBIBYTE) for size in (options.min_record_size_bytes, options.max_record_size_bytes))
    # Without -y and -q iozone leaves out records below 64 KiB for files above 16 MiB.
    return ("-a", "-n", min_file_kib, "-g", file_kib, "-y", next(records), "-q", next(records))


def _test_arguments(options: IozoneOptions) -> Iterator[str]:
    for test, (number, own) in _TESTS.items():
        if test in options.tests and (options.mode != "throughput" or set(own).intersection(GROUP_OPERATIONS)):
            yield from ("-i", str(number))


def _flush_arguments(options: IozoneOptions, place: Place) -> tuple[str, ...]:
    """A refused O_DIRECT becomes a write through the cache, flushed."""
    flushed = ("-e",) if options.flush != "none" else ()
    return (*flushed, *(("-c",) if options.close else ()), *(("-I",) if _is_direct(options, place) else ()))


def _operations(options: IozoneOptions) -> tuple[str, ...]:
    """What is timed, in the order in which it is done and printed."""
    own = [operation for test, (_, own) in _TESTS.items() if test in options.tests for operation in own]
    if options.mode != "throughput":
        return tuple(own)
    return tuple(operation for operation in GROUP_OPERATIONS if operation in own)


def _first_file_bytes(options: IozoneOptions) -> int:
    """Where auto mode begins: iozone refuses a file that is smaller than the smallest record."""
    return max(options.min_file_size_bytes, options.min_record_size_bytes)


def _planned_rows(options: IozoneOptions, place: Place) -> Iterator[tuple[int, int]]:
    """File size and record size of each row, in KiB."""
    last_bytes = size_bytes(options.file_size_bytes, place)
    file_bytes = _first_file_bytes(options) if options.mode == "auto" else last_bytes
    while file_bytes <= last_bytes:
        for record_bytes in _RECORD_SIZES:
            if options.min_record_size_bytes <= record_bytes <= min(options.max_record_size_bytes, file_bytes):
                yield file_bytes // KIBIBYTE, record_bytes // KIBIBYTE
        file_bytes *= 2


def _moved_bytes(options: IozoneOptions, place: Place) -> int:
    if options.mode == "throughput":
        files_bytes = options.processes * size_bytes(options.file_size_bytes, place)
    else:
        files_bytes = sum(file_kib for file_kib, _ in _planned_rows(options, place)) * KIBIBYTE
    return files_bytes * len(_operations(options))


def _checked_rows(options: IozoneOptions, place: Place, outcome: StepOutcome) -> list[Row]:
    name, text = outcome.step.name, outcome.stdout
    rows = read_table(name, text)
    planned = list(_planned_rows(options, place))
    if [(row.file_kib, row.record_kib) for row in rows] != planned:
        raise OutputRefusedError(name, f"{len(planned)} rows of other sizes were planned", text[-500:])
    if any(tuple(row.rates) != _operations(options) for row in rows):
        raise OutputRefusedError(name, f"a row without exactly {', '.join(_operations(options))}", text[-500:])
    return rows


def _cells(options: IozoneOptions, place: Place, rows: list[Row]) -> Iterator[Sample]:
    for row in rows:
        for operation, rate in row.rates.items():
            if rate:
                labels = _labels(options, place, operation, row.file_kib, row.record_kib)
                yield Sample("throughput", rate * KIBIBYTE, labels, place.target_id)


def _labels(options: IozoneOptions, place: Place, operation: str, file_kib: int, record_kib: int) -> _Labels:
    return {
        "operation": operation,
        "file_size_bytes": file_kib * KIBIBYTE,
        "record_size_bytes": record_kib * KIBIBYTE,
        "direct": _is_direct(options, place) and operation not in STDIO,
    }


def _checked_blocks(options: IozoneOptions, place: Place, outcome: StepOutcome) -> list[Block]:
    name, text = outcome.step.name, outcome.stdout
    file_kib = size_bytes(options.file_size_bytes, place) // KIBIBYTE
    record_kib = options.max_record_size_bytes // KIBIBYTE
    if process_file(name, text) != (file_kib, record_kib):
        raise OutputRefusedError(name, f"files of {file_kib} KiB in records of {record_kib} were planned", text[-500:])
    blocks = read_blocks(name, text)
    if tuple(block.operation for block in blocks) != _operations(options):
        raise OutputRefusedError(name, f"{', '.join(_operations(options))} were planned", text[-500:])
    for block in blocks:
        if len(block.children) != options.processes:
            raise OutputRefusedError(name, f"{options.processes} processes were planned", text[-500:])
        moved = [child.moved_kib for child in block.children]
        if not options.stone_walling and set(moved) != {file_kib}:
            raise OutputRefusedError(name, f"{block.operation}: not every process moved its whole file", text[-500:])
        if not block.parent_rate or not any(child.rate for child in block.children):
            raise OutputRefusedError(name, f"{block.operation}: nothing was moved", text[-500:])
    return blocks


def _block_samples(options: IozoneOptions, place: Place, block: Block) -> Iterator[Sample]:
    file_kib = size_bytes(options.file_size_bytes, place) // KIBIBYTE
    labels = _labels(options, place, block.operation, file_kib, options.max_record_size_bytes // KIBIBYTE)
    for number, child in enumerate(block.children, start=1):
        if child.rate:
            yield Sample("throughput", child.rate * KIBIBYTE, labels | {"writer": number}, place.target_id)
    # All start at one barrier, so what each moved at its own rate tells when it was done.
    done = sorted(child.moved_kib / child.rate for child in block.children if child.rate)
    values = {
        "total_throughput": block.parent_rate * KIBIBYTE,
        "first_done": done[0],
        "last_done": done[-1],
        "fairness": fairness([child.rate for child in block.children]),
    }
    for metric, value in values.items():
        yield Sample(metric, value, labels, place.target_id)
