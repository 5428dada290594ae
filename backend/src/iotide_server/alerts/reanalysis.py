"""Differences of changes since another detector analysed their series."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.alerts.models import Alert
from iotide_server.clusters.models import Cluster
from iotide_server.results.models import Series
from iotide_server.trends.changes.recoveries import described
from iotide_server.trends.changes.repository import is_listed
from iotide_server.trends.models import ChangePoint, SeriesCourse


class ChangeFate(StrEnum):
    APPEARED = "appeared"
    OVER = "over"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class ChangedFinding:
    difference: ChangeFate
    cluster: str
    workload: str
    title: str
    series_id: int
    at: datetime
    words: str
    alert_id: int | None
    alert_state: str | None


@dataclass(frozen=True, slots=True)
class Reanalysis:
    series_count: int  # series that another detector analysed before
    waiting_count: int  # series whose analysis has not ended yet
    findings: Sequence[ChangedFinding]  # appeared ones, and those that had been confirmed; by cluster and time


_WAITING: Final = text("SELECT count(*) FROM work WHERE kind IN ('reanalysis', 'analysis') AND done_version < version")


def last_reanalysis(session: Session) -> Reanalysis:
    replaced = SeriesCourse.detector_since.is_not(None)
    is_new = (ChangePoint.found_at == SeriesCourse.detector_since) & is_listed()
    is_gone = (ChangePoint.gone_at == SeriesCourse.detector_since) & ChangePoint.confirmed_at.is_not(None)
    statement = (
        select(ChangePoint, SeriesCourse.detector_since, Series, Cluster.name, Alert.id, Alert.state)
        .join(Series, Series.id == ChangePoint.series_id)
        .join(Cluster, Cluster.id == Series.cluster_id)
        .join(SeriesCourse, SeriesCourse.series_id == Series.id)
        .outerjoin(Alert, Alert.change_point_id == ChangePoint.id)
        .where(is_new | is_gone)
        .order_by(Cluster.name, ChangePoint.at, ChangePoint.id)
    )
    return Reanalysis(
        session.scalars(select(func.count()).select_from(SeriesCourse).where(replaced)).one(),
        session.scalars(_WAITING).one(),
        [
            ChangedFinding(
                difference=_difference(change, since),
                cluster=cluster,
                workload=series.workload,
                title=series.title,
                series_id=series.id,
                at=change.at,
                words=described(change, series.better),
                alert_id=alert_id,
                alert_state=state,
            )
            for change, since, series, cluster, alert_id, state in session.execute(statement)
        ],
    )


def _difference(change: ChangePoint, since: datetime | None) -> ChangeFate:
    if change.found_at == since:
        return ChangeFate.APPEARED
    return ChangeFate.WITHDRAWN if change.over_at is None else ChangeFate.OVER
