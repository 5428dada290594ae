"""SQL of clusters and nodes, including other modules' tables that a node's page shows."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Row, TextClause, delete, func, select, text, update
from sqlalchemy.orm import Session
from sqlalchemy.types import String

from iotide_server.clusters.models import Blackout, Cluster, JoinToken, Node, NodeHeartbeat
from iotide_server.clusters.views import (
    CLOCK_LIMIT_SECONDS,
    SILENT_AFTER,
    ActiveOrderOutput,
    NodeState,
    NodeWorkloadOutput,
    Origin,
)
from iotide_server.kit.db import any_of, any_text_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.kit.people import are_shown
from iotide_server.kit.web import Output
from iotide_wire.nodes import ClockReading

ShownT = TypeVar("ShownT", bound=Output)


def clusters(session: Session, visible: frozenset[int] | None, paging: PageRequest) -> Slice[Cluster]:
    statement = select(Cluster).where(*in_clusters(Cluster.id, visible))
    return newest_first(session, statement, Cluster.id, paging)


def cluster_by_name(session: Session, name: str) -> Cluster | None:
    return session.scalar(select(Cluster).where(Cluster.name == name))


def cluster_names(session: Session, visible: frozenset[int] | None) -> set[str]:
    return set(session.scalars(select(Cluster.name).where(*in_clusters(Cluster.id, visible))))


def names_of(session: Session, cluster_ids: Collection[int]) -> Mapping[int, str]:
    return dict(session.execute(select(Cluster.id, Cluster.name).where(Cluster.id == any_of(cluster_ids))).all())


def blackouts(session: Session, cluster_id: int, now: datetime, paging: PageRequest) -> Slice[Blackout]:
    statement = select(Blackout).where(Blackout.cluster_id == cluster_id, Blackout.ends_at > now)
    return newest_first(session, statement, Blackout.id, paging)


def join_tokens(session: Session, cluster_id: int, now: datetime, paging: PageRequest) -> Slice[JoinToken]:
    statement = select(JoinToken).where(
        JoinToken.cluster_id == cluster_id, JoinToken.uses_left > 0, JoinToken.expires_at > now
    )
    return newest_first(session, statement, JoinToken.id, paging)


def use_join_token(session: Session, secret_sha256: str, now: datetime) -> JoinToken | None:
    return session.scalar(
        update(JoinToken)
        .where(JoinToken.secret_sha256 == secret_sha256, JoinToken.uses_left > 0, JoinToken.expires_at > now)
        .values(uses_left=JoinToken.uses_left - 1)
        .returning(JoinToken)
    )


def nodes(
    session: Session,
    visible: frozenset[int] | None,
    cluster_id: int | None,
    in_state: ColumnElement[bool] | None,
    paging: PageRequest,
) -> Slice[Node]:
    statement = select(Node).outerjoin(NodeHeartbeat, NodeHeartbeat.node_id == Node.id)
    statement = statement.where(*in_clusters(Node.cluster_id, visible, cluster_id))
    if in_state is not None:
        statement = statement.where(in_state)
    return newest_first(session, statement, Node.id, paging)


def problems(session: Session, node_ids: Collection[int]) -> dict[int, str]:
    words = func.worded(Node.problem, Node.problem_actor, are_shown(), type_=String)
    statement = select(Node.id, words).where(Node.id == any_of(node_ids), Node.problem.is_not(None))
    return dict(session.execute(statement).all())


def is_in_state(state: NodeState, now: datetime) -> ColumnElement[bool]:
    living = Node.retired_at.is_(None)
    is_sample = Node.cluster_id.in_(select(Cluster.id).where(Cluster.origin == Origin.SAMPLE_DATA))
    trusted = living & ~is_sample & Node.revoked_at.is_(None)
    match state:
        case NodeState.RETIRED:
            return Node.retired_at.is_not(None)
        case NodeState.REVOKED:
            return living & ~is_sample & Node.revoked_at.is_not(None)
        case NodeState.SAMPLE_DATA:
            return living & is_sample
        case NodeState.NEVER_SEEN:
            return trusted & NodeHeartbeat.seen_at.is_(None)
        case NodeState.ONLINE | NodeState.STUCK:
            is_stuck = Node.stuck.is_not(None) if state is NodeState.STUCK else Node.stuck.is_(None)
            return trusted & (NodeHeartbeat.seen_at >= now - SILENT_AFTER) & is_stuck
        case NodeState.SILENT:
            return trusted & (NodeHeartbeat.seen_at < now - SILENT_AFTER)


_LINES: Final = text(
    """
    SELECT node.id, node.name, node.role, node.agent_version, node.wire_version, node.revoked_at, seen_at, node.stuck,
           worded(node.problem, node.problem_actor, :with_names) AS problem,
           abs(clock_offset_seconds) - clock_uncertainty_seconds > :clock_limit AS clock_is_off,
           jsonb_build_object('cpu.count', facts -> 'cpu.count', 'memory.total_bytes', facts -> 'memory.total_bytes',
                              'kernel.release', facts -> 'kernel.release') AS facts
    FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.cluster_id = :cluster_id AND node.retired_at IS NULL AND node.id < :before_id
    ORDER BY node.id DESC LIMIT :limit + 1
    """
)
"""Leaves out long announcements, because pages poll this for thousands of nodes."""


def node_lines(session: Session, cluster_id: int, paging: PageRequest) -> Slice[Row[Any]]:
    values = {"cluster_id": cluster_id, "before_id": paging.before_id, "limit": paging.limit}
    rows = session.execute(_LINES, {**values, "clock_limit": CLOCK_LIMIT_SECONDS, "with_names": are_shown()}).all()
    return paging.cut(rows, key=lambda row: int(row.id))


def living_nodes_by_name(session: Session, cluster_id: int, names: Collection[str]) -> dict[str, Node]:
    """Return the cluster's nodes with these names, locked against retirement."""
    return {node.name: node for node in _kept(session, cluster_id, Node.name == any_text_of(names))}


