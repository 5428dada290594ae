from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from bring_up import free_port
from factories.announced import NOW
from factories.clusters import make_cluster
from factories.people import ADMIN, person
from factories.raised import raised
from redis import Redis
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry, Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.clusters.agents import credentials
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.clusters.errors import (
    CLUSTER_NOT_FOUND,
    JOIN_TOKEN_REFUSED,
    NODE_NAME_TAKEN,
    WIRE_VERSION_UNSUPPORTED,
)
from iotide_server.clusters.models import Cluster, JoinToken, Node
from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_wire.messages import EnrollReply, EnrollRequest, NodeRole
from iotide_wire.versions import WIRE_VERSION


def access(redis_url: str, ca_fingerprint: str | None = None) -> AgentAccess:
    return AgentAccess(
        public_url="https://iotide.example.org",
        broker_url="rediss://redis.example.org:6380/0",
        broker_ca_pem=None,
        ca_fingerprint=ca_fingerprint,
        redis_admin=Redis.from_url(redis_url, socket_connect_timeout=1),
    )


@pytest.fixture
def nowhere() -> AgentAccess:
    return access(f"redis://127.0.0.1:{free_port()}/0")


def join_token(session: Session, cluster: Cluster, uses: int = 1) -> str:
    made = enrolment.create_join_token(session, ADMIN, cluster.id, uses, NOW + timedelta(hours=1), needs_approval=False)
    return f"{made.secret}.-"


def request(token: str, name: str = "n1", wire_version: int = WIRE_VERSION) -> EnrollRequest:
    return EnrollRequest(
        join_token=token, node_name=name, role=NodeRole.COMPUTE, agent_version="1", wire_version=wire_version
    )


def enroll(session: Session, token: str, to: AgentAccess, name: str = "n1", minutes: float = 0) -> EnrollReply:
    return enrolment.enroll(session, request(token, name), to, "10.0.0.7", NOW + timedelta(minutes=minutes))


def test_a_join_token_enrols_as_many_nodes_as_it_has_uses(session: Session, nowhere: AgentAccess) -> None:
    token = join_token(session, make_cluster(session), uses=2)
    assert enroll(session, token, nowhere, "n1").cluster == "blade"
    enroll(session, token, nowhere, "n2")
    with raised(JOIN_TOKEN_REFUSED):
        enroll(session, token, nowhere, "n3")


@pytest.mark.parametrize("token", ["x" * 16, "x" * 43 + ".-", "." * 16, "\x00" * 16, "\ud800" * 16])
def test_an_invented_token_is_rejected(session: Session, nowhere: AgentAccess, token: str) -> None:
    wrong = request("x" * 16).model_copy(update={"join_token": token})
    with raised(JOIN_TOKEN_REFUSED):
        enrolment.enroll(session, wrong, nowhere, None, NOW)


def test_a_node_belongs_to_who_made_its_join_token(session: Session, nowhere: AgentAccess) -> None:
    ada = person(session, "ada", Role.ADMIN, now=NOW).principal
    made = enrolment.create_join_token(session, ada, make_cluster(session).id, 1, NOW + timedelta(hours=1))
    node_id = enroll(session, f"{made.secret}.-", nowhere).node_id
    assert session.get_one(Node, node_id).owner_id == ada.user_id


def test_a_token_expires(session: Session, nowhere: AgentAccess) -> None:
    token = join_token(session, make_cluster(session))
    with raised(JOIN_TOKEN_REFUSED):
        enroll(session, token, nowhere, minutes=60)


def test_a_name_is_given_once_among_the_living(session: Session, nowhere: AgentAccess) -> None:
    cluster = make_cluster(session)
    token = join_token(session, cluster, uses=3)
    first = enroll(session, token, nowhere)
    with raised(NODE_NAME_TAKEN):
        enroll(session, token, nowhere)
    session.get_one(Node, first.node_id).retired_at = NOW
    assert enroll(session, token, nowhere).node_id != first.node_id


def test_an_agent_of_another_language_uses_up_no_token(session: Session, nowhere: AgentAccess) -> None:
    token = join_token(session, make_cluster(session))
    with raised(WIRE_VERSION_UNSUPPORTED):
        enrolment.enroll(session, request(token, wire_version=99), nowhere, None, NOW)
    enroll(session, token, nowhere)


