"""SQL of surfaces."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import array_of

AnyRow = Row[Any]

CELLS_A_PLACE: Final = 3  # newest cells per place
_CAMPAIGNS_LOOKED_AT: Final = 300
MOST_SOURCES: Final = 200

_CELLS: Final = text(
    """
    SELECT cell.id, cell.ordinal, cell.campaign_id, cell.variant, workload.name AS workload, cell.options,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name)
               AS node_names,
           (SELECT jsonb_object_agg(id, name) FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id)
               AS targets
    FROM cell JOIN workload ON workload.id = cell.workload_id
    WHERE cell.campaign_id = :campaign_id AND (CAST(:cell_id AS bigint) IS NULL OR cell.id = :cell_id)
    ORDER BY cell.ordinal
    """
)
_METRICS: Final = text(
    """
    SELECT series.metric, series.unit, series.better, max(series.title) AS title
    FROM (
        SELECT DISTINCT run.cell_id, sample.series_id
        FROM run JOIN sample ON sample.run_id = run.id
        WHERE run.cell_id = ANY(:cell_ids) AND run.state = 'finished' AND run.validity = 'valid'
          AND (CAST(:run_id AS bigint) IS NULL OR run.id = :run_id)
    ) AS measured
    JOIN series ON series.id = measured.series_id AND series.superseded = ''
    JOIN cell ON cell.id = measured.cell_id
    GROUP BY series.metric, series.unit, series.better
    HAVING count(DISTINCT coalesce(series.labels -> 'file_size_bytes', cell.options -> 'file_size_bytes')) > 1
       AND count(DISTINCT coalesce(series.labels -> 'record_size_bytes', cell.options -> 'block_size_bytes',
                                   cell.options -> 'transfer_size_bytes')) > 1
    ORDER BY series.unit <> 'bytes_per_second', series.metric <> 'throughput', series.metric
    """
)
_RUNS: Final = text(
    """
    SELECT run.id, run.started_at, environment.facts
    FROM run LEFT JOIN environment ON environment.sha256 = run.environment_sha256
    WHERE run.id = ANY(:run_ids) ORDER BY run.id DESC LIMIT 1
    """
)
# Any series of a matrix leads to its newest runs.
_MATRICES: Final = text(
    """
    WITH matrix AS (
        SELECT cluster_id, node_ids, target_ids, workload, options_sha256, variant, min(id) AS series_id
        FROM series
        WHERE labels ? 'file_size_bytes' AND labels ? 'record_size_bytes'
          AND (CAST(:visible AS bigint[]) IS NULL OR cluster_id = ANY(:visible))
        GROUP BY cluster_id, node_ids, target_ids, workload, options_sha256, variant, metric,
                 labels - 'file_size_bytes' - 'record_size_bytes'
        HAVING count(DISTINCT labels -> 'file_size_bytes') > 1 AND count(DISTINCT labels -> 'record_size_bytes') > 1
    ), place AS (
        SELECT DISTINCT ON (cluster_id, node_ids, target_ids, workload, options_sha256, variant) *
        FROM matrix ORDER BY cluster_id, node_ids, target_ids, workload, options_sha256, variant, series_id
    )
    SELECT place.cluster_id, place.workload, place.variant, newest.*, campaign.name AS campaign_name,
           ARRAY(SELECT name FROM node WHERE id = ANY(place.node_ids) ORDER BY name) AS node_names,
           ARRAY(SELECT name FROM target WHERE id = ANY(place.target_ids) ORDER BY name) AS target_names
    FROM place
    CROSS JOIN LATERAL (
        SELECT cell.campaign_id, cell.ordinal, array_agg(run.id ORDER BY run.id) AS run_ids,
               min(coalesce(run.started_at, run.created_at)) AS started_at,
               bool_or(jsonb_path_exists(run.flags, '$[*] ? (@.effect == "rejected")')) AS has_rejected
        FROM run JOIN cell ON cell.id = run.cell_id
        WHERE run.id IN (SELECT run_id FROM sample WHERE series_id = place.series_id)
          AND run.state = 'finished' AND run.validity = 'valid'
        GROUP BY cell.id ORDER BY max(run.id) DESC LIMIT :cells
    ) AS newest
    JOIN campaign ON campaign.id = newest.campaign_id
    ORDER BY newest.started_at DESC LIMIT :most
    """
)
_SWEEPS: Final = text(
    """
    SELECT newest.id AS campaign_id, newest.name AS campaign_name, newest.cluster_id, workload.name AS workload,
           newest.created_at AS started_at, array_agg(DISTINCT cell.ordinal ORDER BY cell.ordinal) AS ordinals,
           array_agg(DISTINCT node.name ORDER BY node.name) AS node_names,
           array_agg(DISTINCT target.name ORDER BY target.name) AS target_names
    FROM (
        SELECT id, name, cluster_id, created_at FROM campaign
        WHERE CAST(:visible AS bigint[]) IS NULL OR cluster_id = ANY(:visible) ORDER BY id DESC LIMIT :looked_at
    ) AS newest
    JOIN cell ON cell.campaign_id = newest.id
    JOIN workload ON workload.id = cell.workload_id
    JOIN cell_node ON cell_node.cell_id = cell.id JOIN node ON node.id = cell_node.node_id
    JOIN cell_target ON cell_target.cell_id = cell.id JOIN target ON target.id = cell_target.target_id
    WHERE cell.options ? 'file_size_bytes' AND cell.options ? 'block_size_bytes'
      AND EXISTS (SELECT FROM run WHERE run.cell_id = cell.id AND run.state = 'finished' AND run.validity = 'valid')
    GROUP BY newest.id, newest.name, newest.cluster_id, newest.created_at, workload.name
    HAVING count(DISTINCT cell.options -> 'file_size_bytes') > 1
       AND count(DISTINCT cell.options -> 'block_size_bytes') > 1
    ORDER BY newest.id DESC LIMIT :most
    """
)


def cells(session: Session, campaign_id: int, cell_id: int | None) -> Sequence[AnyRow]:
    return session.execute(_CELLS, {"campaign_id": campaign_id, "cell_id": cell_id}).all()


def metrics(session: Session, cell_ids: Sequence[int], run_id: int | None) -> Sequence[AnyRow]:
    """Return metrics measured over two sizes, rates first."""
    return session.execute(_METRICS, {"cell_ids": list(cell_ids), "run_id": run_id}).all()


def newest_run(session: Session, run_ids: Sequence[int]) -> AnyRow:
    return session.execute(_RUNS, {"run_ids": list(run_ids)}).one()


def matrices(session: Session, visible: frozenset[int] | None) -> Sequence[AnyRow]:
    """Return the newest cells whose runs cover both sizes."""
    named = {"visible": array_of(visible), "cells": CELLS_A_PLACE, "most": MOST_SOURCES}
    return session.execute(_MATRICES, named).all()


def sweeps(session: Session, visible: frozenset[int] | None) -> Sequence[AnyRow]:
    looked_at = {"looked_at": _CAMPAIGNS_LOOKED_AT, "most": MOST_SOURCES}
    return session.execute(_SWEEPS, {"visible": array_of(visible), **looked_at}).all()