def living_nodes_by_id(session: Session, cluster_id: int, node_ids: Collection[int]) -> dict[int, Node]:
    return {node.id: node for node in _kept(session, cluster_id, Node.id == any_of(node_ids))}


def _kept(session: Session, cluster_id: int, are_wanted: ColumnElement[bool]) -> Iterable[Node]:
    statement = select(Node).where(Node.cluster_id == cluster_id, Node.retired_at.is_(None), are_wanted)
    return session.scalars(statement.order_by(Node.id).with_for_update(read=True, key_share=True))


def living_nodes_of(session: Session, cluster_id: int) -> list[Node]:
    statement = select(Node).where(Node.cluster_id == cluster_id, Node.retired_at.is_(None)).order_by(Node.name)
    return list(session.scalars(statement))


def living_node_names(session: Session, cluster_id: int) -> set[str]:
    return set(session.scalars(select(Node.name).where(Node.cluster_id == cluster_id, Node.retired_at.is_(None))))


def living_node(session: Session, node_id: int) -> Node | None:
    return session.scalar(select(Node).where(Node.id == node_id, Node.retired_at.is_(None)))


def locked_node(session: Session, node_id: int) -> Node | None:
    statement = select(Node).where(Node.id == node_id).with_for_update()
    # While this waited for the lock, the node may have been revoked.
    return session.scalar(statement, execution_options={"populate_existing": True})


def living_real_nodes(session: Session) -> Collection[Node]:
    real = (
        select(Node)
        .join(Cluster, Cluster.id == Node.cluster_id)
        .where(Node.retired_at.is_(None), Node.revoked_at.is_(None), Cluster.origin == Origin.OWN)
    )
    return session.scalars(real.order_by(Node.id)).all()


def origins(session: Session, cluster_ids: Collection[int]) -> dict[int, str]:
    rows = session.execute(select(Cluster.id, Cluster.origin).where(Cluster.id == any_of(cluster_ids)))
    return {row.id: row.origin for row in rows}


