"""SQL of the states of one metric's series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import Row, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import any_text_of, array_of
from iotide_server.statistics.lateness import USUAL_GAPS
from iotide_server.workloads.models import Workload
from iotide_server.workloads.primary import metric_places

AnyRow = Row[*tuple[Any, ...]]

_VISIBLE: Final = bindparam("visible", type_=ARRAY(BigInteger))
_MEASURED: Final = text(
    """
    SELECT series.workload, series.metric, max(series.title) AS title, max(coalesce(course.point_count, 1)) AS longest
    FROM series
    JOIN cluster ON cluster.id = series.cluster_id AND cluster.origin <> 'published'
    LEFT JOIN series_course AS course ON course.series_id = series.id
    WHERE series.superseded = '' AND (CAST(:visible AS bigint[]) IS NULL OR series.cluster_id = ANY(:visible))
      AND (CAST(:cluster_id AS bigint) IS NULL OR series.cluster_id = :cluster_id)
    GROUP BY series.workload, series.metric
    ORDER BY longest DESC, series.workload, series.metric
    """
).bindparams(_VISIBLE, bindparam("cluster_id", type_=BigInteger))
_OF_METRIC: Final = text(
    # Sample data is judged at its own end. Retired nodes and targets are excluded.
    """
    WITH retired AS MATERIALIZED (
        SELECT coalesce((SELECT array_agg(id) FROM node WHERE retired_at IS NOT NULL), '{}') AS node_ids,
               coalesce((SELECT array_agg(id) FROM target WHERE retired_at IS NOT NULL), '{}') AS target_ids
    ), own AS MATERIALIZED (
        SELECT id, CASE WHEN origin = 'made_up' THEN coalesce(
                   (SELECT max(created_at) FROM campaign WHERE campaign.cluster_id = cluster.id), :now
               ) ELSE :now END AS ends_at
        FROM cluster WHERE origin <> 'published' AND (CAST(:visible AS bigint[]) IS NULL OR id = ANY(:visible))
          AND (CAST(:cluster_id AS bigint) IS NULL OR id = :cluster_id)
    )
    SELECT series.id, series.better, newest.at AS last_at, course.course, course.point_count, course.missing_points,
           course.drift, course.noise, course.usual_gap_seconds,
           coalesce(newest.at + :gaps * course.usual_gap_seconds * interval '1 second' < own.ends_at, false)
               AS is_silent
    FROM series
    JOIN own ON own.id = series.cluster_id
    CROSS JOIN retired
    LEFT JOIN series_course AS course ON course.series_id = series.id
    JOIN LATERAL (SELECT at FROM point WHERE series_id = series.id ORDER BY at DESC LIMIT 1) AS newest ON true
    WHERE series.workload = :workload AND series.metric = :metric AND series.superseded = ''
      AND NOT series.node_ids && retired.node_ids AND NOT series.target_ids && retired.target_ids
    ORDER BY series.id DESC
    LIMIT :most
    """
).bindparams(_VISIBLE, bindparam("cluster_id", type_=BigInteger))


@dataclass(frozen=True, slots=True)
class MetricQuery:
    visible: frozenset[int] | None  # None: all clusters
    cluster_id: int | None
    workload: str
    metric: str
    most: int
    now: datetime


def measured_metrics(
    session: Session, visible: frozenset[int] | None, cluster_id: int | None
) -> dict[str, list[AnyRow]]:
    """Return the measured metrics by workload: the workload with the longest series first, primary metrics first."""
    found: dict[str, list[AnyRow]] = {}
    for row in session.execute(_MEASURED, {"visible": array_of(visible), "cluster_id": cluster_id}):
        found.setdefault(row.workload, []).append(row)
    statement = select(Workload.name, Workload.metrics).where(Workload.name == any_text_of(found)).order_by(Workload.id)
    places = {name: metric_places(metrics) for name, metrics in session.execute(statement)}
    for workload, rows in found.items():
        own = places.get(workload, {})
        rows.sort(key=partial(_place, own))
    return found


def _place(places: Mapping[str, int], row: AnyRow) -> int:
    return places.get(row.metric, len(places))


def series_of_metric(session: Session, wanted: MetricQuery) -> Sequence[AnyRow]:
    """Return the newest series of a metric with their last analysis."""
    values = {
        "visible": array_of(wanted.visible),
        "cluster_id": wanted.cluster_id,
        "workload": wanted.workload,
        "metric": wanted.metric,
        "most": wanted.most,
        "now": wanted.now,
        "gaps": USUAL_GAPS,
    }
    return session.execute(_OF_METRIC, values).all()
