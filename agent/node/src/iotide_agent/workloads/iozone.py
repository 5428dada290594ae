"""iozone: throughput of many operations by file size and record size, or of parallel processes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from iotide_agent.workloads.base import (
    Before,
    Group,
    InputFile,
    Labels,
    OutputRefusedError,
    Parsed,
    Place,
    PlanRefusedError,
    Sample,
    Settings,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.iozone_cluster import (
    ClusterPlan,
    checked_blocks,
    client_file,
    cluster_arguments,
    process_files,
    read_block,
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
from iotide_agent.workloads.iozone_quality import judge_blocks, judge_cells, judge_cluster
from iotide_agent.workloads.iozone_report import (
    GROUP_OPERATIONS,
    STDIO,
    Block,
    ClusterBlock,
    Row,
    clock_seconds,
    process_file,
    read_blocks,
    read_cut_blocks,
    read_cut_table,
    read_table,
)
from iotide_agent.workloads.metrics import DURATION, SUMMED_THROUGHPUT, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.option_types import size_bytes
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import fairness, race
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Number, Option
from iotide_wire.units import KIB, format_bytes

STALL_SECONDS: Final = 900.0
COMPLAINED_STALL_SECONDS: Final = 30.0
"""Throughput mode waits forever for a process that died. Without a message on stderr, write-back may take longer."""

_LABELS: Final = ("operation", "file_size_bytes", "record_size_bytes", "direct")
_COMPLAINT: Final = re.compile(
    r"^(?:iozone: )?(?P<what>Error .*|Can(?:'t|not| not) .*|interrupted|exiting iozone)$", re.MULTILINE
)
_LOCKED: Final = 75
_USUAL_PATH: Final = "/usr/bin/iozone"
_VECTOR_TESTS: Final = {"11", "12"}
_END_MARK: Final = "iozone test complete."
_DONE_LINE: Final = f"\n{_END_MARK}\n"


class IozoneSettings(Settings):
    """How this node starts iozone.

    Attributes:
        program: path of iozone, the same on all nodes that run it together. Default: from PATH, for `cluster`
            /usr/bin/iozone.
    """

    program: Annotated[str, Field(pattern=r"^/\S+$")] | None = None

    def outside_paths(self) -> tuple[str, ...]:
        return (self.program,) if self.program else ()

    def outside_programs(self) -> tuple[str, ...]:
        return self.outside_paths()


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
        SUMMED_THROUGHPUT.by(*_LABELS),
        DURATION.by("part", title="Total duration"),
        *race_by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = FILES_BYTES
    bytes_moved: ClassVar[Expression] = MOVED_BYTES
    own_programs: ClassVar[Expression] = Number.of(1) - Option.of("cluster")
    starts_own_parts: ClassVar[bool] = True
    options_type = IozoneOptions
    settings_type: ClassVar[type[Settings]] = IozoneSettings

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._program = IozoneSettings.model_validate(settings or {}).program

    def version_commands(self) -> tuple[tuple[str, ...], ...]:
        return ((self._program or "iozone", "-v"),)

    def tasks_per_node(self, options: IozoneOptions) -> int | None:
        return options.processes if options.cluster else None

    def groups(self, options: IozoneOptions, place: Place) -> list[Group]:
        if options.cluster:
            return in_turn(self._cluster_step(options, place))
        count = options.processes if options.mode == "throughput" else 1
        files = tuple(place.directory / f"iozone-{number}.data" for number in range(1, count + 1))
        sizes = (*_mode_arguments(options, place), *_test_arguments(options))
        named = ("-F", *map(str, files)) if options.mode == "throughput" else ("-f", str(files[0]))
        step = Step(
            name="iozone",
            phase=f"iozone up to {format_bytes(largest_file_bytes(options, place))}",
            argv=(self._program or "iozone", *sizes, *_flush_arguments(options, place), *named),
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
        if options.cluster:
            # The time of a program that hung after its results is no result.
            whole = [] if outcome.launcher_hung else [elapsed]
            return Parsed.of_all([*_read_cluster(options, place, outcome, clock), Parsed(whole)])
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
        if options.cluster:
            plan = _cluster_plan(options, place)
            cut = checked_blocks(outcome.step.name, outcome.stdout, plan, is_cut=True)
            return Parsed.of_all(_read_cluster_blocks(options, place, plan, cut))
        blocks = read_cut_blocks(outcome.step.name, outcome.stdout)
        return Parsed([sample for block in blocks for sample in _block_samples(options, place, block)])

    def conclude(self, options: IozoneOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        return race(outcomes, {"operation": "all"}) if len(places) > 1 else Parsed()

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return iozone's error message: it exits with status 0 after a signal and after a failed fsync."""
        lock = _lock(outcome.step.argv)
        if lock and outcome.exit_status == _LOCKED:
            return (
                "another iozone over several nodes runs on this node, and both would need port 20000; "
                "run one of them at a time"
            )
        outcome = replace(outcome, step=replace(outcome.step, argv=outcome.step.argv[len(lock) :]))
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

    def _cluster_step(self, options: IozoneOptions, place: Place) -> Step:
        plan, program = _cluster_plan(options, place), Path(self._program or _USUAL_PATH)
        clients = place.scratch / "iozone-clients"
        files = process_files(plan.layout, place.directory)
        arguments = (*cluster_arguments(clients, plan), *_test_arguments(options), *_flush_arguments(options, place))
        return Step(
            name="iozone",
            phase=f"iozone on {len(plan.layout.nodes)} nodes, files of {format_bytes(plan.file_kib * KIB)}",
            # Two at once on a node answer each other's processes. The lock is on the program, so it needs no file.
            argv=("flock", "-n", "-E", str(_LOCKED), str(program), str(program), *arguments),
            target_id=place.target_id,
            bytes_moved=_moved_bytes(options, place),
            before=Before.DROP,
            declared_files=files,
            input_files=(InputFile(clients, client_file(plan.layout, place.directory, program)),),
            stall_seconds=STALL_SECONDS,
            complained_stall_seconds=COMPLAINED_STALL_SECONDS,
            is_sequence=True,
            threads=options.processes,
            direct_files=files if _is_direct(options, place) and not STDIO & set(options.tests) else (),
            end_mark=_END_MARK,
        )


