"""The timeline of a campaign: when its nodes did what, and by which leases they were alone."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.reading import visible_campaign
from iotide_server.campaigns.timeline_schemas import (
    Timeline,
    TimelineLease,
    TimelineOrder,
    TimelineQueue,
    TimelineSpan,
)
from iotide_server.runs import timeline_queries


def timeline(session: Session, principal: Principal, campaign_id: int, span: TimelineSpan, now: datetime) -> Timeline:
    """Return the newest orders of the span with their leases, and what waits; raise CAMPAIGN_NOT_FOUND."""
    visible_campaign(session, principal, campaign_id)
    since, until = span.since, span.until
    orders = timeline_queries.orders(session, campaign_id, (since, until), span.limit)
    count = timeline_queries.order_count(session, campaign_id, (since, until))
    leases = timeline_queries.leases(session, [row.order_id for row in orders])
    others = timeline_queries.leases_of_others(session, campaign_id)
    return Timeline(
        campaign_id=campaign_id,
        at=now,
        orders=[TimelineOrder.model_validate(row) for row in orders],
        leases=[TimelineLease.model_validate(row) for row in leases],
        others=[TimelineLease.model_validate(row) for row in others],
        waiting=[TimelineQueue.model_validate(row) for row in timeline_queries.waiting(session, campaign_id)],
        left_out=count - len(orders),
    )
