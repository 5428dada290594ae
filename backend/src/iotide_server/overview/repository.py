"""SQL of the overview, with a fixed number of queries."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.alerts.incidents import repository as incidents
from iotide_server.alerts.incidents.lifecycle import IncidentState
from iotide_server.alerts.lifecycle import FRESH, AlertState
from iotide_server.alerts.models import Alert, Incident
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.db import any_of, array_of, in_clusters
from iotide_server.overview.attention import KnownMount, OldIncidents, OpenIncident
from iotide_server.overview.standing import AgreedChange, OverShift
from iotide_server.statistics.lateness import USUAL_GAPS
from iotide_server.trends.changes.repository import is_over
from iotide_server.trends.models import ChangePoint

AnyRow = Row[*tuple[Any, ...]]

_ACCEPTED: Final = frozenset({AlertState.EXPECTED, AlertState.NOISE})
"""The level after such a change is healthy."""

_CLUSTERS: Final = text(
    """
    SELECT cluster.id, cluster.name,
           count(node.id) FILTER (
               WHERE cluster.origin = 'own' AND heartbeat.seen_at >= :silent_before AND node.stuck IS NULL) AS online,
           count(node.id) FILTER (
               WHERE cluster.origin = 'own' AND heartbeat.seen_at >= :silent_before AND node.stuck IS NOT NULL
           ) AS stuck,
           count(node.id) FILTER (WHERE cluster.origin = 'own' AND heartbeat.seen_at < :silent_before) AS silent,
           count(node.id) FILTER (WHERE cluster.origin = 'own' AND heartbeat.seen_at IS NULL) AS never_seen,
           count(node.id) FILTER (WHERE drain.subject_id IS NOT NULL) AS drained,
           count(node.id) FILTER (WHERE node.problem IS NOT NULL) AS passed_over,
           (SELECT count(*) FROM target WHERE target.cluster_id = cluster.id AND target.retired_at IS NULL) AS targets
    FROM cluster
    LEFT JOIN node ON node.cluster_id = cluster.id AND node.retired_at IS NULL
    LEFT JOIN node_beat AS heartbeat ON heartbeat.node_id = node.id
    LEFT JOIN drain ON drain.kind = 'node' AND drain.subject_id = node.id
                    AND (drain.until IS NULL OR drain.until > :now)
    WHERE (CAST(:visible AS bigint[]) IS NULL OR cluster.id = ANY(:visible)) AND cluster.origin <> 'published'
    GROUP BY cluster.id, cluster.name
    ORDER BY cluster.name
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))

