"""What a run takes while it is active: nodes, shared targets and its cluster, each alone or beside others."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple, TypeVar

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


T = TypeVar("T")
_KINDS: Final = tuple(ResourceKind)


class Resource(NamedTuple):
    """Something of which a lease gives a right; a tuple, as a pass looks tens of thousands of them up."""

    kind: ResourceKind
    id: int

    @property
    def lock_order(self) -> tuple[int, int]:
        """All transactions touch resources in this order, so that none waits for another in a circle."""
        return (_KINDS.index(self.kind), self.id)


class Need(NamedTuple):
    """A right that a run must have before it starts."""

    resource: Resource
    mode: Mode


class _MadeById(dict[int, T]):
    """Makes a thing for each id when it is first asked for; the same object again, so a look-up need not compare."""

    def __init__(self, make: Callable[[int], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, resource_id: int) -> T:
        made = self[resource_id] = self._make(resource_id)
        return made


def _known_needs(kind: ResourceKind, mode: Mode) -> _MadeById[Need]:
    return _MadeById(lambda resource_id: Need(KNOWN_RESOURCES[kind][resource_id], mode))


KNOWN_RESOURCES: Final[Mapping[str, Mapping[int, Resource]]] = {
    kind: _MadeById(partial(Resource, kind)) for kind in ResourceKind
}
_KNOWN: Final = {(kind, mode): _known_needs(kind, mode) for kind in ResourceKind for mode in Mode}


def node_mode(exclusive: Exclusivity) -> Mode:
    """Whether the run is alone on its nodes."""
    return Mode.SHARED if exclusive is Exclusivity.NONE else Mode.EXCLUSIVE


_KNOWN_OF: Final = {
    exclusive: (
        _KNOWN[ResourceKind.NODE, node_mode(exclusive)],
        _KNOWN[ResourceKind.TARGET, Mode.EXCLUSIVE if exclusive is Exclusivity.NODE_AND_TARGET else Mode.SHARED],
        _KNOWN[ResourceKind.CLUSTER, Mode.EXCLUSIVE if exclusive is Exclusivity.CLUSTER else Mode.SHARED],
    )
    for exclusive in Exclusivity
}


def needs(
    exclusive: Exclusivity, node_ids: Iterable[int], shared_target_ids: Iterable[int], cluster_id: int
) -> tuple[Need, ...]:
    """All rights of a run, in lock order.

    A run takes its cluster too, beside others unless it wants the cluster alone: so one that does waits for the others
    and the others for it. Targets of scope `node` are covered by the node.
    """
    of_nodes, of_targets, of_cluster = _KNOWN_OF[exclusive]
    return (
        *map(of_nodes.__getitem__, sorted(node_ids)),
        *map(of_targets.__getitem__, sorted(shared_target_ids)),
        of_cluster[cluster_id],
    )


class Occupancy(NamedTuple):
    """A resource as the database counts its leases; a tuple, as a pass makes thousands."""

    shared: int
    exclusive: int
    slots: int | None = None  # how many may share it; None: any number
    # when its present leases end at the latest by their runs' time limits and it has cooled down; None when that cannot
    # be said, because a run on it is overdue or its node silent
    free_from: datetime | None = None
    cooling_until: datetime | None = None  # nothing starts on it before; None when it does not cool down now

    def admits(self, mode: Mode) -> bool:
        """Whether one more lease of that mode fits."""
        if self.cooling_until is not None or self.exclusive or (mode is Mode.EXCLUSIVE and self.shared):
            return False
        return self.slots is None or self.shared < self.slots
