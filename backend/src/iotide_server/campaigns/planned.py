"""Plan checked against its cluster, with what each run needs and moves.

A campaign may have a hundred thousand cells, most of them alike. A block holds all option sets of a workload on the
same nodes and targets, with a number for each kind of option set.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final

from iotide_server.campaigns.option_sets import ByKind, OptionSets
from iotide_server.campaigns.resolved import OFF_TARGETS, NodeTarget, ResolvedPlan
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.db import Json, number
from iotide_server.targets.mounts import IN_MEMORY
from iotide_server.targets.repository import TargetView
from iotide_server.workloads.models import Workload
from iotide_wire.expressions import MEMORY, MEMORY_FACTOR
from iotide_wire.measured import StepRole
from iotide_wire.plan import CampaignPlan

TASKS: Final = "tasks"
"""Option of MPI programs: tasks on each node."""
SPACE_MARGIN: Final = 1.1  # free space for a run, unless the target's reserve is larger


@dataclass(frozen=True, slots=True)
class PlannedPlace:
    """Target of a block on one node; amounts are those of one run."""

    node: Node
    target: TargetView
    fstype: str
    bytes_needed: ByKind
    bytes_moved: ByKind
    run_seconds: ByKind
    free_bytes: int | None  # as last reported; None: unknown


@dataclass(frozen=True, slots=True)
class PlannedRoom:
    """File system that nodes fill together: a shared target, or one on a node."""

    target: TargetView
    places: Sequence[PlannedPlace]
    # sums over all nodes
    bytes_needed: ByKind
    bytes_moved: ByKind
    run_seconds: ByKind
    free_bytes: int | None  # smallest last report; None: unknown

    @classmethod
    def of(cls, places: Sequence[PlannedPlace]) -> "PlannedRoom":
        return cls(
            places[0].target,
            places,
            bytes_needed=summed([place.bytes_needed for place in places]),
            bytes_moved=summed([place.bytes_moved for place in places]),
            run_seconds=largest([place.run_seconds for place in places]),
            free_bytes=min((place.free_bytes for place in places if place.free_bytes is not None), default=None),
        )

    @property
    def where(self) -> str:
        return f"{self.target.target.name} on {', '.join(place.node.name for place in self.places)}"

    def is_as_now(self, stage: int, confirmed: Mapping[NodeTarget, int]) -> bool:
        """Return false if an operator may recreate it before the stage."""
        name = self.target.target.name
        return all(stage < confirmed.get((place.node.name, name), inf) for place in self.places)

    def with_margin(self, bytes_needed: float) -> float:
        return max(bytes_needed * SPACE_MARGIN, bytes_needed + (self.target.target.reserve_bytes or 0))

    def lacks(self, bytes_needed: float) -> bool:
        """Return true if the bytes do not fit; unknown space fits."""
        return bool(bytes_needed) and self.free_bytes is not None and self.with_margin(bytes_needed) > self.free_bytes


def summed(columns: Sequence[ByKind]) -> ByKind:
    """Return sums for each kind; equal places share a column, which is read once."""
    if len(columns) == 1:
        return columns[0]
    distinct = {id(column): column for column in columns}
    counts = Counter(map(id, columns))
    scaled = [
        column if counts[key] == 1 else [counts[key] * value for value in column] for key, column in distinct.items()
    ]
    return scaled[0] if len(scaled) == 1 else list(map(sum, zip(*scaled, strict=True)))


def largest(columns: Sequence[ByKind]) -> ByKind:
    if len(columns) == 1:
        return columns[0]
    distinct = list({id(column): column for column in columns}.values())
    return distinct[0] if len(distinct) == 1 else list(map(max, zip(*distinct, strict=True)))


@dataclass(frozen=True)
class PlannedBlock:
    """All option sets of a workload on the same nodes and targets in one stage: consecutive cells."""

    first: int
    stage: int
    variant: str
    nodes: Sequence[Node]
    observers: Sequence[Node]
    roles: Sequence[StepRole]  # of a pair
    option_sets: OptionSets
    places: Sequence[PlannedPlace]

    @property
    def cell_count(self) -> int:
        return len(self.option_sets)

    @property
    def is_gang(self) -> bool:
        return len(self.nodes) > 1 and not self.roles

    @property
    def has_one_programs(self) -> bool:
        """Return true if all nodes run one program together in some of the cells."""
        return self.is_gang and any(self.option_sets.has_one_program)

    @property
    def node_roles(self) -> Sequence[StepRole | None]:
        """Return the part of each node, except in the cells of `ordinals_of_own_programs`."""
        if self.has_one_programs:
            return [StepRole.HEAD, *[StepRole.MEMBER] * (len(self.nodes) - 1)]
        return self.roles or [None] * len(self.nodes)

    @property
    def ordinals_of_own_programs(self) -> Sequence[int]:
        """Return the cells in which each node starts a program of its own, if there are others."""
        sets = self.option_sets
        if not self.has_one_programs or all(sets.has_one_program):
            return []
        return [self.first + number for number, kind in enumerate(sets.kinds) if not sets.has_one_program[kind]]

    @property
    def sender(self) -> Node | None:
        return next((node for node, role in zip(self.nodes, self.roles, strict=False) if role in OFF_TARGETS), None)

    @cached_property
    def targets(self) -> Sequence[TargetView]:
        return [place.target for place in self.places if place.node is self.places[0].node]

    @cached_property
    def rooms(self) -> Sequence[PlannedRoom]:
        places: defaultdict[tuple[int, int | None], list[PlannedPlace]] = defaultdict(list)
        for place in self.places:
            target = place.target.target
            places[target.id, None if target.scope == "shared" else place.node.id].append(place)
        return [PlannedRoom.of(together) for together in places.values()]

    @cached_property
    def bytes_needed(self) -> ByKind:
        """Return the bytes in the fullest file system."""
        return largest([room.bytes_needed for room in self.rooms])

    @cached_property
    def bytes_moved(self) -> ByKind:
        return summed([place.bytes_moved for place in self.places])

    @property
    def is_in_memory(self) -> bool:
        """Return true if all targets are in memory, where no size avoids caching."""
        return all(place.fstype in IN_MEMORY for place in self.places)

    def size_fits(self, node: Node) -> bool:
        """Return true if its targets have room for twice the node's memory."""
        needed = MEMORY_FACTOR * memory_bytes(node) * SPACE_MARGIN
        places = [place for place in self.places if place.node is node]
        return all(place.free_bytes is None or place.free_bytes * len(places) >= needed for place in places)

    @cached_property
    def data_bytes(self) -> Sequence[tuple[Node, ByKind]]:
        """Return the bytes that each loading node writes, or else reads."""
        by_node: defaultdict[int, list[ByKind]] = defaultdict(list)
        known: dict[tuple[int, int], ByKind] = {}
        for place in self.places:
            key = id(place.bytes_needed), id(place.bytes_moved)
            if key not in known:
                needed_or_moved = zip(place.bytes_needed, place.bytes_moved, strict=True)
                known[key] = [needed or moved for needed, moved in needed_or_moved]
            by_node[place.node.id].append(known[key])
        return [(node, summed(by_node[node.id])) for node in self.nodes if node is not self.sender]

    def cached_on(self, kind: int) -> tuple[Node, float] | None:
        """Return the first node with `data_bytes` below twice its memory, and these bytes."""
        for node, data in self._cacheable:
            if data[kind] < MEMORY_FACTOR * memory_bytes(node):
                return node, data[kind]
        return None

    @cached_property
    def _cacheable(self) -> Sequence[tuple[Node, ByKind]]:
        return [(node, data) for node, data in self.data_bytes if min(data) < MEMORY_FACTOR * memory_bytes(node)]


