"""Weekly digest of a cluster."""

from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from iotide_server.alerts import reading
from iotide_server.alerts.lifecycle import OPEN
from iotide_server.alerts.messages import DigestChange, NoisySeries, Week, digest_message
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import transaction_time
from iotide_server.notifications.digests import DueDigest, send_digests
from iotide_server.notifications.service import Message
from iotide_server.results.models import Series
from iotide_server.trends.changes.recoveries import described
from iotide_server.trends.changes.repository import has_own_line, is_listed
from iotide_server.trends.models import ChangePoint
from iotide_server.workloads.repository import option_titles

_NOISIEST: Final = text(
    """
    SELECT series.id AS series_id, series.title, series.workload,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY point.robust_spread_ratio) AS spread_ratio
    FROM series JOIN point ON point.series_id = series.id
    WHERE series.cluster_id = :cluster_id AND point.at >= :since AND point.at < :until
      AND point.robust_spread_ratio > :least
    GROUP BY series.id ORDER BY spread_ratio DESC, series.id LIMIT 5
    """
)
_NOISY: Final = 0.05  # less scatter is left out; same limit as the flag CV


def send_channel_digests(session: Session, channel_id: int) -> datetime | None:
    """Return when the next are due."""
    return send_digests(session, channel_id, transaction_time(session), compose)


def compose(session: Session, due: DueDigest) -> Message | None:
    alerts = reading.of_cluster(session, due.cluster_id, sorted(OPEN), due.until)
    values = {"cluster_id": due.cluster_id, "since": due.since, "until": due.until, "least": _NOISY}
    changes = _changes(session, due)
    workloads = {alert.series.workload for alert in alerts} | {change.workload for change in changes}
    week = Week(
        cluster_id=due.cluster_id,
        cluster_name=session.get_one(Cluster, due.cluster_id).name,
        since=due.since,
        until=due.until,
        changes=changes,
        waiting=[alert for alert in alerts if alert.kind == "change"],
        stopped=[alert for alert in alerts if alert.kind == "stale"],
        noisiest=[NoisySeries(**row._mapping) for row in session.execute(_NOISIEST, values)],
        titles=option_titles(session, workloads, [due.cluster_id]),
    )
    return None if week.is_empty else digest_message(week)


def _changes(session: Session, due: DueDigest) -> list[DigestChange]:
    end = aliased(ChangePoint)
    statement = (
        select(ChangePoint, Series)
        .join(Series, Series.id == ChangePoint.series_id)
        .outerjoin(end, end.id == ChangePoint.recovered_by_id)
        .where(
            Series.cluster_id == due.cluster_id,
            _is_of_week(ChangePoint.confirmed_at, due)
            | _is_of_week(end.confirmed_at, due)
            | _is_of_week(ChangePoint.gone_at, due),
            ChangePoint.confirmed_at < due.until,
            is_listed(),
            has_own_line(),
        )
        .order_by(ChangePoint.confirmed_at, ChangePoint.id)
    )
    return [
        DigestChange(
            id=change.id,
            series_id=series.id,
            title=series.title,
            workload=series.workload,
            labels=series.labels,
            at=change.at,
            words=described(change, series.better),
        )
        for change, series in session.execute(statement)
    ]


def _is_of_week(at: InstrumentedAttribute[datetime | None], due: DueDigest) -> ColumnElement[bool]:
    return (at >= due.since) & (at < due.until)
