"""Which series are of equals: nodes with the same hardware, targets of one kind, OSTs of one file system; pure."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

OST: Final = "ost"
"""Label of a number that is of one OST alone."""
SAME_SIZE_RATIO: Final = 1.1
"""Equal hardware says its size a little differently: what the kernel reserves, what a file system keeps for itself."""


class PeerKind(StrEnum):
    """What is compared."""

    NODES = "nodes"
    TARGETS = "targets"
    OSTS = "osts"


@dataclass(frozen=True, slots=True)
class PeerSeries:
    """A series as far as its peers are concerned; the attributes are those of `Series`.

    Attributes:
        is_of_cells: it has a point of one of the cells whose peers are looked for.
    """

    id: int
    node_ids: list[int]
    target_ids: list[int]
    workload: str
    series_revision: int
    options_sha256: str
    metric: str
    title: str
    unit: str
    better: str
    labels: dict[str, Any]
    variant: str
    is_of_cells: bool = True


@dataclass(frozen=True, slots=True)
class PeerFilter:
    """Which groups are looked for.

    Attributes:
        workloads, metric: of these alone; None: of all.
        cell_ids: groups alone that have a series with a point of one of these cells; None: all.
    """

    workloads: Collection[str] | None = None
    metric: str | None = None
    cell_ids: Collection[int] | None = None


@dataclass(frozen=True, slots=True)
class EqualSeries:
    """Series that differ in one thing alone.

    Attributes:
        alike: what its nodes or targets have in common, in words.
        series: by the name of the node, target or OST.
    """

    kind: PeerKind
    alike: str
    series: Mapping[str, PeerSeries]


@dataclass(frozen=True, slots=True)
class PeerName:
    """The name of a node or target, and what its equals have in common with it, in words."""

    name: str
    alike: str


def peer_groups(
    series: Iterable[PeerSeries], nodes: Mapping[int, PeerName], targets: Mapping[int, PeerName]
) -> Iterator[EqualSeries]:
    """Series of one workload, options, metric and labels: of several nodes on the same targets, or the other way round.

    Args:
        nodes, targets: by id; what is not among them has no peers.
    """
    groups: dict[tuple[PeerKind, str, Hashable], dict[str, PeerSeries]] = defaultdict(dict)
    for one in sorted(series, key=lambda one: one.id):
        same = (one.workload, one.series_revision, one.options_sha256, one.metric, one.variant)
        labels = frozenset(one.labels.items())
        where = (tuple(one.node_ids), tuple(one.target_ids))
        if OST in one.labels:
            others = frozenset((name, value) for name, value in one.labels.items() if name != OST)
            groups[PeerKind.OSTS, "one file system", (same, others, where)][str(one.labels[OST])] = one
            continue
        if len(one.node_ids) == 1 and (node := nodes.get(one.node_ids[0])):
            groups[PeerKind.NODES, node.alike, (same, labels, where[1])][node.name] = one
        if len(one.target_ids) == 1 and (target := targets.get(one.target_ids[0])):
            groups[PeerKind.TARGETS, target.alike, (same, labels, where[0])][target.name] = one
    for (kind, alike, _), members in groups.items():
        yield EqualSeries(kind, alike, members)


def size_classes(sizes_bytes: Iterable[float]) -> dict[float, float]:
    """By size, the smallest of those that are as large: each within a tenth of the next smaller one."""
    classes: dict[float, float] = {}
    last = smallest = 0.0
    for size in sorted(set(sizes_bytes)):
        if not last or size > last * SAME_SIZE_RATIO:
            smallest = size
        classes[size] = smallest
        last = size
    return classes
