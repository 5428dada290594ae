"""Peer groups: nodes of the same hardware, targets of one kind, OSTs of one file system."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Row

from iotide_wire.measured import PeerKind

AnyRow = Row[Any]

OST: Final = "ost"
SAME_SIZE_RATIO: Final = 1.1
"""Equal hardware reports slightly different sizes: the kernel and file systems reserve space."""


@dataclass(frozen=True, slots=True)
class PeerFilter:
    workloads: Collection[str] | None = None
    metric: str | None = None
    # only groups measured by these cells; None: all
    cell_ids: Collection[int] | None = None


@dataclass(frozen=True, slots=True)
class EqualSeries:
    kind: PeerKind
    alike: str
    series: Mapping[str, AnyRow]


class PeerName(NamedTuple):
    name: str
    alike: str


def equal_series(kind: PeerKind, series: Iterable[AnyRow], known: Mapping[int, PeerName]) -> Iterator[EqualSeries]:
    """Skip unknown nodes and targets."""
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
    """Map each size to the smallest of its class; neighbours within a tenth share a class."""
    classes: dict[float, float] = {}
    last = smallest = 0.0
    for size in sorted(set(sizes_bytes)):
        if not last or size > last * SAME_SIZE_RATIO:
            smallest = size
        classes[size] = smallest
        last = size
    return classes
