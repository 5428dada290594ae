"""Rotation of a node's credentials that loses no node, and the end of old ones, in the database and in a real Redis."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from factories.announced import NOW
from factories.clusters import make_cluster, make_node, node_token
from factories.enrolling import enrol_request
from factories.people import ADMIN
from factories.raised import raised
from redis import Redis, RedisError
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.clusters.agents import credentials
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.clusters.errors import (
    AGENT_SUPERSEDED,
    ROTATION_IMPOSSIBLE,
    ROTATION_NOT_WANTED,
)
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_wire.messages import NodeRole
from iotide_wire.nodes import NewCredentials, RotateRequest
from iotide_wire.versions import WIRE_VERSION

ASKS = RotateRequest(agent_instance="instance-n1")


@pytest.fixture
def access(redis_server: PrivateRedis) -> Iterator[AgentAccess]:
    url = urlsplit(redis_server.url)
    with Redis.from_url(redis_server.admin_url) as admin:
        yield AgentAccess("https://iotide.example.org", f"redis://{url.hostname}:{url.port}/0", None, None, admin)


@pytest.fixture
def node(database: Database) -> Node:
    """A node with agent `instance-n1` and a wanted rotation of its credentials."""
    with database.transaction() as session:
        made = make_node(session, make_cluster(session))
        made.agent_instance, made.wire_version = "instance-n1", WIRE_VERSION
        session.flush()
        credentials.want_rotation(session, ADMIN, made.id, NOW)
        return made


def rotate(database: Database, node: Node, access: AgentAccess) -> NewCredentials:
    with database.transaction() as session:
        return credentials.rotate(session, node.id, ASKS, access)


def confirm(database: Database, given: NewCredentials, access: AgentAccess) -> None:
    with database.transaction() as session:
        credentials.confirm(session, ADMIN, digest(given.node_token), access, NOW)


def opens(database: Database, token: str) -> bool:
    with database.transaction() as session:
        return identity_repository.node_by_token(session, digest(token)) is not None


def answers(url: str) -> bool:
    with Redis.from_url(url) as connection:
        try:
            return bool(connection.ping())
        except RedisError:
            return False


def test_the_old_ones_are_good_until_the_new_are_kept_and_then_void(
    database: Database, node: Node, access: AgentAccess
) -> None:
    first = rotate(database, node, access)
    confirm(database, first, access)
    with database.transaction() as session:
        credentials.want_rotation(session, ADMIN, node.id, NOW)
    second = rotate(database, node, access)
    assert [opens(database, given.node_token) for given in (first, second)] == [True, False]
    assert [answers(given.broker.url) for given in (first, second)] == [True, True]
    with Redis.from_url(first.broker.url, retry=None) as thief:
        assert thief.ping()
        confirm(database, second, access)
        with pytest.raises(RedisError):
            thief.ping()
    assert [opens(database, given.node_token) for given in (first, second)] == [False, True]
    assert [answers(given.broker.url) for given in (first, second)] == [False, True]


def test_a_lost_answer_is_given_again_and_the_lost_one_opens_nothing(
    database: Database, node: Node, access: AgentAccess
) -> None:
    lost, received = rotate(database, node, access), rotate(database, node, access)
    confirm(database, lost, access)
    assert opens(database, node_token("n1"))
    confirm(database, received, access)
    confirm(database, received, access)
    assert [opens(database, token) for token in (node_token("n1"), lost.node_token, received.node_token)] == [
        False,
        False,
        True,
    ]
    with database.transaction() as session:
        found = list(session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
        assert found == ["node_rotation_wanted", "node_rotated"]
        assert agents.heartbeat(session, node.id, "instance-n1", NOW).rotation is False


def test_other_agents_get_no_credentials(database: Database, node: Node, access: AgentAccess) -> None:
    with database.transaction() as session, raised(AGENT_SUPERSEDED):
        credentials.rotate(session, node.id, RotateRequest(agent_instance="a-thief-1"), access)


def test_no_credentials_are_given_unless_a_rotation_is_wanted(
    database: Database, node: Node, access: AgentAccess
) -> None:
    confirm(database, rotate(database, node, access), access)
    with database.transaction() as session, raised(ROTATION_NOT_WANTED):
        credentials.rotate(session, node.id, ASKS, access)


def test_an_agent_that_knows_no_rotation_is_named(session: Session) -> None:
    node = make_node(session, make_cluster(session))
    node.wire_version = 1
    with raised(ROTATION_IMPOSSIBLE, match="too old"):
        credentials.want_rotation(session, ADMIN, node.id, NOW)


def test_old_credentials_are_changed_by_themselves_where_the_agent_knows_how_to(session: Session) -> None:
    cluster = make_cluster(session)
    old, young, ancient = (make_node(session, cluster, name) for name in ("n1", "n2", "n3"))
    old.credentials_at = ancient.credentials_at = NOW - timedelta(days=91)
    young.credentials_at = NOW - timedelta(days=89)
    ancient.wire_version = 1
    session.flush()
    credentials.want_due_rotations(session, timedelta(), NOW)
    credentials.want_due_rotations(session, timedelta(days=90), NOW)
    session.expire_all()
    assert [node.rotation_wanted_at is not None for node in (old, young, ancient)] == [True, False, False]


def test_a_host_that_lost_its_disk_is_the_same_node_again(database: Database, node: Node, access: AgentAccess) -> None:
    with database.transaction() as session:
        made = enrolment.create_reenrolment_token(session, ADMIN, node.id, NOW + timedelta(hours=1))
    request = enrol_request(f"{made.secret}.-", "another-name", role=NodeRole.STORAGE)
    with database.transaction() as session:
        reply = enrolment.enroll(session, request, access, "10.0.0.8", NOW)
    assert (reply.node_id, reply.node_name, reply.pending_until) == (node.id, "n1", None)
    assert (opens(database, node_token("n1")), opens(database, reply.node_token)) == (False, True)
    with database.transaction() as session:
        found = session.get_one(Node, node.id)
        assert (found.role, found.agent_instance, found.rotation_wanted_at) == ("compute", None, None)
        assert session.scalars(select(AuditEntry.action).order_by(AuditEntry.id.desc())).first() == (
            "node_enrolled_again"
        )
