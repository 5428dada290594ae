"""SQL of incidents."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, ScalarSelect, and_, func, select, text
from sqlalchemy.orm import Session

from iotide_server.alerts.incidents.lifecycle import IncidentMove
from iotide_server.alerts.journal import JOINED
from iotide_server.alerts.models import Alert, AlertAction, Incident, IncidentAction, IncidentChange
from iotide_server.alerts.repository import Window
from iotide_server.change_feed import service as live
from iotide_server.kit.db import any_of, any_text_of
from iotide_server.results.models import Series
from iotide_server.trends.models import ChangePoint

# The gravest direction among its changes is the kind of an incident; begin, end and size are of those changes.
_SETTLE: Final = text(
    """
    WITH listed AS (
        SELECT link.incident_id, change.*, series.cluster_id,
               CASE WHEN series.better NOT IN ('higher', 'lower') THEN 2
                    WHEN (coalesce(change.shift_ratio, 1) > 0) = (series.better = 'higher') THEN 1 ELSE 0 END AS rank
        FROM incident_change AS link
        JOIN change_point AS change ON change.id = link.change_point_id
        JOIN series ON series.id = change.series_id
        WHERE link.incident_id = ANY(:ids) AND (change.gone_at IS NULL OR change.over_at IS NOT NULL)
    ), gravest AS (
        SELECT *, min(rank) OVER (PARTITION BY incident_id) AS least FROM listed
    ), changed AS (
        SELECT incident_id, min(least) AS rank, min(at) AS at, count(DISTINCT series_id) AS series_count,
               CASE WHEN bool_and(over_at IS NOT NULL OR recovered_at IS NOT NULL)
                    THEN max(coalesce(over_at, recovered_at)) END AS ended_at,
               (array_agg(id ORDER BY abs(coalesce(shift_ratio, 'infinity')) DESC, id))[1] AS worst_id
        FROM gravest WHERE rank = least GROUP BY incident_id
    ), known AS (
        SELECT alert.group_id, alert.id, alert.series_id, alert.owner_id, alert.event_id, CASE
            WHEN closed_because IS DISTINCT FROM 'rule_removed' OR change.id IS NULL THEN alert.state
            WHEN change.over_at IS NOT NULL OR change.recovered_at IS NOT NULL THEN 'recovered'
            WHEN change.gone_at IS NOT NULL THEN 'closed'
            ELSE coalesce(state_before, 'untriaged') END AS state
        FROM alert LEFT JOIN change_point AS change ON change.id = alert.change_point_id
        WHERE alert.group_id = ANY(:ids)
    ), judged AS (
        SELECT group_id, count(DISTINCT series_id) AS series_count,
               (array_agg(owner_id ORDER BY id DESC) FILTER (WHERE owner_id IS NOT NULL))[1] AS owner_id,
               (array_agg(event_id ORDER BY id DESC) FILTER (WHERE event_id IS NOT NULL))[1] AS event_id,
               min(CASE WHEN state = 'untriaged' THEN 1
                        WHEN state IN ('acknowledged', 'investigating', 'fixed') THEN 2
                        WHEN state = 'expected' THEN 3
                        WHEN state IN ('noise', 'wont_fix') THEN 4
                        WHEN state IN ('recovered', 'verified') THEN 5
                        ELSE 6 END) AS urgency
        FROM known GROUP BY group_id
    )
    UPDATE alert_group AS incident SET
        kind = coalesce((ARRAY['change', 'better', 'neither'])[changed.rank + 1], incident.kind),
        at = coalesce(changed.at, incident.at),
        ended_at = changed.ended_at,
        worst_change_id = changed.worst_id,
        worst_ratio = (SELECT shift_ratio FROM change_point WHERE id = changed.worst_id),
        series_count = coalesce(changed.series_count, judged.series_count, 0),
        owner_id = judged.owner_id,
        event_id = coalesce(judged.event_id, incident.event_id),
        is_event_set = incident.is_event_set OR judged.event_id IS NOT NULL,
        state = (ARRAY['open', 'acknowledged', 'expected', 'ignored', 'ended', 'withdrawn'])[CASE
            WHEN changed.rank = 1 AND coalesce(judged.urgency, 6) IN (1, 6) THEN 5
            WHEN changed.rank IS NOT NULL AND coalesce(judged.urgency, 6) = 6 THEN 5
            ELSE coalesce(judged.urgency, 6) END]
    FROM unnest(CAST(:ids AS bigint[])) AS one (id)
    LEFT JOIN changed ON changed.incident_id = one.id
    LEFT JOIN judged ON judged.group_id = one.id
    WHERE incident.id = one.id
    """
)
_SETTLED: Final = (
    *("id", "kind", "at", "ended_at", "worst_change_id", "worst_ratio", "series_count", "owner_id", "event_id"),
    "state",
)
_TO_PLACE: Final = text(
    """
    SELECT series_id FROM change_point WHERE confirmed_at IS NOT NULL AND (gone_at IS NULL OR over_at IS NOT NULL)
    UNION SELECT series_id FROM alert ORDER BY series_id
    """
)
_NAMED: Final = text(
    """
    SELECT link.incident_id, series.workload, series.labels ->> 'operation' AS operation, series.target_ids
    FROM incident_change AS link
    JOIN change_point AS change ON change.id = link.change_point_id
    JOIN series ON series.id = change.series_id
    WHERE link.incident_id = ANY(:ids) AND (change.gone_at IS NULL OR change.over_at IS NOT NULL)
    UNION
    SELECT alert.group_id, series.workload, series.labels ->> 'operation', series.target_ids
    FROM alert JOIN series ON series.id = alert.series_id WHERE alert.group_id = ANY(:ids)
    """
)


def lock(session: Session, cluster_id: int) -> None:
    """Block other updates of the members of the cluster's incidents."""
    session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('alert_group', :cluster_id))"), {"cluster_id": cluster_id}
    )


