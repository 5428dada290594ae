"""SQL of peers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from string import Template
from typing import Final

import structlog
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json, any_of, number
from iotide_server.results.models import Point, Series
from iotide_server.statistics.peers import FEWEST_PEERS
from iotide_server.targets.models import Target, TargetMount
from iotide_server.trends.models import ChangePoint
from iotide_server.trends.peers.groups import OST, AnyRow, PeerFilter, PeerName, size_classes
from iotide_server.workloads.models import Workload
from iotide_wire.measured import Flag, FlagCode, PeerKind
from iotide_wire.units import Unit, format_value

MOST_PEERS: Final = 20_000  # series in a group; larger groups are skipped

_STREAMED_AT_ONCE: Final = 1_000
_FLAGGED_AT_ONCE: Final = 100
_log = structlog.get_logger(__name__)

_OF_ONE: Final = f"NOT jsonb_exists(labels, '{OST}') AND cardinality({{}}) = 1"
_NONE: Final = "CAST('{}' AS bigint[])"
_PARTS: Final = ("is_of_kind", "labels", "nodes", "targets")
"""Condition of a kind; labels, nodes and targets must be equal within a group."""
_KINDS: Final = {
    PeerKind.NODES: (_OF_ONE.format("node_ids"), "labels", _NONE, "target_ids"),
    PeerKind.TARGETS: (_OF_ONE.format("target_ids"), "labels", "node_ids", _NONE),
    PeerKind.OSTS: (f"jsonb_exists(labels, '{OST}')", f"labels - '{OST}'", "node_ids", "target_ids"),
}
_ALIKE: Final = Template(
    """
    WITH own AS MATERIALIZED (
        SELECT DISTINCT series_id AS id FROM point WHERE cell_id = ANY(CAST(:cell_ids AS bigint[]))
    ), known AS (
        SELECT id, node_ids, target_ids, workload, series_revision, options_sha256, metric, title, unit, better,
               labels, variant, $labels AS alike_labels, $nodes AS alike_nodes, $targets AS alike_targets,
               own.id IS NOT NULL OR CAST(:cell_ids AS bigint[]) IS NULL AS is_of_cells
        FROM series LEFT JOIN own USING (id)
        WHERE cluster_id = :cluster_id AND $is_of_kind
          AND (CAST(:workloads AS text[]) IS NULL OR workload = ANY(:workloads))
          AND (CAST(:metric AS text) IS NULL OR metric = :metric)
          AND (SELECT true FROM point WHERE point.series_id = series.id LIMIT 1)
    ), counted AS (
        SELECT *, count(*) OVER same AS members, min(id) OVER same AS first_id,
               bool_or(is_of_cells) OVER same AS is_wanted
        FROM known
        WINDOW same AS (PARTITION BY workload, series_revision, options_sha256, metric, variant,
                                     alike_labels, alike_nodes, alike_targets)
    )
    SELECT * FROM counted
    WHERE is_wanted AND members >= :fewest AND (members <= :most OR id = first_id)
    ORDER BY first_id, id
    """
)
_STATEMENTS: Final = {
    kind: text(_ALIKE.substitute(dict(zip(_PARTS, parts, strict=True)))) for kind, parts in _KINDS.items()
}
# PostgreSQL underestimates the number of series; nested loops would scan the table once per series.
_LOOPS: Final = text("SELECT set_config('enable_nestloop', :loops, true)")
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
_FLAGGED: Final = text(
    """
    SELECT cell_id, id, jsonb_path_query_array(
        flags, '$[*] ? (@.code == $code)', jsonb_build_object('code', CAST(:code AS text))
    ) AS flags
    FROM run
    WHERE cell_id = ANY(:cell_ids) AND state = 'finished'
      AND (id = ANY(:run_ids) OR flags @> jsonb_build_array(jsonb_build_object('code', CAST(:code AS text))))
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


