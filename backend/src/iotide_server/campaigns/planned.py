"""A plan that was checked against its cluster: what each run needs, moves and may leave in memory.

A campaign may have a hundred thousand cells, and most of them are alike. So cells are held as blocks: all option sets
of a workload, on the same nodes and targets. What is computed of a block is one number for each kind of option set.
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

SPACE_MARGIN: Final = 1.1  # a run needs its own bytes and a tenth more, unless the target names a larger reserve


@dataclass(frozen=True, slots=True)
class PlannedPlace:
    """A target of a block on one of its nodes, with what a run is expected to need and to move from there, in bytes."""

    node: Node
    target: TargetView
    fstype: str  # of the mount, as the kernel shows it
    bytes_needed: ByKind
    bytes_moved: ByKind
    run_seconds: ByKind  # of one run where the options say so, else 0
    free_bytes: int | None  # as the node saw it last; None where that is not known


@dataclass(frozen=True, slots=True)
class PlannedRoom:
    """A file system with all that a run needs in it: the nodes that load a shared target together fill one."""

    target: TargetView
    places: Sequence[PlannedPlace]  # one of each node that loads it
    # bytes_needed, bytes_moved: from all the nodes together
    bytes_needed: ByKind
    bytes_moved: ByKind
    run_seconds: ByKind  # of the node that takes longest, where the options say so, else 0
    free_bytes: int | None  # as the node that saw least of it saw it last; None where no node said

    @classmethod
    def of(cls, places: Sequence[PlannedPlace]) -> "PlannedRoom":
        """Return the file system that these places are."""
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
        """Name the target and the nodes that load it."""
        return f"{self.target.target.name} on {', '.join(place.node.name for place in self.places)}"

    def is_as_now(self, stage: int, confirmed: Mapping[NodeTarget, int]) -> bool:
        """Check that no operator may make it again before the stage."""
        name = self.target.target.name
        return all(stage < confirmed.get((place.node.name, name), inf) for place in self.places)

    def with_margin(self, bytes_needed: float) -> float:
        """Return the bytes that have to be free for a run that needs this many."""
        return max(bytes_needed * SPACE_MARGIN, bytes_needed + (self.target.target.reserve_bytes or 0))

    def lacks(self, bytes_needed: float) -> bool:
        """Check that this many bytes do not fit; where free space is unknown, they fit."""
        return bool(bytes_needed) and self.free_bytes is not None and self.with_margin(bytes_needed) > self.free_bytes


def summed(columns: Sequence[ByKind]) -> ByKind:
    """Return the sum for each kind; places that are alike share one column, which is read once."""
    if len(columns) == 1:
        return columns[0]
    distinct = {id(column): column for column in columns}
    counts = Counter(map(id, columns))
    scaled = [
        column if counts[key] == 1 else [counts[key] * value for value in column] for key, column in distinct.items()
    ]
    return scaled[0] if len(scaled) == 1 else list(map(sum, zip(*scaled, strict=True)))


def largest(columns: Sequence[ByKind]) -> ByKind:
    """Return the largest for each kind."""
    if len(columns) == 1:
        return columns[0]
    distinct = list({id(column): column for column in columns}.values())
    return distinct[0] if len(distinct) == 1 else list(map(max, zip(*distinct, strict=True)))


@dataclass(frozen=True)
class PlannedBlock:
    """All option sets of one workload, run by the same nodes on the same targets in one stage: cells in a row."""

    first: int  # the ordinal of its first cell
    stage: int
    variant: str  # its stage's, or empty
    nodes: Sequence[Node]
    observers: Sequence[Node]  # nodes that only watch
    roles: Sequence[StepRole]  # what the nodes do, in their order; empty: each does all of the work
    option_sets: OptionSets
    places: Sequence[PlannedPlace]  # each target on each node that loads it, of which there is one at least

    @property
    def cell_count(self) -> int:
        return len(self.option_sets)

    @property
    def sender(self) -> Node | None:
        """The node that sends to the others and loads no target, where there is one."""
        return next((node for node, role in zip(self.nodes, self.roles, strict=False) if role in OFF_TARGETS), None)

    @cached_property
    def targets(self) -> Sequence[TargetView]:
        """Return the targets in the order of the plan."""
        return [place.target for place in self.places if place.node is self.places[0].node]

    @cached_property
    def rooms(self) -> Sequence[PlannedRoom]:
        """The file systems that it fills: one for a shared target, one on each node for a target of scope `node`."""
        places: defaultdict[tuple[int, int | None], list[PlannedPlace]] = defaultdict(list)
        for place in self.places:
            target = place.target.target
            places[target.id, None if target.scope == "shared" else place.node.id].append(place)
        return [PlannedRoom.of(together) for together in places.values()]

    @cached_property
    def bytes_needed(self) -> ByKind:
        """Return the bytes that a run needs in the file system that it fills most."""
        return largest([room.bytes_needed for room in self.rooms])

    @cached_property
    def bytes_moved(self) -> ByKind:
        """Return the bytes that a run moves on all its targets, from all its nodes."""
        return summed([place.bytes_moved for place in self.places])

    @property
    def is_in_memory(self) -> bool:
        """Check that all its targets are memory, where no size avoids it."""
        return all(place.fstype in IN_MEMORY for place in self.places)

    def size_fits(self, node: Node) -> bool:
        """Check that each of its targets there has room for twice the node's memory."""
        needed = MEMORY_FACTOR * memory_bytes(node) * SPACE_MARGIN
        places = [place for place in self.places if place.node is node]
        return all(place.free_bytes is None or place.free_bytes * len(places) >= needed for place in places)

    @cached_property
    def data_bytes(self) -> Sequence[tuple[Node, ByKind]]:
        """Return the bytes that a run writes from each node that loads, or reads where it writes nothing."""
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
        """Return the first node of which twice the memory is more than its `data_bytes`, with these."""
        for node, data in self._cacheable:
            if data[kind] < MEMORY_FACTOR * memory_bytes(node):
                return node, data[kind]
        return None

    @cached_property
    def _cacheable(self) -> Sequence[tuple[Node, ByKind]]:
        """Return the nodes on which runs of a kind may be cached."""
        return [(node, data) for node, data in self.data_bytes if min(data) < MEMORY_FACTOR * memory_bytes(node)]


def memory_bytes(node: Node) -> float:
    """Return 0 where the node does not say how much memory it has, or says nonsense."""
    return number(node.facts.get(MEMORY)) or 0.0


@dataclass(frozen=True, slots=True)
class PlannedCell:
    block: PlannedBlock
    number: int  # of its option set, from 0

    @property
    def ordinal(self) -> int:
        """Return its number in the campaign, from 1."""
        return self.block.first + self.number

    @property
    def workload(self) -> Workload:
        return self.block.option_sets.workload

    @property
    def options(self) -> Json:
        """Return all options, in base units."""
        return self.block.option_sets.options_of(self.number)

    @property
    def bytes_needed(self) -> float:
        """Return the bytes that a run needs in the file system that it fills most."""
        return self.block.bytes_needed[self.block.option_sets.kind_of(self.number)]


@dataclass(frozen=True, slots=True)
class PlannedCampaign:
    """A plan that can be submitted as it stands; its blocks follow each other by the ordinals of their cells."""

    resolved: ResolvedPlan
    cluster: Cluster
    blocks: Sequence[PlannedBlock]

    @property
    def plan(self) -> CampaignPlan:
        return self.resolved.plan

    @property
    def cells(self) -> Iterator[PlannedCell]:
        return (PlannedCell(block, number) for block in self.blocks for number in range(block.cell_count))
