"""What a run takes while it is active: nodes, shared targets and its cluster, each alone or beside others."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from iotide_wire.plan import Exclusivity


class ResourceKind(StrEnum):
    """The table whose counters a lease moves."""

    NODE = "node"
    TARGET = "target"
    CLUSTER = "cluster"


class Mode(StrEnum):
    """Beside others or alone."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


@dataclass(frozen=True, slots=True)
class Resource:
    """Something of which a lease gives a right."""

    kind: ResourceKind
    id: int

    @property
    def lock_order(self) -> tuple[int, int]:
        """All transactions touch resources in this order, so that none waits for another in a circle."""
        return (list(ResourceKind).index(self.kind), self.id)


@dataclass(frozen=True, slots=True)
class Need:
    """A right that a run must have before it starts."""

    resource: Resource
    mode: Mode


def node_mode(exclusive: Exclusivity) -> Mode:
    """Whether the run is alone on its nodes."""
    return Mode.SHARED if exclusive is Exclusivity.NONE else Mode.EXCLUSIVE


def needs(
    exclusive: Exclusivity, node_ids: Iterable[int], shared_target_ids: Iterable[int], cluster_id: int
) -> tuple[Need, ...]:
    """All rights of a run, in lock order.

    A run takes its cluster too, beside others unless it wants the cluster alone: so one that does waits for the others
    and the others for it. Targets of scope `node` are covered by the node.
    """
    target_mode = Mode.EXCLUSIVE if exclusive is Exclusivity.NODE_AND_TARGET else Mode.SHARED
    cluster_mode = Mode.EXCLUSIVE if exclusive is Exclusivity.CLUSTER else Mode.SHARED
    wanted = [
        *(Need(Resource(ResourceKind.NODE, node_id), node_mode(exclusive)) for node_id in node_ids),
        *(Need(Resource(ResourceKind.TARGET, target_id), target_mode) for target_id in shared_target_ids),
        Need(Resource(ResourceKind.CLUSTER, cluster_id), cluster_mode),
    ]
    return tuple(sorted(wanted, key=lambda need: need.resource.lock_order))


@dataclass(frozen=True, slots=True)
class Occupancy:
    """A resource as the database counts its leases.

    Attributes:
        slots: how many may share it; None: any number.
        usable: False for a node that is silent, retired or has a problem: nothing starts on it.
        free_from: when its present leases end at the latest by their runs' time limits and it has cooled down; None
            when that cannot be said, because a run on it is overdue or its node silent.
        cooling_until: nothing starts on it before; None when it does not cool down now.
    """

    shared: int
    exclusive: int
    slots: int | None = None
    usable: bool = True
    free_from: datetime | None = None
    cooling_until: datetime | None = None

    def admits(self, mode: Mode) -> bool:
        """Whether one more lease of that mode fits."""
        if self.cooling_until is not None or self.exclusive or (mode is Mode.EXCLUSIVE and self.shared):
            return False
        return self.slots is None or self.shared < self.slots
