"""Queries of alerts for the API and messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role, User
from iotide_server.accounts.roles.principal import Principal
from iotide_server.alerts import models, repository
from iotide_server.alerts.errors import ALERT_NOT_FOUND
from iotide_server.alerts.journal import SILENT
from iotide_server.alerts.lifecycle import FRESH, AlertState, possible
from iotide_server.alerts.models import AlertAction as ActionRow
from iotide_server.alerts.schemas import (
    AlertActionOutput,
    AlertDetail,
    AlertFilter,
    AlertKind,
    AlertOutput,
    AlertSeries,
)
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.db import any_of, any_text_of, in_clusters
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.results.models import Series
from iotide_server.statistics.shifts import IMPROVEMENTS, Direction
from iotide_server.targets.models import Target
from iotide_server.trends.changes import repository as changes
from iotide_server.trends.changes.recoveries import described
from iotide_server.trends.changes.recoveries import direction_of as direction_of_change
from iotide_server.trends.changes.words import stale_words
from iotide_server.trends.models import ChangePoint, Event
from iotide_server.trends.schemas import SeriesChange

AnyRow = Row[*tuple[Any, ...]]

_STORED: Final[Mapping[AlertKind, str]] = {"change": "change", "stale": "missing"}
_SHOWN: Final[Mapping[str, AlertKind]] = {stored: kind for kind, stored in _STORED.items()}


MOST_ACTIONS: Final = 200


@dataclass(frozen=True, slots=True)
class _Names:
    nodes: Mapping[int, str]
    targets: Mapping[int, str]
    muted: Mapping[int, datetime]
    reasons: Mapping[int, list[str]]  # of changes


def list_alerts(
    session: Session, principal: Principal, wanted: AlertFilter, paging: PageRequest, now: datetime
) -> Page[AlertOutput]:
    statement = _filtered(principal.visible_clusters(), wanted).where(models.Alert.id < paging.before_id)
    rows = session.execute(statement.order_by(models.Alert.id.desc()).limit(paging.limit + 1)).all()
    page = paging.cut(rows, key=lambda row: int(row[0].id))
    return Page(items=shown(session, page.rows, now), next_cursor=page.next_cursor)


def alert(session: Session, principal: Principal, alert_id: int, now: datetime) -> AlertDetail:
    found = session.execute(_described().where(models.Alert.id == alert_id)).one_or_none()
    missing = ALERT_NOT_FOUND(alert_id=alert_id)
    if found is None:
        raise missing
    principal.require(Role.VIEWER, found[0].cluster_id, missing)
    actions = select(ActionRow).where(ActionRow.alert_id == alert_id).order_by(ActionRow.id.desc()).limit(MOST_ACTIONS)
    return AlertDetail(
        alert=shown(session, [found], now)[0],
        actions=[AlertActionOutput.model_validate(row) for row in reversed(session.scalars(actions).all())],
        group=[one for one in of_incident(session, found[0].group_id, now) if one.id != alert_id],
    )


def of_incident(session: Session, incident_id: int | None, now: datetime) -> list[AlertOutput]:
    if incident_id is None:
        return []
    statement = _described().where(models.Alert.group_id == incident_id).order_by(models.Alert.id)
    return shown(session, session.execute(statement).all(), now)


def of_cluster(session: Session, cluster_id: int, states: Sequence[AlertState], now: datetime) -> list[AlertOutput]:
    """Return the alerts of the last 90 days in one of these states, newest first."""
    statement = _described().where(
        models.Alert.cluster_id == cluster_id,
        models.Alert.state == any_text_of(states),
        models.Alert.raised_at >= now - FRESH,
    )
    return shown(session, session.execute(statement.order_by(models.Alert.id.desc())).all(), now)


def shown(session: Session, rows: Sequence[AnyRow], now: datetime) -> list[AlertOutput]:
    series = [row[1] for row in rows]
    node_ids = {node_id for one in series for node_id in one.node_ids}
    target_ids = {target_id for one in series for target_id in one.target_ids}
    names = _Names(
        dict(session.execute(select(Node.id, Node.name).where(Node.id == any_of(node_ids))).all()),
        dict(session.execute(select(Target.id, Target.name).where(Target.id == any_of(target_ids))).all()),
        repository.muted_until(session, [one.id for one in series], now),
        changes.reasons(session, [row[2].id for row in rows if row[2] is not None]),
    )
    return [_shown(row, names) for row in rows]


_STALE_WORDS: Final = (
    select(ActionRow.comment)
    .where(ActionRow.alert_id == models.Alert.id, ActionRow.action == SILENT)
    .order_by(ActionRow.id)
    .limit(1)
    .scalar_subquery()
)


def _described() -> Select[*tuple[Any, ...]]:
    return (
        select(
            models.Alert,
            Series,
            ChangePoint,
            models.AlertRule,
            models.Incident,
            Event,
            Cluster.name.label("cluster_name"),
            User.name.label("owner"),
            _STALE_WORDS.label("stale_words"),
        )
        .join(Series, Series.id == models.Alert.series_id)
        .join(Cluster, Cluster.id == models.Alert.cluster_id)
        .outerjoin(ChangePoint, ChangePoint.id == models.Alert.change_point_id)
        .outerjoin(models.AlertRule, models.AlertRule.id == models.Alert.rule_id)
        .outerjoin(models.Incident, models.Incident.id == models.Alert.group_id)
        .outerjoin(Event, Event.id == models.Alert.event_id)
        .outerjoin(User, User.id == models.Alert.owner_id)
    )


def _filtered(visible: frozenset[int] | None, wanted: AlertFilter) -> Select[*tuple[Any, ...]]:
    statement = _described()
    statement = statement.where(*in_clusters(models.Alert.cluster_id, visible))
    if wanted.state:
        statement = statement.where(models.Alert.state == any_text_of(wanted.state))
    if wanted.kind is not None:
        statement = statement.where(models.Alert.kind == _STORED[wanted.kind])
    for column in ("cluster_id", "series_id", "group_id", "rule_id"):
        value = getattr(wanted, column)
        if value is not None:
            statement = statement.where(getattr(models.Alert, column) == value)
    if wanted.target_id is not None:
        statement = statement.where(Series.target_ids.contains([wanted.target_id]))
    if wanted.owner is not None:
        statement = statement.where(User.name == wanted.owner)
    return statement


def _shown(row: AnyRow, names: _Names) -> AlertOutput:
    found, series, change, rule, group, event, cluster_name, owner, stale = row
    direction = direction_of(series, change)
    return AlertOutput.of_row(
        found,
        cluster_name=cluster_name,
        kind=_SHOWN[found.kind],
        series=_series(series, names),
        direction=direction,
        words=_words(found, series, change, stale),
        change=None if change is None else SeriesChange.of(change, series.better, names.reasons[change.id]),
        rule=rule,
        group=group,
        owner=owner,
        event=event,
        moves=list(possible(AlertState(found.state), is_improvement=direction in IMPROVEMENTS)),
    )


def direction_of(series: Series, change: ChangePoint | None) -> Direction | None:
    return None if change is None else direction_of_change(change, series.better)


def _series(series: Series, names: _Names) -> AlertSeries:
    return AlertSeries.of_row(
        series,
        node_names=sorted(names.nodes[node_id] for node_id in series.node_ids),
        target_names=sorted(names.targets[target_id] for target_id in series.target_ids),
        muted_until=names.muted.get(series.id),
    )


def _words(found: models.Alert, series: Series, change: ChangePoint | None, stale: str | None) -> str:
    if change is not None:
        return described(change, series.better)
    if found.silent_since is not None:
        return stale or stale_words(found.silent_since, "its schedule continues")
    return "the newest points suggest a change, which is not confirmed yet"