def test_the_node_gets_secrets_of_which_only_digests_stay(session: Session, nowhere: AgentAccess) -> None:
    reply = enroll(session, join_token(session, make_cluster(session)), nowhere)
    node = session.get_one(Node, reply.node_id)
    assert node.token_sha256 == digest(reply.node_token)
    assert reply.node_token.startswith("ion_")
    assert reply.broker.queue == f"node.{node.id}"
    user, _, password = reply.broker.url.removeprefix("rediss://").partition("@")[0].partition(":")
    assert user.endswith(str(node.id))
    assert node.redis_password_sha256 == digest(password)
    assert reply.broker.url.endswith("@redis.example.org:6380/0")
    found = identity_repository.node_by_token(session, digest(reply.node_token))
    assert found is not None
    assert found.id == node.id


def test_the_enrolment_is_in_the_audit_and_holds_no_secret(session: Session, nowhere: AgentAccess) -> None:
    token = join_token(session, make_cluster(session))
    reply = enroll(session, token, nowhere)
    entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [entry.action for entry in entries] == ["join_token_created", "node_enrolled"]
    assert entries[1].principal_kind == "node"
    assert entries[1].address == "10.0.0.7"
    assert reply.node_token not in str([entry.after for entry in entries])
    assert token.partition(".")[0] not in str([entry.after for entry in entries])


def test_the_command_names_the_server_and_the_authority(nowhere: AgentAccess) -> None:
    assert nowhere.join_token("secret") == "secret.-"
    pinned = access("redis://127.0.0.1:1/0", ca_fingerprint="ab" * 32)
    token = pinned.join_token("secret")
    assert token == f"secret.{'ab' * 32}"
    assert pinned.install_command(token) is None
    handing = replace(pinned, script_sha256="cd" * 32)
    assert handing.install_command(token) == (
        f"curl -fsSko join.sh https://iotide.example.org/agent/join.sh && echo '{'cd' * 32}  join.sh' | sha256sum -c"
        f" && echo {token} | sh join.sh https://iotide.example.org"
    )
    assert pinned.enroll_command(token) == f"echo {token} | iotide-agent enroll --server https://iotide.example.org"


def test_only_the_cluster_s_administrators_make_join_tokens(session: Session) -> None:
    cluster = make_cluster(session)
    stranger = Principal(PrincipalKind.USER, None, "eve", grants={cluster.id + 1: Role.ADMIN})
    with raised(CLUSTER_NOT_FOUND):
        enrolment.create_join_token(session, stranger, cluster.id, 1, NOW)
    with raised(CLUSTER_NOT_FOUND):
        enrolment.create_join_token(session, ADMIN, cluster.id + 1, 1, NOW)


def users(redis: Redis) -> Iterable[str]:
    names = [name.decode() if isinstance(name, bytes) else str(name) for name in redis.acl_users()]
    return [name for name in names if name.startswith("iotide-node-")]


def test_the_node_can_use_redis_once_its_enrolment_is_committed(database: Database, redis_server: PrivateRedis) -> None:
    to = access(redis_server.admin_url)
    to.apply([])  # other tests leave users in the shared Redis
    with database.transaction() as session:
        reply = enroll(session, join_token(session, make_cluster(session)), to)
        assert users(to.redis_admin) == []
    assert users(to.redis_admin) == [f"iotide-node-{reply.node_id}"]
    to.apply([])
    to.redis_admin.close()


def test_an_enrolment_that_fails_leaves_no_redis_user(database: Database, redis_server: PrivateRedis) -> None:
    to = access(redis_server.admin_url)
    to.apply([])  # other tests leave users in the shared Redis

    def enroll_twice() -> None:
        with database.transaction() as session:
            token = join_token(session, make_cluster(session), uses=2)
            enroll(session, token, to)
            enroll(session, token, to)

    with raised(NODE_NAME_TAKEN):
        enroll_twice()
    assert users(to.redis_admin) == []
    to.redis_admin.close()


def test_a_node_enrolls_while_redis_is_away(database: Database, nowhere: AgentAccess) -> None:
    with database.transaction() as session:
        reply = enroll(session, join_token(session, make_cluster(session)), nowhere)
    with database.transaction() as session:
        assert [row.node_id for row in credentials.acl_rows(session)] == [reply.node_id]


def test_two_nodes_with_the_last_use_of_a_token_get_one_place(database: Database, nowhere: AgentAccess) -> None:
    with database.transaction() as session:
        token = join_token(session, make_cluster(session))
    with database.transaction() as one:
        enroll(one, token, nowhere, "n1")
        with database.transaction() as session:
            assert session.scalars(select(JoinToken.uses_left)).one() == 1, "the first is not committed yet"
    with raised(JOIN_TOKEN_REFUSED), database.transaction() as other:
        enroll(other, token, nowhere, "n2")
