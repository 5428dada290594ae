"""SQL of targets and of the runs that need one."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy import ColumnElement, select, text
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Drain, Node
from iotide_server.kit.db import any_of, any_text_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.kit.web import Output
from iotide_server.targets.models import Target, TargetBacking, TargetMount


@dataclass(frozen=True, slots=True)
class MountOnNode:
    node_name: str
    mount: TargetMount


class StuckWriterOutput(Output):
    """Load that no signal can kill and that may still write to the target."""

    node_id: int
    node_name: Annotated[str, Field(examples=["node07"])]
    run_id: int
    process: Annotated[str, Field(examples=["dd (pid 25760) in state D, waiting in percpu_rwsem_wait"])]
    since: datetime


@dataclass(frozen=True, slots=True)
class TargetView:
    target: Target
    mounts: Sequence[MountOnNode]
    backed_by: Sequence[tuple[int, str]]  # ids and names of the storage nodes' targets that back it
    drain: Drain | None
    stuck: Sequence[StuckWriterOutput]


_ON_TARGETS: Final = select(Target, TargetMount).join(TargetMount, TargetMount.target_id == Target.id)
_ON_NODES: Final = (
    select(Target, Node, TargetMount)
    .join(TargetMount, TargetMount.target_id == Target.id)
    .join(Node, Node.id == TargetMount.node_id)
)
_STUCK: Final = text(
    """
    SELECT cell_target.target_id, node_order.node_id, node.name AS node_name, node_order.run_id,
           node_order.phase AS process, node_order.stuck_since AS since
    FROM node_order JOIN node ON node.id = node_order.node_id
    JOIN run ON run.id = node_order.run_id JOIN cell_target USING (cell_id)
    WHERE node_order.stuck_since IS NOT NULL AND cell_target.target_id = ANY(:target_ids) ORDER BY node_order.id
    """
)


def stuck_writers(session: Session, target_ids: Collection[int]) -> Mapping[int, list[StuckWriterOutput]]:
    by_target: defaultdict[int, list[StuckWriterOutput]] = defaultdict(list)
    for row in session.execute(_STUCK, {"target_ids": list(target_ids)}):
        by_target[row.target_id].append(StuckWriterOutput.model_validate(row))
    return by_target


def targets(
    session: Session, visible: frozenset[int] | None, cluster_id: int | None, paging: PageRequest, *, retired: bool
) -> Slice[Target]:
    statement = select(Target).where(Target.retired_at.is_not(None) if retired else Target.retired_at.is_(None))
    statement = statement.where(*in_clusters(Target.cluster_id, visible, cluster_id))
    return newest_first(session, statement, Target.id, paging)


def mounts_of(session: Session, target_ids: Collection[int]) -> Mapping[int, list[MountOnNode]]:
    statement = (
        select(TargetMount, Node.name)
        .join(Node, Node.id == TargetMount.node_id)
        .where(TargetMount.target_id == any_of(target_ids))
        .order_by(Node.name)
    )
    by_target: defaultdict[int, list[MountOnNode]] = defaultdict(list)
    for mount, node_name in session.execute(statement):
        by_target[mount.target_id].append(MountOnNode(node_name, mount))
    return by_target


def mounts_with_nodes(session: Session, *which: ColumnElement[bool]) -> list[tuple[Target, Node, TargetMount]]:
    living = _ON_NODES.where(Target.retired_at.is_(None), Node.retired_at.is_(None), *which)
    return [(target, node, mount) for target, node, mount in session.execute(living.order_by(Target.name, Node.name))]


def announced_mounts(
    session: Session, target_ids: Collection[int], most: int | None = None
) -> list[tuple[Target, Node, TargetMount]]:
    statement = _ON_NODES.where(Target.id == any_of(target_ids)).order_by(Target.id, Node.name).limit(most)
    return [(target, node, mount) for target, node, mount in session.execute(statement)]


def living_mounts(session: Session, *which: ColumnElement[bool]) -> list[tuple[Target, TargetMount]]:
    statement = _ON_TARGETS.where(Target.retired_at.is_(None), *which).order_by(Target.id, TargetMount.node_id)
    return [(target, mount) for target, mount in session.execute(statement)]


def backings(session: Session, target_ids: Collection[int] | None = None) -> list[TargetBacking]:
    statement = select(TargetBacking).order_by(TargetBacking.target_id, TargetBacking.backing_id)
    if target_ids is not None:
        statement = statement.where(TargetBacking.target_id == any_of(target_ids))
    return list(session.scalars(statement))


def named(session: Session, target_ids: Collection[int]) -> dict[int, str]:
    statement = select(Target.id, Target.name).where(Target.id == any_of(target_ids))
    return dict(session.execute(statement).all())


def named_living(session: Session, target_ids: Collection[int]) -> dict[int, str]:
    statement = select(Target.id, Target.name).where(Target.id == any_of(target_ids), Target.retired_at.is_(None))
    return dict(session.execute(statement).all())


def lock_living_targets(session: Session, cluster_id: int) -> dict[int, Target]:
    statement = (
        select(Target)
        .where(Target.cluster_id == cluster_id, Target.retired_at.is_(None))
        .order_by(Target.id)
        .with_for_update(key_share=True)
    )
    return {target.id: target for target in session.scalars(statement)}


def mounts_for_order(
    session: Session, node_id: int, target_ids: Collection[int]
) -> dict[int, tuple[Target, TargetMount]]:
    statement = _ON_TARGETS.where(TargetMount.node_id == node_id, Target.id == any_of(target_ids))
    return {target.id: (target, mount) for target, mount in session.execute(statement)}


def living_targets_by_name(session: Session, cluster_id: int, names: Collection[str]) -> dict[str, Target]:
    """Return the cluster's targets with these names, locked against retirement."""
    statement = (
        select(Target)
        .where(Target.cluster_id == cluster_id, Target.name == any_text_of(names), Target.retired_at.is_(None))
        .order_by(Target.id)
        .with_for_update(read=True, key_share=True)
    )
    return {target.name: target for target in session.scalars(statement)}


