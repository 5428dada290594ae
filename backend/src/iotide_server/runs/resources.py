"""Resources of an active run: nodes, shared targets and its cluster, shared or exclusive."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple, TypeVar

from iotide_wire.plan import Exclusivity


class ResourceKind(StrEnum):
    NODE = "node"
    TARGET = "target"
    CLUSTER = "cluster"


class Mode(StrEnum):
    SHARED = "shared"
    EXCLUSIVE = "exclusive"


T = TypeVar("T")
_KINDS: Final = tuple(ResourceKind)


class Resource(NamedTuple):
    """A tuple, because the scheduler looks up tens of thousands."""

    kind: ResourceKind
    id: int

    @property
    def lock_order(self) -> tuple[int, int]:
        """Return the sort key of locks. All transactions use it, to prevent deadlocks."""
        return (_KINDS.index(self.kind), self.id)


class Need(NamedTuple):
    resource: Resource
    mode: Mode


class _MadeById(dict[int, T]):
    """Dict that creates values from ids, so that equal ids give the same object and lookups need not compare."""

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
    """Return all rights of a run, in lock order.

    Every run leases its cluster, shared unless it needs the whole cluster, so such runs exclude all others. Nodes
    cover targets of scope `node`.
    """
    of_nodes, of_targets, of_cluster = _KNOWN_OF[exclusive]
    return (
        *map(of_nodes.__getitem__, sorted(node_ids)),
        *map(of_targets.__getitem__, sorted(shared_target_ids)),
        of_cluster[cluster_id],
    )


class Occupancy(NamedTuple):
    """A tuple, because the scheduler creates thousands."""

    shared: int
    exclusive: int
    slots: int | None = None  # maximum number of sharers; None: any
    # latest end of its leases by time limits, with cool-down; None: unknown, as a run is overdue or the node silent
    free_from: datetime | None = None
    cooling_until: datetime | None = None  # nothing starts before

    def admits(self, mode: Mode) -> bool:
        if self.cooling_until is not None or self.exclusive or (mode is Mode.EXCLUSIVE and self.shared):
            return False
        return self.slots is None or self.shared < self.slots
