"""What people read of campaigns: state, counts, how far they have got and how long they may still take."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repository
from iotide_server.campaigns.errors import CAMPAIGN_NOT_FOUND
from iotide_server.campaigns.models import Campaign as CampaignRow
from iotide_server.campaigns.repository import AnyRow
from iotide_server.campaigns.schemas import (
    CampaignFilter,
    CampaignOutput,
    CampaignState,
    ListedCampaign,
    Timeline,
    TimelineLease,
    TimelineOrder,
    TimelineQueue,
    TimelineSpan,
)
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.runs import timeline_queries


def visible_campaign(session: Session, principal: Principal, campaign_id: int, role: Role = Role.VIEWER) -> CampaignRow:
    """Return the campaign's row for a caller with at least `role`; raise CAMPAIGN_NOT_FOUND or NotAllowedError."""
    found = session.get(CampaignRow, campaign_id)
    return principal.require_row(role, found, CAMPAIGN_NOT_FOUND(campaign_id=campaign_id))


def campaign(session: Session, principal: Principal, campaign_id: int, now: datetime) -> CampaignOutput:
    """Return one campaign with its state and counts, read from all of its runs; raise CAMPAIGN_NOT_FOUND."""
    visible_campaign(session, principal, campaign_id)
    return CampaignOutput(**dict(_shown(session, repository.described(session, campaign_id), now)))


def list_campaigns(
    session: Session, principal: Principal, wanted: CampaignFilter, paging: PageRequest, now: datetime
) -> Page[ListedCampaign]:
    """The campaigns that the caller may see, newest first."""
    rows = repository.page(session, principal.visible_clusters(), wanted, paging)
    return rows.page(lambda row: _shown(session, row, now))


def _shown(session: Session, row: AnyRow, now: datetime) -> ListedCampaign:
    is_open = row.state in {CampaignState.WAITING, CampaignState.ACTIVE, CampaignState.PAUSED}
    partly = repository.progress_of_active(session, row.id) if row.active else 0.0
    done = row.finished + row.failed + row.cancelled
    return ListedCampaign.of_row(
        row,
        ended_at=None if is_open else row.last_ended_at,
        counts=row,
        progress=min(1.0, (done + partly) / row.runs) if row.runs else 1.0,
        seconds_remaining_estimated=_remaining(row, done + partly, now) if is_open else 0.0,
    )


def _remaining(row: AnyRow, done: float, now: datetime) -> float | None:
    """Seconds left at the mean pace since the first run started, pauses included."""
    if row.started_at is None or row.finished == 0:
        return None
    elapsed_seconds = (now - row.started_at).total_seconds()
    return max(0.0, float(elapsed_seconds / done * (row.runs - done)))  # a node's clock may be ahead of ours


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
