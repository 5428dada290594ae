"""Revocation: a node's credentials are void at once, and nothing is freed while a load may still run on it."""

from factories.enrolling import NOWHERE, enrol_request
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Site
from sqlalchemy import select, text

from iotide_server.accounts.models import AuditEntry
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.credentials import acl_rows
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.clusters.errors import NODE_IN_USE
from iotide_server.runs import dead_nodes, revocation
from iotide_server.runs.schemas import RevocationOutput
from iotide_wire.messages import EnrollReply, OrderState


def stated(site: Site) -> RevocationOutput:
    with site.database.transaction() as session:
        return revocation.statement(session, ADMIN, site.node_ids[0], site.clock())


def revoke(site: Site) -> str:
    with site.database.transaction() as session:
        return revocation.revoke(session, ADMIN, site.node_ids[0], NOWHERE, site.clock()).state


def enroll_again(site: Site) -> EnrollReply:
    with site.database.transaction() as session:
        made = enrolment.create_reenrolment_token(session, ADMIN, site.node_ids[0], site.clock.now.replace(year=2027))
        return enrolment.enroll(session, enrol_request(f"{made.secret}.-"), NOWHERE, None, site.clock())


def test_its_credentials_are_void_at_once_and_a_second_revocation_changes_nothing(site: Site) -> None:
    token = site.node(1).token_sha256
    assert revoke(site) == revoke(site) == "revoked"
    with site.database.transaction() as session:
        assert identity_repository.node_by_token(session, token) is None
        assert site.node(1).token_sha256 != token, "a release without revocation rejects it too"
        assert [row.node_id for row in acl_rows(session)] == site.node_ids[1:]
        assert list(session.scalars(select(AuditEntry.action))) == ["node_revoked"]


def test_runs_that_cannot_be_active_there_end_and_wait_again(site: Site) -> None:
    offered, _ = site.add_runs([1], [2])
    site.start()
    (run,) = stated(site).runs
    assert (run.run_id, run.ends) == (offered, True)
    revoke(site)
    assert site.run(offered).state == "waiting"
    assert site.start() == [], "nothing starts on a node that was revoked"


def test_a_claimed_order_without_a_start_signal_ends(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2])
    site.start()
    site.agent(1).claim_offer()
    revoke(site)
    assert site.run(run_id).state == "waiting"


def test_a_load_that_may_run_keeps_its_leases(site: Site) -> None:
    run_id, behind = site.add_runs([1], [2], target="nfs", exclusive="node+target")
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.READY)
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=site.clock())
    (run,) = stated(site).runs
    assert not run.ends
    assert "until an operator declares n1 dead" in run.words
    revoke(site)
    assert (site.run(run_id).state, site.start()) == ("active", [])
    with raised(NODE_IN_USE):
        enroll_again(site)
    with site.database.transaction() as session:
        seen = dead_nodes.statement(session, ADMIN, site.node_ids[0], site.clock())
        dead_nodes.declare_dead(session, ADMIN, site.node_ids[0], seen.statement_sha256, site.clock())
    assert site.start() == [behind]
    assert enroll_again(site).node_id == site.node_ids[0]


def test_a_host_that_is_enrolled_again_works_again_with_its_history(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    revoke(site)
    enroll_again(site)
    agent = site.agent(1)
    agent.hello(instance="instance-n1-new", boot_id="boot-5678")
    assert site.start() == [run_id]
    with site.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM node")) == len(site.node_ids)
