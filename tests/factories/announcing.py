"""Announces workloads for nodes of tests; the server judges them once per process.

Every other node gets copies of the rows of this announcement. Tests of announcements call `announce` of the server.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.workloads import service as workloads
from iotide_server.workloads.models import Workload
from iotide_wire.catalogue import WorkloadAnnouncement

_COLUMNS: Final = [column.name for column in Workload.__table__.columns if column.name not in {"id", "first_seen_at"}]
_IN_CLUSTER: Final = "regexp_replace({}, '@.*', '@' || CAST(:cluster_id AS text)) AS {}"
_OWN: Final = {
    "cluster_id": "CASE WHEN cluster_id IS NOT NULL THEN CAST(:cluster_id AS bigint) END AS cluster_id",
    "schema_sha256": _IN_CLUSTER.format("schema_sha256", "schema_sha256"),
    "announced_by": "CASE WHEN announced_by IS NOT NULL THEN CAST(:node_name AS text) END AS announced_by",
}
"""Columns that differ in another cluster, for workloads that iotide does not ship."""
_IS_EMPTY: Final = text("SELECT NOT EXISTS (SELECT FROM workload) AND NOT EXISTS (SELECT FROM workload_baseline)")
_READ: Final = text("""
    SELECT (SELECT json_agg(workload) FROM workload)::text AS workloads,
           (SELECT json_agg(workload_baseline) FROM workload_baseline)::text AS baselines,
           (
               SELECT json_agg(json_build_object('name', name, 'available', available,
                   'unavailable_because', unavailable_because, 'tool_version', tool_version))
               FROM node_workload JOIN workload ON workload.id = workload_id
               WHERE node_id = :node_id
           )::text AS on_node
""")
_STORE: Final = text(f"""
    WITH stored AS (
        INSERT INTO workload ({", ".join(_COLUMNS)})
        SELECT {", ".join(_OWN.get(name, name) for name in _COLUMNS)}
        FROM json_populate_recordset(NULL::workload, CAST(:workloads AS json))
        WHERE NOT EXISTS (SELECT FROM workload) AND NOT EXISTS (SELECT FROM workload_baseline)
        RETURNING id, name
    ), frozen AS (
        INSERT INTO workload_baseline (name, option_defaults)
        SELECT {_IN_CLUSTER.format("name", "name")}, option_defaults
        FROM json_populate_recordset(NULL::workload_baseline, CAST(:baselines AS json))
        WHERE EXISTS (SELECT FROM stored)
    )
    INSERT INTO node_workload (node_id, workload_id, available, unavailable_because, tool_version)
    SELECT :node_id, stored.id, available, unavailable_because, tool_version
    FROM stored JOIN json_to_recordset(CAST(:on_node AS json))
        AS has(name text, available boolean, unavailable_because text, tool_version text) USING (name)
""")  # noqa: S608 - column names of a model
_COPY: Final = text("""
    INSERT INTO node_workload (node_id, workload_id, available, unavailable_because, tool_version)
    SELECT :node_id, workload_id, available, unavailable_because, tool_version
    FROM node_workload WHERE node_id = :like_id
""")

_judged: dict[tuple[str, ...], dict[str, str]] = {}


def announce(
    session: Session, node: Node, announced: Sequence[WorkloadAnnouncement], absent_tools: tuple[str, ...]
) -> None:
    """Store the announcement of a new node.

    Args:
        absent_tools: tools that the node lacks.
    """
    judged = _judged.get(absent_tools)
    named = {"node_id": node.id, "node_name": node.name, "cluster_id": node.cluster_id}
    if judged is not None and _run(session, _STORE, **named, **judged):
        return
    is_empty = session.scalar(_IS_EMPTY)
    workloads.announce(session, node, announced)
    if is_empty:
        _judged[absent_tools] = dict(session.execute(_READ, {"node_id": node.id}).mappings().one())


def announce_like(session: Session, node: Node, like: Node) -> None:
    """Give a new node the workloads of another node of its cluster."""
    assert _run(session, _COPY, node_id=node.id, like_id=like.id)


def _run(session: Session, statement: Any, **values: object) -> int:  # noqa: ANN401 - a statement in words
    result = session.execute(statement, values)
    assert isinstance(result, CursorResult)
    return result.rowcount
