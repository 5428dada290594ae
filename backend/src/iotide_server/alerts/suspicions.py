"""Suspicions: alerts of which nobody is told, until a change is confirmed or the points are as before again."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.alerts import confirming, repository
from iotide_server.alerts.journal import Deed, close, note
from iotide_server.alerts.lifecycle import AlertState, ClosedBecause
from iotide_server.alerts.models import Alert
from iotide_server.results.models import Series
from iotide_server.trends.models import ChangePoint, SeriesCourse


def follow(
    session: Session, series: Series, alerts: Sequence[Alert], changes: Sequence[ChangePoint], now: datetime
) -> None:
    """One suspicion while the newest points look as if the series had changed, and until that change is confirmed."""
    suspicion = next((alert for alert in alerts if alert.state == AlertState.SUSPECT), None)
    course = session.get(SeriesCourse, series.id, populate_existing=True)
    is_suspect = course is not None and course.suspect is not None
    if suspicion is None:
        if is_suspect:
            _suspect(session, series, now)
    elif not is_suspect and not _is_pending(changes):
        close(session, suspicion, ClosedBecause.SUSPECT_GONE, now)


def _is_pending(changes: Sequence[ChangePoint]) -> bool:
    """Whether one analysis has found the change already, so that nothing is suspected after it, and none confirmed."""
    newest = next((one for one in reversed(changes) if one.gone_at is None), None)
    return newest is not None and newest.confirmed_at is None


def _suspect(session: Session, series: Series, now: datetime) -> None:
    newest = repository.newest_point(session, series.id)
    if newest is None:
        return
    near = repository.window(session, series.id, newest.at)
    suspicion = Alert(
        cluster_id=series.cluster_id,
        series_id=series.id,
        kind="change",
        state=AlertState.SUSPECT,
        at=newest.at,
        window_from=near.first_at,
        window_until=near.last_at,
        raised_at=now,
    )
    session.add(suspicion)
    note(session, suspicion, Deed("suspected", now))
    confirming.confirm(session, series, suspicion, newest, now)
