"""What the server keeps of its agents: who speaks for a node, when it was last heard of, what it announced."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.agents.beats import idle_beat_seconds
from iotide_server.clusters.agents.credentials import void
from iotide_server.clusters.errors import (
    AGENT_ALREADY_RUNNING,
    AGENT_SUPERSEDED,
    NODE_NOT_FOUND,
    strange_version,
)
from iotide_server.clusters.models import Cluster, Node, NodeBeat, PendingNode
from iotide_server.clusters.views import SILENT_AFTER, Launcher
from iotide_server.kit.errors import IotideError
from iotide_server.kit.people import Sentence
from iotide_server.kit.wake import wake_scheduler
from iotide_wire.messages import HelloRequest, NodeRole
from iotide_wire.nodes import ClockReading, Standing, fingerprint
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION

OWN_WORD: Final = "its agent says: "
"""Begins a problem that a node's own agent reports; it goes once the agent reports it no more."""


class AgentRequest(NamedTuple):
    """What the server wants to hear of an agent."""

    hello: bool  # it lacks what a hello brings
    look: int | None  # the number of a request to look around first
    rotation: bool  # it is to ask for new credentials
    idle_seconds: float  # how long it may be silent while it holds no order


def hello(session: Session, node_id: int, request: HelloRequest, now: datetime) -> Node:
    """Take the agent as the one that speaks for its node, and store what it announces of the node itself.

    An agent may follow itself: the same process again, or the next one of the same state directory on the same boot.
    Any other is refused with AGENT_ALREADY_RUNNING for as long as the current one may be alive. Raise NODE_NOT_FOUND
    where it was revoked a moment ago.
    """
    node = repository.locked_node(session, node_id)
    if node is None or node.revoked_at is not None:  # perhaps since its token was looked at
        raise NODE_NOT_FOUND(node=node_id)
    heard_at = repository.last_seen(session, [node_id]).get(node_id)
    is_heard = heard_at is not None and now - heard_at < SILENT_AFTER
    if heard_at is not None and is_heard and not (_succeeds(node, request) or _was_only_vouched_for(session, node)):
        raise AGENT_ALREADY_RUNNING(node=node.name, heard_ago=now - heard_at)
    node.agent_instance = request.agent_instance
    node.boot_id = request.boot_id
    node.agent_version, node.wire_version = request.agent_version, request.wire_version
    node.facts = request.facts
    node.mounts = [mount.model_dump(mode="json") for mount in request.mounts]
    node.approved_directories = list(request.approved_directories)
    if node.declared_dead_at is None or not request.holds:
        # On one that was called dead, a load that the server has given up may still have to be ended first.
        node.problem = node.problem_actor = node.declared_dead_at = None
    if not request.holds:
        # With orders on its hands an agent does not look around, and says what it knew before.
        node.told_at = now
        node.look_answered = max(node.look_answered, min(request.look or 0, node.look_asked))
    said: dict[str, Any] = {
        "seen_at": now,
        "clock_offset_seconds": request.clock and request.clock.offset_seconds,
        "clock_uncertainty_seconds": request.clock and request.clock.uncertainty_seconds,
    }
    heard = insert(NodeBeat).values(node_id=node_id, **said)
    session.execute(heard.on_conflict_do_update(index_elements=[NodeBeat.node_id], set_=said))
    session.flush()
    tell_heard_again(session, {node_id: node.cluster_id})
    return node


def note_strange_version(session: Session, node_id: int, request: HelloRequest) -> IotideError | None:
    """Return the refusal of an agent whose language this server does not speak, and note it; None: it speaks it."""
    if request.wire_version in SPOKEN_VERSIONS:
        return None
    node = repository.locked_node(session, node_id)
    if node is None:
        raise NODE_NOT_FOUND(node=node_id)
    if (node.agent_version, node.wire_version) != (request.agent_version, request.wire_version):
        node.agent_version, node.wire_version = request.agent_version, request.wire_version
        live.publish(session, "node", node_id, node.cluster_id)
    return strange_version(request.wire_version)


def beat(  # noqa: PLR0913 - each is a part of what a beat says
    session: Session,
    node_id: int,
    agent_instance: str,
    now: datetime,
    *,
    clock: ClockReading | None = None,
    is_idle: bool = True,
    spool_bytes: int | None = None,
    problem: str | None = None,
    curve_bytes: int = 0,
) -> AgentRequest:
    """Note that the node was heard of, and return what the server wants to hear; raise AGENT_SUPERSEDED."""
    # `is_idle`: it holds no order, so that looking around disturbs nothing. `problem`: why it can take no order now.
    known = repository.beat(
        session, node_id, agent_instance, repository.HeartbeatFacts(clock, spool_bytes, curve_bytes), now
    )
    idle_seconds = idle_beat_seconds(known.node_count)
    if known.agent_instance is None:
        return AgentRequest(hello=True, look=None, rotation=False, idle_seconds=idle_seconds)
    if known.agent_instance != agent_instance:
        raise AGENT_SUPERSEDED(node=f"node {node_id}")
    if known.seen_at is None or now - known.seen_at > SILENT_AFTER:
        tell_heard_again(session, {node_id: known.cluster_id})
    _note_own_problem(session, node_id, known, problem)
    look = known.look if is_idle else None
    return AgentRequest(hello=False, look=look, rotation=known.rotation_wanted, idle_seconds=idle_seconds)


