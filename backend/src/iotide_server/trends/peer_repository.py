"""SQL of peers: the series of a cluster with points, and the nodes and targets that they are of."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.results.models import Point, Series
from iotide_server.targets.models import Target, TargetMount
from iotide_server.trends.models import ChangePoint
from iotide_server.trends.peering import Known, size_classes
from iotide_wire.units import Unit, format_value

_HARDWARE: Final = ("machine.product", "cpu.model", "cpu.count")
_NEWEST_CELLS: Final = text(
    """
    SELECT DISTINCT newest.cell_id
    FROM unnest(CAST(:series_ids AS bigint[])) AS wanted (series_id)
    CROSS JOIN LATERAL (
        SELECT cell_id FROM point WHERE point.series_id = wanted.series_id ORDER BY at DESC, id DESC LIMIT :cells
    ) AS newest
    """
)


def series_with_points(
    session: Session, cluster_id: int, workload: str | None = None, metric: str | None = None
) -> Sequence[Series]:
    """Those of the cluster, of one workload or metric where one is named."""
    has_points = select(Point.id).where(Point.series_id == Series.id).exists()
    statement = select(Series).where(Series.cluster_id == cluster_id, has_points)
    if workload is not None:
        statement = statement.where(Series.workload == workload)
    if metric is not None:
        statement = statement.where(Series.metric == metric)
    return session.scalars(statement).all()


def known_nodes(session: Session, cluster_id: int) -> dict[int, Known]:
    """The nodes of the cluster that are not retired, by id: alike are those of one role with the same hardware."""
    nodes = session.scalars(select(Node).where(Node.cluster_id == cluster_id, Node.retired_at.is_(None))).all()
    classes = size_classes(_memory_bytes(node) for node in nodes)
    return {node.id: Known(node.name, _hardware(node, classes[_memory_bytes(node)])) for node in nodes}


def _memory_bytes(node: Node) -> float:
    return float(node.facts.get("memory.total_bytes") or 0)


def _hardware(node: Node, memory_bytes: float) -> str:
    parts = [f"{name} {node.facts[name]}" for name in _HARDWARE if node.facts.get(name) is not None]
    memory = [f"memory {format_value(memory_bytes, Unit.BYTES)}"] if memory_bytes else []
    return ", ".join([node.role, *parts, *memory])


def known_targets(session: Session, cluster_id: int) -> dict[int, Known]:
    """The targets of the cluster that are not retired, by id: alike are those of one scope, file system and size."""
    rows = session.execute(
        select(Target.id, Target.name, Target.scope, func.min(TargetMount.fstype), func.min(TargetMount.total_bytes))
        .outerjoin(TargetMount, TargetMount.target_id == Target.id)
        .where(Target.cluster_id == cluster_id, Target.retired_at.is_(None))
        .group_by(Target.id)
    ).all()
    classes = size_classes(size or 0 for *_, size in rows)
    known = {}
    for target_id, name, scope, fstype, size in rows:
        of_size = f" of {format_value(classes[size], Unit.BYTES)}" if size else ""
        known[target_id] = Known(name, f"{fstype or 'file system'}{of_size}, scope {scope}")
    return known


def newest_cells(session: Session, series_ids: Iterable[int], cells: int) -> Sequence[int]:
    """The cells of the newest points of these series, so many of each at most."""
    return session.scalars(_NEWEST_CELLS, {"series_ids": list(series_ids), "cells": cells}).all()


def last_changes(session: Session, series_ids: Collection[int]) -> dict[int, datetime]:
    """When each series was first at the level at which it is now, where it ever changed for sure."""
    statement = (
        select(ChangePoint.series_id, func.max(ChangePoint.at))
        .where(
            ChangePoint.series_id.in_(series_ids), ChangePoint.confirmed_at.is_not(None), ChangePoint.gone_at.is_(None)
        )
        .group_by(ChangePoint.series_id)
    )
    return dict(session.execute(statement).all())
