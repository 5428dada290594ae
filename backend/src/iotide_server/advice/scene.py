"""Input of the rules: targets on nodes with facts, and results of campaigns. Pure data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Final

from iotide_server.advice.findings import Evidence
from iotide_server.kit.db import Json
from iotide_server.kit.suggest import first_of
from iotide_server.results.surfaces.caches import positive
from iotide_server.targets.mounts import IN_MEMORY
from iotide_wire.expressions import MEMORY
from iotide_wire.facts import Facts, FactValue
from iotide_wire.names import Titles
from iotide_wire.units import Unit

WRITER_OPTIONS: Final = ("writers", "processes", "num_jobs", "tasks")
"""Options of dd, iozone, fio and IOR for the number of writers on each node."""
NODES: Final = "nodes"  # label of what a gang's nodes did together
_MOST_NAMES: Final = 3
_TOTAL: Final = "total_throughput"


@dataclass(frozen=True, slots=True)
class MountedTarget:
    target: str
    node: str
    mount_point: str
    device: str  # mount source, as in the kernel; empty if unknown
    facts: Facts
    run_ids: tuple[int, ...] = ()  # source runs of these facts; empty: the agent's last report
    is_below: bool = False

    @property
    def name(self) -> str:
        return f"{self.target} on {self.node}" if self.node else self.target

    @property
    def fstype(self) -> str:
        return str(self.facts.get("mount.fstype") or "")

    @property
    def device_word(self) -> str:
        return quote(self.device) if self.device else "DEVICE"

    def mount_command(self, options: str) -> str:
        point = quote(self.mount_point) if self.mount_point else "DIRECTORY"
        return f"mount -o {quote(options)} {self.device_word} {point}"

    def number(self, name: str) -> int | None:
        return positive(self.facts.get(name))

    def evidence(self, *names: str) -> tuple[Evidence, ...]:
        known = [(name, self.facts[name]) for name in names if self.facts.get(name) is not None]
        return tuple(Evidence(name, value, fact_unit(name), self.run_ids) for name, value in known)


@dataclass(frozen=True, slots=True)
class SceneCell:
    ordinal: int
    campaign_id: int
    workload: str
    options: Json
    variant: str
    nodes: tuple[str, ...]
    targets: tuple[str, ...]
    facts: Mapping[str, Facts]  # recorded by its newest run, by node
    run_ids: tuple[int, ...]
    free_bytes: int | None = None  # smallest of its targets, as last reported
    titles: Titles = field(default_factory=dict)
    is_one_program: bool = False  # over all nodes, which have no values of their own

    @property
    def in_memory(self) -> bool:
        return any(facts.get("mount.fstype") in IN_MEMORY for facts in self.facts.values())

    @property
    def writers(self) -> int:
        return next((count for name in WRITER_OPTIONS if (count := positive(self.options.get(name)))), 1)

    @property
    def memory_bytes(self) -> int | None:
        """Return the smallest; None if a node did not report it."""
        known = [positive(facts.get(MEMORY)) for facts in self.facts.values()]
        return min((memory for memory in known if memory), default=None) if all(known) else None


@dataclass(frozen=True, slots=True)
class ScenePoint:
    """One metric of a cell's valid runs, for one set of labels."""

    cell: SceneCell
    metric: str
    unit: Unit
    labels: Mapping[str, str | int | float | bool]
    n: int
    # in the metric's base unit; low and high: smallest and largest run
    median: float
    low: float
    high: float
    flags: frozenset[str] = frozenset()

    @property
    def operation(self) -> str:
        """Return e.g. `write`; empty for a workload's only operation."""
        return str(self.labels.get("operation", ""))

    @property
    def is_direct(self) -> bool:
        return self.labels.get("direct") is True

    @property
    def place(self) -> str:
        """Return e.g. `dd write on scratch from node07`."""
        what = " ".join(filter(None, (self.cell.workload, self.operation)))
        variant = f" ({self.cell.variant})" if self.cell.variant else ""
        return f"{what} on {listed(self.cell.targets)}{variant} from {listed(self.cell.nodes)}"

    def evidence(self, name: str) -> Evidence:
        return Evidence(name, self.median, self.unit, self.cell.run_ids)


@dataclass(frozen=True, slots=True)
class Scene:
    sites: Sequence[MountedTarget]
    points: Sequence[ScenePoint]
    # claimed speed ratio of two targets; None: no claim
    claimed_ratio: float | None = None

    @property
    def rates(self) -> list[ScenePoint]:
        """Return rates of whole cells: the total, or a tool's own rate."""
        of_all = [
            point
            for point in self.points
            if point.unit is Unit.BYTES_PER_SECOND
            and point.median > 0
            and "writer" not in point.labels
            and (NODES in point.labels) == (len(point.cell.nodes) > 1 and not point.cell.is_one_program)
        ]
        totals = {(id(point.cell), frozenset(point.labels.items())) for point in of_all if point.metric == _TOTAL}
        return [
            point
            for point in of_all
            if point.metric == _TOTAL or (id(point.cell), frozenset(point.labels.items())) not in totals
        ]


def fact_unit(name: str) -> Unit | None:
    if name.endswith("_bytes"):
        return Unit.BYTES
    return Unit.SECONDS if name.endswith("_seconds") else None


def unavailable(value: FactValue) -> str | None:
    words = str(value)
    return words.partition("because ")[2] or words if words.startswith("unavailable") else None


def listed(names: Iterable[str]) -> str:
    return first_of(list(names), _MOST_NAMES)
