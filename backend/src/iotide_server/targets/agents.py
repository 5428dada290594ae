"""Mounts that agents announce, and targets of orders."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.kit.work import want_work
from iotide_server.targets import repository
from iotide_server.targets.errors import TARGET_NOT_FOUND
from iotide_server.targets.models import Target, TargetMount
from iotide_server.targets.mounts import Frozen, guard_problem, mount_of, stranger_problem
from iotide_wire.facts import MountFacts
from iotide_wire.messages import OrderTarget

OVERSIGHT: Final = "oversight"
"""Work that finds series without new points; its key is the cluster."""


def refresh_mounts(
    session: Session, node_id: int, mounts: Sequence[MountFacts], now: datetime, made: Collection[int] = ()
) -> None:
    """Compare a node's mounts with those of its targets. Record a difference but never accept it.

    iotide makes and removes the file systems of the targets in `made`: their absence is no problem.
    """
    for guarded, mount in repository.living_mounts(session, TargetMount.node_id == node_id):
        found = mount_of(mount.path, mounts)
        problem = guard_problem(mount.frozen, found) or _stranger_problem(session, guarded, mount)
        if problem is not None and guarded.id in made:
            found = problem = None
        if problem != mount.problem:
            mount.problem = problem
            want_work(session, OVERSIGHT, guarded.cluster_id, now)
            live.publish(session, "target", guarded.id, guarded.cluster_id)
        if found is not None and problem is None:
            mount.freeze(mount.frozen.filled(Frozen.of(found)))
            mount.mount_options = found.mount_options
            mount.total_bytes = found.total_bytes
            mount.free_bytes = found.free_bytes
            mount.seen_at = now


def order_targets(session: Session, node_id: int, target_ids: Sequence[int]) -> list[OrderTarget]:
    found = repository.mounts_for_order(session, node_id, target_ids)
    missing = next((target_id for target_id in target_ids if target_id not in found), None)
    if missing is not None:
        raise TARGET_NOT_FOUND(target=missing)
    return [_order_target(*found[target_id]) for target_id in target_ids]


def _order_target(guarded: Target, mount: TargetMount) -> OrderTarget:
    frozen = mount.frozen
    return OrderTarget(
        target_id=guarded.id,
        name=guarded.name,
        path=mount.path,
        fstype=frozen.fstype,
        source=frozen.source,
        reserve_bytes=guarded.reserve_bytes or 0,
        mount_point=frozen.mount_point,
        root=frozen.root,
        identity=frozen.own_identity,
    )


def _stranger_problem(session: Session, guarded: Target, mount: TargetMount) -> str | None:
    if guarded.scope != "shared":
        return None
    others = repository.mounts_of(session, [guarded.id])[guarded.id]
    return stranger_problem(mount.node_id, {other.mount.node_id: other.mount.frozen for other in others})
