from datetime import datetime, timedelta

import pytest
from factories.announced import NOW, hello, mount
from factories.clusters import make_cluster, make_node
from factories.people import ADMIN
from factories.raised import raised
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from iotide_server.change_feed.models import Change
from iotide_server.clusters import service
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.errors import (
    AGENT_ALREADY_RUNNING,
    AGENT_SUPERSEDED,
    NODE_NOT_FOUND,
    WIRE_VERSION_UNSUPPORTED,
)
from iotide_server.clusters.models import Node
from iotide_server.clusters.views import SILENT_AFTER, NodeState
from iotide_server.kit.pagination import PageRequest
from iotide_wire.messages import HelloRequest

A_MOMENT = timedelta(seconds=5)
FIRST_PAGE = PageRequest(50, None)


def state(session: Session, node: Node, now: datetime) -> NodeState:
    view = service.node(session, ADMIN, node.id, now)
    listed = service.list_nodes(session, ADMIN, service.NodeFilter(state=view.state), FIRST_PAGE, now)
    assert [other.id for other in listed.items] == [node.id], "the filter and the view agree"
    return view.state


def test_a_hello_is_recorded(session: Session) -> None:
    node = make_node(
        session, make_cluster(session), said=hello("instance-1", mounts=[mount("/mnt")], approved=["/mnt"])
    )
    assert node.agent_instance == "instance-1"
    assert node.approved_directories == ["/mnt"]
    assert node.mounts[0]["mount_point"] == "/mnt"
    assert node.facts["memory.total_bytes"] > 0


