"""Targets whose file system iotide makes and removes itself: their mounts come and go without a problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.kit.db import savepoint, set_fields
from iotide_server.targets import repository
from iotide_server.targets.errors import TARGET_NAME_TAKEN, TARGET_NOT_FOUND
from iotide_server.targets.models import Target, TargetMount
from iotide_server.targets.mounts import Frozen
from iotide_wire.facts import MountFacts

_NOTHING: Final = "none"
"""File system and source of a target before the first make. No mount has these."""


@dataclass(frozen=True, slots=True)
class MadePlace:
    cluster_id: int
    node_id: int
    mount_point: str


def take_target(session: Session, principal: Principal, place: MadePlace, name: str, now: datetime) -> Target:
    """Return the target of this mount point with its results, or a new one. Raise TARGET_NAME_TAKEN."""
    found = repository.locked_target_at(session, place.cluster_id, place.node_id, place.mount_point)
    if found is None:
        return _create(session, principal, place, name, now)
    wanted = {"name": name, "retired_at": None}
    if (found.name, found.retired_at) != (name, None):
        with savepoint(session, TARGET_NAME_TAKEN(name=name)):
            before = set_fields(found, wanted)
        shown = {"name": before["name"], "retired": before["retired_at"] is not None}
        live.record(session, principal, Action.on("target_changed", found, before=shown, after={"name": name}))
    _mount(session, found.id, place.node_id).problem = None
    return found


def accept_mount(session: Session, target_id: int, node_id: int, made: MountFacts, now: datetime) -> None:
    """Let runs use the file system that was just made. Raise TARGET_NOT_FOUND."""
    guarded, mount = session.get(Target, target_id), _mount(session, target_id, node_id)
    if guarded is None:
        raise TARGET_NOT_FOUND(target=target_id)
    mount.freeze(Frozen.of(made))
    mount.mount_options = made.mount_options
    mount.total_bytes, mount.free_bytes = made.total_bytes, made.free_bytes
    mount.seen_at, mount.problem = now, None
    live.publish(session, "target", guarded.id, guarded.cluster_id)


def names_of(session: Session, target_ids: set[int]) -> Mapping[int, str]:
    """Return the names of those targets that are not retired."""
    return repository.named_living(session, target_ids)


def _create(session: Session, principal: Principal, place: MadePlace, name: str, now: datetime) -> Target:
    created = Target(
        cluster_id=place.cluster_id, name=name, path=place.mount_point, scope="node", owner_id=principal.user_id
    )
    with savepoint(session, TARGET_NAME_TAKEN(name=name)):
        session.add(created)
    mount = TargetMount(
        target_id=created.id, node_id=place.node_id, path=place.mount_point, mount_options="", seen_at=now
    )
    mount.freeze(Frozen(_NOTHING, _NOTHING, place.mount_point, "/"))
    session.add(mount)
    after = {"name": name, "path": place.mount_point, "scope": "node"}
    live.record(session, principal, Action.on("target_created", created, after=after))
    return created


def _mount(session: Session, target_id: int, node_id: int) -> TargetMount:
    found = session.get(TargetMount, (target_id, node_id))
    if found is None:
        raise TARGET_NOT_FOUND(target=target_id)
    return found
