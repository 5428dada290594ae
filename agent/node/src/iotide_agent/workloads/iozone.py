"""iozone: throughput of many operations by file size and record size, or of parallel processes."""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from iotide_agent.workloads.base import (
    Before,
    Group,
    Labels,
    OutputRefusedError,
    Parsed,
    Place,
    Sample,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.iozone_options import (
    EXTENSIONS,
    FILES_BYTES,
    MOVED_BYTES,
    TESTS,
    IozoneOptions,
    first_file_bytes,
    largest_file_bytes,
    planned_rows,
)
from iotide_agent.workloads.iozone_quality import judge_blocks, judge_cells
from iotide_agent.workloads.iozone_report import (
    GROUP_OPERATIONS,
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
from iotide_agent.workloads.metrics import DURATION, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.option_types import size_bytes
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import fairness, race
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression
from iotide_wire.units import KIB, format_bytes

STALL_SECONDS: Final = 900.0
COMPLAINED_STALL_SECONDS: Final = 30.0
"""Throughput mode waits forever for a process that died. Without a message on stderr, write-back may take longer."""

_LABELS: Final = ("operation", "file_size_bytes", "record_size_bytes", "direct")
_COMPLAINT: Final = re.compile(
    r"^(?:iozone: )?(?P<what>Error .*|Can(?:'t|not| not) .*|interrupted|exiting iozone)$", re.MULTILINE
)
_VECTOR_TESTS: Final = {"11", "12"}
_DONE_LINE: Final = "\niozone test complete.\n"


class IozoneWorkload(Workload[IozoneOptions]):
    name: ClassVar[str] = "iozone"
    title: ClassVar[str] = "iozone: many operations by file and record size"
    description: ClassVar[str] = (
        "Writes and reads files sequentially, randomly, backwards and in strides, for each file size and record size."
    )
    revision: ClassVar[int] = 2
    tool: ClassVar[str | None] = "iozone"
    package: ClassVar[str] = "iozone3 (in Debian's non-free section)"
    version_argv: ClassVar[tuple[str, ...]] = ("iozone", "-v")
    version_pattern: ClassVar[str] = r"Version \$Revision: (.+?) \$"
    supported: ClassVar[tuple[Releases, ...]] = (Releases("iozone", "3.300", "3.507"),)
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(*_LABELS, "writer", primary=True),
        DURATION.by("part", title="Total duration"),
        *race_by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = FILES_BYTES
    bytes_moved: ClassVar[Expression] = MOVED_BYTES
    options_type = IozoneOptions

    def groups(self, options: IozoneOptions, place: Place) -> list[Group]:
        count = options.processes if options.mode == "throughput" else 1
        files = tuple(place.directory / f"iozone-{number}.data" for number in range(1, count + 1))
        sizes = (*_mode_arguments(options, place), *_test_arguments(options))
        named = ("-F", *map(str, files)) if options.mode == "throughput" else ("-f", str(files[0]))
        step = Step(
            name="iozone",
            phase=f"iozone up to {format_bytes(largest_file_bytes(options, place))}",
            argv=("iozone", *sizes, *_flush_arguments(options, place), *named),
            target_id=place.target_id,
            bytes_moved=_moved_bytes(options, place),
            before=Before.DROP,
            declared_files=files,
            stall_seconds=STALL_SECONDS,
            complained_stall_seconds=COMPLAINED_STALL_SECONDS,
            is_sequence=True,
            threads=count,
            direct_files=files if _is_direct(options, place) and not STDIO & set(options.tests) else (),
        )
        return in_turn(step)

    def read(self, options: IozoneOptions, place: Place, outcome: StepOutcome) -> Parsed:
        clock = clock_seconds(outcome.step.name, outcome.stdout)
        elapsed = Sample("duration", outcome.wall_seconds, {"part": "real"}, place.target_id)
        if options.mode == "throughput":
            blocks = _checked_blocks(options, place, outcome)
            samples = [sample for block in blocks for sample in _block_samples(options, place, block)]
            return Parsed([*samples, elapsed], judge_blocks(place, blocks, clock, options.flush, outcome.before_done))
        rows = _checked_rows(options, place, outcome)
        return Parsed(
            [*_cells(options, place, rows), elapsed],
            judge_cells(place, rows, clock, options.flush, outcome.before_done),
        )

    def read_cut(self, options: IozoneOptions, place: Place, outcome: StepOutcome) -> Parsed:
        clock_seconds(outcome.step.name, outcome.stdout)
        if options.mode != "throughput":
            return Parsed(list(_cells(options, place, read_cut_table(outcome.stdout))))
        if _COMPLAINT.search(outcome.stdout) or outcome.stderr.strip():
            # When a process has died, the others share its bandwidth and are faster than they would be.
            return Parsed()
        blocks = read_cut_blocks(outcome.step.name, outcome.stdout)
        return Parsed([sample for block in blocks for sample in _block_samples(options, place, block)])

    def conclude(self, options: IozoneOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return race(outcomes, {"operation": "all"}) if len(places) > 1 else Parsed()

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return iozone's error message: it exits with status 0 after a signal and after a failed fsync."""
        said = [line.strip() for line in outcome.stderr.splitlines() if line.strip()][:1]
        said += [complaint["what"] for complaint in _COMPLAINT.finditer(outcome.stdout)][:1]
        ended = super().failure(outcome)
        if said:
            return "iozone: " + "; ".join([*said, *([ended] if outcome.signal is not None and ended else [])])
        if ended is None and _DONE_LINE not in outcome.stdout:
            return "iozone ended with status 0, but without its last line 'iozone test complete.'"
        if ended is None and _VECTOR_TESTS.intersection(outcome.step.argv) and " pwritev " not in outcome.stdout:
            return "this build of iozone lacks pwritev and preadv; leave out these tests"
        return ended


def _is_direct(options: IozoneOptions, place: Place) -> bool:
    return options.flush == "direct" and place.direct_works


def _mode_arguments(options: IozoneOptions, place: Place) -> tuple[str, ...]:
    file_kib = str(largest_file_bytes(options, place) // KIB)
    if options.mode == "throughput":
        walling = () if options.stone_walling else ("-x",)
        record_kib = str(options.max_record_size_bytes // KIB)
        return ("-t", str(options.processes), "-C", *walling, "-s", file_kib, "-r", record_kib)
    min_file_kib = str(first_file_bytes(options) // KIB) if options.mode == "auto" else file_kib
    records = (str(size // KIB) for size in (options.min_record_size_bytes, options.max_record_size_bytes))
    # Without -y and -q iozone leaves out records below 64 KiB for files above 16 MiB.
    return ("-a", "-n", min_file_kib, "-g", file_kib, "-y", next(records), "-q", next(records))


def _test_arguments(options: IozoneOptions) -> Iterator[str]:
    for test, (number, own) in TESTS.items():
        if test in options.tests and (options.mode != "throughput" or set(own).intersection(GROUP_OPERATIONS)):
            yield from ("-i", str(number))
    if options.mode != "throughput" and EXTENSIONS.intersection(options.tests):
        yield "-E"
    if "mixed" in options.tests:
        yield from ("-+p", str(options.mixed_readers_percent), *(("-+B",) if options.mixed_sequential else ()))


def _flush_arguments(options: IozoneOptions, place: Place) -> tuple[str, ...]:
    flushed = ("-e",) if options.flush != "none" else ()
    return (*flushed, *(("-c",) if options.close else ()), *(("-I",) if _is_direct(options, place) else ()))


def _operations(options: IozoneOptions) -> tuple[str, ...]:
    own = [operation for test, (_, own) in TESTS.items() if test in options.tests for operation in own]
    if options.mode != "throughput":
        return tuple(own)
    return tuple(operation for operation in GROUP_OPERATIONS if operation in own)


def _moved_bytes(options: IozoneOptions, place: Place) -> int:
    if options.mode == "throughput":
        files_bytes = options.processes * size_bytes(options.file_size_bytes, place)
    else:
        files_bytes = sum(file_kib for file_kib, _ in planned_rows(options, place)) * KIB
    return files_bytes * len(_operations(options))


def _checked_rows(options: IozoneOptions, place: Place, outcome: StepOutcome) -> list[Row]:
    name, text = outcome.step.name, outcome.stdout
    rows = read_table(name, text)
    planned = list(planned_rows(options, place))
    if [(row.file_kib, row.record_kib) for row in rows] != planned:
        raise OutputRefusedError(name, f"the rows have other sizes than the {len(planned)} planned", text[-500:])
    if any(tuple(row.rates) != _operations(options) for row in rows):
        raise OutputRefusedError(name, f"a row does not have exactly {', '.join(_operations(options))}", text[-500:])
    return rows


def _cells(options: IozoneOptions, place: Place, rows: list[Row]) -> Iterator[Sample]:
    for row in rows:
        for operation, rate in row.rates.items():
            if rate:
                labels = _labels(options, place, operation, row.file_kib, row.record_kib)
                yield Sample("throughput", rate * KIB, labels, place.target_id)


def _labels(options: IozoneOptions, place: Place, operation: str, file_kib: int, record_kib: int) -> Labels:
    return {
        "operation": operation,
        "file_size_bytes": file_kib * KIB,
        "record_size_bytes": record_kib * KIB,
        "direct": _is_direct(options, place) and operation not in STDIO,
    }


def _checked_blocks(options: IozoneOptions, place: Place, outcome: StepOutcome) -> list[Block]:
    name, text = outcome.step.name, outcome.stdout
    file_kib = size_bytes(options.file_size_bytes, place) // KIB
    record_kib = options.max_record_size_bytes // KIB
    if process_file(name, text) != (file_kib, record_kib):
        raise OutputRefusedError(
            name, f"files of {file_kib} KiB in records of {record_kib} KiB were planned", text[-500:]
        )
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
    file_kib = size_bytes(options.file_size_bytes, place) // KIB
    labels = _labels(options, place, block.operation, file_kib, options.max_record_size_bytes // KIB)
    for number, child in enumerate(block.children, start=1):
        if child.rate:
            writer = {"writer": number} if len(block.children) > 1 else {}
            yield Sample("throughput", child.rate * KIB, labels | writer, place.target_id)
    if len(block.children) == 1:
        return
    # All start at one barrier, so bytes and rate of each give the time when it finished.
    done = sorted(child.moved_kib / child.rate for child in block.children if child.rate)
    values = {
        "total_throughput": block.parent_rate * KIB,
        "first_done": done[0],
        "last_done": done[-1],
        "fairness": fairness([child.rate for child in block.children]),
    }
    for metric, value in values.items():
        yield Sample(metric, value, labels, place.target_id)