def test_heartbeats_keep_a_node_online_and_their_end_makes_it_silent(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    now = NOW + A_MOMENT
    assert agents.heartbeat(session, node.id, "instance-1", now) == agents.AgentRequest(
        hello=False, look=None, rotation=False, idle_seconds=5.0
    )
    assert state(session, node, now + SILENT_AFTER) is NodeState.ONLINE
    assert state(session, node, now + SILENT_AFTER + timedelta(microseconds=1)) is NodeState.SILENT
    agents.heartbeat(session, node.id, "instance-1", now + timedelta(hours=1))
    assert state(session, node, now + timedelta(hours=1)) is NodeState.ONLINE


def test_a_node_that_never_said_hello_was_never_seen(session: Session) -> None:
    cluster = make_cluster(session)
    node = Node(cluster_id=cluster.id, name="n1", role="compute", token_sha256="t", redis_password_sha256="p")
    session.add(node)
    session.flush()
    assert agents.heartbeat(session, node.id, "instance-1", NOW) == agents.AgentRequest(
        hello=True, look=None, rotation=False, idle_seconds=5.0
    ), "its hello is wanted"
    assert state(session, node, NOW) is NodeState.NEVER_SEEN
    node.retired_at = NOW
    assert state(session, node, NOW) is NodeState.RETIRED


def test_a_late_heartbeat_does_not_turn_back_the_clock(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    agents.heartbeat(session, node.id, "instance-1", NOW + A_MOMENT)
    agents.heartbeat(session, node.id, "instance-1", NOW)
    assert service.node(session, ADMIN, node.id, NOW).last_seen_at == NOW + A_MOMENT


@pytest.mark.parametrize(
    "follower",
    [
        hello("instance-1"),
        hello("instance-2", previous="instance-1"),
    ],
    ids=["the same process", "the next process of the same state directory"],
)
def test_an_agent_may_follow_itself_at_once(session: Session, follower: HelloRequest) -> None:
    node = make_node(session, make_cluster(session))
    agents.hello(session, node.id, follower, NOW + A_MOMENT)
    assert node.agent_instance == follower.agent_instance


@pytest.mark.parametrize(
    "copy",
    [
        hello("instance-2"),
        hello("instance-2", previous="instance-0"),
        hello("instance-2", previous="instance-1", boot_id="boot-0002"),
        hello("instance-1", boot_id="boot-0002"),
    ],
    ids=["a stranger", "another lineage", "another machine", "the same instance on another machine"],
)
def test_a_copy_is_refused_while_the_agent_may_live(session: Session, copy: HelloRequest) -> None:
    node = make_node(session, make_cluster(session))
    with raised(AGENT_ALREADY_RUNNING):
        agents.hello(session, node.id, copy, NOW + SILENT_AFTER - A_MOMENT)
    assert node.agent_instance == "instance-1"
    agents.hello(session, node.id, copy, NOW + SILENT_AFTER)
    assert node.boot_id == copy.boot_id


def test_a_superseded_agent_is_rejected(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    agents.hello(session, node.id, hello("instance-2", previous="instance-1"), NOW)
    with raised(AGENT_SUPERSEDED):
        agents.heartbeat(session, node.id, "instance-1", NOW + A_MOMENT)
    assert service.node(session, ADMIN, node.id, NOW).last_seen_at == NOW, "its heartbeat does not count"


@pytest.mark.parametrize(("wire_version", "remedy"), [(0, "install an agent"), (99, "upgrade the server")])
def test_an_agent_of_another_language_is_refused(session: Session, wire_version: int, remedy: str) -> None:
    node = make_node(session, make_cluster(session))
    spoken = hello().model_copy(update={"wire_version": wire_version})
    refusal = agents.note_strange_version(session, node.id, spoken)
    assert refusal is not None
    assert refusal.kind is WIRE_VERSION_UNSUPPORTED
    assert remedy in str(refusal.remedy)
    assert node.wire_version == wire_version, "pages show its wire version"
    assert agents.note_strange_version(session, node.id, hello()) is None


def test_a_suspicion_ends_with_an_answer_of_the_nodes_own_agent_and_with_no_heartbeat(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    agents.suspect(session, node.id, "no answer to 6 offers")
    session.flush()
    for later in (A_MOMENT, timedelta(hours=1)):
        agents.heartbeat(session, node.id, "instance-1", NOW + later)
    agents.trust(session, node.id, "instance-of-a-copy")
    assert node.problem == "no answer to 6 offers"
    agents.trust(session, node.id, "instance-1")
    assert node.problem is None


def test_a_suspicion_ends_with_a_hello(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    agents.suspect(session, node.id, "no answer to 6 offers")
    agents.hello(session, node.id, hello(), NOW + A_MOMENT)
    assert node.problem is None


def published_nodes(session: Session) -> list[int]:
    return list(session.scalars(select(Change.subject_id).where(Change.kind == "node").order_by(Change.id)))


def test_silence_is_published_once(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    before = len(published_nodes(session))
    fell_silent = NOW + SILENT_AFTER
    agents.publish_silent_nodes(session, fell_silent - A_MOMENT, fell_silent)
    agents.publish_silent_nodes(session, fell_silent, fell_silent + A_MOMENT)
    assert published_nodes(session)[before:] == [node.id]


def test_only_a_heartbeat_that_ends_a_silence_is_published(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    before = len(published_nodes(session))
    agents.heartbeat(session, node.id, "instance-1", NOW + A_MOMENT)
    assert published_nodes(session)[before:] == []
    agents.heartbeat(session, node.id, "instance-1", NOW + timedelta(hours=1))
    assert published_nodes(session)[before:] == [node.id]


def test_a_heartbeat_under_way_during_a_revocation_is_rejected(session: Session) -> None:
    node = make_node(session, make_cluster(session), said=hello("instance-1"))
    # In another transaction, after this session has read the node.
    revoked = {"problem": "revoked by ada", "revoked_at": NOW}
    elsewhere = update(Node).where(Node.id == node.id).values(revoked)
    session.execute(elsewhere, execution_options={"synchronize_session": False})
    with raised(NODE_NOT_FOUND):
        agents.hello(session, node.id, hello("instance-1"), NOW)
    agents.trust(session, node.id, "instance-1")
    assert node.problem == "revoked by ada"
