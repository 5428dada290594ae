"""SQL of clusters and nodes."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.pagination import PageRequest, Slice, newest_first


def clusters(session: Session, visible: frozenset[int] | None, paging: PageRequest) -> Slice[Cluster]:
    """The clusters among the visible ones (None: all), newest first."""
    statement = select(Cluster)
    if visible is not None:
        statement = statement.where(Cluster.id.in_(visible))
    return newest_first(session, statement, Cluster.id, paging)


def cluster_by_name(session: Session, name: str) -> Cluster | None:
    """The cluster with that name."""
    return session.scalar(select(Cluster).where(Cluster.name == name))


def live_node_by_token(session: Session, token_sha256: str) -> Node | None:
    """The node with that token, unless it was retired."""
    return session.scalar(select(Node).where(Node.token_sha256 == token_sha256, Node.retired_at.is_(None)))
