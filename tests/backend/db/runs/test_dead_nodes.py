from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site, agree
from sqlalchemy import text

from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.errors import DEATH_DIFFERS, NODE_NOT_SILENT
from iotide_server.runs import dead_nodes
from iotide_server.runs.schemas import DeathStatement
from iotide_wire.messages import OrderState, Outcome, Word


def fall_silent(site: Site, *numbers: int) -> None:
    """Move the clock by an hour; only these nodes send no heartbeat."""
    site.clock.move(3600)
    with site.database.transaction() as session:
        for number, node_id in enumerate(site.node_ids, start=1):
            if number not in numbers:
                agents.heartbeat(session, node_id, f"instance-n{number}", site.clock())


def stated(site: Site, number: int) -> DeathStatement:
    with site.database.transaction() as session:
        return dead_nodes.statement(session, ADMIN, site.node_ids[number - 1], site.clock())


def declare_dead(site: Site, number: int, sha256: str | None = None) -> None:
    digest = sha256 or stated(site, number).statement_sha256
    with site.database.transaction() as session:
        dead_nodes.declare_dead(session, ADMIN, site.node_ids[number - 1], digest, site.clock())


def running(site: Site, number: int) -> tuple[SimulatedAgent, Offered]:
    agent = site.agent(number)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.READY)
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=site.clock())
    return agent, offer


def test_the_preview_lists_what_ends_and_the_declaration_ends_exactly_that(site: Site) -> None:
    run_id, following = site.add_runs([1], [1], target="nfs", exclusive="node+target", limit=7200.0)
    site.start()
    _, offer = running(site, 1)
    fall_silent(site, 1)
    (run,) = stated(site, 1).runs
    assert (run.run_id, run.becomes, stated(site, 1).waiting_count) == (run_id, "waiting", 1)
    assert run.ends == (
        f"order {offer.order_id} (last state: running) ends as lost; node n1, target nfs and cluster blade are"
        " free at once; the run waits again (this was attempt 1 of 2)"
    )
    assert run.risk == (
        "If n1 is only cut off, its load may run there until 2026-11-21 12:00:00 UTC. A load that hangs on a dead"
        " mount may write even later. While it runs, it may affect the results of other runs on target nfs."
    )
    declare_dead(site, 1)
    lost = site.run(run_id)
    assert (lost.state, lost.reason_code, lost.attempts_made) == ("waiting", "node_dead", 1)
    assert lost.reason == "an operator declared n1 dead, silent since 2026-11-21 10:00:00 UTC"
    with site.database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM lease WHERE active")).one() == 0
        (action,) = session.scalars(text("SELECT action FROM audit_entry")).all()
    assert action == "node_declared_dead"
    assert site.states([run_id, following]) == ["waiting", "waiting"]


def test_the_last_attempt_of_a_run_fails_with_its_node(site: Site) -> None:
    (run_id,) = site.add_runs([1], attempts=1)
    site.start()
    running(site, 1)
    fall_silent(site, 1)
    (run,) = stated(site, 1).runs
    assert run.becomes == "failed"
    assert run.ends.endswith("the run fails (this was attempt 1 of 1)")
    assert "It loads scratch, which no other node has." in run.risk
    declare_dead(site, 1)
    assert (site.run(run_id).state, site.run(run_id).reason_code) == ("failed", "node_dead")


def test_an_order_that_was_never_claimed_is_withdrawn_and_counts_as_no_attempt(site: Site) -> None:
    (run_id,) = site.add_runs([1], attempts=1)
    site.start()
    fall_silent(site, 1)
    (run,) = stated(site, 1).runs
    assert run.becomes == "waiting"
    assert "(offered, never claimed) is withdrawn" in run.ends
    assert run.risk == "Its load never got the start signal, so no load runs on n1."
    declare_dead(site, 1)
    assert (site.run(run_id).state, site.run(run_id).attempts_made, site.run(run_id).declines) == ("waiting", 0, 1)


def test_other_nodes_of_a_gang_are_asked_to_stop_before_the_target_is_free(
    make_site: Callable[..., Site],
) -> None:
    site = make_site(node_count=3)
    gang = site.add_runs([1, 2], target="nfs", exclusive="node+target")[0]
    site.start()
    one, two = site.agent(1), site.agent(2)
    dead, alive = one.claim_offer(), two.claim_offer()
    assert agree((one, dead), (two, alive)) == [Word.GO, Word.GO]
    one.say(dead, OrderState.RUNNING, 0.1, started_at=site.clock())
    fall_silent(site, 1)
    (run,) = stated(site, 1).runs
    assert run.ends == (
        f"order {dead.order_id} (last state: running) ends as lost; node n1 is free at once; the server asks n2 to"
        " stop, and then the run waits again (this was attempt 1 of 2) and frees target nfs and cluster blade"
    )
    declare_dead(site, 1)
    assert (site.run(gang).state, site.node(1).exclusive_leases, site.node(2).exclusive_leases) == ("active", 0, 1)
    assert two.say(alive, OrderState.RUNNING, 0.2) is Word.CANCEL
    two.finish(alive, Outcome.CANCELLED)
    assert site.run(gang).state == run.becomes == "waiting"


