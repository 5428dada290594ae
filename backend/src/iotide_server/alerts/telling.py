"""One message a group, some time after its first alert; nobody is told of what is muted, or over by then."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.alerts import groups, reading, repository
from iotide_server.alerts.lifecycle import OPEN
from iotide_server.alerts.messages import group_message
from iotide_server.alerts.models import AlertGroup, AlertRule
from iotide_server.kit.db import any_of
from iotide_server.notifications.service import announce
from iotide_server.workloads.repository import option_titles


def tell_group(session: Session, group_id: int) -> None:
    """Tell a group through the channels of its rules; a channel that was told is told no second time."""
    group = session.get(AlertGroup, group_id)
    if group is None:
        return
    now = repository.transaction_time(session)
    groups.ask_control(session, group)
    told = [alert for alert in reading.of_group(session, group_id, now) if alert.state in OPEN]
    rule_ids = {alert.rule.id for alert in told if alert.rule is not None}
    muted = select(AlertRule.id).where(AlertRule.id == any_of(rule_ids), AlertRule.muted_until > now)
    telling = rule_ids - set(session.scalars(muted))
    told = [alert for alert in told if alert.rule and alert.rule.id in telling and alert.series.muted_until is None]
    channel_ids = repository.channels_of(session, {alert.rule.id for alert in told if alert.rule is not None})
    if not told or not channel_ids:
        return
    titles = option_titles(session, {alert.series.workload for alert in told}, {alert.cluster_id for alert in told})
    message = group_message(group_id, told, titles, is_environment=group.is_environment)
    announce(session, message, channel_ids=channel_ids, key=f"alert group {group_id}", now=now)
    group.told_at = group.told_at or now
