"""Notifications of incidents: one message for all alerts of an incident that a rule covers."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.alerts import reading, repository
from iotide_server.alerts.lifecycle import OPEN
from iotide_server.alerts.messages import incident_message
from iotide_server.alerts.models import AlertRule, Incident
from iotide_server.kit.db import any_of, transaction_time
from iotide_server.kit.work import want_work
from iotide_server.notifications.service import announce
from iotide_server.results.models import Series
from iotide_server.workloads.repository import option_titles

ALERT_GROUP: Final = "alert_group"  # work that sends an incident; its key is the incident

SENT_AFTER: Final = timedelta(seconds=30)
"""Delay of an incident's message, because the series of one campaign are analysed one after another."""


def want_message(session: Session, incident: Incident, now: datetime) -> None:
    ask_control(session, incident)
    want_work(session, ALERT_GROUP, incident.id, now + SENT_AFTER)


def ask_control(session: Session, incident: Incident) -> None:
    """Mark an incident whose control workload changed too. The mark stays, since a message may have reported it."""
    if not incident.is_environment and repository.control_changed(session, incident):
        incident.is_environment = True


def controls_changed(session: Session, series: Series) -> None:
    for incident in repository.incidents_controlled(session, series):
        ask_control(session, incident)


def send_incident(session: Session, incident_id: int) -> None:
    incident = session.get(Incident, incident_id)
    if incident is None:
        return
    now = transaction_time(session)
    ask_control(session, incident)
    open_alerts = [alert for alert in reading.of_incident(session, incident_id, now) if alert.state in OPEN]
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
    message = incident_message(incident_id, open_alerts, titles, is_environment=incident.is_environment)
    announce(session, message, channel_ids=channel_ids, key=f"alert group {incident_id}", now=now)
    incident.told_at = incident.told_at or now