@pytest.mark.parametrize(("code", "becomes"), [("member_lost", "waiting"), ("step_failed", "failed")])
def test_a_dead_member_of_one_program_costs_an_attempt_unless_the_head_failed_by_its_own_cause(
    site: Site, code: str, becomes: str
) -> None:
    site.change("UPDATE node SET facts = jsonb_build_object('data.address', '10.1.0.' || substr(name, 2))")
    (run_id,) = site.add_runs([1, 2], target="nfs", roles=("head", "member"))
    site.start()
    head, member = site.agent(1), site.agent(2)
    offer = head.claim_offer()
    member.claim_offer()
    head.hand_in(offer, head.result(offer, Outcome.FAILED, reason="the channel ended", reason_code=code))
    fall_silent(site, 2)
    (run,) = stated(site, 2).runs
    declare_dead(site, 2)
    assert run.becomes == site.run(run_id).state == becomes
    assert site.run(run_id).reason_code == ("node_dead" if becomes == "waiting" else code)


def test_a_run_that_a_person_cancelled_is_cancelled(site: Site, cancel: Callable[[int], None]) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    running(site, 1)
    cancel(run_id)
    fall_silent(site, 1)
    (run,) = stated(site, 1).runs
    declare_dead(site, 1)
    assert site.run(run_id).state == run.becomes == "cancelled"


def test_the_word_is_refused_where_something_else_would_be_freed_than_was_shown(site: Site) -> None:
    shown_before = site.add_runs([1])[0]
    fall_silent(site, 1)
    empty = stated(site, 1)
    assert empty.runs == []
    site.keep_online()
    site.start()
    running(site, 1)
    fall_silent(site, 1)
    with raised(DEATH_DIFFERS):
        declare_dead(site, 1, empty.statement_sha256)
    assert (site.run(shown_before).state, site.node(1).problem) == ("active", None)


@pytest.mark.parametrize("ask", [stated, lambda site, number: declare_dead(site, number, "0" * 64)])
def test_an_online_node_is_not_declared_dead(site: Site, ask: Callable[[Site, int], object]) -> None:
    with raised(NODE_NOT_SILENT, match="last contacted the server at 2026-11-21 10:00:00"):
        ask(site, 1)
    site.change("DELETE FROM node_beat WHERE node_id = :id", id=site.node_ids[0])
    with raised(NODE_NOT_SILENT, match="has never contacted the server"):
        ask(site, 1)


def test_a_node_that_returns_between_preview_and_declaration_is_not_declared_dead(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    agent, offer = running(site, 1)
    fall_silent(site, 1)
    shown = stated(site, 1)
    assert agent.say(offer, OrderState.RUNNING, 0.2) is Word.CONTINUE
    with raised(NODE_NOT_SILENT):
        declare_dead(site, 1, shown.statement_sha256)
    assert site.run(run_id).state == "active"


def test_nothing_is_offered_to_a_dead_node_before_its_agent_has_looked_around_and_said_hello(
    site: Site, clock: MovedClock
) -> None:
    (run_id,) = site.add_runs([1], attempts=3)
    site.start()
    agent, offer = running(site, 1)
    fall_silent(site, 1)
    declare_dead(site, 1)
    assert site.node(1).problem == (
        "an operator declared n1 dead, silent since 2026-11-21 10:00:00 UTC; no run starts on it until its agent is"
        " back and idle"
    )
    assert site.start() == []
    # It was only cut off: it ends its load first, and once it is idle the server asks it to look around.
    agent.hello(offer, instance="instance-after-restart")
    assert agent.say(offer, OrderState.RUNNING, 0.2) is Word.UNKNOWN
    assert site.start() == []
    look = agent.heartbeat().look
    assert look is not None
    assert site.start() == []
    agent.hello(instance="instance-after-restart", look=look)
    assert (site.node(1).problem, site.node(1).declared_dead_at) == (None, None)
    assert site.start() == [run_id]
    del clock


def test_a_late_answer_to_an_old_offer_does_not_bring_a_node_called_dead_back(site: Site) -> None:
    site.add_runs([1])
    site.start()
    agent = site.agent(1)
    offer = agent.offer()
    fall_silent(site, 1)
    declare_dead(site, 1)
    with pytest.raises(Exception, match="withdrawn"):
        agent.claim(offer)
    assert site.node(1).problem is not None


def test_a_late_result_of_a_dead_node_is_only_evidence(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    agent, offer = running(site, 1)
    fall_silent(site, 1)
    declare_dead(site, 1)
    assert not agent.finish(offer).accepted
    assert site.run(run_id).state == "waiting"
    with site.database.transaction() as session:
        kinds = session.scalars(text("SELECT kind FROM run_event WHERE run_id = :id"), {"id": run_id}).all()
    assert "stale_result" in kinds


def test_the_digest_covers_what_would_end_and_not_the_waiting_runs(site: Site) -> None:
    site.add_runs([1])
    site.start()
    running(site, 1)
    fall_silent(site, 1)
    before = stated(site, 1)
    site.add_runs([1])
    site.clock.now += timedelta(minutes=5)
    after = stated(site, 1)
    assert (before.waiting_count, after.waiting_count) == (0, 1)
    assert before.statement_sha256 == after.statement_sha256
