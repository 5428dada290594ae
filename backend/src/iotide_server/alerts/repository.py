"""SQL of alerts and their rules."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from iotide_server.alerts.lifecycle import OPEN, Move
from iotide_server.alerts.models import Alert, AlertAction, AlertRule, AlertRuleChannel, Incident, SeriesMute
from iotide_server.kit.db import any_of
from iotide_server.results.models import Point, Series
from iotide_server.trends.models import ChangePoint, SeriesCourse

_WINDOW: Final = text(
    """
    SELECT coalesce((SELECT min(at) FROM (SELECT at FROM point WHERE series_id = :series_id AND at < :at
                     ORDER BY at DESC LIMIT :runs) AS before), :at) AS first_at,
           coalesce((SELECT max(at) FROM (SELECT at FROM point WHERE series_id = :series_id AND at > :at
                     ORDER BY at LIMIT :runs) AS after), :at) AS last_at
    """
)
_CONTROL_CHANGED: Final = text(
    """
    SELECT EXISTS (
        SELECT FROM alert
        JOIN series AS own ON own.id = alert.series_id
        JOIN alert_rule AS rule ON rule.id = alert.rule_id
        JOIN series AS control ON control.cluster_id = alert.cluster_id AND control.workload = rule.control_workload
        JOIN change_point ON change_point.series_id = control.id
        WHERE alert.group_id = :group_id AND own.workload <> rule.control_workload
          AND control.node_ids && own.node_ids AND change_point.gone_at IS NULL
          AND change_point.at BETWEEN :window_from AND :window_until
    )
    """
)
GROUPED_RUNS: Final = 2


@dataclass(frozen=True, slots=True)
class Window:
    at: datetime
    first_at: datetime
    last_at: datetime


def changes(session: Session, series_id: int) -> Sequence[ChangePoint]:
    statement = select(ChangePoint).where(ChangePoint.series_id == series_id).order_by(ChangePoint.at, ChangePoint.id)
    return session.scalars(statement.execution_options(populate_existing=True)).all()


def noteworthy_series(session: Session, series_ids: Sequence[int]) -> Sequence[int]:
    is_noteworthy = (
        select(ChangePoint.id).where(ChangePoint.series_id == Series.id).exists()
        | select(Alert.id).where(Alert.series_id == Series.id).exists()
        | select(SeriesCourse.series_id)
        .where(SeriesCourse.series_id == Series.id, SeriesCourse.suspect.is_not(None))
        .exists()
    )
    return session.scalars(select(Series.id).where(Series.id == func.any(list(series_ids)), is_noteworthy)).all()


def newest_point(session: Session, series_id: int) -> Point | None:
    statement = select(Point).where(Point.series_id == series_id).order_by(Point.at.desc(), Point.id.desc())
    return session.scalars(statement.limit(1)).one_or_none()


def window(session: Session, series_id: int, at: datetime) -> Window:
    values = {"series_id": series_id, "at": at, "runs": GROUPED_RUNS}
    row = session.execute(_WINDOW, values).one()
    return Window(at, row.first_at, row.last_at)


def alerts_of(session: Session, series_id: int) -> Sequence[Alert]:
    statement = select(Alert).where(Alert.series_id == series_id).order_by(Alert.id).with_for_update()
    return session.scalars(statement.execution_options(populate_existing=True)).all()


def living_rules(session: Session, cluster_id: int) -> Sequence[AlertRule]:
    statement = select(AlertRule).where(AlertRule.cluster_id == cluster_id, AlertRule.removed_at.is_(None))
    return session.scalars(statement.order_by(AlertRule.id)).all()


def reopened_at(session: Session, alert_ids: Collection[int]) -> Mapping[int, datetime]:
    statement = (
        select(AlertAction.alert_id, func.max(AlertAction.at))
        .where(AlertAction.alert_id == any_of(alert_ids), AlertAction.action == Move.REOPEN)
        .group_by(AlertAction.alert_id)
    )
    return dict(session.execute(statement).all())


def control_changed(session: Session, incident: Incident) -> bool:
    """Return whether a control workload of the incident's rules changed at the same time on one of its nodes."""
    values = {"group_id": incident.id, "window_from": incident.window_from, "window_until": incident.window_until}
    return bool(session.scalar(_CONTROL_CHANGED, values))


def incidents_controlled(session: Session, series: Series) -> Sequence[Incident]:
    """Return unmarked incidents around a change of this series, which is their rules' control workload."""
    statement = (
        select(Incident)
        .join(Alert, Alert.group_id == Incident.id)
        .join(AlertRule, AlertRule.id == Alert.rule_id)
        .join(ChangePoint, ChangePoint.at.between(Incident.window_from, Incident.window_until))
        .where(
            Incident.cluster_id == series.cluster_id,
            Incident.is_environment.is_(False),
            AlertRule.control_workload == series.workload,
            ChangePoint.series_id == series.id,
            ChangePoint.gone_at.is_(None),
        )
    )
    return session.scalars(statement.distinct()).all()


def open_alerts_of_rule(session: Session, rule_id: int) -> int:
    statement = select(func.count()).where(Alert.rule_id == rule_id, Alert.state.in_([*OPEN, "fixed"]))
    return session.scalars(statement).one()


def muted_until(session: Session, series_ids: Collection[int], now: datetime) -> Mapping[int, datetime]:
    statement = select(SeriesMute).where(SeriesMute.series_id == any_of(series_ids), SeriesMute.until > now)
    return {mute.series_id: mute.until for mute in session.scalars(statement)}


def channels_of(session: Session, rule_ids: Collection[int]) -> list[int]:
    statement = select(AlertRuleChannel.channel_id).where(AlertRuleChannel.rule_id == any_of(rule_ids)).distinct()
    return sorted(session.scalars(statement))


def set_channels(session: Session, rule_id: int, channel_ids: Collection[int]) -> None:
    session.execute(delete(AlertRuleChannel).where(AlertRuleChannel.rule_id == rule_id))
    session.add_all(AlertRuleChannel(rule_id=rule_id, channel_id=channel_id) for channel_id in set(channel_ids))
    session.flush()


def silence_known(session: Session, series_id: int, silent_since: datetime) -> bool:
    statement = select(Alert.id).where(Alert.series_id == series_id, Alert.silent_since == silent_since)
    return session.scalar(statement) is not None


def mute_series(session: Session, series_id: int, until: datetime, who: str) -> None:
    statement = insert(SeriesMute).values(series_id=series_id, until=until, who=who)
    again = {"until": statement.excluded.until, "who": statement.excluded.who}
    session.execute(statement.on_conflict_do_update(index_elements=[SeriesMute.series_id], set_=again))