def alike(session: Session, kind: PeerKind, cluster_id: int, wanted: PeerFilter) -> Iterator[list[AnyRow]]:
    """Yield groups of at least three series that differ only in node, target or OST."""
    values = {
        "cluster_id": cluster_id,
        "workloads": None if wanted.workloads is None else sorted(wanted.workloads),
        "metric": wanted.metric,
        "cell_ids": None if wanted.cell_ids is None else sorted(wanted.cell_ids),
        "fewest": FEWEST_PEERS,
        "most": MOST_PEERS,
    }
    session.execute(_LOOPS, {"loops": "off"})
    rows = session.execute(_STATEMENTS[kind], values, execution_options={"yield_per": _STREAMED_AT_ONCE})
    session.execute(_LOOPS, {"loops": "on"})
    for (first_id, members), some in groupby(rows, key=lambda row: (row.first_id, row.members)):
        if members > MOST_PEERS:
            _log.warning("peers_not_compared", kind=kind, series_id=first_id, members=members, most=MOST_PEERS)
        else:
            yield list(some)


def options(session: Session, series_ids: Collection[int]) -> dict[int, Json]:
    statement = select(Series.id, Series.options).where(Series.id == any_of(series_ids))
    return dict(session.execute(statement).all())


def known_nodes(session: Session, cluster_id: int) -> dict[int, PeerName]:
    """Return the nodes in service; peers have the same role and hardware."""
    nodes = session.scalars(select(Node).where(Node.cluster_id == cluster_id, Node.retired_at.is_(None))).all()
    classes = size_classes(_memory_bytes(node) for node in nodes)
    return {node.id: PeerName(node.name, _hardware(node, classes[_memory_bytes(node)])) for node in nodes}


def _memory_bytes(node: Node) -> float:
    return number(node.facts.get("memory.total_bytes")) or 0.0


def _hardware(node: Node, memory_bytes: float) -> str:
    parts = [f"{name} {node.facts[name]}" for name in _HARDWARE if node.facts.get(name) is not None]
    memory = [f"memory {format_value(memory_bytes, Unit.BYTES)}"] if memory_bytes else []
    return ", ".join([node.role, *parts, *memory])


def known_targets(session: Session, cluster_id: int) -> dict[int, PeerName]:
    """Return the targets in service; peers share scope, file system and size."""
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
        known[target_id] = PeerName(name, f"{fstype or 'file system'}{of_size}, scope {scope}")
    return known


def newest_cells(
    session: Session, series_ids: Iterable[int], cells: int, before: datetime | None = None
) -> Sequence[int]:
    named = {"series_ids": list(series_ids), "cells": cells, "before": before}
    return session.scalars(_NEWEST_CELLS, named).all()


def campaigns_of(session: Session, cell_ids: Collection[int]) -> dict[int, int]:
    """Return the campaign of each cell."""
    return dict(session.execute(select(Cell.id, Cell.campaign_id).where(Cell.id == any_of(cell_ids))).all())


def last_changes(session: Session, series_ids: Collection[int], before: datetime | None = None) -> dict[int, datetime]:
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


def campaign_work(session: Session, campaign_id: int) -> tuple[set[int], set[str]]:
    used = select(Cell.id, Workload.name).join(Workload, Cell.workload_id == Workload.id)
    rows = session.execute(used.where(Cell.campaign_id == campaign_id)).all()
    return {row.id for row in rows}, {row.name for row in rows}


def measured_cells(session: Session, campaign_id: int) -> Sequence[int]:
    has_points = select(Point.id).where(Point.cell_id == Cell.id).exists()
    return session.scalars(select(Cell.id).where(Cell.campaign_id == campaign_id, has_points)).all()


def measured_again_at(session: Session, campaign_id: int) -> datetime | None:
    """Return the time of the next point of any of the campaign's series, or None."""
    found: datetime | None = session.scalar(_MEASURED_AGAIN, {"campaign_id": campaign_id})
    return found


def cells_with_other_flags(
    session: Session, cell_ids: Collection[int], code: FlagCode, flags: Mapping[int, Sequence[Flag]]
) -> list[int]:
    """Return the cells with a finished run whose flags of this code differ from `flags`."""
    values = {"cell_ids": sorted(cell_ids), "code": code, "run_ids": sorted(flags)}
    others = set()
    for row in session.execute(_FLAGGED, values, execution_options={"yield_per": _FLAGGED_AT_ONCE}):
        if row.flags != [flag.model_dump(mode="json") for flag in flags.get(row.id, ())]:
            others.add(row.cell_id)
    return sorted(others)
