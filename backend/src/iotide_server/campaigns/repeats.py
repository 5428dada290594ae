"""Repeats added to a campaign after its submission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repository
from iotide_server.campaigns.errors import (
    CELL_RESOURCES_GONE,
    CELL_STAGE_OVER,
    IDEMPOTENCY_KEY_REUSED,
    REPEATED_CELL_NOT_FOUND,
    TOO_MANY_RUNS,
)
from iotide_server.campaigns.models import Campaign, CampaignAddition
from iotide_server.campaigns.reading import visible_campaign
from iotide_server.campaigns.resolved import MAX_RUNS
from iotide_server.campaigns.schemas import RepeatsInput
from iotide_server.campaigns.service import new_runs
from iotide_server.change_feed import service as live
from iotide_server.clusters import service as clusters
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.people import OPERATOR, Sentence
from iotide_server.kit.quotas import Addition, QuotaKind
from iotide_server.kit.wake import wake_scheduler
from iotide_server.runs import line_repository as lines
from iotide_server.runs import repository as runs
from iotide_server.runs.room import require_room, take_room
from iotide_wire.plan import CampaignPlan

_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class MoreRepeats:
    campaign_id: int
    wanted: RepeatsInput
    key: str | None  # a repeated request adds nothing

    @property
    def sha256(self) -> str:
        return canonical_sha256({"campaign_id": self.campaign_id, **self.wanted.model_dump(mode="json")})


def add(session: Session, principal: Principal, more: MoreRepeats, now: datetime) -> None:
    """Add repeats under the plan's conditions; raise CAMPAIGN_NOT_FOUND or why not."""
    visible_campaign(session, principal, more.campaign_id, Role.OPERATOR)
    campaign = repository.lock_campaign(session, more.campaign_id)
    clusters.require_real(session, campaign.cluster_id, field="campaign_id")
    if _was_added(session, principal, more):
        return
    stage_of = repository.stages_of_cells(session, campaign.id)
    cell_ids = _chosen_cells(session, campaign, more.wanted, stage_of)
    further = len(cell_ids) * more.wanted.repeats
    added = Addition(QuotaKind.RUNS, campaign.cluster_id, principal.user_id, now, further, "repeats")
    require_room(session, added)
    _hold_resources(session, campaign, cell_ids, stage_of)
    addition = CampaignAddition(
        campaign_id=campaign.id,
        owner_id=principal.user_id,
        repeats=more.wanted.repeats,
        cell_ids=cell_ids,
        created_at=now,
        idempotency_key=more.key,
        request_sha256=more.sha256,
    )
    try:
        with session.begin_nested():
            session.add(addition)
    except IntegrityError:
        # Concurrent use of the key for another campaign.
        if not _was_added(session, principal, more):
            raise
        return
    _add_runs(session, principal, campaign, addition, now)
    take_room(session, added)


def _was_added(session: Session, principal: Principal, more: MoreRepeats) -> bool:
    earlier = None if more.key is None else repository.addition_by_key(session, principal.user_id, more.key)
    if earlier is None:
        return False
    if earlier.request_sha256 != more.sha256:
        raise IDEMPOTENCY_KEY_REUSED(key=more.key or "", campaign_id=earlier.campaign_id)
    return True


def _chosen_cells(session: Session, campaign: Campaign, wanted: RepeatsInput, stage_of: Mapping[int, int]) -> list[int]:
    strangers = [cell_id for cell_id in wanted.cell_ids or () if cell_id not in stage_of]
    if strangers:
        index = list(wanted.cell_ids or ()).index(strangers[0])
        raise REPEATED_CELL_NOT_FOUND(campaign_id=campaign.id, cell_id=strangers[0], index=index)
    chosen = set(stage_of if wanted.cell_ids is None else wanted.cell_ids)
    cell_ids = [cell_id for cell_id in stage_of if cell_id in chosen]
    count = repository.run_count(session, campaign.id) + wanted.repeats * len(cell_ids)
    if count > MAX_RUNS:
        raise TOO_MANY_RUNS(campaign_id=campaign.id, repeats=wanted.repeats, runs=count, allowed=MAX_RUNS)
    return cell_ids


def _hold_resources(session: Session, campaign: Campaign, cell_ids: Sequence[int], stage_of: Mapping[int, int]) -> None:
    present = repository.hold_present_stage(session, campaign.id)
    for cell_id in cell_ids:
        if present is not None and stage_of[cell_id] < present:
            raise CELL_STAGE_OVER(cell_id=cell_id, variant=runs.variant_of(session, cell_id))
    gone = runs.lock_resources(session, cell_ids)
    if gone:
        raise CELL_RESOURCES_GONE(campaign_id=campaign.id, gone=gone[:_MOST_NAMED])


def _add_runs(
    session: Session, principal: Principal, campaign: Campaign, addition: CampaignAddition, now: datetime
) -> None:
    plan = CampaignPlan.model_validate(campaign.plan)
    new = replace(new_runs(campaign, plan, now), asked_by=principal.user_id)
    run_ids = runs.add_repeats(session, new, dict.fromkeys(addition.cell_ids, addition.repeats))
    runs.log_added(session, run_ids, Sentence(f"added by {OPERATOR}", principal.actor), now)
    queued = lines.in_open_stages(session, run_ids)
    lines.release_evenly(session, campaign.id, queued, now)
    lines.join_queues(session, queued)
    after = {"repeats": addition.repeats, "cells": len(addition.cell_ids), "runs": len(run_ids)}
    audit.record(session, principal, Action.on("campaign_repeats_added", campaign, after=after))
    publish_added(session, campaign, run_ids)


def publish_added(session: Session, campaign: Campaign, run_ids: Sequence[int]) -> None:
    live.publish_all(
        session,
        [
            ("campaign", campaign.id, campaign.cluster_id),
            # One is enough: clients reload whole lists.
            *[("run", run_id, campaign.cluster_id) for run_id in run_ids[:1]],
        ],
    )
    wake_scheduler(session, "campaign")