def last_seen(session: Session, node_ids: Collection[int]) -> Mapping[int, datetime]:
    return {node_id: heartbeat.seen_at for node_id, heartbeat in last_heartbeats(session, node_ids).items()}


def last_heartbeats(session: Session, node_ids: Collection[int]) -> Mapping[int, NodeHeartbeat]:
    rows = session.scalars(select(NodeHeartbeat).where(NodeHeartbeat.node_id == any_of(node_ids)))
    return {heartbeat.node_id: heartbeat for heartbeat in rows}


def lock_last_seen(session: Session, node_id: int) -> datetime | None:
    statement = select(NodeHeartbeat.seen_at).where(NodeHeartbeat.node_id == node_id)
    return session.scalar(statement.with_for_update())


@dataclass(frozen=True, slots=True)
class KnownAgent:
    agent_instance: str | None
    cluster_id: int
    seen_at: datetime | None
    look: int | None  # number of an unanswered request to probe
    rotation_wanted: bool
    node_count: float  # nodes ever seen, as estimated by the database's statistics
    problem: str | None


_WRITE_OWN_PROBLEM: Final = text(
    """
    UPDATE node SET problem = CAST(:problem AS text)
    WHERE id = (SELECT id FROM node
                WHERE id = :node_id AND revoked_at IS NULL AND declared_dead_at IS NULL
                  AND (problem IS NULL OR starts_with(problem, :prefix))
                  AND problem IS DISTINCT FROM CAST(:problem AS text)
                FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING id
    """
)


class HeartbeatFacts(NamedTuple):
    clock: ClockReading | None
    spool_bytes: int | None
    curve_bytes: int = 0


def heartbeat(
    session: Session, node_id: int, agent_instance: str, reported: HeartbeatFacts, now: datetime
) -> KnownAgent:
    """Record a heartbeat of the node's current agent, in one statement because it is frequent."""
    row = session.execute(
        text(
            "WITH known AS (SELECT n.id, n.agent_instance, n.cluster_id, b.seen_at,"
            " CASE WHEN n.look_asked > n.look_answered THEN n.look_asked END AS look,"
            " n.rotation_wanted_at IS NOT NULL AS rotation_wanted, n.problem,"
            # An exact count would cost more than the rest of the heartbeat.
            " (SELECT reltuples FROM pg_class WHERE oid = CAST('node_beat' AS regclass)) AS node_count"
            " FROM node n LEFT JOIN node_beat b ON b.node_id = n.id WHERE n.id = :node_id),"
            " heard AS (INSERT INTO node_beat (node_id, seen_at, clock_offset_seconds, clock_uncertainty_seconds,"
            " spool_bytes, raw_on, raw_bytes)"
            " SELECT id, :now, CAST(:offset AS double precision), CAST(:uncertainty AS double precision),"
            " CAST(:spool_bytes AS bigint),"
            " CASE WHEN :curve_bytes > 0 THEN CAST(now() AT TIME ZONE 'UTC' AS date) END,"
            " CAST(:curve_bytes AS bigint) FROM known WHERE agent_instance = :agent_instance"
            " ON CONFLICT (node_id) DO UPDATE SET seen_at = GREATEST(node_beat.seen_at, excluded.seen_at),"
            " clock_offset_seconds = excluded.clock_offset_seconds,"
            " clock_uncertainty_seconds = excluded.clock_uncertainty_seconds, spool_bytes = excluded.spool_bytes,"
            # The later day wins. Without curves `excluded.raw_on` is NULL, and nothing changes.
            " raw_on = GREATEST(excluded.raw_on, node_beat.raw_on), raw_bytes ="
            " CASE WHEN excluded.raw_on < node_beat.raw_on THEN 0 ELSE excluded.raw_bytes END +"
            " CASE WHEN excluded.raw_on > node_beat.raw_on THEN 0 ELSE node_beat.raw_bytes END)"
            " SELECT agent_instance, cluster_id, seen_at, look, rotation_wanted, node_count, problem FROM known"
        ),
        {
            "node_id": node_id,
            "agent_instance": agent_instance,
            "now": now,
            "offset": reported.clock and reported.clock.offset_seconds,
            "uncertainty": reported.clock and reported.clock.uncertainty_seconds,
            "spool_bytes": reported.spool_bytes,
            "curve_bytes": reported.curve_bytes,
        },
    ).one()
    return KnownAgent(*row)


