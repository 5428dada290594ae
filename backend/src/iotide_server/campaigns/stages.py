"""Stages: the matrix runs in several states of the servers; an operator confirms each change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repository
from iotide_server.campaigns.errors import (
    CAMPAIGN_NOT_PAUSED,
    FACTS_NOT_READ,
    MOUNTS_DIFFER,
    STAGE_NOT_ENDED,
    TARGET_NOT_MOUNTED,
)
from iotide_server.campaigns.models import CampaignStage
from iotide_server.campaigns.reading import visible_campaign
from iotide_server.campaigns.resolved import ResolvedPlan
from iotide_server.campaigns.scratch import making
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository as cluster_repository
from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.wake import wake_scheduler
from iotide_server.runs import line_repository as lines
from iotide_server.scratch.models import KnownSet
from iotide_server.targets import service as targets
from iotide_server.targets.changes import MountChange, mount_changes


@dataclass(frozen=True, slots=True)
class Pause:
    """Stage that waits for an operator, with mounts of its nodes and of backing servers."""

    campaign_id: int
    stage: CampaignStage
    mounts: Sequence[MountChange]

    @property
    def silent_nodes(self) -> list[str]:
        """Return the nodes without a report of mounts since an operator asked."""
        asked_at = self.stage.looked_at
        return sorted({on.node.name for on in self.mounts if not asked_at or not _reported_since(on, asked_at)})

    @property
    def found(self) -> list[Json]:
        return [
            {
                "target": on.target.name,
                "node": on.node.name,
                "mount": None
                if on.now is None
                else on.now.model_dump(mode="json", exclude={"free_bytes", "free_inodes"}),
            }
            for on in self.mounts
        ]

    @property
    def found_sha256(self) -> str:
        """A confirmation repeats it to prove what the operator saw."""
        return canonical_sha256(self.found)


def _reported_since(on: MountChange, asked_at: datetime) -> bool:
    node = on.node
    return node.look_answered >= node.look_asked and node.told_at is not None and node.told_at >= asked_at


def add_stages(
    session: Session, campaign_id: int, resolved: ResolvedPlan, found: KnownSet | None, now: datetime
) -> None:
    """The first stage opens unless it begins with a pause. Stages on a scratch set begin with the scheduler's pass."""
    for number, planned in enumerate(resolved.stages, start=1):
        ordinal = resolved.stage_ordinal(number)
        stage = CampaignStage(campaign_id=campaign_id, ordinal=ordinal, variant=planned.variant, pause=planned.pause)
        stage.state, stage.scratch_set_id = "held", None if found is None else found.id
        session.add(stage)
        if ordinal == 1:
            _begin(stage, now)
    session.flush()
    if found is None and (not resolved.stages or resolved.stages[0].pause is None):
        lines.open_stage(session, campaign_id, 1, now)


def _begin(stage: CampaignStage, now: datetime) -> None:
    if stage.pause is None:
        stage.state, stage.opened_at = "open", now
    else:
        stage.state, stage.paused_at = "paused", now


def advance(session: Session, now: datetime) -> None:
    """Open or pause every stage whose previous stages have ended."""
    making.release_sets(session)
    is_behind_cancelled = True
    while is_behind_cancelled:
        due = repository.lock_stages_due(session)
        cancelled = [_advance(session, stage, cluster_id, now) for stage, cluster_id in due]
        is_behind_cancelled = any(cancelled)


def _advance(session: Session, stage: CampaignStage, cluster_id: int, now: datetime) -> bool:
    """Open or pause a due stage. Return true if its runs were cancelled instead."""
    may_begin = making.may_begin(session, stage, now)
    if may_begin:
        _begin(stage, now)
        session.flush()
        if stage.state == "open":
            lines.open_stage(session, stage.campaign_id, stage.ordinal, now)
    if may_begin is not False:
        live.publish(session, "campaign", stage.campaign_id, cluster_id)
    return may_begin is None


def pause(session: Session, principal: Principal, campaign_id: int) -> Pause:
    """Raise CAMPAIGN_NOT_FOUND or CAMPAIGN_NOT_PAUSED."""
    visible_campaign(session, principal, campaign_id)
    return _pause(session, campaign_id, repository.paused_stage(session, campaign_id))


def look(session: Session, principal: Principal, campaign_id: int, now: datetime) -> Pause:
    """Ask the nodes, also backing ones, for their mounts; raise as `pause`."""
    visible_campaign(session, principal, campaign_id, Role.OPERATOR)
    found = _pause(session, campaign_id, repository.paused_stage(session, campaign_id, is_locked=True))
    found.stage.looked_at = now
    cluster_repository.want_look(session, {on.node.id for on in found.mounts})
    return found


def confirm(session: Session, principal: Principal, campaign_id: int, seen_sha256: str, now: datetime) -> None:
    """Accept the mounts and open the stage; raise as `pause` and `accept_mounts`."""
    cluster_id = visible_campaign(session, principal, campaign_id, Role.OPERATOR).cluster_id
    found = _pause(session, campaign_id, repository.paused_stage(session, campaign_id, is_locked=True))
    _check(session, found, seen_sha256)
    stage = found.stage
    before: Json = {"stage": stage.ordinal, "variant": stage.variant, "state": stage.state}
    for target_id in dict.fromkeys(on.target.id for on in found.mounts if on.is_change):
        node_ids = {on.node.id for on in found.mounts if on.target.id == target_id}
        targets.accept_mounts(session, principal, target_id, node_ids, now)
    stage.state, stage.opened_at, stage.confirmed_by, stage.found = "open", now, principal.name, found.found
    session.flush()
    lines.open_stage(session, campaign_id, stage.ordinal, now)
    after: Json = {**before, "state": stage.state, "mounts": list(_summary(found))}
    live.record(session, principal, Action("stage_confirmed", "campaign", campaign_id, cluster_id, before, after))
    wake_scheduler(session, "campaign")


def _pause(session: Session, campaign_id: int, stage: CampaignStage | None) -> Pause:
    if stage is None:
        raise CAMPAIGN_NOT_PAUSED(campaign_id=campaign_id)
    return Pause(campaign_id, stage, mount_changes(session, repository.places_of(session, stage)))


def _check(session: Session, found: Pause, seen_sha256: str) -> None:
    if repository.open_runs_before(session, found.campaign_id, found.stage.ordinal):
        raise STAGE_NOT_ENDED(campaign_id=found.campaign_id, variant=found.stage.variant)
    if found.silent_nodes:
        raise FACTS_NOT_READ(campaign_id=found.campaign_id, nodes=found.silent_nodes)
    if seen_sha256 != found.found_sha256:
        raise MOUNTS_DIFFER(found_sha256=seen_sha256)
    for on in found.mounts:
        if on.problem is not None:
            raise TARGET_NOT_MOUNTED(target=on.target.name, node=on.node.name, problem=on.problem)


def _summary(found: Pause) -> Iterator[str]:
    for on in found.mounts:
        if on.now is not None:
            yield f"{on.target.name} on {on.node.name}: {on.now.fstype} from {on.now.source}"
