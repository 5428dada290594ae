"""SQL of drains; only what is drained has a row."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, select, text
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Drain
from iotide_server.kit.db import any_of, array_of
from iotide_server.kit.wake import DRAIN_LOCK

_NAMED = text(
    """
    SELECT drain.*, coalesce(node.name, target.name, cluster.name, 'everything') AS name
    FROM drain
    LEFT JOIN node ON kind = 'node' AND node.id = subject_id
    LEFT JOIN target ON kind = 'target' AND target.id = subject_id
    LEFT JOIN cluster ON kind = 'cluster' AND cluster.id = subject_id
    WHERE (drain.cluster_id IS NULL OR CAST(:visible AS bigint[]) IS NULL OR drain.cluster_id = ANY(:visible))
      AND (drain.cluster_id IS NULL OR CAST(:cluster_id AS bigint) IS NULL OR drain.cluster_id = :cluster_id)
    ORDER BY array_position(ARRAY['all', 'cluster', 'node', 'target'], kind), name
    """
)


def stop_starts(session: Session) -> None:
    """Wait for starts in progress, and block new ones until the transaction ends."""
    session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": DRAIN_LOCK})


def drain_of(session: Session, kind: str, subject_id: int) -> Drain | None:
    statement = select(Drain).where(Drain.kind == kind, Drain.subject_id == subject_id)
    return session.scalar(statement.with_for_update())


def drains_of(session: Session, kind: str, subject_ids: Collection[int]) -> Mapping[int, Drain]:
    statement = select(Drain).where(Drain.kind == kind, Drain.subject_id == any_of(subject_ids))
    return {drain.subject_id: drain for drain in session.scalars(statement)}


def forget(session: Session, kind: str, subject_id: int) -> None:
    session.execute(delete(Drain).where(Drain.kind == kind, Drain.subject_id == subject_id))


def end_due(session: Session, now: datetime) -> Sequence[Row[str, int, int | None]]:
    ended = delete(Drain).where(Drain.until <= now).returning(Drain.kind, Drain.subject_id, Drain.cluster_id)
    return session.execute(ended).all()


def named_drains(session: Session, visible: frozenset[int] | None, cluster_id: int | None) -> Sequence[Row[Any]]:
    values = {"visible": array_of(visible), "cluster_id": cluster_id}
    return session.execute(_NAMED, values).all()
