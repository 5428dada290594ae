"""The scratch set of a plan: permission to use it, its target, and what its node announced."""

from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.resolved import ResolvedPlan, resolve
from iotide_server.campaigns.scratch import repository
from iotide_server.campaigns.scratch.expansion import AnnouncedSet
from iotide_server.campaigns.scratch.pace import KnownDisks, PastWork, known_disks
from iotide_server.clusters import service as clusters
from iotide_server.scratch import service as sets
from iotide_server.scratch.errors import SCRATCH_NOT_ENABLED, SCRATCH_SET_UNKNOWN
from iotide_server.scratch.models import KnownSet
from iotide_server.scratch.permission import Use, may_use
from iotide_wire.plan import CampaignPlan
from iotide_wire.scratch import ScratchMake

_NEWEST_WORK: Final = 500


def resolve_plan(
    session: Session, principal: Principal, plan: CampaignPlan, *, is_scheduled: bool = False
) -> tuple[ResolvedPlan, KnownSet | None]:
    """Resolve a plan, and return its scratch set if it has a block `scratch`; raise as `resolve` and `set_of`."""
    if plan.scratch is None:
        return resolve(plan), None
    found, target_name = set_of(session, principal, plan, is_scheduled=is_scheduled)
    present = found.present
    known = AnnouncedSet([disk.size_bytes for disk in present.disks], frozenset(present.lacks), target_name)
    return resolve(_on_target(plan, plan.scratch.place, target_name), known), found


def set_of(session: Session, principal: Principal, plan: CampaignPlan, *, is_scheduled: bool) -> tuple[KnownSet, str]:
    """Return the set and the name of its target.

    Raise CLUSTER_NOT_FOUND, NotAllowedError, NODE_NOT_FOUND, SCRATCH_SET_UNKNOWN, or as `may_use`.
    """
    scratch = plan.scratch
    if scratch is None:
        message = "the plan has no block scratch"
        raise ValueError(message)
    cluster = clusters.cluster_named(session, principal, plan.cluster, Role.OPERATOR, field="cluster")
    node = clusters.node_named(session, cluster.id, scratch.node, field="scratch.node")
    found = sets.set_named(session, cluster.id, node.name, scratch.set)
    if found is None:
        known = sets.names_on(session, node.id)
        raise SCRATCH_SET_UNKNOWN(scratch_set=scratch.set, node=node.name, known=known)
    may_use(found, node.name, Use(principal.kind, is_scheduled=is_scheduled or principal.is_automatic))
    target_name = sets.target_name(session, found)
    if target_name is None:
        raise SCRATCH_NOT_ENABLED(scratch_set=found.name, node=node.name)
    return found, target_name


def disks_of(session: Session, found: KnownSet | None) -> KnownDisks | None:
    """Return the known speed of the set's disks, by what ran on them since the newest one was adopted."""
    disks = () if found is None else found.present.disks
    if found is None or not disks:
        return None
    adopted_at = max(disk.adopted_at for disk in disks)
    rows = repository.past_work(session, found.id, adopted_at, _NEWEST_WORK)
    past = [
        PastWork(
            ScratchMake.model_validate(row.make), float(row.seconds), row.bytes_moved if row.does == "fill" else None
        )
        for row in rows
    ]
    return known_disks(min(disk.size_bytes for disk in disks), past)


def _on_target(plan: CampaignPlan, written: str, target_name: str) -> CampaignPlan:
    """Return the plan with the target of the set instead of `node/set`."""

    def named(names: list[str]) -> list[str]:
        return [target_name if name == written else name for name in names]

    workloads = [
        one if one.targets is None else one.model_copy(update={"targets": named(one.targets)}) for one in plan.workloads
    ]
    return plan.model_copy(update={"targets": named(plan.targets), "workloads": workloads})
