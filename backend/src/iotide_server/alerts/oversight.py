"""Alerts of stale series."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.alerts import repository
from iotide_server.alerts.incidents.joining import join
from iotide_server.alerts.journal import SILENT, AlertStep, note
from iotide_server.alerts.lifecycle import AlertState
from iotide_server.alerts.models import Alert
from iotide_server.alerts.raising import rule_of
from iotide_server.kit.db import transaction_time
from iotide_server.results.models import Series
from iotide_server.schedules.failing import failing_schedules
from iotide_server.targets.changes import LostPlace, lost_places
from iotide_server.trends.changes.words import stale_words
from iotide_server.trends.points.lateness import ScheduledSeries, scheduled_series
from iotide_server.trends.points.repository import lock_series


@dataclass(frozen=True, slots=True)
class _Silence:
    at: datetime
    words: str


def watch_cluster(session: Session, cluster_id: int) -> datetime | None:
    """Raise alerts of scheduled series that are late or lost their mount. Return when the next will be late."""
    now = transaction_time(session)
    next_at: datetime | None = None
    failing = failing_schedules(session, frozenset({cluster_id}))
    lost = lost_places(session, cluster_id)
    for one in scheduled_series(session, now, frozenset({cluster_id})):
        late_at = one.lateness.late_at
        if late_at is not None and one.lateness.is_late:
            _raise(session, one, _Silence(late_at, one.words(failing)), now)
        elif lost and (without := _without_mount(session, one, lost)) is not None:
            _raise(session, one, without, now)
        elif late_at is not None and (next_at is None or late_at < next_at):
            next_at = late_at
    return next_at


def _without_mount(
    session: Session, one: ScheduledSeries, lost: Mapping[tuple[int, int], LostPlace]
) -> _Silence | None:
    series = session.get_one(Series, one.series_id)
    places = (lost.get((target_id, node_id)) for target_id in series.target_ids for node_id in series.node_ids)
    place = next((place for place in places if place is not None), None)
    if place is None:
        return None
    return _Silence(max(place.since, one.lateness.last_at), stale_words(one.lateness.last_at, place.words))


def _raise(session: Session, late: ScheduledSeries, silence: _Silence, now: datetime) -> None:
    series = lock_series(session, late.series_id)
    silent_since = late.lateness.last_at
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
        schedule_id=late.schedule_id,
        rule_id=rule.id,
        at=silence.at,
        window_from=silent_since,
        window_until=silence.at + (silence.at - silent_since),
        raised_at=now,
    )
    session.add(alert)
    note(session, alert, AlertStep(SILENT, now, comment=silence.words))
    join(session, alert, series, now)