def memory_bytes(node: Node) -> float:
    return number(node.facts.get(MEMORY)) or 0.0


@dataclass(frozen=True, slots=True)
class PlannedCell:
    block: PlannedBlock
    number: int

    @property
    def ordinal(self) -> int:
        return self.block.first + self.number

    @property
    def workload(self) -> Workload:
        return self.block.option_sets.workload

    @property
    def options(self) -> Json:
        return self.block.option_sets.options_of(self.number)

    @property
    def bytes_needed(self) -> float:
        return self.block.bytes_needed[self.block.option_sets.kind_of(self.number)]

    @property
    def program(self) -> str | None:
        """Describe the program that all nodes run together; None if each node starts its own."""
        kind = self.block.option_sets.kind_of(self.number)
        if not self.block.is_gang or not self.block.option_sets.has_one_program[kind]:
            return None
        tasks = self.options.get(TASKS)
        each = f" x {tasks} {'task' if tasks == 1 else 'tasks'}" if isinstance(tasks, int) else ""
        return f"one program over {len(self.block.nodes)} nodes{each}"


@dataclass(frozen=True, slots=True)
class PlannedCampaign:
    """Blocks are sorted by cell ordinal."""

    resolved: ResolvedPlan
    cluster: Cluster
    blocks: Sequence[PlannedBlock]

    @property
    def plan(self) -> CampaignPlan:
        return self.resolved.plan

    @property
    def cells(self) -> Iterator[PlannedCell]:
        return (PlannedCell(block, number) for block in self.blocks for number in range(block.cell_count))
