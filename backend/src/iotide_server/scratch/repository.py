"""SQL of scratch sets."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.kit.db import any_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.scratch.models import KnownSet


@dataclass(frozen=True, slots=True)
class SetFilter:
    visible: frozenset[int] | None  # clusters; None: all
    cluster_id: int | None
    node_id: int | None


def sets(session: Session, wanted: SetFilter, paging: PageRequest) -> Slice[KnownSet]:
    """Return sets of nodes that are not retired, newest first."""
    statement = select(KnownSet).join(Node, Node.id == KnownSet.node_id).where(Node.retired_at.is_(None))
    statement = statement.where(*in_clusters(KnownSet.cluster_id, wanted.visible, wanted.cluster_id))
    if wanted.node_id is not None:
        statement = statement.where(KnownSet.node_id == wanted.node_id)
    return newest_first(session, statement, KnownSet.id, paging)


def locked_set(session: Session, set_id: int) -> KnownSet | None:
    statement = select(KnownSet).where(KnownSet.id == set_id).with_for_update()
    return session.scalar(statement, execution_options={"populate_existing": True})


def locked_sets_of(session: Session, node_id: int) -> list[KnownSet]:
    statement = select(KnownSet).where(KnownSet.node_id == node_id).order_by(KnownSet.id).with_for_update()
    return list(session.scalars(statement, execution_options={"populate_existing": True}))


def set_named(session: Session, cluster_id: int, node_name: str, name: str) -> KnownSet | None:
    """Return the set of a living node of the cluster."""
    statement = (
        select(KnownSet)
        .join(Node, Node.id == KnownSet.node_id)
        .where(Node.cluster_id == cluster_id, Node.name == node_name, Node.retired_at.is_(None))
        .where(KnownSet.name == name)
    )
    return session.scalar(statement)


def node_names(session: Session, node_ids: Collection[int]) -> dict[int, str]:
    return dict(session.execute(select(Node.id, Node.name).where(Node.id == any_of(node_ids))).all())
