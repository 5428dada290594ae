"""SQL of peers: the series of a cluster with points, and the nodes and targets that they are of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.db import any_of
from iotide_server.kit.numbers import number
from iotide_server.results.models import Point, Series
from iotide_server.runs.models import Run
from iotide_server.targets.models import Target, TargetMount
from iotide_server.trends.models import ChangePoint
from iotide_server.trends.peering import Known, size_classes
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import Unit, format_value

_HARDWARE: Final = ("machine.product", "cpu.model", "cpu.count")
_NEWEST_CELLS: Final = text(
    """
    SELECT DISTINCT newest.cell_id
    FROM unnest(CAST(:series_ids AS bigint[])) AS wanted (series_id)
    CROSS JOIN LATERAL (
        SELECT cell_id FROM point
        WHERE point.series_id = wanted.series_id AND (CAST(:before AS timestamptz) IS NULL OR at < :before)
        ORDER BY at DESC, id DESC LIMIT :cells
    ) AS newest
    """
)
_MEASURED_AGAIN: Final = text(
    """
    WITH own AS (
        SELECT point.series_id, point.at FROM cell JOIN point ON point.cell_id = cell.id
        WHERE cell.campaign_id = :campaign_id
    )
    SELECT min(later.at)
    FROM (SELECT DISTINCT series_id FROM own) AS measured
    CROSS JOIN LATERAL (
        SELECT at FROM point
        WHERE point.series_id = measured.series_id AND at > (SELECT max(at) FROM own)
        ORDER BY at LIMIT 1
    ) AS later
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
    return number(node.facts.get("memory.total_bytes")) or 0.0


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


def newest_cells(
    session: Session, series_ids: Iterable[int], cells: int, before: datetime | None = None
) -> Sequence[int]:
    """The cells of the newest points of these series, so many of each at most; of those before a moment if named."""
    named = {"series_ids": list(series_ids), "cells": cells, "before": before}
    return session.scalars(_NEWEST_CELLS, named).all()


def last_changes(session: Session, series_ids: Collection[int], before: datetime | None = None) -> dict[int, datetime]:
    """When each series was first at the level of now, or of just before a moment, where it ever changed for sure."""
    statement = (
        select(ChangePoint.series_id, func.max(ChangePoint.at))
        .where(
            ChangePoint.series_id == any_of(series_ids),
            ChangePoint.confirmed_at.is_not(None),
            ChangePoint.gone_at.is_(None),
        )
        .group_by(ChangePoint.series_id)
    )
    if before is not None:
        statement = statement.where(ChangePoint.at < before)
    return dict(session.execute(statement).all())


def campaign_cells(session: Session, campaign_id: int) -> Sequence[int]:
    """The cells of a campaign."""
    return session.scalars(select(Cell.id).where(Cell.campaign_id == campaign_id)).all()


def measured_cells(session: Session, campaign_id: int) -> Sequence[int]:
    """The cells of a campaign that have points."""
    has_points = select(Point.id).where(Point.cell_id == Cell.id).exists()
    return session.scalars(select(Cell.id).where(Cell.campaign_id == campaign_id, has_points)).all()


def series_in_cells(session: Session, cell_ids: Collection[int]) -> dict[int, str]:
    """The workload of each series that has a point of one of these cells, by its id."""
    has_point = Series.id.in_(select(Point.series_id).where(Point.cell_id == any_of(cell_ids)))
    return dict(session.execute(select(Series.id, Series.workload).where(has_point)).all())


def measured_again_at(session: Session, campaign_id: int) -> datetime | None:
    """When the first of a campaign's series has its next point after the campaign; None: not yet."""
    found: datetime | None = session.scalar(_MEASURED_AGAIN, {"campaign_id": campaign_id})
    return found


def cells_with_other_flags(
    session: Session, cell_ids: Collection[int], code: FlagCode, flags: Mapping[int, Sequence[Flag]]
) -> list[int]:
    """Those of these cells, sorted, of which a finished run's flags of this code are not what is named by run."""
    runs = select(Run.cell_id, Run.id, Run.flags).where(Run.cell_id == any_of(cell_ids), Run.state == "finished")
    others = set()
    for cell_id, run_id, borne in session.execute(runs):
        named = [flag.model_dump(mode="json") for flag in flags.get(run_id, ())]
        if [flag for flag in borne if flag["code"] == code] != named:
            others.add(cell_id)
    return sorted(others)