_SERIES: Final = text(
    # Quiet series are counted here, because judging tens of thousands takes the API half a second. Sample data is
    # judged at its own end. Retired nodes and targets are excluded.
    """
    WITH retired AS MATERIALIZED (
        SELECT coalesce((SELECT array_agg(id) FROM node WHERE retired_at IS NOT NULL), '{}') AS node_ids,
               coalesce((SELECT array_agg(id) FROM target WHERE retired_at IS NOT NULL), '{}') AS target_ids
    ), own AS MATERIALIZED (
        SELECT id, CASE WHEN origin = 'made_up' THEN coalesce(
                   (SELECT max(created_at) FROM campaign WHERE campaign.cluster_id = cluster.id), :now
               ) ELSE :now END AS ends_at
        FROM cluster WHERE origin <> 'published' AND (CAST(:visible AS bigint[]) IS NULL OR id = ANY(:visible))
    ), known AS (
        SELECT series.id, series.cluster_id, series.workload, series.better, newest.at AS last_at, newest.campaign_id,
               newest.cell_id, jsonb_exists(newest.flags, 'PEER_ODD') AS is_odd,
               course.course, course.point_count, course.missing_points, course.drift, course.noise,
               course.suspect IS NOT NULL AS is_suspect, course.usual_gap_seconds, series.id = ANY(:late) AS is_late,
               series.id = ANY(:late)
               OR series.id NOT IN (SELECT unnest(:on_time)) AND course.usual_gap_seconds IS NOT NULL
               AND newest.at + :gaps * course.usual_gap_seconds * interval '1 second' < own.ends_at AS is_stale
        FROM series
        JOIN own ON own.id = series.cluster_id
        CROSS JOIN retired
        LEFT JOIN series_course AS course ON course.series_id = series.id
        JOIN LATERAL (
            SELECT at, campaign_id, cell_id, flags FROM point WHERE series_id = series.id ORDER BY at DESC LIMIT 1
        ) AS newest ON true
        WHERE series.better <> 'neither' AND series.superseded = ''
          AND NOT series.node_ids && retired.node_ids AND NOT series.target_ids && retired.target_ids
    ), measured AS (
        SELECT known.*, schedule.id AS schedule_id, schedule.name AS schedule_name, schedule.state AS schedule_state,
               schedule.removed_at IS NOT NULL AS is_removed, cluster.origin = 'made_up' AS is_made_up,
               NOT is_suspect AND (is_stale OR NOT is_odd) AND CASE WHEN is_stale THEN NOT is_late ELSE
                   coalesce(course IN ('too_short', 'steady'), true) AND noise IS NULL END AS is_quiet,
               row_number() OVER (PARTITION BY known.cluster_id ORDER BY known.id DESC) AS place
        FROM known
        JOIN cluster ON cluster.id = known.cluster_id
        LEFT JOIN LATERAL (
            SELECT schedule.* FROM firing JOIN schedule ON schedule.id = firing.schedule_id
            WHERE firing.campaign_id = known.campaign_id AND known.is_stale ORDER BY firing.id LIMIT 1
        ) AS schedule ON true
        WHERE last_at >= :since
           OR is_late
           OR is_stale AND (schedule.id IS NULL OR schedule.state = 'paused' AND schedule.removed_at IS NULL)
    ), quiet AS (
        SELECT max(id) AS id, count(*) AS alike, max(last_at) AS last_at
        FROM measured WHERE is_quiet AND place <= :most
        GROUP BY cluster_id, workload, is_stale, CASE WHEN NOT is_stale THEN course END,
                 CASE WHEN is_stale THEN (schedule_id, usual_gap_seconds, date_trunc('day', last_at, 'UTC')) END
    ), shown AS (
        SELECT *, row_number() OVER (ORDER BY place, id DESC) AS turn
        FROM measured WHERE place <= :most AND (NOT is_quiet OR id IN (SELECT id FROM quiet))
    )
    SELECT id, cluster_id, workload, better, course, point_count, missing_points, drift, noise, is_suspect,
           is_stale, usual_gap_seconds, schedule_id, schedule_name, schedule_state, is_removed, is_made_up, is_late,
           is_odd, cell_id,
           coalesce(quiet.alike, 1) AS alike, coalesce(quiet.last_at, shown.last_at) AS last_at,
           (SELECT max(place) FROM measured) > :most OR (SELECT count(*) FROM shown) > :most_rows AS is_cut
    FROM shown LEFT JOIN quiet USING (id)
    WHERE turn <= :most_rows
    """
).bindparams(*(bindparam(name, type_=ARRAY(BigInteger)) for name in ("visible", "late", "on_time")))


@dataclass(frozen=True, slots=True)
class BoardQuery:
    # with a newer point; stale series are included unless stopped on purpose
    since: datetime
    now: datetime
    # late, on_time: series by their schedules
    late: Collection[int]
    on_time: Collection[int]
    most: int
    most_rows: int


def clusters(session: Session, visible: frozenset[int] | None, now: datetime) -> Sequence[AnyRow]:
    """Return the visible clusters (None: all) with the number of nodes by state."""
    values = {"visible": array_of(visible), "silent_before": now - SILENT_AFTER, "now": now}
    return session.execute(_CLUSTERS, values).all()


