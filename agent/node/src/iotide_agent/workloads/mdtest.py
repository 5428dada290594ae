"""mdtest: parallel tasks that create, look up, read and remove many small files or directories."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from iotide_agent.workloads import quality
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
)
from iotide_agent.workloads.bounds import TASK_BYTES, AtWork, MemoryNeed, product
from iotide_agent.workloads.metrics import DURATION, OPERATION_RATE, START_SKEW, TOTAL_OPERATION_RATE, race_by
from iotide_agent.workloads.mpi import PROGRAM_PER_NODE, MpiWorkload, tasks_of
from iotide_agent.workloads.option_types import Bytes, WholeSeconds, choices
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.rank_report import RankTable, read_mdtest_ranks
from iotide_agent.workloads.ranks import check_amount, check_layout, of_ranks
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import Part, race, side_by_side, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Holds, Number, Option
from iotide_wire.units import GIB

CLOCK_SECONDS: Final = 1e-6
"""Resolution of MPI_Wtime in the usual implementations."""
BYTES_PER_ITEM: Final = 4096
"""Space of an empty directory; a file needs less."""

Operation = Literal["create", "stat", "read", "delete"]


@dataclass(frozen=True, slots=True)
class _Phase:
    flag: str
    row: str
    verb: str
    before: Before


_PHASES: Final[Mapping[Operation, _Phase]] = {
    "create": _Phase("-C", "creation", "creating", Before.SYNC),
    "stat": _Phase("-T", "stat", "looking up", Before.DROP),
    "read": _Phase("-E", "read", "reading", Before.DROP),
    "delete": _Phase("-r", "removal", "removing", Before.SYNC),
}
_SWITCHES: Final = {"files": ("-F",), "directories": ("-D",), "both": ()}
_ITEMS: Final = {"files": ("file",), "directories": ("directory",), "both": ("file", "directory")}
_TITLES: Final = {"file": "File", "directory": "Directory"}
# Before version 4, a colon follows the name.
_ROW: Final = re.compile(
    r"^   (\w+ \w+)(?: +:)? +(\d{1,15}\.\d{3}) +(\d{1,15}\.\d{3}) +(\d{1,15}\.\d{3}) +\d+\.\d{3}$", re.MULTILINE
)
_LAUNCHED: Final = re.compile(
    r"^mdtest-(\S+) was launched with (\d{1,15}) total task(?:\(s\) on (\d{1,15}) node\(s\)$)?", re.MULTILINE
)
_NODE_MAP: Final = re.compile(r"^Nodemap: ([01]+)$", re.MULTILINE)
_COUNT: Final = re.compile(r"^(\d{1,15}) tasks, (\d{1,15}) ", re.MULTILINE)
_STONEWALL: Final = re.compile(r"^Continue stonewall hit min: \d+ max: (\d{1,15}) ", re.MULTILINE)
_END_MARK: Final = "-- finished at "
_FINISHED: Final = re.compile(rf"^{_END_MARK}.* --$\n", re.MULTILINE)
# Version 4.1 names the unit; other rates than items per second were never printed.
_ITERATIONS: Final = re.compile(r"^SUMMARY rate(?: \(in ops/sec\))?: \(of (\d{1,15}) iterations\)$", re.MULTILINE)
_READABLE: Final = "install IOR 4.0 or 4.1, whose mdtest prints the rate of all tasks"


class MdtestOptions(Options):
    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"stonewall_seconds": {"exclusiveMinimum": 0}}, "required": ["stonewall_seconds"]},
            "then": {"properties": {"operations": {"maxItems": 1}, "tree_depth": {"const": 0}}},
        }
    )

    tasks: int = Field(default=4, ge=1, le=4096, title="Tasks")
    """Number of parallel processes on each node."""
    item_count: int = Field(default=10_000, ge=2, le=10_000_000, title="Items")
    """Number of items that each task creates."""
    items: Literal["files", "directories", "both"] = Field(default="files", title="Item type")
    """Type of the items. both: each task creates the number of items of each type."""
    operations: tuple[Operation, ...] = choices("create", "stat", "read", "delete", title="Operations", needs="create")
    """create makes the items. stat, read and delete use them; caches are dropped before stat and read. read is for
    files only, and opens and closes empty ones.
    """
    file_size_bytes: Bytes = Field(default=0, ge=0, le=GIB, title="File size")
    """Bytes written to each file when it is created, and read from it. IO500's hard case uses 3901."""
    unique_directories: bool = Field(default=True, title="Directory per task")
    """Each task has its own directory; otherwise all tasks contend for one."""
    sync_files: bool = Field(default=False, title="Flush per file")
    """Call fsync after writing each file. No effect on empty files."""
    sync_phases: bool = Field(default=False, title="Sync per phase")
    """Call sync within the measured time of each operation, which flushes all of the node."""
    stonewall_seconds: WholeSeconds = Field(default=0, ge=0, le=86_400, title="Stonewall time")
    """After this time all tasks catch up with the fastest one and stop. Needs create as the only operation. 0: create
    all items.
    """
    tree_depth: int = Field(default=0, ge=0, le=16, title="Tree depth")
    """Levels of directories below the first. All directories of the tree have equally many items. 0: one directory."""
    tree_branches: int = Field(default=1, ge=1, le=10_000, title="Tree branches")
    """Directories in each directory of a level above the last."""
    program_per_node: bool = Field(default=False, title="Program per node")
    """With several nodes at once, each node starts a program of its own. Otherwise one program has tasks on all of
    them.
    """

    @property
    def tree_directories(self) -> int:
        return sum(self.tree_branches**level for level in range(self.tree_depth + 1))

    def at_work(self) -> AtWork:
        """Return no process: `memory_needed` counts the tasks."""
        return AtWork(0)

    def memory_needed(self) -> MemoryNeed:
        own = product(self, "file_size_bytes", "tasks")
        return own._replace(needed_bytes=own.needed_bytes + self.tasks * TASK_BYTES)

    @model_validator(mode="after")
    def _operations_can_be_done(self) -> Self:
        if "create" not in self.operations or len(set(self.operations)) != len(self.operations):
            raise ValueError(f"operations = {list(self.operations)}: include create, and list each operation only once")
        if self.stonewall_seconds and len(self.operations) > 1:
            raise ValueError(
                f"stonewall_seconds = {self.stonewall_seconds}: the number of items is then unknown; use "
                "create as the only operation"
            )
        if self.item_count % self.tree_directories:
            raise ValueError(
                f"item_count = {self.item_count}: use a multiple of {self.tree_directories}, the directories of a tree "
                f"with tree_depth = {self.tree_depth} and tree_branches = {self.tree_branches}"
            )
        if self.stonewall_seconds and self.tree_depth:
            raise ValueError(f"stonewall_seconds = {self.stonewall_seconds} does not work with tree_depth; set it to 0")
        return self


