"""Read access to campaigns: state, counts, progress, remaining time."""

from collections import defaultdict
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import list_queries, repository
from iotide_server.campaigns.errors import CAMPAIGN_NOT_FOUND
from iotide_server.campaigns.list_queries import ListRequest
from iotide_server.campaigns.models import Campaign as CampaignRow
from iotide_server.campaigns.repository import AnyRow
from iotide_server.campaigns.schemas import (
    AdaptiveProgress,
    CampaignFilter,
    CampaignGroup,
    CampaignOutput,
    CampaignsOfSchedule,
    CampaignState,
    ListedCampaign,
    RunCounts,
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
    rows = list_queries.page(session, ListRequest(principal.visible_clusters(), wanted, paging), now)
    return rows.page(lambda row: _shown(session, row, now))


def list_groups(
    session: Session, principal: Principal, wanted: CampaignFilter, paging: PageRequest, now: datetime
) -> Page[CampaignGroup]:
    rows = list_queries.page_of_groups(session, ListRequest(principal.visible_clusters(), wanted, paging), now)
    schedules = sorted({row.schedule_id for row in rows.rows} - {None})
    counts = list_queries.campaign_counts(session, schedules)
    states: dict[int, dict[CampaignState, int]] = defaultdict(dict)
    for found in list_queries.recent_states(session, schedules, now):
        states[found.schedule_id][CampaignState(found.state)] = found.campaigns
    return rows.page(
        lambda row: CampaignGroup(
            newest=_shown(session, row, now),
            schedule=row.schedule_id
            and CampaignsOfSchedule(
                id=row.schedule_id,
                name=row.schedule_name,
                campaign_count=counts[row.schedule_id],
                recent_states=states[row.schedule_id],
            ),
        )
    )


def _shown(session: Session, row: AnyRow, now: datetime) -> ListedCampaign:
    is_open = row.state in {CampaignState.WAITING, CampaignState.ACTIVE, CampaignState.PAUSED}
    partly = repository.progress_of_active(session, row.id) if row.active else 0.0
    done = row.finished + row.failed + row.cancelled
    return ListedCampaign.of_row(
        row,
        ended_at=None if is_open else row.last_ended_at,
        counts=_measured_counts(row),
        adaptive=row.adaptive and _adaptive(row.adaptive),
        progress=min(1.0, (done + partly) / row.runs) if row.runs else 1.0,
        seconds_remaining_estimated=_remaining(row, done + partly, now) if is_open else 0.0,
    )


def _measured_counts(row: AnyRow) -> RunCounts:
    """Return the counts of all runs without those of preparations."""
    return RunCounts(
        **{state: getattr(row, state) - sum(one[state] for one in row.preparations) for state in RunCounts.model_fields}
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
