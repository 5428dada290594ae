"""Creation and changes of targets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository as cluster_repository
from iotide_server.clusters import service as clusters
from iotide_server.clusters.drains import repository as drain_repository
from iotide_server.clusters.drains import service as drains
from iotide_server.clusters.models import Node
from iotide_server.clusters.views import DrainKind
from iotide_server.kit.db import Json, savepoint, set_fields
from iotide_server.kit.errors import IotideError
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.kit.suggest import choose_from, in_order
from iotide_server.targets import repository
from iotide_server.targets.discovery import FoundCandidate, Sighting, find_candidates
from iotide_server.targets.errors import (
    FILE_SYSTEM_IS_TARGET,
    NO_PATH_APPROVED,
    NOTHING_MOUNTED,
    PATH_NOT_APPROVED,
    STRANGER_MOUNTED,
    TARGET_BUSY,
    TARGET_NAME_TAKEN,
    TARGET_NOT_FOUND,
)
from iotide_server.targets.models import Target, TargetMount
from iotide_server.targets.mounts import Frozen, clean_path, is_approved, mount_of, stranger_problem
from iotide_server.targets.repository import MountOnNode, TargetView
from iotide_server.targets.schemas import TargetInput
from iotide_wire.facts import MountFacts


@dataclass(frozen=True, slots=True)
class _Remount:
    target: Target
    replaced: Sequence[MountOnNode]
    places: Sequence[tuple[Node, str]]


def list_targets(
    session: Session, principal: Principal, cluster_id: int | None, paging: PageRequest, *, retired: bool
) -> Slice[TargetView]:
    page = repository.targets(session, principal.visible_clusters(), cluster_id, paging, retired=retired)
    return Slice(_views(session, page.rows), page.next_cursor)


def target(session: Session, principal: Principal, target_id: int) -> TargetView:
    found = session.get(Target, target_id)
    if found is None or not principal.may(Role.VIEWER, found.cluster_id):
        raise TARGET_NOT_FOUND(target=target_id)
    return _views(session, [found])[0]


def targets_named(session: Session, cluster_id: int, names: Sequence[str], *, field: str) -> list[TargetView]:
    """Return these targets in order, locked against retirement. TARGET_NOT_FOUND has the position in `field`."""
    found = repository.living_targets_by_name(session, cluster_id, names)

    def missing(name: str, at: str) -> IotideError:
        known = repository.living_target_names(session, cluster_id)
        return TARGET_NOT_FOUND(target=name, field=at, remedy=choose_from(name, known))

    return _views(session, in_order(found, names, field, missing))


def candidates(
    session: Session, principal: Principal, cluster_id: int
) -> tuple[list[FoundCandidate], Mapping[int, str]]:
    clusters.cluster(session, principal, cluster_id)
    places = repository.living_mounts(session, Target.cluster_id == cluster_id)
    taken = {(mount.node_id, mount.path): found.id for found, mount in places}
    announced = {
        node.id: (node.name, [MountFacts.model_validate(mount) for mount in node.mounts])
        for node in cluster_repository.living_nodes_of(session, cluster_id)
    }
    approved = {
        (node_id, mount.path): mount for node_id, (_, mounts) in announced.items() for mount in mounts if mount.approved
    }
    # No agent announces a target below an approved directory.
    below = {
        (node_id, path): mount
        for node_id, path in taken.keys() - approved.keys()
        if node_id in announced and (mount := mount_of(path, announced[node_id][1]))
    }
    sightings = [
        Sighting(node_id, announced[node_id][0], path, mount, taken.get((node_id, path)))
        for (node_id, path), mount in (approved | below).items()
    ]
    names = {found.id: found.name for found, _ in places}
    return find_candidates(sightings, names.values()), names


def create_target(session: Session, principal: Principal, wanted: TargetInput, now: datetime) -> TargetView:
    """Create a target on the present mounts. Raise PATH_REFUSED, NODE_NOT_FOUND, or as `freeze` and `refuse_twice`."""
    clusters.cluster(session, principal, wanted.cluster_id, Role.OPERATOR)
    path = clean_path(wanted.path)
    elsewhere = {place.node_id: place.path for place in wanted.elsewhere}
    places = _places(session, wanted.cluster_id, wanted.nodes, elsewhere, path)
    created = Target(
        cluster_id=wanted.cluster_id,
        name=wanted.name,
        path=path,
        scope=wanted.scope,
        reserve_bytes=wanted.reserve_bytes,
        owner_id=principal.user_id,
    )
    with savepoint(session, TARGET_NAME_TAKEN(name=wanted.name)):
        session.add(created)
    mounts = freeze(created, places, now)
    refuse_twice(session, created, mounts)
    session.add_all(mounts)
    after: Json = {"name": wanted.name, "path": path, "scope": wanted.scope, "nodes": [node.name for node, _ in places]}
    live.record(session, principal, Action.on("target_created", created, after=after))
    return _views(session, [created])[0]


def change_target(session: Session, principal: Principal, target_id: int, changes: Json) -> TargetView:
    changed = _own_target(session, principal, target_id)
    if not changes:
        return _views(session, [changed])[0]
    with savepoint(session, TARGET_NAME_TAKEN(name=changes.get("name", changed.name))):
        before = set_fields(changed, changes)
    live.record(session, principal, Action.on("target_changed", changed, before=before, after=changes))
    return _views(session, [changed])[0]


def mount_on(
    session: Session,
    principal: Principal,
    target_id: int,
    wanted: Mapping[int, str | None],
    now: datetime,
) -> TargetView:
    """Put the target on exactly these nodes, as mounted now. Raise TARGET_NOT_FOUND, TARGET_BUSY or as `freeze`."""
    # Without a path, the node's present path or, on a new node, the target's.
    changed = _own_target(session, principal, target_id)
    mounts = {found.mount.node_id: found for found in repository.mounts_of(session, [target_id])[target_id]}
    kept = {node_id: mounts[node_id].mount.path for node_id in wanted if node_id in mounts}
    elsewhere = kept | {node_id: path for node_id, path in wanted.items() if path is not None}
    places = _places(session, changed.cluster_id, list(wanted), elsewhere, changed.path)
    left_out = set(mounts) - {node.id for node, _ in places}
    run_count = repository.runs_that_load(session, target_id, left_out)
    if run_count:
        raise TARGET_BUSY(name=changed.name, run_count=run_count)
    return _remount(session, principal, _Remount(changed, list(mounts.values()), places), now)


def mount_also_on(
    session: Session, principal: Principal, target_id: int, paths: Mapping[int, str], now: datetime
) -> TargetView:
    """Add these nodes to the target, as mounted now. Raise the errors of `mount_on`."""
    changed = _own_target(session, principal, target_id)
    mounts = [on for on in repository.mounts_of(session, [target_id])[target_id] if on.mount.node_id in paths]
    places = _places(session, changed.cluster_id, list(paths), paths, changed.path)
    return _remount(session, principal, _Remount(changed, mounts, places), now)


def accept_mounts(
    session: Session, principal: Principal, target_id: int, node_ids: Collection[int], now: datetime
) -> None:
    """Accept the present mounts on these nodes. Raise STRANGER_MOUNTED or the errors of `mount_on`."""
    _own_target(session, principal, target_id)
    mounts = [found.mount for found in repository.mounts_of(session, [target_id])[target_id]]
    paths = {mount.node_id: mount.path for mount in mounts if mount.node_id in node_ids}
    view = mount_also_on(session, principal, target_id, paths, now)
    for on in view.mounts:
        if on.mount.node_id in node_ids and on.mount.problem is not None:
            what, _, otherwise = on.mount.problem.partition("; ")
            raise STRANGER_MOUNTED(target=view.target.name, node=on.node_name, what=what, otherwise=otherwise)


def _remount(session: Session, principal: Principal, remount: _Remount, now: datetime) -> TargetView:
    changed = remount.target
    before = {"mounts": [_shown(found.node_name, found.mount) for found in remount.replaced]}
    for found in remount.replaced:
        session.delete(found.mount)
    session.flush()
    others = [found.mount for found in repository.mounts_of(session, [changed.id])[changed.id]]
    mounts = freeze(changed, remount.places, now, others)
    refuse_twice(session, changed, mounts)
    session.add_all(mounts)
    view = _views(session, [changed])[0]
    after = {"mounts": [_shown(found.node_name, found.mount) for found in view.mounts]}
    live.record(session, principal, Action.on("target_mounted", changed, before=before, after=after))
    return view


def retire_target(session: Session, principal: Principal, target_id: int, now: datetime) -> None:
    retired = _own_target(session, principal, target_id)
    run_count = repository.runs_that_load(session, target_id)
    if run_count:
        raise TARGET_BUSY(name=retired.name, run_count=run_count)
    retired.retired_at = now
    drain_repository.forget(session, DrainKind.TARGET, target_id)
    live.record(session, principal, Action.on("target_retired", retired, before={"name": retired.name}))


def drain_subject(session: Session, principal: Principal, target_id: int) -> drains.Drainable:
    # Not locked, since starting runs lock it.
    found = _living(principal, session.get(Target, target_id), target_id)
    return drains.Drainable(DrainKind.TARGET, found.id, found.cluster_id)


def _places(
    session: Session, cluster_id: int, node_ids: Sequence[int], elsewhere: Mapping[int, str], path: str
) -> list[tuple[Node, str]]:
    every = list(dict.fromkeys((*node_ids, *elsewhere)))
    nodes = clusters.nodes_by_id(session, cluster_id, every, field="nodes")
    return [(node, clean_path(elsewhere[node.id]) if node.id in elsewhere else path) for node in nodes]


def _own_target(session: Session, principal: Principal, target_id: int) -> Target:
    return _living(principal, repository.locked_target(session, target_id), target_id)


def _living(principal: Principal, found: Target | None, target_id: int) -> Target:
    living = None if found is None or found.retired_at is not None else found
    return principal.require_row(Role.OPERATOR, living, TARGET_NOT_FOUND(target=target_id))


def _views(session: Session, targets: Collection[Target]) -> list[TargetView]:
    target_ids = [found.id for found in targets]
    mounts = repository.mounts_of(session, target_ids)
    backings = repository.backings(session, target_ids)
    names = repository.named(session, {backing.backing_id for backing in backings})
    drained = drain_repository.drains_of(session, DrainKind.TARGET, target_ids)
    stuck = repository.stuck_writers(session, target_ids)
    return [
        TargetView(
            found,
            mounts.get(found.id, []),
            [(link.backing_id, names[link.backing_id]) for link in backings if link.target_id == found.id],
            drained.get(found.id),
            stuck.get(found.id, []),
        )
        for found in targets
    ]


def _shown(node_name: str, mount: TargetMount) -> Json:
    return {"node": node_name, "fstype": mount.fstype, "source": mount.source}


def freeze(
    guarded: Target, places: Sequence[tuple[Node, str]], now: datetime, others: Sequence[TargetMount] = ()
) -> list[TargetMount]:
    """Return the announced mounts. Raise NO_PATH_APPROVED, PATH_NOT_APPROVED or NOTHING_MOUNTED."""
    mounts = [_freeze_one(guarded, node, path, now) for node, path in places]
    if guarded.scope == "shared":
        frozen = {mount.node_id: mount.frozen for mount in (*others, *mounts)}
        for mount in mounts:
            mount.problem = stranger_problem(mount.node_id, frozen)
    return mounts


def _freeze_one(guarded: Target, node: Node, path: str, now: datetime) -> TargetMount:
    if not is_approved(path, node.approved_directories):
        if not node.approved_directories:
            raise NO_PATH_APPROVED(path=path, node=node.name)
        raise PATH_NOT_APPROVED(path=path, node=node.name, approved=node.approved_directories)
    found = mount_of(path, map(MountFacts.model_validate, node.mounts))
    if found is None:
        raise NOTHING_MOUNTED(path=path, node=node.name)
    mount = TargetMount(
        target_id=guarded.id,
        node_id=node.id,
        path=path,
        mount_options=found.mount_options,
        total_bytes=found.total_bytes,
        free_bytes=found.free_bytes,
        seen_at=now,
    )
    mount.freeze(Frozen.of(found))
    return mount


def refuse_twice(session: Session, guarded: Target, mounts: Sequence[TargetMount]) -> None:
    """Raise FILE_SYSTEM_IS_TARGET if another target has the same directory of a shared file system."""
    # Two targets would allow two concurrent loads on one file system.
    if guarded.scope != "shared":
        return
    places = repository.living_mounts(session, Target.cluster_id == guarded.cluster_id)
    for other, mount in ((other, mount) for other, mount in places if other is not guarded):
        for own in mounts:
            is_same = own.frozen.names & mount.frozen.names
            if is_same and other.scope == "shared" and own.directory is not None and own.directory == mount.directory:
                raise FILE_SYSTEM_IS_TARGET(name=other.name, path=own.path, target_id=other.id)
