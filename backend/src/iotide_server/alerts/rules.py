"""Alert rules: creation, changes and removal."""

from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.alerts import models, repository
from iotide_server.alerts.errors import ALERT_RULE_NAME_TAKEN, ALERT_RULE_NOT_FOUND
from iotide_server.alerts.incidents.repository import settle_alerts
from iotide_server.alerts.journal import close
from iotide_server.alerts.lifecycle import AlertState, AlertUpdate, ClosedBecause, closes
from iotide_server.alerts.models import Alert
from iotide_server.alerts.schemas import AlertRuleInput, AlertRuleOutput
from iotide_server.clusters import service as clusters
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import Json, fields_of, in_clusters, savepoint, transaction_time
from iotide_server.kit.pagination import Page, PageRequest, newest_first
from iotide_server.notifications.service import channels_for
from iotide_server.targets import service as targets
from iotide_server.targets.models import Target

_KEPT = ("workload", "metric", "least_shift_ratio", "missing_runs", "control_workload", "muted_until")
_DEFAULT: Final = {"name": "regressions", "directions": "worse", "least_shift_ratio": 0.05, "missing_runs": True}


def list_rules(
    session: Session, principal: Principal, cluster_id: int | None, paging: PageRequest
) -> Page[AlertRuleOutput]:
    statement = select(models.AlertRule).where(models.AlertRule.removed_at.is_(None))
    visible = principal.visible_clusters()
    statement = statement.where(*in_clusters(models.AlertRule.cluster_id, visible, cluster_id))
    page = newest_first(session, statement, models.AlertRule.id, paging)
    return page.page(lambda row: _shown(session, row))


def rule(session: Session, principal: Principal, rule_id: int) -> AlertRuleOutput:
    return _shown(session, _visible(session, principal, rule_id, Role.VIEWER))


def create(session: Session, principal: Principal, given: AlertRuleInput, now: datetime) -> int:
    made = models.AlertRule(created_at=now)
    _write(session, principal, made, given)
    session.add(made)
    _flush(session, made)
    repository.set_channels(session, made.id, given.channel_ids)
    _record(session, principal, "alert_rule_created", made, after=_summary(session, made))
    return made.id


def replace(session: Session, principal: Principal, rule_id: int, given: AlertRuleInput) -> None:
    changed = _visible(session, principal, rule_id, Role.OPERATOR)
    before = _summary(session, changed)
    _write(session, principal, changed, given)
    _flush(session, changed)
    repository.set_channels(session, rule_id, given.channel_ids)
    _record(session, principal, "alert_rule_changed", changed, before=before, after=_summary(session, changed))


def remove(session: Session, principal: Principal, rule_id: int, now: datetime) -> int:
    removed = _visible(session, principal, rule_id, Role.OPERATOR)
    removed.removed_at = now
    closed = 0
    raised = select(Alert).where(Alert.rule_id == rule_id).order_by(Alert.id).with_for_update()
    alerts = session.scalars(raised).all()
    for alert in alerts:
        if closes(AlertState(alert.state), AlertUpdate.RULE_REMOVED):
            close(session, alert, ClosedBecause.RULE_REMOVED, now, who=principal.name)
            closed += 1
    settle_alerts(session, removed.cluster_id, alerts)
    before, after = _summary(session, removed), {"closed_alerts": closed}
    repository.set_channels(session, rule_id, ())
    _record(session, principal, "alert_rule_removed", removed, before=before, after=after)
    return closed


def _visible(session: Session, principal: Principal, rule_id: int, role: Role) -> models.AlertRule:
    statement = select(models.AlertRule).where(models.AlertRule.id == rule_id)
    found = session.scalar(statement if role is Role.VIEWER else statement.with_for_update(key_share=True))
    kept = None if found is None or found.removed_at is not None else found
    return principal.require_row(role, kept, ALERT_RULE_NOT_FOUND(rule_id=rule_id))


def _write(session: Session, principal: Principal, row: models.AlertRule, given: AlertRuleInput) -> None:
    cluster = clusters.cluster_named(session, principal, given.cluster, Role.OPERATOR, field="cluster")
    target_id = None
    if given.target is not None:
        (view,) = targets.targets_named(session, cluster.id, [given.target], field="target")
        target_id = view.target.id
    channels_for(session, cluster.id, given.channel_ids, field="channel_ids")
    row.name, row.cluster_id, row.target_id = given.name, cluster.id, target_id
    row.directions = given.directions.value
    for field in _KEPT:
        setattr(row, field, getattr(given, field))


def _flush(session: Session, row: models.AlertRule) -> None:
    with savepoint(session, ALERT_RULE_NAME_TAKEN(name=row.name)):
        session.flush()


def _record(session: Session, principal: Principal, name: str, row: models.AlertRule, **changes: Json) -> None:
    audit.record(session, principal, Action.on(name, row, **changes))


def _summary(session: Session, row: models.AlertRule) -> Json:
    own = fields_of(row, "name", "target_id", "directions", *_KEPT)
    return own | {"channel_ids": repository.channels_of(session, [row.id])}


def _shown(session: Session, row: models.AlertRule) -> AlertRuleOutput:
    target = None if row.target_id is None else session.get_one(Target, row.target_id)
    return AlertRuleOutput.of_row(
        row,
        cluster_name=session.get_one(Cluster, row.cluster_id).name,
        target=target,
        channel_ids=repository.channels_of(session, [row.id]),
        open_alerts=repository.open_alerts_of_rule(session, row.id),
    )


def add_default_rule(session: Session, cluster_id: int) -> None:
    """Add a rule for all series of a new cluster, without channels and so without notifications. Safe to repeat."""
    known = select(models.AlertRule.id).where(models.AlertRule.cluster_id == cluster_id)
    if session.get(Cluster, cluster_id) is None or session.scalars(known.limit(1)).first() is not None:
        return
    made = models.AlertRule(cluster_id=cluster_id, created_at=transaction_time(session), **_DEFAULT)
    session.add(made)
    session.flush()
