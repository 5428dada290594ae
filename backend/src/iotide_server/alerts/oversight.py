"""Scheduled series that have stopped: their schedules fire, no point comes, and a rule asks for it."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.alerts import groups, repository
from iotide_server.alerts.journal import Deed, note
from iotide_server.alerts.lifecycle import AlertState
from iotide_server.alerts.models import Alert
from iotide_server.alerts.raising import rule_of
from iotide_server.schedules.failing import FailingSchedule, failing_schedules
from iotide_server.trends.lateness import ScheduledSeries, scheduled_series


def watch_cluster(session: Session, cluster_id: int) -> datetime | None:
    """Raise an alert of each scheduled series of the cluster that is late; once for one silence.

    Returns:
        When the next of them will be late unless a point comes; None: the next firing asks again.
    """
    now = repository.transaction_time(session)
    next_at: datetime | None = None
    failing = failing_schedules(session, frozenset({cluster_id}))
    for one in scheduled_series(session, now, frozenset({cluster_id})):
        late_at = one.lateness.late_at
        if late_at is None:
            continue
        if one.lateness.is_late:
            _raise(session, one, failing, now)
        elif next_at is None or late_at < next_at:
            next_at = late_at
    return next_at


def _raise(session: Session, late: ScheduledSeries, failing: Mapping[int, FailingSchedule], now: datetime) -> None:
    series = repository.lock_series(session, late.expected.series_id)
    silent_since, late_at = late.lateness.last_at, late.lateness.late_at or now
    if series is None or repository.silence_known(session, series.id, silent_since):
        return
    rule = rule_of(session, series)
    if rule is None or not rule.missing_runs:
        return
    alert = Alert(
        cluster_id=series.cluster_id,
        series_id=series.id,
        kind="missing",
        state=AlertState.UNTRIAGED.value,
        silent_since=silent_since,
        schedule_id=late.expected.schedule_id,
        rule_id=rule.id,
        at=late_at,
        window_from=silent_since,
        window_until=late_at + (late_at - silent_since),
        raised_at=now,
    )
    session.add(alert)
    note(session, alert, Deed("silent", now, comment=late.words(failing)))
    groups.join(session, alert, series, now)