def measured_series(session: Session, visible: frozenset[int] | None, wanted: BoardQuery) -> Sequence[AnyRow]:
    """Return the visible series (None: all) that were measured or are stale, with their last analysis.

    Quiet series of a workload with the same course share a row; so do stale ones that stopped on the same day.
    `alike` is their number, `last_at` their newest point. `is_cut`: a limit left out series.
    """
    values = {
        "visible": array_of(visible),
        "since": wanted.since,
        "now": wanted.now,
        "late": sorted(wanted.late),
        "on_time": sorted(wanted.on_time),
        "gaps": USUAL_GAPS,
        "most": wanted.most,
        "most_rows": wanted.most_rows,
    }
    return session.execute(_SERIES, values).all()


def steps(session: Session, series_ids: Collection[int]) -> Mapping[int, list[AgreedChange]]:
    """Return all confirmed changes by series, in time order."""
    statement = (
        select(
            ChangePoint.series_id,
            ChangePoint.at,
            ChangePoint.cell_id,
            ChangePoint.median_before,
            ChangePoint.median_after,
            Alert.state,
            ChangePoint.id,
            ChangePoint.previous_at,
        )
        .outerjoin(Alert, Alert.change_point_id == ChangePoint.id)
        .where(
            ChangePoint.series_id == any_of(series_ids),
            ChangePoint.confirmed_at.is_not(None),
            ChangePoint.gone_at.is_(None),
        )
        .order_by(ChangePoint.series_id, ChangePoint.at, ChangePoint.id)
    )
    found: defaultdict[int, list[AgreedChange]] = defaultdict(list)
    for series_id, at, cell_id, before, after, state, change_id, previous_at in session.execute(statement):
        is_expected = state in _ACCEPTED
        change = AgreedChange(at, cell_id, before, after, is_expected, change_id, previous_at)
        found[series_id].append(change)
    return found


def last_over(session: Session, series_ids: Collection[int]) -> dict[int, OverShift]:
    """Return the last shift of each series that is over."""
    statement = (
        select(ChangePoint.series_id, ChangePoint.at, ChangePoint.over_at, ChangePoint.cell_id, ChangePoint.shift_ratio)
        .where(ChangePoint.series_id == any_of(series_ids), is_over())
        .ext(distinct_on(ChangePoint.series_id))
        .order_by(ChangePoint.series_id, ChangePoint.over_at.desc(), ChangePoint.id.desc())
    )
    return {
        series_id: OverShift(at, over_at, cell_id, shift_ratio)
        for series_id, at, over_at, cell_id, shift_ratio in session.execute(statement)
        if over_at is not None
    }


def open_incidents(session: Session, visible: frozenset[int] | None, now: datetime) -> list[OpenIncident]:
    """Return the incidents of the last 90 days that are not acknowledged, oldest first."""
    statement = select(Incident.id, Incident.cluster_id, Incident.at).where(
        Incident.state == IncidentState.OPEN,
        Incident.created_at >= now - FRESH,
        *in_clusters(Incident.cluster_id, visible),
    )
    found = session.execute(statement.order_by(Incident.at)).all()
    workloads: defaultdict[int, set[str]] = defaultdict(set)
    for row in incidents.names(session, [row.id for row in found]):
        workloads[row.incident_id].add(row.workload)
    return [OpenIncident(row.cluster_id, row.at, frozenset(workloads[row.id])) for row in found]


def old_incidents(session: Session, visible: frozenset[int] | None, now: datetime) -> list[OldIncidents]:
    """Return the open incidents that were found earlier, as a number for each cluster."""
    statement = select(Incident.cluster_id, func.count(), func.min(Incident.at)).where(
        Incident.state == IncidentState.OPEN,
        Incident.created_at < now - FRESH,
        *in_clusters(Incident.cluster_id, visible),
    )
    return [OldIncidents(*row) for row in session.execute(statement.group_by(Incident.cluster_id))]


OVERDUE_AFTER: Final = timedelta(hours=1)  # a restart of the scheduler takes minutes
MISSED_AFTER: Final = timedelta(minutes=5)  # more than a restart of an agent

