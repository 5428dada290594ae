"""Removes clusters without machines and all their rows, in present and future tables."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, delete, select, text
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import any_of
from iotide_server.tables import metadata

_AUDIT: Final = "audit_entry"  # keeps entries of removed clusters

_SHARED: Final = "workload"
"""Some rows have no cluster, so a reference does not show that a row belongs to one."""

_FORGET_WORK: Final = text(
    """
    DELETE FROM work
    WHERE (kind IN ('analysis', 'alerts') AND key IN (SELECT id FROM series WHERE cluster_id = ANY(:clusters)))
       OR (kind = 'points' AND key IN (SELECT cell.id FROM cell JOIN campaign ON campaign.id = cell.campaign_id
                                       WHERE cluster_id = ANY(:clusters)))
       OR (kind IN ('peers', 'rounds') AND key IN (SELECT id FROM campaign WHERE cluster_id = ANY(:clusters)))
       OR (kind = 'events' AND key IN (SELECT id FROM event WHERE cluster_id = ANY(:clusters)))
    """
)
_ENVIRONMENTS: Final = text("SELECT DISTINCT environment_sha256 FROM run WHERE cluster_id = ANY(:clusters)")
_FORGET_ENVIRONMENTS: Final = text(
    """
    DELETE FROM environment WHERE sha256 = ANY(:digests)
      AND NOT EXISTS (SELECT FROM run WHERE environment_sha256 = sha256)
      AND NOT EXISTS (SELECT FROM node_order WHERE environment_sha256 = sha256)
    """
)
# Workloads of these clusters that no other node has announced since.
_FORGET_WORKLOADS: Final = text(
    """
    DELETE FROM workload WHERE first_seen_at = ANY(:founded)
      AND NOT EXISTS (SELECT FROM node_workload WHERE workload_id = workload.id)
      AND NOT EXISTS (SELECT FROM cell WHERE workload_id = workload.id)
    RETURNING name
    """
)
_FORGET_BASELINES: Final = text(
    """
    DELETE FROM workload_baseline AS baseline
    WHERE NOT EXISTS (
        SELECT FROM workload WHERE workload.name || coalesce('@' || workload.cluster_id, '') = baseline.name
    )
    """
)


def forget_work(session: Session, cluster_ids: list[int]) -> int:
    """Delete pending work for these clusters. Return the number of rows."""
    return _rows(session, _FORGET_WORK, {"clusters": cluster_ids})


def forget_clusters(session: Session, principal: Principal, clusters: Sequence[Cluster], kind: str) -> int:
    """Remove clusters with all their rows except audit entries (`kind`). Return the number of rows."""
    for cluster in clusters:
        audit.record(session, principal, Action(kind, "cluster", cluster.id, None, before={"name": cluster.name}))
    session.flush()
    count = _forget(session, [cluster.id for cluster in clusters], [cluster.created_at for cluster in clusters])
    for cluster in clusters:
        live.publish(session, "cluster", cluster.id, cluster.id)
    return count


def _forget(session: Session, cluster_ids: list[int], founded: list[datetime]) -> int:
    named = {"clusters": cluster_ids}
    digests = list(session.scalars(_ENVIRONMENTS, named))
    count = forget_work(session, cluster_ids)
    for table in reversed(metadata.sorted_tables):
        belongs = _belongs(table, cluster_ids)
        if belongs is not None:
            count += _rows(session, delete(table).where(belongs))
    count += _rows(session, _FORGET_ENVIRONMENTS, {"digests": digests})
    names = list(session.scalars(_FORGET_WORKLOADS, {"founded": founded}))
    return count + len(names) + _rows(session, _FORGET_BASELINES)


def _belongs(table: Table, cluster_ids: Collection[int]) -> ColumnElement[bool] | None:
    """Return a condition for rows of the clusters, by their own column or a parent row."""
    if table.name == _AUDIT:
        return None
    if table.name == Cluster.__tablename__:
        return table.c.id == any_of(cluster_ids)
    if "cluster_id" in table.c:
        return table.c.cluster_id == any_of(cluster_ids)
    for key in table.foreign_keys:
        if key.column.table.name == _SHARED:
            continue
        of_parent = None if key.parent.nullable else _belongs(key.column.table, cluster_ids)
        if of_parent is not None:
            return key.parent.in_(select(key.column).where(of_parent))
    return None


def _rows(session: Session, statement: Any, values: dict[str, Any] | None = None) -> int:  # noqa: ANN401 - a DELETE
    return int(session.connection().execute(statement, values or {}).rowcount)
