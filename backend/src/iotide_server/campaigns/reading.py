"""Read access to campaigns: state, counts, progress, remaining time."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repository
from iotide_server.campaigns.errors import CAMPAIGN_NOT_FOUND
from iotide_server.campaigns.models import Campaign as CampaignRow
from iotide_server.campaigns.repository import AnyRow
from iotide_server.campaigns.schemas import (
    AdaptiveProgress,
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
from iotide_server.campaigns.stopping import EndOfRepeats, progress_words
from iotide_server.kit.db import Json
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.runs import timeline_queries


def visible_campaign(session: Session, principal: Principal, campaign_id: int, role: Role = Role.VIEWER) -> CampaignRow:
    """Return the row for at least `role`; raise CAMPAIGN_NOT_FOUND or NotAllowedError."""
    found = session.get(CampaignRow, campaign_id)
    return principal.require_row(role, found, CAMPAIGN_NOT_FOUND(campaign_id=campaign_id))


def campaign(session: Session, principal: Principal, campaign_id: int, now: datetime) -> CampaignOutput:
    """Raise CAMPAIGN_NOT_FOUND."""
    visible_campaign(session, principal, campaign_id)
    shown = dict(_shown(session, repository.described(session, campaign_id, now), now))
    return CampaignOutput(**shown, previous_campaign_id=repository.previous_of_schedule(session, campaign_id))


def list_campaigns(
    session: Session, principal: Principal, wanted: CampaignFilter, paging: PageRequest, now: datetime
) -> Page[ListedCampaign]:
    rows = repository.page(session, principal.visible_clusters(), wanted, paging, now)
    return rows.page(lambda row: _shown(session, row, now))


def _shown(session: Session, row: AnyRow, now: datetime) -> ListedCampaign:
    is_open = row.state in {CampaignState.WAITING, CampaignState.ACTIVE, CampaignState.PAUSED}
    partly = repository.progress_of_active(session, row.id) if row.active else 0.0
    done = row.finished + row.failed + row.cancelled
    return ListedCampaign.of_row(
        row,
        ended_at=None if is_open else row.last_ended_at,
        counts=row,
        adaptive=row.adaptive and _adaptive(row.adaptive),
        progress=min(1.0, (done + partly) / row.runs) if row.runs else 1.0,
        seconds_remaining_estimated=_remaining(row, done + partly, now) if is_open else 0.0,
    )


def _remaining(row: AnyRow, done: float, now: datetime) -> float | None:
    """Return seconds at the mean pace so far, with pauses, and at least to the last release of a spread plan."""
    if row.started_at is None or row.finished == 0:
        return None
    elapsed_seconds = (now - row.started_at).total_seconds()
    released_seconds = (row.last_start_at - now).total_seconds() if row.last_start_at else 0.0
    # The node's clock may be ahead.
    return max(0.0, released_seconds, float(elapsed_seconds / done * (row.runs - done)))


def _adaptive(progress: Json) -> AdaptiveProgress:
    ends = {end: progress.get(end, 0) for end in EndOfRepeats}
    return AdaptiveProgress(
        until_ratio=progress["until_ratio"],
        open=progress["open"],
        **ends,
        words=progress_words(ends, progress["open"], progress["until_ratio"]),
    )


def timeline(session: Session, principal: Principal, campaign_id: int, span: TimelineSpan, now: datetime) -> Timeline:
    """Raise CAMPAIGN_NOT_FOUND."""
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