# No node announces a target whose nodes are all retired.
_MOUNTS: Final = text(
    """
    SELECT target.cluster_id, target.id AS target_id, target.name AS target_name, target.path AS target_path,
           node.id AS node_id, node.name AS node_name, mount.path, mount.problem, mount.seen_at, target.created_at
    FROM target
    JOIN cluster ON cluster.id = target.cluster_id AND cluster.origin <> 'published'
    LEFT JOIN (target_mount AS mount JOIN node ON node.id = mount.node_id AND node.retired_at IS NULL)
           ON mount.target_id = target.id
    WHERE target.retired_at IS NULL AND (CAST(:visible AS bigint[]) IS NULL OR target.cluster_id = ANY(:visible))
      AND EXISTS (SELECT FROM target_mount WHERE target_id = target.id)
      AND (node.id IS NULL
           OR target.id IN (SELECT target_id FROM target_mount WHERE problem IS NOT NULL)
           OR target.id = ANY(:suspected))
    ORDER BY target.cluster_id, target.id, node.name
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)), bindparam("suspected", type_=ARRAY(BigInteger)))
_OVERDUE: Final = text(
    """
    SELECT schedule.id, schedule.cluster_id, schedule.name, schedule.due_at
    FROM schedule
    WHERE schedule.state = 'active' AND schedule.removed_at IS NULL AND schedule.due_at < :due_before
      AND (CAST(:visible AS bigint[]) IS NULL OR schedule.cluster_id = ANY(:visible))
    ORDER BY schedule.due_at, schedule.id
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))
# Agents of batch systems live as long as their jobs; sample data has no heartbeats; drained nodes may be off.
_SILENT: Final = text(
    """
    SELECT node.cluster_id, min(node.id) AS node_id, count(*) AS nodes,
           min(coalesce(heartbeat.seen_at, node.created_at)) AS since,
           bool_and(heartbeat.seen_at IS NULL) AS never_seen,
           (array_agg(node.name ORDER BY node.name))[1\\:20] AS names
    FROM node
    JOIN cluster ON cluster.id = node.cluster_id AND cluster.origin = 'own' AND cluster.launcher = 'direct'
    LEFT JOIN node_beat AS heartbeat ON heartbeat.node_id = node.id
    WHERE node.retired_at IS NULL AND coalesce(heartbeat.seen_at, node.created_at) < :silent_before
      AND NOT EXISTS (SELECT FROM drain WHERE kind = 'node' AND subject_id = node.id
                      AND (until IS NULL OR until > :now))
      AND (CAST(:visible AS bigint[]) IS NULL OR node.cluster_id = ANY(:visible))
    GROUP BY node.cluster_id ORDER BY node.cluster_id
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))

_STUCK: Final = text(
    """
    SELECT node.cluster_id, node.id, node.name, node.stuck FROM node
    WHERE node.stuck IS NOT NULL AND node.retired_at IS NULL
      AND (CAST(:visible AS bigint[]) IS NULL OR node.cluster_id = ANY(:visible))
    ORDER BY node.cluster_id, node.name
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))


def stuck_nodes(session: Session, visible: list[int] | None) -> Sequence[Row[Any]]:
    return session.execute(_STUCK, {"visible": visible}).all()


def doubtful_mounts(session: Session, visible: list[int] | None, suspected: Sequence[int]) -> list[KnownMount]:
    rows = session.execute(_MOUNTS, {"visible": visible, "suspected": list(suspected)})
    return [KnownMount(*row) for row in rows]


def overdue_schedules(session: Session, visible: list[int] | None, now: datetime) -> Sequence[Row[Any]]:
    return session.execute(_OVERDUE, {"visible": visible, "due_before": now - OVERDUE_AFTER}).all()


def silent_nodes(session: Session, visible: list[int] | None, now: datetime) -> Sequence[Row[Any]]:
    values = {"visible": visible, "now": now, "silent_before": now - MISSED_AFTER}
    return session.execute(_SILENT, values).all()
