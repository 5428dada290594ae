"""What rules look at: targets on nodes with their facts, and what campaigns measured there; pure."""

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
"""How dd, iozone, fio and IOR call the number of writers on each node."""
NODES: Final = "nodes"  # label of what the nodes of a gang did together
_MOST_NAMES: Final = 3
_TOTAL: Final = "total_throughput"


@dataclass(frozen=True, slots=True)
class MountedTarget:
    """A target on a node."""

    target: str
    node: str
    mount_point: str
    device: str  # what is mounted, as the kernel shows it; empty where nobody said
    facts: Facts  # of the mount and of the node
    run_ids: tuple[int, ...] = ()  # the runs that saw these facts; empty: the agent's last word
    is_below: bool = False  # whether it is what a target stands on

    @property
    def name(self) -> str:
        """Such as `scratch on node07`."""
        return f"{self.target} on {self.node}" if self.node else self.target

    @property
    def fstype(self) -> str:
        """As the kernel shows it; empty where nobody said."""
        return str(self.facts.get("mount.fstype") or "")

    @property
    def device_word(self) -> str:
        """The device as a shell takes it."""
        return quote(self.device) if self.device else "DEVICE"

    def mount_command(self, options: str) -> str:
        """What mounts it with these options, as a shell takes it."""
        point = quote(self.mount_point) if self.mount_point else "DIRECTORY"
        return f"mount -o {quote(options)} {self.device_word} {point}"

    def number(self, name: str) -> int | None:
        """A fact that is a whole number above 0."""
        return positive(self.facts.get(name))

    def evidence(self, *names: str) -> tuple[Evidence, ...]:
        """These facts, as far as they are known."""
        known = [(name, self.facts[name]) for name in names if self.facts.get(name) is not None]
        return tuple(Evidence(name, value, fact_unit(name), self.run_ids) for name, value in known)


@dataclass(frozen=True, slots=True)
class SceneCell:
    """One combination of a campaign's matrix that has valid runs."""

    ordinal: int
    campaign_id: int
    workload: str
    options: Json
    variant: str
    nodes: tuple[str, ...]
    targets: tuple[str, ...]
    facts: Mapping[str, Facts]  # that its newest run saw, by node
    run_ids: tuple[int, ...]  # of its valid finished runs
    free_bytes: int | None = None  # of its target that has least, as its nodes said last; None where nobody said
    titles: Titles = field(default_factory=dict)  # of its workload's options

    @property
    def in_memory(self) -> bool:
        """Check that it loads a file system in memory, by the facts that its newest run saw."""
        return any(facts.get("mount.fstype") in IN_MEMORY for facts in self.facts.values())

    @property
    def writers(self) -> int:
        """On each node."""
        return next((count for name in WRITER_OPTIONS if (count := positive(self.options.get(name)))), 1)

    @property
    def memory_bytes(self) -> int | None:
        """Of the node that has least; None where a node did not say."""
        known = [positive(facts.get(MEMORY)) for facts in self.facts.values()]
        return min((memory for memory in known if memory), default=None) if all(known) else None


@dataclass(frozen=True, slots=True)
class ScenePoint:
    """What the valid runs of a cell say of one metric with one set of labels."""

    cell: SceneCell
    metric: str
    unit: Unit
    labels: Mapping[str, str | int | float | bool]
    n: int  # independent runs
    # median, low, high: in the metric's base unit; low and high are the smallest and the largest run
    median: float
    low: float
    high: float
    flags: frozenset[str] = frozenset()  # codes

    @property
    def operation(self) -> str:
        """Such as `write`; empty where the workload has but one."""
        return str(self.labels.get("operation", ""))

    @property
    def is_direct(self) -> bool:
        """Whether it went past the node's page cache."""
        return self.labels.get("direct") is True

    @property
    def place(self) -> str:
        """Such as `dd write on scratch from node07`."""
        what = " ".join(filter(None, (self.cell.workload, self.operation)))
        variant = f" ({self.cell.variant})" if self.cell.variant else ""
        return f"{what} on {listed(self.cell.targets)}{variant} from {listed(self.cell.nodes)}"

    def evidence(self, name: str) -> Evidence:
        """Its median, under this name."""
        return Evidence(name, self.median, self.unit, self.cell.run_ids)


@dataclass(frozen=True, slots=True)
class Scene:
    """All that the rules look at."""

    sites: Sequence[MountedTarget]
    points: Sequence[ScenePoint]
    # how many times as fast somebody says that one target is as another; None: nobody says so
    claimed_ratio: float | None = None

    @property
    def rates(self) -> list[ScenePoint]:
        """Rates in bytes a second of all that a cell had at work; of tools that tell no total, the one they tell."""
        of_all = [
            point
            for point in self.points
            if point.unit is Unit.BYTES_PER_SECOND
            and point.median > 0
            and "writer" not in point.labels
            and (NODES in point.labels) == (len(point.cell.nodes) > 1)
        ]
        totals = {(id(point.cell), frozenset(point.labels.items())) for point in of_all if point.metric == _TOTAL}
        return [
            point
            for point in of_all
            if point.metric == _TOTAL or (id(point.cell), frozenset(point.labels.items())) not in totals
        ]


def fact_unit(name: str) -> Unit | None:
    """The unit that a fact's name ends with."""
    if name.endswith("_bytes"):
        return Unit.BYTES
    return Unit.SECONDS if name.endswith("_seconds") else None


def unavailable(value: FactValue) -> str | None:
    """Why a fact could not be found out, where its value says so."""
    words = str(value)
    return words.partition("because ")[2] or words if words.startswith("unavailable") else None


def listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    return first_of(list(names), _MOST_NAMES)
