"""Records of agents."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.agents.credentials import void
from iotide_server.clusters.agents.heartbeats import idle_heartbeat_seconds
from iotide_server.clusters.errors import (
    AGENT_ALREADY_RUNNING,
    AGENT_SUPERSEDED,
    NODE_NOT_FOUND,
    strange_version,
)
from iotide_server.clusters.models import Cluster, Node, NodeHeartbeat, PendingNode
from iotide_server.clusters.views import SILENT_AFTER, Launcher
from iotide_server.kit.errors import IotideError
from iotide_server.kit.people import Sentence
from iotide_server.kit.wake import wake_scheduler
from iotide_wire.messages import HelloRequest, NodeRole
from iotide_wire.nodes import ClockReading, Standing, fingerprint
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION

OWN_WORD: Final = "its agent says: "


class AgentRequest(NamedTuple):
    hello: bool
    look: int | None  # probe first, with this request number
    rotation: bool
    idle_seconds: float


def hello(session: Session, node_id: int, request: HelloRequest, now: datetime) -> Node:
    """Accept the agent as the current one of its node, and store its announcement.

    An agent may succeed itself: the same process, or the next one with the same state directory and boot. For another
    one, raise AGENT_ALREADY_RUNNING while the current agent may be alive. Raise NODE_NOT_FOUND if the node was just
    revoked.
    """
    node = repository.locked_node(session, node_id)
    if node is None or node.revoked_at is not None:
        raise NODE_NOT_FOUND(node=node_id)
    last_seen_at = repository.last_seen(session, [node_id]).get(node_id)
    is_online = last_seen_at is not None and now - last_seen_at < SILENT_AFTER
    if (
        last_seen_at is not None
        and is_online
        and not (_succeeds(node, request) or _was_only_vouched_for(session, node))
    ):
        raise AGENT_ALREADY_RUNNING(node=node.name, heard_ago=now - last_seen_at)
    node.agent_instance = request.agent_instance
    node.boot_id = request.boot_id
    node.agent_version, node.wire_version = request.agent_version, request.wire_version
    node.facts = request.facts
    node.mounts = [mount.model_dump(mode="json") for mount in request.mounts]
    node.approved_directories = list(request.approved_directories)
    if node.declared_dead_at is None or not request.holds:
        # The agent of a node declared dead may still have to end a load that the server gave up.
        node.problem = node.problem_actor = node.declared_dead_at = None
    if not request.holds:
        # An agent with orders does not probe; it repeats its last announcement.
        node.told_at = now
        node.look_answered = max(node.look_answered, min(request.look or 0, node.look_asked))
    said: dict[str, Any] = {
        "seen_at": now,
        "clock_offset_seconds": request.clock and request.clock.offset_seconds,
        "clock_uncertainty_seconds": request.clock and request.clock.uncertainty_seconds,
    }
    stored = insert(NodeHeartbeat).values(node_id=node_id, **said)
    session.execute(stored.on_conflict_do_update(index_elements=[NodeHeartbeat.node_id], set_=said))
    session.flush()
    publish_online_again(session, {node_id: node.cluster_id})
    return node


def note_strange_version(session: Session, node_id: int, request: HelloRequest) -> IotideError | None:
    if request.wire_version in SPOKEN_VERSIONS:
        return None
    node = repository.locked_node(session, node_id)
    if node is None:
        raise NODE_NOT_FOUND(node=node_id)
    if (node.agent_version, node.wire_version) != (request.agent_version, request.wire_version):
        node.agent_version, node.wire_version = request.agent_version, request.wire_version
        live.publish(session, "node", node_id, node.cluster_id)
    return strange_version(request.wire_version)


def heartbeat(  # noqa: PLR0913 - the fields of a heartbeat
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
    """Raise AGENT_SUPERSEDED."""
    # `is_idle`: without an order, so probing disturbs nothing. `problem`: why it can take no order now.
    known = repository.heartbeat(
        session, node_id, agent_instance, repository.HeartbeatFacts(clock, spool_bytes, curve_bytes), now
    )
    idle_seconds = idle_heartbeat_seconds(known.node_count)
    if known.agent_instance is None:
        return AgentRequest(hello=True, look=None, rotation=False, idle_seconds=idle_seconds)
    if known.agent_instance != agent_instance:
        raise AGENT_SUPERSEDED(node=f"node {node_id}")
    if known.seen_at is None or now - known.seen_at > SILENT_AFTER:
        publish_online_again(session, {node_id: known.cluster_id})
    _note_own_problem(session, node_id, known, problem)
    look = known.look if is_idle else None
    return AgentRequest(hello=False, look=look, rotation=known.rotation_wanted, idle_seconds=idle_seconds)


def _note_own_problem(session: Session, node_id: int, known: repository.KnownAgent, said: str | None) -> None:
    problem = None if said is None else OWN_WORD + said.replace("\0", "")
    is_ours = known.problem is None or known.problem.startswith(OWN_WORD)
    if not is_ours or known.problem == problem or not repository.write_own_problem(session, node_id, problem, OWN_WORD):
        return
    publish_online_again(session, {node_id: known.cluster_id})


def suspect(session: Session, node_id: int, problem: str) -> None:
    """Make the scheduler skip the node until its agent answers an offer or sends a hello."""
    # A heartbeat is not enough: an agent without a connection to Redis still sends them.
    node = session.get_one(Node, node_id)
    node.problem, node.problem_actor = problem, None
    live.publish(session, "node", node_id, node.cluster_id)


def write_problem(session: Session, node_id: int, problem: str | None) -> None:
    node = session.get_one(Node, node_id)
    if node.problem != problem and node.revoked_at is None:
        node.problem, node.problem_actor = problem, None
        live.publish(session, "node", node_id, node.cluster_id)


def trust(session: Session, node_id: int, agent_instance: str) -> None:
    """Use the node again after its agent answered an offer, unless it was declared dead or revoked."""
    node = session.get_one(Node, node_id)
    is_put_aside = node.declared_dead_at is not None or node.revoked_at is not None
    if node.problem is not None and not is_put_aside and node.agent_instance == agent_instance:
        node.problem = node.problem_actor = None
        publish_online_again(session, {node_id: node.cluster_id})


def lock_against_heartbeats(session: Session, node_id: int) -> None:
    repository.locked_node(session, node_id)
    repository.lock_last_seen(session, node_id)


def declare_dead(session: Session, node_id: int, problem: Sentence, now: datetime) -> None:
    """Make the scheduler skip the node until its idle agent, when asked, sends a hello without orders."""
    node = session.get_one(Node, node_id)
    (node.problem, node.problem_actor), node.declared_dead_at = problem, now
    session.flush()
    repository.want_look(session, [node_id])
    live.publish(session, "node", node_id, node.cluster_id)


def revoke(session: Session, node_id: int, problem: Sentence, access: AgentAccess, now: datetime) -> None:
    """Reject every agent of the node until its host enrolls again."""
    node = session.get_one(Node, node_id)
    (node.problem, node.problem_actor), node.revoked_at = problem, now
    void(session, node, access)
    publish_online_again(session, {node_id: node.cluster_id})


def publish_silent_nodes(session: Session, since: datetime, now: datetime) -> None:
    for node_id, cluster_id in repository.last_seen_between(session, since - SILENT_AFTER, now - SILENT_AFTER):
        live.publish(session, "node", node_id, cluster_id)


def _succeeds(node: Node, request: HelloRequest) -> bool:
    if request.agent_instance == node.agent_instance:
        return request.boot_id == node.boot_id
    return request.boot_id == node.boot_id and request.previous_instance == node.agent_instance


def _was_only_vouched_for(session: Session, node: Node) -> bool:
    """Return whether no agent of the node is alive. The agent of a batch job lives only as long as its order."""
    # If two such agents run at once, one of them has claimed its order.
    launcher = session.get_one(Cluster, node.cluster_id).launcher
    return (
        launcher != Launcher.DIRECT and node.role != NodeRole.GATEWAY and not repository.claimed_runs(session, node.id)
    )


def publish_online_again(session: Session, nodes: Mapping[int, int]) -> None:
    if nodes:
        live.publish_all(session, [("node", node_id, cluster_id) for node_id, cluster_id in nodes.items()])
        wake_scheduler(session, "node")


def standing_of(session: Session, principal: Principal, waiting: PendingNode | None, now: datetime) -> Standing:
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
