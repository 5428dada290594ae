"""Which series are of equals: nodes with the same hardware, targets of one kind, OSTs of one file system; pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import Row

AnyRow = Row[Any]

OST: Final = "ost"  # label of a number that is of one OST alone
SAME_SIZE_RATIO: Final = 1.1
"""Equal hardware says its size a little differently: what the kernel reserves, what a file system keeps for itself."""


class PeerKind(StrEnum):
    """What is compared."""

    NODES = "nodes"
    TARGETS = "targets"
    OSTS = "osts"


@dataclass(frozen=True, slots=True)
class PeerFilter:
    """Which groups are looked for."""

    # workloads, metric: of these alone; None: of all
    workloads: Collection[str] | None = None
    metric: str | None = None
    # groups alone that have a series with a point of one of these cells; None: all
    cell_ids: Collection[int] | None = None


@dataclass(frozen=True, slots=True)
class EqualSeries:
    """Series that differ in one thing alone."""

    kind: PeerKind
    alike: str  # what its nodes or targets have in common, in words
    series: Mapping[str, AnyRow]  # by the name of the node, target or OST


class PeerName(NamedTuple):
    """The name of a node or target, and what its equals have in common with it, in words."""

    name: str
    alike: str


def equal_series(kind: PeerKind, series: Iterable[AnyRow], known: Mapping[int, PeerName]) -> Iterator[EqualSeries]:
    """Part series that differ in node, target or OST by what these have in common; only `known` ones have peers."""
    groups: dict[str, dict[str, AnyRow]] = defaultdict(dict)
    for one in series:
        peer = _peer(kind, one, known)
        if peer is not None:
            groups[peer.alike][peer.name] = one
    for alike, members in groups.items():
        yield EqualSeries(kind, alike, members)


def _peer(kind: PeerKind, series: AnyRow, known: Mapping[int, PeerName]) -> PeerName | None:
    if kind is PeerKind.OSTS:
        return PeerName(str(series.labels[OST]), "one file system")
    return known.get((series.node_ids if kind is PeerKind.NODES else series.target_ids)[0])


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