def _lock(argv: Sequence[str]) -> Sequence[str]:
    """Return the words before the program's own."""
    return argv[:5] if argv[0] == "flock" else ()


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


def _cluster_plan(options: IozoneOptions, place: Place) -> ClusterPlan:
    """Raise PlanRefusedError for a run on one node."""
    if place.layout is None:
        raise PlanRefusedError(
            "cluster = true: this run has one node; set nodes_at_once of the campaign to 2 or more, or cluster to false"
        )
    file_kib = size_bytes(options.file_size_bytes, place) // KIB
    return ClusterPlan(place.layout, _operations(options), file_kib, options.max_record_size_bytes // KIB)


def _read_cluster(options: IozoneOptions, place: Place, outcome: StepOutcome, clock_seconds: float) -> Iterator[Parsed]:
    plan = _cluster_plan(options, place)
    blocks = checked_blocks(outcome.step.name, outcome.stdout, plan)
    yield from _read_cluster_blocks(options, place, plan, blocks)
    yield Parsed((), judge_cluster(place, blocks, clock_seconds, options.flush, outcome.before_done))


def _read_cluster_blocks(
    options: IozoneOptions, place: Place, plan: ClusterPlan, blocks: Sequence[ClusterBlock]
) -> Iterator[Parsed]:
    for block in blocks:
        labels = _labels(options, place, block.operation, plan.file_kib, plan.record_kib)
        yield read_block(block, plan.layout, labels, place.target_id)


def _operations(options: IozoneOptions) -> tuple[str, ...]:
    own = [operation for test, (_, own) in TESTS.items() if test in options.tests for operation in own]
    if options.mode != "throughput":
        return tuple(own)
    return tuple(operation for operation in GROUP_OPERATIONS if operation in own)


def _moved_bytes(options: IozoneOptions, place: Place) -> int:
    if options.mode == "throughput":
        processes = place.layout.tasks if place.layout else options.processes
        files_bytes = processes * size_bytes(options.file_size_bytes, place)
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
