"""Nodes and targets that are worse than their peers, from the flags of their newest runs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Row

from iotide_server.overview.attention import Needed
from iotide_server.overview.schemas import AttentionKind
from iotide_server.trends.changes.words import direction
from iotide_wire.measured import Flag

AnyRow = Row[*tuple[object, ...]]

_MEASURED: Final = re.compile(
    r"^(?:\d+ values of the run, furthest: )?(?P<title>.+): \S.*, (?P<percent>[\d.,]+) % (?P<side>above|below) the .+"
    r" of (?P<peers>\d+) (?P<kind>nodes|targets|OSTs) \("
)
"""As `iotide_server.trends.peers.marks` words it."""


@dataclass(frozen=True, slots=True)
class _Odd:
    kind: AttentionKind
    cluster_id: int
    subject_id: int
    name: str
    workload: str
    percent: float
    words: str


def of_outliers(rows: Iterable[AnyRow]) -> list[Needed]:
    """Return one item for each node or target, by its worst metric."""
    found: defaultdict[tuple[AttentionKind, int], list[_Odd]] = defaultdict(list)
    for row in rows:
        for flag in _flags(row):
            odd = _odd(row, flag)
            if odd is not None:
                found[odd.kind, odd.subject_id].append(odd)
    return [_needed(max(own, key=lambda odd: odd.percent)) for own in found.values()]


def _flags(row: AnyRow) -> list[Flag]:
    known = [Flag.model_validate(flag) for flag in row.flags]
    return [flag for flag in known if flag.labels.items() <= row.labels.items()]


def _odd(row: AnyRow, flag: Flag) -> _Odd | None:
    found = _MEASURED.match(flag.measured)
    if found is None or found["title"] != row.title:
        return None
    if direction(1.0 if found["side"] == "above" else -1.0, row.better) != "worse":
        return None
    is_node = found["kind"] == "nodes"
    subject_id, name = (row.node_id, row.node_name) if is_node else (row.target_id, row.target_name)
    if subject_id is None:
        return None
    member = name if found["kind"] != "OSTs" else f"{name} OST {row.labels.get('ost')}"
    words = (
        f"{member}: {row.workload} {_metric(row.title, row.labels)} {found['percent']} % {found['side']}"
        f" the median of {found['peers']} {found['kind']}"
    )
    kind: AttentionKind = "outlier_node" if is_node else "outlier_target"
    percent = float(found["percent"].replace(",", ""))
    return _Odd(kind, row.cluster_id, subject_id, name, row.workload, percent, words)


def _metric(title: str, labels: Mapping[str, object]) -> str:
    operation = labels.get("operation")
    name = title.lower() if title[1:].islower() else title
    is_named = operation is None or str(operation) in name.split()
    return name if is_named else f"{operation} {name}"


def _needed(odd: _Odd) -> Needed:
    place = {"node_id": odd.subject_id} if odd.kind == "outlier_node" else {"target_id": odd.subject_id}
    remedy = "compare it with its peers"
    return Needed(odd.kind, odd.cluster_id, odd.words, remedy, None, **place, workload=odd.workload)
