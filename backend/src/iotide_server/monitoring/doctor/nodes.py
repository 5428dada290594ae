"""Checks of nodes, by their agents' last reports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.agents.stuck import problem_of
from iotide_server.clusters.views import (
    CLOCK_LIMIT_SECONDS,
    AgentStanding,
    NodeClockOutput,
    NodeState,
    agent_standing,
    agent_state,
    node_clock,
)
from iotide_server.monitoring.doctor.findings import Finding, fine, note, some, warning, wrong
from iotide_wire.units import GIB, format_seconds

SPOOL_LIMIT_BYTES: Final = GIB  # default limit at which an agent declines further orders
_NEARLY_FULL: Final = 0.8
_SPEAKING: Final = frozenset({NodeState.ONLINE, NodeState.STUCK})
_SHUT_OUT: Final = frozenset({AgentStanding.TOO_OLD, AgentStanding.TOO_NEW})

_NODES: Final = text(
    """
    SELECT cluster.name || '/' || node.name AS name, node.agent_version, node.wire_version, node.problem, node.stuck,
           seen_at, clock_offset_seconds, clock_uncertainty_seconds, spool_bytes
    FROM node JOIN cluster ON cluster.id = node.cluster_id LEFT JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.retired_at IS NULL AND node.revoked_at IS NULL AND cluster.origin = 'own' ORDER BY 1
    """
)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Node that is neither retired nor revoked; `name` is `cluster/node`."""

    name: str
    state: NodeState
    version: str | None
    agent: AgentStanding
    problem: str | None
    clock: NodeClockOutput | None
    spool_bytes: int | None


def read_nodes(session: Session, now: datetime) -> list[NodeFacts]:
    return [
        NodeFacts(
            name=row.name,
            state=agent_state(row.seen_at, now, is_stuck=row.stuck is not None),
            version=row.agent_version,
            agent=agent_standing(row.wire_version),
            problem=problem_of(row.stuck) or row.problem,
            clock=node_clock(row.clock_offset_seconds, row.clock_uncertainty_seconds),
            spool_bytes=row.spool_bytes,
        )
        for row in session.execute(_NODES)
    ]


def judge_nodes(nodes: Sequence[NodeFacts], version: str) -> Iterator[Finding]:
    yield _online(nodes)
    troubled = [f"{node.name}: {node.problem}" for node in nodes if node.problem]
    if troubled:
        yield warning("node_problems", f"the scheduler skips {some(troubled)}", "see the pages of these nodes")
    yield from _versions(nodes, version)
    yield _clocks(nodes)
    full = [node.name for node in nodes if (node.spool_bytes or 0) > _NEARLY_FULL * SPOOL_LIMIT_BYTES]
    if full:
        remedy = (
            "find out why they cannot send their results; beyond spool_limit_bytes of agent.toml they decline orders"
        )
        yield warning("spools", f"unsent results fill the disks of {some(full)}", remedy)


def _online(nodes: Sequence[NodeFacts]) -> Finding:
    if not nodes:
        return note("agents", "not checked: there are no nodes", "enroll nodes with the command on a cluster's page")
    by_state = {state: [node.name for node in nodes if node.state is state] for state in NodeState}
    away = by_state[NodeState.SILENT] + by_state[NodeState.NEVER_SEEN]
    if away:
        remedy = "start their agents and check their logs, or retire nodes that are gone for good"
        return warning("agents", f"{len(away)} of {len(nodes)} nodes are not online: {some(away)}", remedy)
    return fine("agents", f"all {len(nodes)} nodes are online")


def _versions(nodes: Sequence[NodeFacts], version: str) -> Iterator[Finding]:
    shut_out = [f"{node.name} ({node.version})" for node in nodes if node.agent in _SHUT_OUT]
    if shut_out:
        sentence = f"these agents are not compatible with this server: {some(shut_out)}"
        yield wrong("agents_shut_out", sentence, f"install {version} on them, or their version on the server")
    others = [
        f"{node.name} ({node.version})"
        for node in nodes
        if node.version not in {None, version} and node.agent not in _SHUT_OUT
    ]
    if others:
        sentence = f"agents of other versions than the server's {version}: {some(others)}"
        yield warning("agent_versions", sentence, f"install {version} on them; always upgrade the server first")


def _clocks(nodes: Sequence[NodeFacts]) -> Finding:
    """Check the clocks of online nodes only; old measurements are meaningless."""
    clocks = [(node.name, node.clock) for node in nodes if node.state in _SPEAKING and node.clock is not None]
    off = [f"{name} ({_words(clock)})" for name, clock in clocks if clock.is_off]
    if off:
        sentence = f"clocks more than {format_seconds(CLOCK_LIMIT_SECONDS)} off the server's: {some(off)}"
        return warning("node_clocks", sentence, "synchronise them and the server's, for instance with chrony")
    if not clocks:
        remedy = "online nodes with an agent of this release report their clock"
        return note("node_clocks", f"not checked: none of {len(nodes)} nodes reports its clock", remedy)
    sentence = f"{len(clocks)} of {len(nodes)} nodes report their clock, and none is certainly off"
    return fine("node_clocks", sentence)


def _words(clock: NodeClockOutput) -> str:
    where = "ahead" if clock.offset_seconds > 0 else "behind"
    return f"{format_seconds(abs(clock.offset_seconds))} {where}, within {format_seconds(clock.uncertainty_seconds)}"
