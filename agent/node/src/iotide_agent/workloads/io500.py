"""io500: the IO500's thirteen phases of IOR, mdtest and find in one program, with its score."""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Before,
    Counters,
    Group,
    InputFile,
    OutputRefusedError,
    Parsed,
    Place,
    Step,
    StepOutcome,
    in_turn,
)
from iotide_agent.workloads.io500_directory import ranks_of, read_directory
from iotide_agent.workloads.io500_options import (
    NODE_BYTES,
    NODE_FILES,
    RUN_SECONDS,
    SPARE_SECONDS,
    Io500Options,
    ini_file,
    is_direct,
    result_directory,
)
from iotide_agent.workloads.io500_report import (
    CONFIG,
    RESULT,
    SUMMARY,
    Io500Phase,
    Io500Result,
    check_planned,
    read_cut_phases,
)
from iotide_agent.workloads.io500_samples import phase_samples, read_samples
from iotide_agent.workloads.io500_score import SCORED_PHASES
from iotide_agent.workloads.metrics import DURATION, OPERATION_RATE, START_SKEW, THROUGHPUT, MetricKind, race_by
from iotide_agent.workloads.mpi import MpiWorkload, tasks_of
from iotide_agent.workloads.ranks import check_layout, of_ranks
from iotide_agent.workloads.writers import race
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Number
from iotide_wire.measured import Answer
from iotide_wire.units import Unit, format_bytes

PHASES: Final = 13
"""Each takes about as long as the stonewall."""
STALL_STONEWALLS: Final = 10
"""Metadata phases that move no byte may follow one another, and removing may take longer than creating."""
_UNSCORED: Final = "ior-rnd4K-easy-read"
_FIND: Final = "find"
_LABELS: Final = ("operation", "series")
_EASY: Final = ("ior-easy-write", "ior-easy-read")
_READS: Final = ("-read", "-stat")
_END_MARK: Final = "; END "
_FATAL: Final = re.compile(r"^FATAL (.+)", re.MULTILINE)
_IOR_NODES: Final = re.compile(r"^nodes +: (\d{1,9})$", re.MULTILINE)
_WITH_NODES: Final = "ior-easy-write.txt"


def _names() -> Iterator[str]:
    """Yield the files of a result directory that a submission to the IO500 needs, as far as a phase has them."""
    yield from ("config-orig.ini", CONFIG, RESULT, SUMMARY, "timestampfile")
    for phase in (*SCORED_PHASES, _UNSCORED):
        yield from (f"{phase}.csv",) if phase == _FIND else (f"{phase}.txt", f"{phase}.csv")


FILES: Final = tuple(_names())


