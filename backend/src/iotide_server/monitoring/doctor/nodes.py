"""The nodes, by what their agents said last: heard of, understood, with clocks that are right and spools with room."""

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

SPOOL_LIMIT_BYTES: Final = GIB  # where an agent declines further orders, unless its agent.toml says otherwise
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
    """A node that is neither retired nor revoked; `name` is `cluster/node`."""

    name: str
    state: NodeState
    version: str | None
    agent: AgentStanding  # whether this server understands what its agent speaks
    problem: str | None
    clock: NodeClockOutput | None  # as its agent measured it last; None: it does not say
    spool_bytes: int | None


def read_nodes(session: Session, now: datetime) -> list[NodeFacts]:
    """Ask for them; `now` is the server's time."""
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
    """All that concerns the nodes; `version` is the server's."""
    yield _heard(nodes)
    troubled = [f"{node.name}: {node.problem}" for node in nodes if node.problem]
    if troubled:
        yield warning("node_problems", f"passed over: {some(troubled)}", "look at the pages of these nodes")
    yield from _versions(nodes, version)
    yield _clocks(nodes)
    full = [node.name for node in nodes if (node.spool_bytes or 0) > _NEARLY_FULL * SPOOL_LIMIT_BYTES]
    if full:
        remedy = (
            "look why they cannot hand their results in; beyond spool_limit_bytes of agent.toml they decline orders"
        )
        yield warning("spools", f"unsent results fill the disks of {some(full)}", remedy)


def _heard(nodes: Sequence[NodeFacts]) -> Finding:
    if not nodes:
        return note("agents", "not checked: there is no node yet", "enrol nodes by the command on a cluster's page")
    by_state = {state: [node.name for node in nodes if node.state is state] for state in NodeState}
    away = by_state[NodeState.SILENT] + by_state[NodeState.NEVER_SEEN]
    if away:
        remedy = "start their agents and look into their logs, or retire what is gone for good"
        return warning("agents", f"{len(away)} of {len(nodes)} nodes are not heard of: {some(away)}", remedy)
    return fine("agents", f"all {len(nodes)} nodes are heard of")


def _versions(nodes: Sequence[NodeFacts], version: str) -> Iterator[Finding]:
    """Who is shut out is wrong, who is merely of another version will be, sooner or later."""
    shut_out = [f"{node.name} ({node.version})" for node in nodes if node.agent in _SHUT_OUT]
    if shut_out:
        sentence = f"this server and these agents do not understand each other: {some(shut_out)}"
        yield wrong("agents_shut_out", sentence, f"bring them to {version}, or the server to theirs")
    others = [
        f"{node.name} ({node.version})"
        for node in nodes
        if node.version not in {None, version} and node.agent not in _SHUT_OUT
    ]
    if others:
        sentence = f"agents of another version than the server's {version}: {some(others)}"
        yield warning("agent_versions", sentence, f"bring them to {version}; the server first, then its agents")


def _clocks(nodes: Sequence[NodeFacts]) -> Finding:
    """Of nodes that are heard of: what another one measured long ago says nothing of today."""
    clocks = [(node.name, node.clock) for node in nodes if node.state in _SPEAKING and node.clock is not None]
    off = [f"{name} ({_words(clock)})" for name, clock in clocks if clock.is_off]
    if off:
        sentence = f"clocks that are more than {format_seconds(CLOCK_LIMIT_SECONDS)} off the server's: {some(off)}"
        return warning("node_clocks", sentence, "synchronise them and the server's, for instance with chrony")
    if not clocks:
        remedy = "nodes with an agent of this release that are online measure their clock"
        return note("node_clocks", f"not checked: none of {len(nodes)} nodes reports its clock", remedy)
    sentence = f"{len(clocks)} of {len(nodes)} nodes report their clock, and none is certainly off"
    return fine("node_clocks", sentence)


def _words(clock: NodeClockOutput) -> str:
    where = "ahead" if clock.offset_seconds > 0 else "behind"
    return f"{format_seconds(abs(clock.offset_seconds))} {where}, within {format_seconds(clock.uncertainty_seconds)}"
