"""SQL of node tokens, Redis passwords and pending nodes."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete, or_, select, text
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node, PendingNode
from iotide_server.kit.db import any_of
from iotide_server.kit.pagination import PageRequest, Slice, newest_first

_WANT_ROTATION: Final = text(
    """
    UPDATE node SET rotation_wanted_at = :now
    FROM cluster
    WHERE cluster.id = node.cluster_id AND cluster.origin = 'own' AND node.credentials_at < :older_than
      AND node.retired_at IS NULL AND node.revoked_at IS NULL AND node.rotation_wanted_at IS NULL
      AND node.wire_version >= :wire_version
      AND NOT EXISTS (SELECT FROM node_order WHERE node_id = node.id AND state <> 'ended')
    """
)


class KnownNode(NamedTuple):
    """Columns for every request of a node's agent, without long announcements."""

    id: int
    name: str
    wire_version: int | None


_IS_TRUSTED: Final = Node.retired_at.is_(None) & Node.revoked_at.is_(None)
_BY_TOKEN: Final = select(Node.id, Node.name, Node.wire_version).where(
    _IS_TRUSTED, Node.token_sha256 == bindparam("token_sha256")
)


def node_by_token(session: Session, token_sha256: str) -> KnownNode | None:
    row = session.execute(_BY_TOKEN, {"token_sha256": token_sha256}).one_or_none()
    return None if row is None else KnownNode(*row)


def node_by_any_token(session: Session, token_sha256: str) -> Node | None:
    either = or_(Node.token_sha256 == token_sha256, Node.next_token_sha256 == token_sha256)
    return session.scalar(select(Node).where(_IS_TRUSTED, either).with_for_update())


def want_rotation(session: Session, older_than: datetime, wire_version: int, now: datetime) -> None:
    values = {"older_than": older_than, "wire_version": wire_version, "now": now}
    session.execute(_WANT_ROTATION, values)


def next_node_id(session: Session) -> int:
    return int(session.execute(text("SELECT nextval(pg_get_serial_sequence('node', 'id'))")).scalar_one())


def pending_by_token(session: Session, token_sha256: str, now: datetime) -> PendingNode | None:
    return session.scalar(
        select(PendingNode).where(PendingNode.token_sha256 == token_sha256, PendingNode.expires_at > now)
    )


def pending_of(session: Session, cluster_id: int, now: datetime, paging: PageRequest) -> Slice[PendingNode]:
    statement = select(PendingNode).where(PendingNode.cluster_id == cluster_id, PendingNode.expires_at > now)
    return newest_first(session, statement, PendingNode.id, paging)


def locked_pending(
    session: Session, cluster_id: int, pending_ids: Collection[int], now: datetime
) -> dict[int, PendingNode]:
    statement = (
        select(PendingNode)
        .where(
            PendingNode.id == any_of(pending_ids), PendingNode.cluster_id == cluster_id, PendingNode.expires_at > now
        )
        .order_by(PendingNode.id)
        .with_for_update()
    )
    return {found.id: found for found in session.scalars(statement)}


def take_expired(session: Session, now: datetime) -> Sequence[PendingNode]:
    return session.scalars(delete(PendingNode).where(PendingNode.expires_at <= now).returning(PendingNode)).all()
