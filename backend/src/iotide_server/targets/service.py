"""Targets as people make and change them."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts import audit
from iotide_server.accounts.audit import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.live import service as live
from iotide_server.targets import repository
from iotide_server.targets.errors import (
    NothingMountedError,
    PathNotApprovedError,
    TargetBusyError,
    TargetNameTakenError,
    TargetNotFoundError,
)
from iotide_server.targets.models import Target, TargetMount
from iotide_server.targets.mounts import Frozen, clean_path, is_approved, mount_of
from iotide_server.targets.repository import MountOnNode
from iotide_wire.facts import MountFacts


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """A target to be made.

    Attributes:
        scope: `node` or `shared`, see `models.Target`.
    """

    cluster_id: int
    name: str
    path: str
    scope: str
    node_ids: Sequence[int]
    reserve_bytes: int | None


@dataclass(frozen=True, slots=True)
class TargetView:
    """A target with its mounts."""

    target: Target
    mounts: Sequence[MountOnNode]


@dataclass(frozen=True, slots=True)
class TargetFilter:
    """Which targets of a list are wanted."""

    cluster_id: int | None = None
    retired: bool = False


def list_targets(
    session: Session, principal: Principal, wanted: TargetFilter, paging: PageRequest
) -> Slice[TargetView]:
    """The targets that the caller may see."""
    visible = principal.visible_clusters()
    page = repository.targets(session, visible, wanted.cluster_id, paging, retired=wanted.retired)
    return Slice(_views(session, page.rows), page.next_cursor)


def target(session: Session, principal: Principal, target_id: int) -> TargetView:
    """The target, retired or not.

    Raises:
        TargetNotFoundError: there is none that the caller may see.
    """
    found = session.get(Target, target_id)
    if found is None or not principal.may(Role.VIEWER, found.cluster_id):
        raise TargetNotFoundError(target_id)
    return _views(session, [found])[0]


def targets_named(session: Session, cluster_id: int, names: Sequence[str], *, field: str) -> list[TargetView]:
    """The living targets of the cluster with these names, in their order; they stay living in this transaction.

    Args:
        field: where the names stand in the request, for the error.

    Raises:
        TargetNotFoundError: a name is unknown.
    """
    found = repository.living_targets_by_name(session, cluster_id, names)
    for index, name in enumerate(names):
        if name not in found:
            known = repository.living_target_names(session, cluster_id)
            raise TargetNotFoundError(name, known, field=f"{field}[{index}]")
    return _views(session, [found[name] for name in names])


def create_target(session: Session, principal: Principal, plan: TargetPlan, now: datetime) -> TargetView:
    """A new target; what is mounted there now on each node is what every run must find.

    Raises:
        PathRefusedError: the path is not one that runs may write below.
        NodeNotFoundError: a node is not in the cluster.
        PathNotApprovedError: a node does not let runs write there.
        NothingMountedError: a node has not announced a file system there.
        TargetNameTakenError: a living target of the cluster has the name.
    """
    clusters.cluster(session, principal, plan.cluster_id, Role.OPERATOR)
    path = clean_path(plan.path)
    nodes = clusters.nodes_by_id(session, plan.cluster_id, plan.node_ids, field="nodes")
    created = Target(
        cluster_id=plan.cluster_id,
        name=plan.name,
        path=path,
        scope=plan.scope,
        reserve_bytes=plan.reserve_bytes,
        owner_id=principal.user_id,
    )
    try:
        with session.begin_nested():
            session.add(created)
    except IntegrityError as error:
        raise TargetNameTakenError(plan.name) from error
    session.add_all(_freeze(created, node, now) for node in nodes)
    after: Json = {"name": plan.name, "path": path, "scope": plan.scope, "nodes": [node.name for node in nodes]}
    _tell(session, principal, Action("target_created", "target", created.id, created.cluster_id, after=after))
    return _views(session, [created])[0]


def change_target(session: Session, principal: Principal, target_id: int, changes: Json) -> TargetView:
    """The target with another name or reserve; no changes leave no trace.

    Raises:
        TargetNotFoundError: there is none that the caller may see, or it is retired.
        TargetNameTakenError: a living target of the cluster has the name.
    """
    changed = _own_target(session, principal, target_id)
    if not changes:
        return _views(session, [changed])[0]
    before = {field: getattr(changed, field) for field in changes}
    try:
        with session.begin_nested():
            for field, value in changes.items():
                setattr(changed, field, value)
    except IntegrityError as error:
        raise TargetNameTakenError(changes["name"]) from error
    _tell(
        session,
        principal,
        Action("target_changed", "target", changed.id, changed.cluster_id, before=before, after=changes),
    )
    return _views(session, [changed])[0]


def mount_on(
    session: Session, principal: Principal, target_id: int, node_ids: Sequence[int], now: datetime
) -> TargetView:
    """The target on exactly these nodes, each mount taken as it is now; this accepts a mount that has changed.

    Raises:
        TargetNotFoundError: there is none that the caller may see, or it is retired.
        TargetBusyError: runs load it on a node that would be left out.
        NodeNotFoundError, PathNotApprovedError, NothingMountedError: as `create_target`.
    """
    changed = _own_target(session, principal, target_id)
    nodes = clusters.nodes_by_id(session, changed.cluster_id, node_ids, field="nodes")
    mounts = {found.mount.node_id: found for found in repository.mounts_of(session, [target_id])[target_id]}
    left_out = set(mounts) - {node.id for node in nodes}
    run_count = repository.runs_that_load(session, target_id, left_out)
    if run_count:
        raise TargetBusyError(changed.name, run_count)
    for found in mounts.values():
        session.delete(found.mount)
    session.flush()
    session.add_all(_freeze(changed, node, now) for node in nodes)
    before = {"mounts": [_shown(found.node_name, found.mount) for found in mounts.values()]}
    view = _views(session, [changed])[0]
    after = {"mounts": [_shown(found.node_name, found.mount) for found in view.mounts]}
    _tell(
        session,
        principal,
        Action("target_mounted", "target", changed.id, changed.cluster_id, before=before, after=after),
    )
    return view


def retire_target(session: Session, principal: Principal, target_id: int, now: datetime) -> None:
    """No new run loads the target; its results stay.

    Raises:
        TargetNotFoundError: there is none that the caller may see, or it is retired.
        TargetBusyError: runs wait for it or are active on it.
    """
    retired = _own_target(session, principal, target_id)
    run_count = repository.runs_that_load(session, target_id)
    if run_count:
        raise TargetBusyError(retired.name, run_count)
    retired.retired_at = now
    _tell(
        session,
        principal,
        Action("target_retired", "target", retired.id, retired.cluster_id, before={"name": retired.name}),
    )


def _freeze(guarded: Target, node: Node, now: datetime) -> TargetMount:
    """The target's mount on the node as the agent announced it last."""
    if not is_approved(guarded.path, node.approved_directories):
        raise PathNotApprovedError(guarded.path, node.name, node.approved_directories)
    mount = mount_of(guarded.path, map(MountFacts.model_validate, node.mounts))
    if mount is None:
        raise NothingMountedError(guarded.path, node.name)
    return TargetMount(
        target_id=guarded.id,
        node_id=node.id,
        path=guarded.path,
        mount_options=mount.mount_options,
        total_bytes=mount.total_bytes,
        free_bytes=mount.free_bytes,
        seen_at=now,
        **asdict(Frozen.of(mount)),
    )


def _own_target(session: Session, principal: Principal, target_id: int) -> Target:
    found = repository.locked_target(session, target_id)
    missing = TargetNotFoundError(target_id)
    if found is None or found.retired_at is not None:
        raise missing
    principal.require(Role.OPERATOR, found.cluster_id, missing)
    return found


def _views(session: Session, targets: Collection[Target]) -> list[TargetView]:
    mounts = repository.mounts_of(session, [found.id for found in targets])
    return [TargetView(found, mounts.get(found.id, [])) for found in targets]


def _shown(node_name: str, mount: TargetMount) -> Json:
    return {"node": node_name, "fstype": mount.fstype, "source": mount.source}


def _tell(session: Session, principal: Principal, action: Action) -> None:
    audit.record(session, principal, action)
    live.publish(session, "target", action.subject_id, action.cluster_id)