class Io500Workload(MpiWorkload[Io500Options]):
    name: ClassVar[str] = "io500"
    title: ClassVar[str] = "io500: the IO500 benchmark"
    description: ClassVar[str] = (
        "Runs the phases of the IO500: easy and hard patterns of IOR and mdtest, and find, with bandwidth, metadata "
        "rate and score."
    )
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "io500"
    package: ClassVar[str] = "io500 with an MPI (or name both in [workloads.io500] of agent.toml)"
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        MetricKind("score", "Score", Unit.COUNT, "higher").by(
            "series",
            description="Root of bandwidth in GiB/s x metadata rate in kIOPS. In the series io500-mini it must not be "
            "compared with published scores.",
            primary=True,
        ),
        MetricKind("mean_throughput", "Mean bandwidth", Unit.BYTES_PER_SECOND, "higher").by(
            "series", description="Geometric mean of the four IOR phases.", primary=True
        ),
        MetricKind("mean_operation_rate", "Mean metadata rate", Unit.OPERATIONS_PER_SECOND, "higher").by(
            "series", description="Geometric mean of the seven mdtest phases and find.", primary=True
        ),
        THROUGHPUT.by(*_LABELS, "writer", description="Of all tasks; of the tasks of a node where it is the writer."),
        OPERATION_RATE.by(
            *_LABELS, "writer", description="Of all tasks; of the tasks of a node where it is the writer."
        ),
        DURATION.by(*_LABELS, title="Duration of the phase"),
        *race_by(*_LABELS),
        START_SKEW.by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = NODE_BYTES
    files_needed: ClassVar[Expression] = NODE_FILES
    bytes_moved: ClassVar[Expression] = NODE_BYTES * 2
    run_seconds: ClassVar[Expression] = RUN_SECONDS
    own_programs: ClassVar[Expression] = Number.of(0)
    options_type = Io500Options

    def tasks_per_node(self, options: Io500Options) -> int | None:
        return options.tasks

    def groups(self, options: Io500Options, place: Place) -> list[Group]:
        tasks, directory = tasks_of(options.tasks, place), result_directory(place)
        ini = InputFile(place.scratch / "io500.ini", ini_file(options, place))
        most_bytes = options.easy_block_size_bytes * tasks
        step = Step(
            name="io500",
            phase=f"IO500 with {tasks} tasks, at most {format_bytes(most_bytes)} in the easy phases",
            argv=(*self.command(options.tasks, place), str(ini.path)),
            target_id=place.target_id,
            before=Before.SYNC,
            input_files=(ini,),
            output_files=tuple(directory / name for name in FILES),
            stall_seconds=float(SPARE_SECONDS + STALL_STONEWALLS * options.stonewall_seconds),
            end_mark=_END_MARK,
            end_file=directory / RESULT,
        )
        return in_turn(step)

    def read(self, options: Io500Options, place: Place, outcome: StepOutcome) -> Parsed:
        name, files = outcome.step.name, outcome.files
        result = read_directory(name, files)
        check_planned(name, ini_file(options, place), files[CONFIG])
        _check_tasks(options, place, outcome, result)
        races = [_race(options, place, outcome, result, phase) for phase in result.phases]
        whole = read_samples(result, options.series, place.target_id)
        return Parsed.of_all([whole, Parsed((), list(_judged(options, place))), *races])

    def read_cut(self, options: Io500Options, place: Place, outcome: StepOutcome) -> Parsed:
        name, files = outcome.step.name, outcome.files
        if RESULT not in files:
            return Parsed()
        phases = read_cut_phases(name, files[RESULT])
        return Parsed([sample for phase in phases for sample in phase_samples(phase, options.series, place.target_id)])

    def conclude(self, options: Io500Options, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return when the runs on several targets ended; their phases overlap, so their rates do not add up."""
        labels = {"operation": "all", "series": options.series}
        return race(outcomes, labels) if len(places) > 1 else Parsed()

    def is_whole(self, outcome: StepOutcome) -> bool:
        return f"\n{_END_MARK}" in outcome.files.get(RESULT, "")

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return also the IO500's own message, which it prints to stdout."""
        fatal = _FATAL.search(outcome.stdout)
        return f"io500: {fatal[1]}" if fatal else super().failure(outcome)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        # Its phases move no bytes, or unknown numbers of them.
        stonewall_seconds = ((step.stall_seconds or 0.0) - SPARE_SECONDS) / STALL_STONEWALLS
        return min(1.0, counters.elapsed_seconds / (PHASES * stonewall_seconds))


def _check_tasks(options: Io500Options, place: Place, outcome: StepOutcome, result: Io500Result) -> None:
    """Raise OutputRefusedError for other tasks or nodes than planned; releases before 2023 print no tasks."""
    name, text = outcome.step.name, outcome.files[_WITH_NODES]
    tasks, nodes = tasks_of(options.tasks, place), _IOR_NODES.search(text)
    if result.procs is not None and result.procs != tasks:
        raise OutputRefusedError(name, f"{tasks} tasks were planned, the IO500 ran {result.procs}", RESULT)
    if place.layout is None:
        return
    if nodes is None:
        raise OutputRefusedError(name, f"{_WITH_NODES} has no number of nodes", text[-500:])
    check_layout(name, place.layout, int(nodes[1]), result.procs or tasks, nodes[0])


def _race(options: Io500Options, place: Place, outcome: StepOutcome, result: Io500Result, phase: Io500Phase) -> Parsed:
    if place.layout is None or not phase.is_scored:
        return Parsed()
    table = ranks_of(outcome.step.name, result, phase, outcome.files)
    if table is None:
        return Parsed()
    [total, *_] = phase_samples(phase, options.series, place.target_id)
    return of_ranks(table, place.layout, total, table.total_seconds or table.amount / phase.value)


def _judged(options: Io500Options, place: Place) -> Iterator[Answer]:
    """Yield NO_DIRECT, and CACHE_DROP on one node: over several, a task reads what a task of the next node wrote."""
    found: list[tuple[str, Answer]] = []
    for phase in _EASY:
        found += ((phase, flag) for flag in quality.judge_direct(place, wanted=options.easy_direct))
    if place.layout is None or len(place.layout.nodes) == 1:
        warm = [phase for phase in SCORED_PHASES if phase.endswith(_READS)]
        bypassing = _EASY if is_direct(options, place) else ()
        for phase in (phase for phase in warm if phase not in bypassing):
            found += ((phase, flag) for flag in quality.judge_warm(phase, "the IO500"))
    for phase, flag in found:
        yield quality.about(flag, {"operation": phase, "series": options.series}, place)
