"""What people read of campaigns: state, counts, how far they have got and how long they may still take."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal
from iotide_server.campaigns import repository
from iotide_server.campaigns.errors import CampaignNotFoundError
from iotide_server.campaigns.repository import AnyRow
from iotide_server.campaigns.schemas import Campaign, CampaignFilter, CampaignState, RunCounts
from iotide_server.kit.pagination import Page, PageRequest


def campaign(session: Session, principal: Principal, campaign_id: int, now: datetime) -> Campaign:
    """One campaign.

    Raises:
        CampaignNotFoundError: there is none that the caller may see.
    """
    missing = CampaignNotFoundError(campaign_id)
    found = repository.described(session, campaign_id)
    if found is None:
        raise missing
    principal.require(Role.VIEWER, found.cluster_id, missing)
    return _shown(session, found, now)


def list_campaigns(
    session: Session, principal: Principal, wanted: CampaignFilter, paging: PageRequest, now: datetime
) -> Page[Campaign]:
    """The campaigns that the caller may see, newest first."""
    rows = repository.page(session, principal.visible_clusters(), wanted, paging)
    return rows.page(lambda row: _shown(session, row, now))


def _shown(session: Session, row: AnyRow, now: datetime) -> Campaign:
    state = CampaignState(row.state)
    is_open = state in {CampaignState.WAITING, CampaignState.ACTIVE}
    partly = repository.progress_of_active(session, row.id) if row.active else 0.0
    done = row.finished + row.failed + row.cancelled
    return Campaign(
        id=row.id,
        name=row.name,
        cluster_id=row.cluster_id,
        cluster_name=row.cluster_name,
        owner=row.owner,
        plan=row.plan,
        state=state,
        created_at=row.created_at,
        ended_at=None if is_open else row.last_ended_at,
        counts=RunCounts.model_validate(row),
        progress=min(1.0, (done + partly) / row.runs) if row.runs else 1.0,
        seconds_remaining_estimated=_remaining(row, done + partly, now) if is_open else 0.0,
    )


def _remaining(row: AnyRow, done: float, now: datetime) -> float | None:
    """Seconds left at the mean pace since the first run started, pauses included."""
    if row.started_at is None or row.finished == 0:
        return None
    return float((now - row.started_at).total_seconds() / done * (row.runs - done))