def living_target_names(session: Session, cluster_id: int) -> set[str]:
    statement = select(Target.name).where(Target.cluster_id == cluster_id, Target.retired_at.is_(None))
    return set(session.scalars(statement))


def locked_target(session: Session, target_id: int) -> Target | None:
    return session.scalar(select(Target).where(Target.id == target_id).with_for_update())


def locked_target_at(session: Session, cluster_id: int, node_id: int, path: str) -> Target | None:
    """Return the newest target of scope `node` at this path of the node, living or retired, locked."""
    statement = (
        select(Target)
        .join(TargetMount, TargetMount.target_id == Target.id)
        .where(Target.cluster_id == cluster_id, Target.scope == "node")
        .where(TargetMount.node_id == node_id, TargetMount.path == path)
        .order_by(Target.retired_at.is_(None).desc(), Target.id.desc())
        .limit(1)
        .with_for_update(of=Target)
    )
    return session.scalar(statement)


def runs_that_load(session: Session, target_id: int, node_ids: Collection[int] | None = None) -> int:
    statement = text(
        "SELECT count(*) FROM run JOIN cell_target ct ON ct.cell_id = run.cell_id"
        " WHERE ct.target_id = :target_id AND run.state IN ('waiting', 'active')"
        " AND (CAST(:node_ids AS bigint[]) IS NULL OR EXISTS (SELECT FROM cell_node cn"
        " WHERE cn.cell_id = run.cell_id AND cn.step_role IS DISTINCT FROM 'sender'"
        " AND cn.node_id = ANY(CAST(:node_ids AS bigint[]))))"
    )
    given = None if node_ids is None else list(node_ids)
    run_count: int = session.scalars(statement, {"target_id": target_id, "node_ids": given}).one()
    return run_count
