"""Submit and cancel campaigns."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repository, round_queries, stages, windows
from iotide_server.campaigns.errors import CAMPAIGN_ENDED, IDEMPOTENCY_KEY_REUSED
from iotide_server.campaigns.models import Campaign
from iotide_server.campaigns.planning import cluster_of, foresee
from iotide_server.campaigns.reading import visible_campaign
from iotide_server.campaigns.scratch import making
from iotide_server.campaigns.scratch.use import resolve_plan
from iotide_server.campaigns.stopping import EndOfRepeats
from iotide_server.change_feed import service as live
from iotide_server.kit.db import Json, refresh_statistics
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.quotas import Addition, QuotaKind
from iotide_server.kit.wake import wake_scheduler
from iotide_server.runs import line_repository
from iotide_server.runs import repository as runs_repository
from iotide_server.runs import service as runs
from iotide_server.runs.repository import NewRuns
from iotide_server.runs.room import require_room, take_room
from iotide_server.statistics.adaptive import LOOKS
from iotide_wire.plan import CampaignPlan

_PRIORITY_STEP_SECONDS: Final = 3600.0

_MANY_RUNS: Final = 10_000
_TABLES_OF_MANY: Final = ("cell", "cell_node", "cell_observer", "cell_target", "run")


@dataclass(frozen=True, slots=True)
class SubmittedCampaign:
    campaign_id: int
    is_new: bool


def submit(
    session: Session, principal: Principal, plan: CampaignPlan, idempotency_key: str | None, now: datetime
) -> SubmittedCampaign:
    """Raise IDEMPOTENCY_KEY_REUSED, QUOTA_REACHED, or as `resolve_plan`, `cluster_of` and `foresee`."""
    given = plan.model_dump(mode="json")
    digest = canonical_sha256(given)
    repeated = _repeated(session, principal, idempotency_key, digest)
    if repeated is not None:
        return repeated
    resolved, found = resolve_plan(session, principal, plan)
    cluster = cluster_of(session, principal, resolved)
    added = Addition(QuotaKind.RUNS, cluster.id, principal.user_id, now, resolved.run_count, "repeats")
    require_room(session, added)
    planned = foresee(session, cluster, resolved)
    campaign = Campaign(
        cluster_id=cluster.id,
        name=plan.name,
        owner_id=principal.user_id,
        plan=given,
        created_at=now,
        idempotency_key=idempotency_key,
        request_sha256=digest,
    )
    try:
        with session.begin_nested():
            session.add(campaign)
    except IntegrityError:
        # A concurrent request with the key has committed, or the insert would still wait.
        repeated = _repeated(session, principal, idempotency_key, digest)
        if repeated is None:
            raise
        return repeated
    repository.insert_cells(session, campaign.id, planned)
    new = new_runs(campaign, plan, now)
    runs_repository.insert_runs(session, new, resolved.repeats if plan.adaptive is None else LOOKS[0])
    if plan.adaptive is not None:
        round_queries.add_cells(session, campaign.id)
    if resolved.run_count >= _MANY_RUNS:
        refresh_statistics(session, *_TABLES_OF_MANY)
    windows.add_window(session, campaign.id, plan.window, plan.time_limit_seconds, now)
    if found is not None:
        making.Maker(session, campaign, found, new.sort_key).add(planned)
    stages.add_stages(session, campaign.id, resolved, found, now)
    if resolved.run_count >= _MANY_RUNS:
        refresh_statistics(session, "line_place")
    after = {"name": plan.name, "runs": resolved.run_count}
    audit.record(session, principal, Action.on("campaign_submitted", campaign, after=after))
    live.publish(session, "campaign", campaign.id, campaign.cluster_id)
    wake_scheduler(session, "campaign")
    take_room(session, added)
    return SubmittedCampaign(campaign.id, is_new=True)


def _repeated(session: Session, principal: Principal, key: str | None, digest: str) -> SubmittedCampaign | None:
    earlier = repository.by_idempotency_key(session, principal.user_id, key) if key is not None else None
    if earlier is None:
        return None
    if earlier.request_sha256 != digest:
        raise IDEMPOTENCY_KEY_REUSED(key=key or "", campaign_id=earlier.id)
    return SubmittedCampaign(earlier.id, is_new=False)


def new_runs(campaign: Campaign, plan: CampaignPlan, now: datetime) -> NewRuns:
    return NewRuns(
        campaign_id=campaign.id,
        cluster_id=campaign.cluster_id,
        exclusive=plan.exclusive,
        sort_key=now.timestamp() - plan.priority * _PRIORITY_STEP_SECONDS,
        time_limit_seconds=plan.time_limit_seconds,
        cool_down_seconds=plan.cool_down_seconds,
        attempts_allowed=plan.attempts_allowed,
        created_at=now,
        is_shuffled=plan.adaptive is not None,
    )


def change_priority(session: Session, principal: Principal, campaign_id: int, priority: int) -> None:
    """Move waiting runs to their positions with this priority; raise CAMPAIGN_NOT_FOUND or CAMPAIGN_ENDED."""
    visible_campaign(session, principal, campaign_id, Role.OPERATOR)
    campaign = repository.lock_campaign(session, campaign_id)
    before = repository.set_priority(session, campaign_id, priority)
    has_runs = line_repository.resort_campaign(session, campaign_id, (priority - before) * _PRIORITY_STEP_SECONDS)
    if not has_runs and round_queries.current_stage(session, campaign_id) is None:
        raise CAMPAIGN_ENDED(campaign_id=campaign_id)
    change = Action.on("campaign_priority_changed", campaign, {"priority": before}, {"priority": priority})
    live.record(session, principal, change)
    wake_scheduler(session, "campaign")


def cancel(session: Session, principal: Principal, campaign_id: int, now: datetime) -> None:
    """Cancel all open runs but the cleaning of a scratch set; a second call changes nothing.

    Raise CAMPAIGN_NOT_FOUND.
    """
    visible_campaign(session, principal, campaign_id, Role.OPERATOR)
    campaign = repository.lock_campaign(session, campaign_id)  # so that no round is added meanwhile
    round_queries.end_cells(session, campaign_id, EndOfRepeats.CANCELLED, now)
    kept = making.cleaning_runs(session, campaign_id)
    run_count = runs.cancel_campaign(session, principal, campaign_id, now, kept)
    if campaign.cancelled_at is None or run_count:
        before: Json = {"name": campaign.name, "cancelled": campaign.cancelled_at is not None}
        after: Json = {"name": campaign.name, "cancelled": True, "runs_ended": run_count}
        campaign.cancelled_at = now
        audit.record(session, principal, Action.on("campaign_cancelled", campaign, before, after))
    live.publish(session, "campaign", campaign_id, campaign.cluster_id)
