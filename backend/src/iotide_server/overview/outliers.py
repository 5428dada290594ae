"""Nodes and targets that are worse than their peers, from the flags of their newest runs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Row

from iotide_server.overview.attention import Needed
from iotide_server.overview.schemas import AttentionKind
from iotide_server.trends.changes.words import direction
from iotide_server.trends.peers.marks import peers_in_words
from iotide_wire.measured import Flag, PeerDistance, PeerKind
from iotide_wire.units import format_distance

AnyRow = Row[*tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class _Odd:
    kind: AttentionKind
    cluster_id: int
    subject_id: int
    workload: str
    difference_ratio: float
    words: str


def of_outliers(rows: Iterable[AnyRow]) -> list[Needed]:
    """Return one item for each node or target, by its worst metric."""
    found: defaultdict[tuple[AttentionKind, int], list[_Odd]] = defaultdict(list)
    for row in rows:
        for distance in _distances(row):
            odd = _odd(row, distance)
            if odd is not None:
                found[odd.kind, odd.subject_id].append(odd)
    return [_needed(max(own, key=lambda odd: abs(odd.difference_ratio))) for own in found.values()]


def _distances(row: AnyRow) -> Iterator[PeerDistance]:
    """Yield the distances of the row's metric. Flags that a release before 0.3 stored have none."""
    for flag in map(Flag.model_validate, row.flags):
        if flag.peers is not None and flag.peers.metric == row.metric and flag.labels.items() <= row.labels.items():
            yield flag.peers


def _odd(row: AnyRow, distance: PeerDistance) -> _Odd | None:
    if direction(distance.difference_ratio, row.better) != "worse":
        return None
    is_node = distance.kind is PeerKind.NODES
    subject_id, name = (row.node_id, row.node_name) if is_node else (row.target_id, row.target_name)
    if subject_id is None:
        return None
    member = name if distance.kind is not PeerKind.OSTS else f"{name} OST {row.labels.get('ost')}"
    side = "above" if distance.difference_ratio > 0 else "below"
    words = (
        f"{member}: {row.workload} {_metric(row.title, row.labels)} {format_distance(1 + distance.difference_ratio)}"
        f" {side} the median of {peers_in_words(distance)}"
    )
    kind: AttentionKind = "outlier_node" if is_node else "outlier_target"
    return _Odd(kind, row.cluster_id, subject_id, row.workload, distance.difference_ratio, words)


def _metric(title: str, labels: Mapping[str, object]) -> str:
    operation = labels.get("operation")
    name = title.lower() if title[1:].islower() else title
    is_named = operation is None or str(operation) in name.split()
    return name if is_named else f"{operation} {name}"


def _needed(odd: _Odd) -> Needed:
    place = {"node_id": odd.subject_id} if odd.kind == "outlier_node" else {"target_id": odd.subject_id}
    remedy = "compare it with its peers"
    return Needed(odd.kind, odd.cluster_id, odd.words, remedy, None, **place, workload=odd.workload)
