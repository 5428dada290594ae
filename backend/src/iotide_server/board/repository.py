"""SQL of the status board: a fixed number of queries, however many clusters and series there are."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.alerts.lifecycle import OPEN, AlertState
from iotide_server.alerts.models import Alert
from iotide_server.board.standing import Step
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.db import any_of
from iotide_server.results.models import Series
from iotide_server.trends.models import ChangePoint

AnyRow = Row[*tuple[Any, ...]]

_CLUSTERS: Final = text(
    """
    SELECT cluster.id, cluster.name,
           count(node.id) FILTER (WHERE beat.seen_at >= :silent_before) AS online,
           count(node.id) FILTER (WHERE beat.seen_at < :silent_before) AS silent,
           count(node.id) FILTER (WHERE beat.seen_at IS NULL) AS never_seen,
           count(node.id) FILTER (WHERE drain.subject_id IS NOT NULL) AS drained,
           count(node.id) FILTER (WHERE node.problem IS NOT NULL) AS passed_over,
           (SELECT count(*) FROM target WHERE target.cluster_id = cluster.id AND target.retired_at IS NULL) AS targets
    FROM cluster
    LEFT JOIN node ON node.cluster_id = cluster.id AND node.retired_at IS NULL
    LEFT JOIN node_beat AS beat ON beat.node_id = node.id
    LEFT JOIN drain ON drain.kind = 'node' AND drain.subject_id = node.id
                    AND (drain.until IS NULL OR drain.until > :now)
    WHERE (CAST(:visible AS bigint[]) IS NULL OR cluster.id = ANY(:visible)) AND cluster.origin <> 'published'
    GROUP BY cluster.id, cluster.name
    ORDER BY cluster.name
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))

_SERIES: Final = text(
    # Most series of a large site are quiet: they are counted here, since tens of thousands of rows, each judged by
    # itself, would take the API half a second whenever somebody looks.
    """
    WITH measured AS (
        SELECT series.id, series.cluster_id, series.workload, series.better, newest.at AS last_at,
               course.course, course.point_count, course.missing_points, course.drift, course.noise,
               course.suspect IS NOT NULL AS is_suspect,
               coalesce(course.course IN ('too_short', 'steady'), true) AND course.noise IS NULL
               AND course.suspect IS NULL AND series.id <> ALL(:late) AS is_quiet,
               row_number() OVER (ORDER BY series.id DESC) AS place
        FROM series
        LEFT JOIN series_course AS course ON course.series_id = series.id
        JOIN LATERAL (SELECT at FROM point WHERE series_id = series.id ORDER BY at DESC LIMIT 1) AS newest ON true
        WHERE series.better <> 'neither'
          AND series.cluster_id NOT IN (SELECT id FROM cluster WHERE origin = 'published')
          AND (CAST(:visible AS bigint[]) IS NULL OR series.cluster_id = ANY(:visible))
          AND (newest.at >= :since OR series.id = ANY(:late))
        ORDER BY series.id DESC
        LIMIT :most + 1
    ), quiet AS (
        SELECT max(id) AS id, count(*) AS alike, max(last_at) AS last_at
        FROM measured WHERE is_quiet AND place <= :most GROUP BY cluster_id, workload, course
    ), told AS (
        SELECT * FROM measured WHERE place <= :most AND (NOT is_quiet OR id IN (SELECT id FROM quiet))
    )
    SELECT id, cluster_id, workload, better, course, point_count, missing_points, drift, noise, is_suspect,
           coalesce(quiet.alike, 1) AS alike, coalesce(quiet.last_at, told.last_at) AS last_at,
           (SELECT max(place) FROM measured) > :most AS is_cut
    FROM told LEFT JOIN quiet USING (id)
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)), bindparam("late", type_=ARRAY(BigInteger)))


def clusters(session: Session, visible: frozenset[int] | None, now: datetime) -> Sequence[AnyRow]:
    """The visible clusters (None: all), by name, with how many of their nodes are in which state."""
    values = {"visible": _listed(visible), "silent_before": now - SILENT_AFTER, "now": now}
    return session.execute(_CLUSTERS, values).all()


def measured_series(
    session: Session, visible: frozenset[int] | None, since: datetime, late: Collection[int], most: int
) -> Sequence[AnyRow]:
    """The series with a point since then, and late ones, with their last analysis; of the newest series, so many.

    Quiet ones of a place that went alike are one row, that of the newest of them: so many are `alike`, and the newest
    point of all of them came at `last_at`. `is_cut`, which all rows tell: there are more series.
    """
    values = {"visible": _listed(visible), "since": since, "late": sorted(late), "most": most}
    return session.execute(_SERIES, values).all()


def steps(session: Session, series_ids: Collection[int], since: datetime) -> Mapping[int, list[Step]]:
    """By series, the confirmed changes since then, and from the first one before that whose alert is still open."""
    statement = (
        select(
            ChangePoint.series_id,
            ChangePoint.at,
            ChangePoint.cell_id,
            ChangePoint.median_before,
            ChangePoint.median_after,
            Alert.state,
        )
        .outerjoin(Alert, Alert.change_point_id == ChangePoint.id)
        .where(
            ChangePoint.series_id == any_of(series_ids),
            ChangePoint.confirmed_at.is_not(None),
            ChangePoint.gone_at.is_(None),
        )
        .order_by(ChangePoint.series_id, ChangePoint.at, ChangePoint.id)
    )
    found: defaultdict[int, list[Step]] = defaultdict(list)
    for series_id, at, cell_id, before, after, state in session.execute(statement):
        if found[series_id] or at >= since or state in OPEN:
            found[series_id].append(Step(at, cell_id, before, after, is_expected=state == AlertState.EXPECTED))
    return found


def open_alerts(session: Session, visible: frozenset[int] | None) -> Mapping[tuple[int, str], int]:
    """By cluster and workload, how many alerts somebody has to deal with."""
    statement = (
        select(Series.cluster_id, Series.workload, func.count())
        .join(Alert, Alert.series_id == Series.id)
        .where(Alert.state.in_(OPEN))
        .group_by(Series.cluster_id, Series.workload)
    )
    if visible is not None:
        statement = statement.where(Series.cluster_id.in_(visible))
    return {(cluster_id, workload): count for cluster_id, workload, count in session.execute(statement)}


def _listed(visible: frozenset[int] | None) -> list[int] | None:
    return None if visible is None else sorted(visible)