def _note_own_problem(session: Session, node_id: int, known: repository.KnownAgent, said: str | None) -> None:
    """Pass the node over for as long as its agent says that it can take no order."""
    problem = None if said is None else OWN_WORD + said.replace("\0", "")
    is_ours = known.problem is None or known.problem.startswith(OWN_WORD)
    if not is_ours or known.problem == problem or not repository.tell_own_problem(session, node_id, problem, OWN_WORD):
        return
    tell_heard_again(session, {node_id: known.cluster_id})


def suspect(session: Session, node_id: int, problem: str) -> None:
    """Pass the node over until its agent answers an offer or says hello, and say why."""
    # A beat is no answer: an agent that is cut off from Redis goes on beating.
    node = session.get_one(Node, node_id)
    node.problem, node.problem_actor = problem, None
    live.publish(session, "node", node_id, node.cluster_id)


def tell_problem(session: Session, node_id: int, problem: str | None) -> None:
    """Write down what is wrong with a node by its own word; None: nothing."""
    node = session.get_one(Node, node_id)
    if node.problem != problem and node.revoked_at is None:
        node.problem, node.problem_actor = problem, None
        live.publish(session, "node", node_id, node.cluster_id)


def trust(session: Session, node_id: int, agent_instance: str) -> None:
    """Serve the node again, whose agent has answered an offer; not one that was called dead or revoked."""
    node = session.get_one(Node, node_id)
    is_put_aside = node.declared_dead_at is not None or node.revoked_at is not None
    if node.problem is not None and not is_put_aside and node.agent_instance == agent_instance:
        node.problem = node.problem_actor = None
        tell_heard_again(session, {node_id: node.cluster_id})


def lock_against_beats(session: Session, node_id: int) -> None:
    """Let nothing that an agent of the node says be taken down before the transaction ends."""
    repository.locked_node(session, node_id)
    repository.lock_last_seen(session, node_id)


def declare_dead(session: Session, node_id: int, problem: Sentence, now: datetime) -> None:
    """Pass the node over until its agent says hello with no order in hand, which it is asked for once it is idle."""
    node = session.get_one(Node, node_id)
    (node.problem, node.problem_actor), node.declared_dead_at = problem, now
    session.flush()
    repository.want_look(session, [node_id])
    live.publish(session, "node", node_id, node.cluster_id)


def revoke(session: Session, node_id: int, problem: Sentence, access: AgentAccess, now: datetime) -> None:
    """Believe nobody who speaks for the node any more, until its host was enrolled anew."""
    node = session.get_one(Node, node_id)
    (node.problem, node.problem_actor), node.revoked_at = problem, now
    void(session, node, access)
    tell_heard_again(session, {node_id: node.cluster_id})


def tell_silence(session: Session, since: datetime, now: datetime) -> None:
    """Publish the nodes that fell silent in between; the scheduler calls it with the time of its last call."""
    for node_id, cluster_id in repository.heard_of_between(session, since - SILENT_AFTER, now - SILENT_AFTER):
        live.publish(session, "node", node_id, cluster_id)


def _succeeds(node: Node, request: HelloRequest) -> bool:
    if request.agent_instance == node.agent_instance:
        return request.boot_id == node.boot_id
    return request.boot_id == node.boot_id and request.previous_instance == node.agent_instance


def _was_only_vouched_for(session: Session, node: Node) -> bool:
    """Whether a gateway spoke for the node: an agent that a batch system starts lives as long as its order."""
    # Of two agents at once, one has claimed the order of the job in which it runs.
    launcher = session.get_one(Cluster, node.cluster_id).launcher
    return (
        launcher != Launcher.DIRECT and node.role != NodeRole.GATEWAY and not repository.claimed_runs(session, node.id)
    )


def tell_heard_again(session: Session, nodes: Mapping[int, int]) -> None:
    """Tell browsers and the scheduler of nodes, with the cluster of each, that were silent until now."""
    if nodes:
        live.publish_all(session, [("node", node_id, cluster_id) for node_id, cluster_id in nodes.items()])
        wake_scheduler(session, "node")


def standing_of(session: Session, principal: Principal, waiting: PendingNode | None, now: datetime) -> Standing:
    """Return the standing of the node whose token was sent, or of the host that waits."""
    found = waiting or session.get_one(Node, principal.id)
    return Standing(
        node_name=found.name,
        cluster=session.get_one(Cluster, found.cluster_id).name,
        pending_until=None if waiting is None else waiting.expires_at,
        fingerprint=fingerprint(found.token_sha256),
        server_time=now,
        oldest_wire_version=SPOKEN_VERSIONS.start,
        newest_wire_version=WIRE_VERSION,
    )
