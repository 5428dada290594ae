"""A plan that was checked against its cluster: what each run needs, moves and may leave in memory."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.db import Json
from iotide_server.targets.memory import IN_MEMORY
from iotide_server.targets.service import TargetView
from iotide_server.workloads.models import Workload
from iotide_wire.expressions import MEMORY, MEMORY_FACTOR, Expression
from iotide_wire.measured import StepRole
from iotide_wire.plan import CampaignPlan

SPACE_MARGIN: Final = 1.1
"""A run needs its own bytes and a tenth more, unless the target names a larger reserve."""
OFF_TARGETS: Final = frozenset({StepRole.SENDER})


@dataclass(frozen=True, slots=True)
class OptionSet:
    """A workload with one set of options.

    Attributes:
        field: where it stands in the plan, for errors: `workloads[0]`.
        options: complete, in base units.
        options_sha256: of those that differ from the workload's frozen defaults.
    """

    field: str
    workload: Workload
    options: Json
    options_sha256: str
    needed: Expression
    moved: Expression
    seconds: Expression


@dataclass(frozen=True, slots=True)
class PlannedPlace:
    """A target of a cell on one of its nodes, with what a run is expected to need and to move from there, in bytes.

    Attributes:
        run_seconds: of one run where the options say so, else 0.
        free_bytes: as the node saw it last; None where that is not known.
        fstype: of the mount, as the kernel shows it.
    """

    node: Node
    target: TargetView
    fstype: str
    bytes_needed: float
    bytes_moved: float
    run_seconds: float
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class PlannedRoom:
    """A file system with all that a run needs in it: the nodes that load a shared target together fill one.

    Attributes:
        where: in words.
        places: one of each node that loads it.
    """

    target: TargetView
    where: str
    places: Sequence[PlannedPlace]

    @property
    def bytes_needed(self) -> float:
        """From all the nodes together."""
        return sum(place.bytes_needed for place in self.places)

    @property
    def bytes_moved(self) -> float:
        """From all the nodes together."""
        return sum(place.bytes_moved for place in self.places)

    @property
    def run_seconds(self) -> float:
        """Of the node that takes longest, where the options say so, else 0."""
        return max(place.run_seconds for place in self.places)

    @property
    def free_bytes(self) -> int | None:
        """As the node that saw least of it saw it last; None where no node said."""
        return min((place.free_bytes for place in self.places if place.free_bytes is not None), default=None)


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell with the nodes and targets that each of its runs loads together; `variant` is its stage's, or empty.

    Attributes:
        observers: nodes that only watch them.
        roles: what the nodes do, in their order; empty: each does all of the work.
        places: each target on each node that loads it, of which there is one at least.
    """

    ordinal: int
    stage: int
    variant: str
    nodes: Sequence[Node]
    observers: Sequence[Node]
    roles: Sequence[StepRole]
    option_set: OptionSet
    places: Sequence[PlannedPlace]

    @property
    def sender(self) -> Node | None:
        """The node that sends to the others and loads no target, where there is one."""
        return next((node for node, role in zip(self.nodes, self.roles, strict=False) if role in OFF_TARGETS), None)

    @property
    def targets(self) -> Sequence[TargetView]:
        """In the order of the plan."""
        return [place.target for place in self.places if place.node is self.places[0].node]

    @property
    def rooms(self) -> Sequence[PlannedRoom]:
        """The file systems that it fills: one for a shared target, one on each node for a target of scope `node`."""
        places: defaultdict[tuple[int, int | None], list[PlannedPlace]] = defaultdict(list)
        for place in self.places:
            target = place.target.target
            places[target.id, None if target.scope == "shared" else place.node.id].append(place)
        return [_room(together) for together in places.values()]

    @property
    def bytes_needed(self) -> float:
        """In the file system that it fills most."""
        return max(room.bytes_needed for room in self.rooms)

    @property
    def bytes_moved(self) -> float:
        """On all its targets, from all its nodes."""
        return sum(place.bytes_moved for place in self.places)

    @property
    def is_past_cache(self) -> bool:
        """Check that its options go around the page cache; those of a job file are not known."""
        options = self.option_set.options
        return (options.get("direct") is True or options.get("flush") == "direct") and not options.get("job_file")

    @property
    def is_in_memory(self) -> bool:
        """Check that all its targets are memory, where no size avoids it."""
        return all(place.fstype in IN_MEMORY for place in self.places)

    def size_fits(self, node: Node) -> bool:
        """Check that each of its targets there has room for twice the node's memory."""
        needed = MEMORY_FACTOR * float(node.facts.get(MEMORY) or 0) * SPACE_MARGIN
        places = [place for place in self.places if place.node is node]
        return all(place.free_bytes is None or place.free_bytes * len(places) >= needed for place in places)

    def cached_on(self) -> Node | None:
        """The first node of which twice the memory is more than what it writes, or reads where it writes nothing."""
        for node in self.nodes:
            if node is self.sender:
                continue
            memory_bytes: Any = node.facts.get(MEMORY)
            if memory_bytes and self.data_bytes(node) < MEMORY_FACTOR * memory_bytes:
                return node
        return None

    def data_bytes(self, node: Node) -> float:
        """What it writes from that node, or reads where it writes nothing."""
        return sum(place.bytes_needed or place.bytes_moved for place in self.places if place.node is node)


def _room(places: Sequence[PlannedPlace]) -> PlannedRoom:
    target = places[0].target
    return PlannedRoom(target, f"{target.target.name} on {', '.join(place.node.name for place in places)}", places)


@dataclass(frozen=True, slots=True)
class PlannedCampaign:
    """A plan that can be submitted as it stands."""

    plan: CampaignPlan
    cluster: Cluster
    cells: Sequence[PlannedCell]
