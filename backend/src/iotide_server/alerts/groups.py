"""Groups of alerts: one message for those of one cluster within two runs."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.alerts import reading, repository
from iotide_server.alerts.lifecycle import OPEN
from iotide_server.alerts.messages import group_message
from iotide_server.alerts.models import Alert, AlertGroup, AlertRule
from iotide_server.alerts.repository import Window
from iotide_server.kit.db import any_of, transaction_time
from iotide_server.kit.work import want_work
from iotide_server.notifications.service import announce
from iotide_server.results.models import Series
from iotide_server.workloads.repository import option_titles

ALERT_GROUP: Final = "alert_group"  # work that sends a group; its key is the group

SENT_AFTER: Final = timedelta(seconds=30)
"""Delay of a group's message, because the series of one campaign are analysed one after another."""


def join(session: Session, alert: Alert, series: Series, now: datetime) -> AlertGroup:
    repository.lock_groups(session, alert.cluster_id)
    near = Window(alert.at, alert.window_from, alert.window_until)
    group = repository.group_near(session, alert.cluster_id, alert.kind, near)
    if group is None:
        group = AlertGroup(
            cluster_id=alert.cluster_id,
            kind=alert.kind,
            at=alert.at,
            window_from=alert.window_from,
            window_until=alert.window_until,
            node_ids=series.node_ids,
            is_environment=False,
            created_at=now,
        )
        session.add(group)
    else:
        group.node_ids = [node_id for node_id in group.node_ids if node_id in series.node_ids]
    session.flush()
    alert.group_id = group.id
    session.flush()
    ask_control(session, group)
    want_work(session, ALERT_GROUP, group.id, now + SENT_AFTER)
    return group


def ask_control(session: Session, group: AlertGroup) -> None:
    """Mark a group whose control workload changed too. The mark stays, since a message may have reported it."""
    if not group.is_environment and repository.control_changed(session, group):
        group.is_environment = True


def controls_changed(session: Session, series: Series) -> None:
    for group in repository.groups_controlled(session, series):
        ask_control(session, group)


def send_group(session: Session, group_id: int) -> None:
    group = session.get(AlertGroup, group_id)
    if group is None:
        return
    now = transaction_time(session)
    ask_control(session, group)
    open_alerts = [alert for alert in reading.of_group(session, group_id, now) if alert.state in OPEN]
    rule_ids = {alert.rule.id for alert in open_alerts if alert.rule is not None}
    muted = select(AlertRule.id).where(AlertRule.id == any_of(rule_ids), AlertRule.muted_until > now)
    active_rule_ids = rule_ids - set(session.scalars(muted))
    open_alerts = [
        alert
        for alert in open_alerts
        if alert.rule and alert.rule.id in active_rule_ids and alert.series.muted_until is None
    ]
    channel_ids = repository.channels_of(session, {alert.rule.id for alert in open_alerts if alert.rule is not None})
    if not open_alerts or not channel_ids:
        return
    titles = option_titles(
        session, {alert.series.workload for alert in open_alerts}, {alert.cluster_id for alert in open_alerts}
    )
    message = group_message(group_id, open_alerts, titles, is_environment=group.is_environment)
    announce(session, message, channel_ids=channel_ids, key=f"alert group {group_id}", now=now)
    group.told_at = group.told_at or now