def settle(session: Session, incident_ids: Collection[int]) -> None:
    """Compute kind, begin, end, size, owner, cause and state of incidents from their changes and alerts."""
    if not incident_ids:
        return
    session.flush()
    before = _shown(session, incident_ids)
    session.execute(_SETTLE, {"ids": sorted(incident_ids)})
    after = _shown(session, incident_ids)
    changed = {cluster_id for cluster_id, *_ in after - before}
    live.publish_all(session, [("alert", live.ANY, cluster_id) for cluster_id in sorted(changed)])


def _shown(session: Session, incident_ids: Collection[int]) -> set[tuple[Any, ...]]:
    statement = select(Incident).where(Incident.id == any_of(incident_ids))
    rows = session.scalars(statement.execution_options(populate_existing=True))
    return {(row.cluster_id, *(getattr(row, name) for name in _SETTLED)) for row in rows}


def homes(session: Session, change_ids: Collection[int]) -> Mapping[int, int]:
    """Return the incident of each change that has one."""
    statement = select(IncidentChange.change_point_id, IncidentChange.incident_id)
    rows = session.execute(statement.where(IncidentChange.change_point_id == any_of(change_ids)))
    return dict(rows.all())


def related(
    session: Session, series: Series, kinds: Sequence[str], near: Window, event_id: int | None
) -> Incident | None:
    """Return the incident with the same event, else the nearest within two runs with related series."""
    here = select(Incident).where(Incident.cluster_id == series.cluster_id, Incident.kind == any_text_of(kinds))
    is_alike = (
        Series.node_ids.overlap(series.node_ids)
        | Series.target_ids.overlap(series.target_ids)
        | (Series.workload == series.workload)
    )
    by_change = (
        select(IncidentChange.incident_id)
        .join(ChangePoint, ChangePoint.id == IncidentChange.change_point_id)
        .join(Series, Series.id == ChangePoint.series_id)
        .where(IncidentChange.incident_id == Incident.id, is_alike)
    )
    by_alert = (
        select(Alert.group_id).join(Series, Series.id == Alert.series_id).where(Alert.group_id == Incident.id, is_alike)
    )
    is_near = Incident.at.between(near.first_at, near.last_at) | (
        (Incident.window_from <= near.at) & (Incident.window_until >= near.at)
    )
    is_together = is_near & (by_change.exists() | by_alert.exists())
    if event_id is not None:
        is_together |= Incident.event_id == event_id
    distance = func.abs(func.extract("epoch", Incident.at - near.at))
    return session.scalars(here.where(is_together).order_by(distance, Incident.id).limit(1)).one_or_none()


def series_to_place(session: Session) -> Sequence[int]:
    return session.scalars(_TO_PLACE).all()


def names(session: Session, incident_ids: Collection[int]) -> Sequence[Row[Any]]:
    """Return workload, operation and targets of the series of each incident, each combination once."""
    return session.execute(_NAMED, {"ids": sorted(incident_ids)}).all() if incident_ids else []


def last_decision() -> ScalarSelect[str]:
    """Return the newest action on an incident of the statement around it, other than comments."""
    return (
        select(IncidentAction.action)
        .where(IncidentAction.incident_id == Incident.id, IncidentAction.action != IncidentMove.COMMENT)
        .order_by(IncidentAction.id.desc())
        .limit(1)
        .correlate(Incident)
        .scalar_subquery()
    )


def newest_decision(session: Session, incident_id: int) -> IncidentAction | None:
    statement = select(IncidentAction).where(
        IncidentAction.incident_id == incident_id, IncidentAction.action != IncidentMove.COMMENT
    )
    return session.scalars(statement.order_by(IncidentAction.id.desc()).limit(1)).one_or_none()


def steps_of(session: Session, decision: IncidentAction) -> Mapping[int, AlertAction]:
    """Return what a decision changed, by alert. Alerts that joined since took over its acknowledgement."""
    is_own = and_(AlertAction.at == decision.at, AlertAction.who == decision.who, AlertAction.action == decision.action)
    if decision.action == IncidentMove.ACKNOWLEDGE:
        is_own |= (AlertAction.action == JOINED) & (AlertAction.at >= decision.at)
    statement = select(AlertAction).join(Alert, Alert.id == AlertAction.alert_id)
    found = statement.where(Alert.group_id == decision.incident_id, is_own).order_by(AlertAction.id)
    return {step.alert_id: step for step in session.scalars(found)}


def lock_alerts(session: Session, incident_id: int) -> Sequence[Alert]:
    """Return the alerts of an incident, locked. Take this lock before `lock`, as analyses do."""
    statement = select(Alert).where(Alert.group_id == incident_id).order_by(Alert.id).with_for_update()
    return session.scalars(statement.execution_options(populate_existing=True)).all()


def settle_alerts(session: Session, cluster_id: int, alerts: Sequence[Alert]) -> None:
    """Settle the incidents of alerts that the caller has changed."""
    incident_ids = {alert.group_id for alert in alerts if alert.group_id is not None}
    if incident_ids:
        lock(session, cluster_id)
        settle(session, incident_ids)