def write_own_problem(session: Session, node_id: int, problem: str | None, prefix: str) -> bool:
    """Record a problem reported by a node's agent, unless it has another one. Return whether it changed."""
    # Leave a locked row to the next heartbeat, so that heartbeats never wait.
    values = {"node_id": node_id, "problem": problem, "prefix": prefix}
    return session.execute(_WRITE_OWN_PROBLEM, values).one_or_none() is not None


def want_look(session: Session, node_ids: Collection[int]) -> None:
    """Ask these nodes to probe again. Probes that began earlier do not count."""
    session.execute(update(Node).where(Node.id == any_of(node_ids)).values(look_asked=Node.look_asked + 1))


def last_seen_between(session: Session, start: datetime, end: datetime) -> list[Row[int, int]]:
    statement = (
        select(Node.id, Node.cluster_id)
        .join(NodeHeartbeat, NodeHeartbeat.node_id == Node.id)
        .where(Node.retired_at.is_(None), NodeHeartbeat.seen_at > start, NodeHeartbeat.seen_at <= end)
    )
    return list(session.execute(statement))


def runs_that_need(session: Session, node_id: int) -> int:
    statement = text(
        "SELECT (SELECT count(*) FROM run JOIN cell_node USING (cell_id)"
        " WHERE cell_node.node_id = :node_id AND run.state = 'waiting')"
        " + (SELECT count(*) FROM node_order WHERE node_id = :node_id"
        "    AND (state <> 'ended' OR stuck_since IS NOT NULL))"
    )
    run_count: int = session.scalars(statement, {"node_id": node_id}).one()
    return run_count


def active_runs(session: Session, cluster_id: int) -> int:
    statement = text("SELECT count(*) FROM run WHERE cluster_id = :cluster_id AND state = 'active'")
    run_count: int = session.scalars(statement, {"cluster_id": cluster_id}).one()
    return run_count


def claimed_runs(session: Session, node_id: int) -> list[int]:
    statement = text(
        "SELECT DISTINCT run_id FROM node_order WHERE node_id = :node_id AND role = 'load'"
        " AND (state NOT IN ('offered', 'ended') OR stuck_since IS NOT NULL)"
    )
    return list(session.scalars(statement, {"node_id": node_id}))


def forget_heartbeat(session: Session, node_id: int) -> None:
    session.execute(delete(NodeHeartbeat).where(NodeHeartbeat.node_id == node_id))


def active_orders(session: Session, node_ids: Collection[int]) -> Mapping[int, list[ActiveOrderOutput]]:
    statement = text(
        "SELECT node_id, id AS order_id, run_id, state, progress, phase FROM node_order"
        " WHERE node_id = ANY(:node_ids) AND state <> 'ended' ORDER BY id"
    )
    return _by_node(session, statement, node_ids, ActiveOrderOutput)


def node_workloads(session: Session, node_ids: Collection[int]) -> Mapping[int, list[NodeWorkloadOutput]]:
    statement = text(
        "SELECT has.node_id, w.name, w.revision, has.tool_version, has.available, has.unavailable_because"
        " FROM node_workload has JOIN workload w ON w.id = has.workload_id"
        " WHERE has.node_id = ANY(:node_ids) ORDER BY w.name, w.revision"
    )
    return _by_node(session, statement, node_ids, NodeWorkloadOutput)


def _by_node(
    session: Session, statement: TextClause, node_ids: Collection[int], shown: type[ShownT]
) -> Mapping[int, list[ShownT]]:
    by_node: defaultdict[int, list[ShownT]] = defaultdict(list)
    for row in session.execute(statement, {"node_ids": list(node_ids)}):
        by_node[row.node_id].append(shown.model_validate(row))
    return by_node