_HAS_TREE: Final = Number.of(1) - Holds.of("tree_depth", 0)
"""1 with a tree, which has no more directories than each task has items."""


class MdtestWorkload(MpiWorkload[MdtestOptions]):
    name: ClassVar[str] = "mdtest"
    title: ClassVar[str] = "mdtest: parallel metadata operations"
    description: ClassVar[str] = (
        "Several tasks create, look up, read and remove many files or directories, in one directory or one each."
    )
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "mdtest"
    package: ClassVar[str] = "mdtest (of IOR) with an MPI (or name both in [workloads.mdtest] of agent.toml)"
    version_pattern: ClassVar[str] = r"\bmdtest-(\S+)"
    supported: ClassVar[tuple[Releases, ...]] = (Releases("mdtest", "3.3", "4.1"),)
    printed_release: ClassVar[re.Pattern[str] | None] = _LAUNCHED
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_OPERATION_RATE.by(
            "operation",
            "item",
            title="Item operations, all targets",
            description="Items of all targets loaded at once, from the first start to the last end.",
            primary=True,
        ),
        OPERATION_RATE.by(
            "operation",
            "item",
            "writer",
            title="Item operations, all tasks",
            description="Items created, looked up, read or removed by all tasks, by the time of the slowest task; of "
            "the tasks of a node where it is the writer.",
            primary=True,
        ),
        DURATION.by("operation", "item"),
        *race_by("operation", "item"),
        START_SKEW.by("operation", "item"),
    )
    bytes_needed: ClassVar[Expression] = (
        Option.of("tasks")
        * Option.of("item_count")
        * (
            (Option.of("file_size_bytes") + BYTES_PER_ITEM) * (Number.of(1) + Holds.of("items", "both"))
            + _HAS_TREE * BYTES_PER_ITEM
        )
    )
    files_needed: ClassVar[Expression] = (
        Option.of("tasks") * Option.of("item_count") * (Number.of(1) + Holds.of("items", "both") + _HAS_TREE)
    )
    bytes_moved: ClassVar[Expression] = bytes_needed * Option.of("operations")
    own_programs: ClassVar[Expression] = PROGRAM_PER_NODE
    options_type = MdtestOptions

    def tasks_per_node(self, options: MdtestOptions) -> int | None:
        return None if options.program_per_node else options.tasks

    def groups(self, options: MdtestOptions, place: Place) -> list[Group]:
        chosen = [name for name in _PHASES if name in options.operations]
        tasks = tasks_of(options.tasks, place)
        return [
            (
                Step(
                    name=name,
                    phase=f"{tasks} tasks {_PHASES[name].verb} {options.item_count:,} items each",
                    argv=(*self.command(options.tasks, place), *_arguments(name, options, place)),
                    target_id=place.target_id,
                    before=_PHASES[name].before,
                    output_files=(_ranks_file(name, place),) if place.layout else (),
                    end_mark=_END_MARK,
                ),
            )
            for name in chosen
            if name != "read" or options.items != "directories"
        ]

    def read(self, options: MdtestOptions, place: Place, outcome: StepOutcome) -> Parsed:
        operation = next(name for name in _PHASES if name == outcome.step.name)
        tasks = tasks_of(options.tasks, place)
        rates = _checked_rates(tasks, outcome)
        count = _item_count(options, tasks, outcome)
        ranks = _ranks(place, operation, outcome)
        samples, flags = [], []
        races: list[Parsed] = []
        for item in _ITEMS[options.items]:
            if (operation, item) == ("read", "directory"):
                continue
            rate = rates.get(f"{_TITLES[item]} {_PHASES[operation].row}", 0.0)
            if rate == 0:
                raise OutputRefusedError(outcome.step.name, f"{operation} of {item} items has no rate", outcome.stdout)
            labels = {"operation": operation, "item": item}
            total = Sample("operation_rate", rate, labels, place.target_id)
            samples.append(total)
            samples.append(Sample("duration", count / rate, labels, place.target_id))
            found = quality.judge_metadata_duration(f"{operation} of {item} items", count / rate, CLOCK_SECONDS)
            if options.file_size_bytes and (operation, item) == ("create", "file"):
                # Since 4.0 it has --dataPacketType, but its help does not print the release, and older ones refuse it.
                found += quality.judge_reducible("mdtest writes data that compresses to about 13 %")
            if operation in {"stat", "read"}:
                found += quality.judge_cache_drop(place, outcome, direct=False)
            flags += [quality.about(flag, labels, place) for flag in found]
            if place.layout:
                row = f"{_TITLES[item]} {_PHASES[operation].row}"
                table = _checked_ranks(outcome, place.layout, ranks, row, count)
                races.append(of_ranks(table, place.layout, total, count / rate))
        return Parsed.of_all([Parsed(samples, flags), *races])

    def conclude(self, options: MdtestOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return results of several targets together. Two item types run at different times, so they have no total."""
        return Parsed.of_all(
            race(operation, {"operation": operation[0].step.name, "item": "both"})
            if options.items == "both"
            else _rate_together(options, tasks_of(options.tasks, places[0]), operation)
            for operation in side_by_side(places, outcomes)
        )

    def is_whole(self, outcome: StepOutcome) -> bool:
        return _FINISHED.search(outcome.stdout) is not None


def _rate_together(options: MdtestOptions, tasks: int, outcomes: Sequence[StepOutcome]) -> Parsed:
    operation = next(name for name in _PHASES if name == outcomes[0].step.name)
    [item] = _ITEMS[options.items]
    row = f"{_TITLES[item]} {_PHASES[operation].row}"
    parts = []
    for outcome in outcomes:
        count = _item_count(options, tasks, outcome)
        parts.append(Part.at_end(outcome, count, count / _checked_rates(tasks, outcome)[row]))
    return together(parts, {"operation": operation, "item": item}, "total_operation_rate")


def _arguments(operation: Operation, options: MdtestOptions, place: Place) -> Iterator[str]:
    yield from (_PHASES[operation].flag, *_SWITCHES[options.items])
    yield from ("-n", str(options.item_count), "-d", str(place.directory))
    if options.unique_directories:
        yield "-u"
    if options.file_size_bytes and operation == "create":
        yield from ("-w", str(options.file_size_bytes))
    if options.file_size_bytes and operation == "read":
        yield from ("-e", str(options.file_size_bytes))
    if options.tree_depth:
        yield from ("-z", str(options.tree_depth), "-b", str(options.tree_branches))
    if options.sync_files:
        yield "-y"
    if options.sync_phases:
        yield "-Y"
    if options.stonewall_seconds:
        yield from ("-W", str(options.stonewall_seconds))
    if place.layout:
        yield f"--saveRankPerformanceDetails={_ranks_file(operation, place)}"


def _ranks_file(operation: Operation, place: Place) -> Path:
    return place.scratch / f"mdtest-{operation}-ranks.csv"


def _ranks(place: Place, operation: Operation, outcome: StepOutcome) -> Mapping[str, RankTable]:
    if place.layout is None:
        return {}
    launched, node_map = _LAUNCHED.search(outcome.stdout), _NODE_MAP.search(outcome.stdout)
    if launched is None or launched[3] is None or node_map is None:
        problem = "mdtest prints no number of nodes with a map of them"
        raise OutputRefusedError(outcome.step.name, problem, outcome.stdout[:500])
    check_layout(outcome.step.name, place.layout, int(launched[3]), int(launched[2]), launched[0])
    if node_map[1] != place.layout.first_node_map:
        problem = f"the first {place.layout.tasks_per_node} ranks, and no others, were planned on the first node"
        raise OutputRefusedError(outcome.step.name, problem, node_map[0])
    text = outcome.files.get(_ranks_file(operation, place).name, "")
    return read_mdtest_ranks(outcome.step.name, text, place.layout.tasks)


def _checked_ranks(
    outcome: StepOutcome, layout: RankLayout, ranks: Mapping[str, RankTable], row: str, count: int
) -> RankTable:
    if row not in ranks:
        raise OutputRefusedError(outcome.step.name, f"the table of ranks has no {row}", ", ".join(ranks))
    check_amount(outcome.step.name, ranks[row], count, 0.0, f"{row} of {layout.tasks} ranks")
    return ranks[row]


def _checked_rates(tasks: int, outcome: StepOutcome) -> dict[str, float]:
    name, text = outcome.step.name, outcome.stdout
    launched, iterations = _LAUNCHED.search(text), _ITERATIONS.search(text)
    version = f"mdtest {launched[1]}" if launched else "mdtest"
    if _FINISHED.search(text) is None or launched is None or iterations is None:
        summary = next((line for line in text.splitlines() if line.startswith("SUMMARY")), text[-500:])
        raise OutputRefusedError(name, f"{version} prints no complete table of rates", summary)
    if (int(launched[2]), int(iterations[1])) != (tasks, 1):
        problem = f"{tasks} tasks and 1 iteration were planned, mdtest ran {launched[2]} and {iterations[1]}"
        raise OutputRefusedError(name, problem, text)
    rates = {}
    for row in _ROW.finditer(text, iterations.end()):
        if not row[2] == row[3] == row[4]:
            # No total follows from the rates of single tasks, each by its own clock.
            problem = f"{row[1]} ranges from {row[3]} to {row[2]}: {version} prints each task's own rate; {_READABLE}"
            raise OutputRefusedError(name, problem, row[0])
        rates[row[1]] = float(row[4])
    return rates


def _item_count(options: MdtestOptions, tasks: int, outcome: StepOutcome) -> int:
    planned = tasks * options.item_count
    counted = _COUNT.search(outcome.stdout)
    if counted is None or (int(counted[1]), int(counted[2])) != (tasks, planned):
        said = counted[0].strip() if counted else "none"
        problem = f"{tasks} tasks, {planned} items were planned, mdtest reports {said}"
        raise OutputRefusedError(outcome.step.name, problem, outcome.stdout)
    stopped = _STONEWALL.search(outcome.stdout)
    return tasks * int(stopped[1]) if stopped else planned
