"""Pending nodes: their permissions, their page, and their approval, rejection or expiry."""

from datetime import timedelta

import pytest
from factories.announced import NOW, hello
from factories.clusters import make_cluster, make_node
from factories.enrolling import NOWHERE, enrol_request
from factories.people import ADMIN
from factories.raised import raised
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry, Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.credentials import acl_rows
from iotide_server.clusters.enrolment import pending
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.clusters.enrolment.pending import PENDING_FOR, Choice
from iotide_server.clusters.errors import CLUSTER_NOT_FOUND, NODE_NAME_TAKEN, PENDING_NODE_NOT_FOUND
from iotide_server.clusters.models import Cluster, Node, PendingNode
from iotide_server.kit.digests import digest
from iotide_server.kit.pagination import PageRequest
from iotide_wire.messages import EnrollReply
from iotide_wire.nodes import fingerprint


@pytest.fixture
def cluster(session: Session) -> Cluster:
    return make_cluster(session)


def enroll(session: Session, cluster: Cluster, name: str = "n1") -> EnrollReply:
    made = enrolment.create_join_token(session, ADMIN, cluster.id, 2, NOW + timedelta(hours=1))
    request = enrol_request(f"{made.secret}.-", name, facts={"cpu.count": 8})
    return enrolment.enroll(session, request, NOWHERE, "10.0.0.7", NOW)


def waiting(session: Session, cluster: Cluster, after: timedelta = timedelta()) -> list[PendingNode]:
    page = pending.list_pending(session, ADMIN, cluster.id, PageRequest(limit=100, last_id=None), NOW + after)
    return list(page.rows)


def actions(session: Session) -> list[str]:
    return list(session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


@pytest.mark.parametrize(
    ("uses", "wanted", "waits"), [(1, None, False), (2, None, True), (1, True, True), (2, False, False)]
)
def test_a_token_for_several_nodes_needs_approval_by_default(
    session: Session, cluster: Cluster, uses: int, *, wanted: bool | None, waits: bool
) -> None:
    made = enrolment.create_join_token(session, ADMIN, cluster.id, uses, NOW, needs_approval=wanted)
    assert made.shown.needs_approval is waits


def test_a_host_that_waits_is_no_node_and_has_no_redis_user(session: Session, cluster: Cluster) -> None:
    reply = enroll(session, cluster)
    assert reply.pending_until == NOW + PENDING_FOR
    assert session.scalar(select(func.count()).select_from(Node)) == 0
    assert acl_rows(session) == []
    assert identity_repository.node_by_token(session, digest(reply.node_token)) is None


def test_admins_see_the_report_and_the_address_of_the_host(session: Session, cluster: Cluster) -> None:
    reply = enroll(session, cluster)
    (found,) = waiting(session, cluster)
    assert (found.name, found.address, found.facts) == ("n1", "10.0.0.7", {"cpu.count": 8})
    refusal = pending.record_announcement(found, hello(), NOW)
    assert found.facts == hello().facts
    assert fingerprint(digest(reply.node_token)) in str(refusal.remedy)


def test_an_approved_host_is_the_node_that_was_named(session: Session, cluster: Cluster) -> None:
    first, second = enroll(session, cluster, "n1"), enroll(session, cluster, "n2")
    pending.approve(session, ADMIN, Choice(cluster.id, [first.node_id]), NOWHERE, NOW)
    node = identity_repository.node_by_token(session, digest(first.node_token))
    assert node is not None
    assert (node.id, node.name) == (first.node_id, "n1")
    assert session.get_one(Node, node.id).cluster_id == cluster.id
    assert [row.node_id for row in acl_rows(session)] == [first.node_id]
    assert [left.id for left in waiting(session, cluster)] == [second.node_id]
    assert actions(session)[-1] == "node_approved"
    assert make_node(session, cluster, "n3").id > second.node_id, "no id is given twice"


def test_a_rejected_host_is_removed(session: Session, cluster: Cluster) -> None:
    reply = enroll(session, cluster)
    pending.refuse(session, ADMIN, Choice(cluster.id, [reply.node_id]), NOW)
    assert identity_repository.pending_by_token(session, digest(reply.node_token), NOW) is None
    assert actions(session)[-1] == "node_refused"


def test_all_selected_hosts_are_approved_or_none(session: Session, cluster: Cluster) -> None:
    reply = enroll(session, cluster)
    choice = Choice(cluster.id, [reply.node_id, reply.node_id + 1])
    with raised(PENDING_NODE_NOT_FOUND) as refused:
        pending.approve(session, ADMIN, choice, NOWHERE, NOW)
    assert refused.value.field == "pending_ids[1]"
    assert len(waiting(session, cluster)) == 1


def test_only_one_of_two_hosts_of_the_same_name_is_approved(session: Session, cluster: Cluster) -> None:
    first, second = enroll(session, cluster), enroll(session, cluster)
    pending.approve(session, ADMIN, Choice(cluster.id, [second.node_id]), NOWHERE, NOW)
    with raised(NODE_NAME_TAKEN):
        pending.approve(session, ADMIN, Choice(cluster.id, [first.node_id]), NOWHERE, NOW)


def test_a_host_that_waited_too_long_is_removed_and_logged(session: Session, cluster: Cluster) -> None:
    reply = enroll(session, cluster)
    pending.forget_expired(session, NOW + PENDING_FOR - timedelta(seconds=1))
    assert len(waiting(session, cluster)) == 1
    late = NOW + PENDING_FOR
    assert waiting(session, cluster, PENDING_FOR) == []
    assert identity_repository.pending_by_token(session, digest(reply.node_token), late) is None
    pending.forget_expired(session, late)
    assert session.scalar(select(func.count()).select_from(PendingNode)) == 0
    assert actions(session)[-1] == "node_pending_expired"


def test_only_the_clusters_administrators_decide(session: Session, cluster: Cluster) -> None:
    reply = enroll(session, cluster)
    stranger = Principal(PrincipalKind.USER, None, "eve", grants={cluster.id + 1: Role.ADMIN})
    with raised(CLUSTER_NOT_FOUND):
        pending.approve(session, stranger, Choice(cluster.id, [reply.node_id]), NOWHERE, NOW)
    other = make_cluster(session, "lake")
    with raised(PENDING_NODE_NOT_FOUND):
        pending.approve(session, ADMIN, Choice(other.id, [reply.node_id]), NOWHERE, NOW)
