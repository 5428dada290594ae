from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.clock import MovedClock
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site
from sqlalchemy import text

from iotide_server.agent_api import service
from iotide_server.agent_api.errors import ORDER_NOT_FOUND, STALE_FENCE
from iotide_server.agent_api.service import RawOutput
from iotide_server.runs.lifecycle import DECLINES_FORGIVEN
from iotide_server.runs.models import Attempt
from iotide_server.scheduling.service import Scheduler
from iotide_wire.messages import FinishReply, OrderState, Outcome, Word

ACCEPTED = FinishReply(accepted=True, duplicate=False)
DOUBLED = FinishReply(accepted=True, duplicate=True)
TOO_LATE = FinishReply(accepted=False, duplicate=False)


def running(site: Site, *, attempts: int = 2) -> tuple[SimulatedAgent, Offered]:
    """A run whose load has started on the first node."""
    site.add_runs([1], attempts=attempts)
    return site.agent(1), run_next(site)


def run_next(site: Site) -> Offered:
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=site.clock())
    return offer


def attempts(site: Site) -> list[str]:
    with site.database.transaction() as session:
        return [attempt.state for attempt in session.query(Attempt).order_by(Attempt.id)]


def log(site: Site, kind: str) -> list[str]:
    with site.database.transaction() as session:
        return list(session.scalars(text("SELECT text FROM run_event WHERE kind = :kind ORDER BY id"), {"kind": kind}))


def test_a_result_ends_the_run_and_frees_its_node_for_the_next_at_once(site: Site, scheduler: Scheduler) -> None:
    agent, offer = running(site)
    (following,) = site.add_runs([1])
    assert agent.finish(offer) == ACCEPTED
    assert site.run(offer.run_id).state == "finished"
    scheduler.step({"freed"})
    assert agent.offer().run_id == following


def test_run_and_order_end_with_the_report_of_the_node(site: Site, clock: MovedClock) -> None:
    agent, offer = running(site)
    started = clock()
    clock.move(30)
    result = agent.result(offer, started_at=started, ended_at=started + timedelta(seconds=20))
    agent.hand_in(offer, result)
    run = site.run(offer.run_id)
    assert (run.started_at, run.ended_at) == (started, started + timedelta(seconds=20))


@pytest.mark.parametrize("year", [1, 9999])
def test_the_times_of_a_broken_clock_are_bounded_marked_and_stop_nothing(
    site: Site, scheduler: Scheduler, clock: MovedClock, year: int
) -> None:
    site.add_runs([1])
    site.start()
    agent, nonsense = site.agent(1), clock().replace(year=year)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=nonsense)
    clock.move(30)
    scheduler.step(set())
    assert agent.hand_in(offer, agent.result(offer, started_at=nonsense, ended_at=nonsense)) == ACCEPTED
    run = site.run(offer.run_id)
    assert run.started_at is not None
    assert abs(run.started_at - clock()) <= timedelta(days=1, seconds=30)
    assert [flag["code"] for flag in run.flags] == ["NODE_TIME"]


def test_the_times_of_a_long_run_are_kept_if_its_result_is_late(site: Site, clock: MovedClock) -> None:
    agent, offer = running(site)
    started = clock()
    clock.move(40 * 86_400)
    agent.hand_in(offer, agent.result(offer, started_at=started, ended_at=started + timedelta(days=20)))
    run = site.run(offer.run_id)
    assert (run.started_at, run.ended_at, run.flags) == (started, started + timedelta(days=20), [])


def test_the_same_result_again_is_acknowledged_and_changes_nothing(site: Site) -> None:
    agent, offer = running(site)
    result = agent.result(offer)
    assert [agent.hand_in(offer, result) for _ in range(3)] == [ACCEPTED, DOUBLED, DOUBLED]
    assert attempts(site) == ["finished"]
    assert log(site, "finished") == ["n1: finished"]


def test_another_result_after_the_first_is_kept_only_as_evidence(site: Site) -> None:
    agent, offer = running(site)
    agent.finish(offer)
    assert agent.finish(offer, Outcome.FAILED, reason="second thoughts") == TOO_LATE
    assert site.run(offer.run_id).state == "finished"
    assert log(site, "stale_result") == ["a result arrived too late and was not stored: failed, 0 samples"]


def test_a_result_under_another_fence_or_from_another_node_changes_nothing(site: Site) -> None:
    agent, offer = running(site)
    assert agent.hand_in(offer, agent.result(offer, fence=offer.fence ^ 1 or 1)) == TOO_LATE
    other = site.agent(2)
    assert other.hand_in(offer, other.result(offer)) == TOO_LATE
    assert site.run(offer.run_id).state == "active"
    assert len(log(site, "stale_result")) == 1


def test_a_result_that_contradicts_the_catalogue_fails_the_run_and_is_not_asked_for_again(site: Site) -> None:
    agent, offer = running(site)
    sample = {"metric": "not_announced", "value": 1.0, "labels": {}, "target_id": None}
    assert agent.hand_in(offer, agent.result(offer, samples=(sample,))) == ACCEPTED
    run = site.run(offer.run_id)
    assert (run.state, run.reason_code) == ("failed", "metric_not_declared")
    assert run.reason is not None
    assert "not_announced" in run.reason


def test_a_result_that_cannot_be_stored_fails_the_run(site: Site) -> None:
    agent, offer = running(site)
    result = agent.result(offer, Outcome.FAILED, reason="bad \0 text", environment={"kernel.release": "6\0"})
    assert agent.hand_in(offer, result) == ACCEPTED
    assert site.run(offer.run_id).state == "failed"


def test_a_failed_load_is_a_failed_run_and_is_not_tried_again(site: Site) -> None:
    agent, offer = running(site, attempts=3)
    agent.finish(offer, Outcome.FAILED, reason="dd ended with status 1")
    run = site.run(offer.run_id)
    assert (run.state, run.reason_code, run.reason) == ("failed", "because", "dd ended with status 1")


def test_a_declined_run_waits_a_while_and_is_tried_again_without_counting(site: Site, clock: MovedClock) -> None:
    agent, offer = running(site)
    agent.finish(offer, Outcome.DECLINED, reason="/scratch is not mounted")
    run = site.run(offer.run_id)
    assert (run.state, run.attempts_made, run.declines) == ("waiting", 0, 1)
    assert (run.not_before, run.reason) == (clock() + timedelta(seconds=5), "/scratch is not mounted")
    assert site.start() == []
    clock.move(5)
    agent.finish(run_next(site))
    assert attempts(site) == ["declined", "finished"]
    assert site.run(offer.run_id).reason is None


def test_a_run_postponed_by_its_node_waits_until_then_each_time_and_shows_why(site: Site, clock: MovedClock) -> None:
    agent, offer = running(site)
    for _ in range(DECLINES_FORGIVEN + 1):
        put_off = agent.result(
            offer, Outcome.DECLINED, reason="the budget is spent", not_before=clock() + timedelta(hours=3)
        )
        agent.hand_in(offer, put_off)
        run = site.run(offer.run_id)
        assert (run.state, run.attempts_made, run.declines) == ("waiting", 0, 0)
        assert (run.not_before, run.reason) == (clock() + timedelta(hours=3), "the budget is spent")
        clock.move(3 * 3600 - 1)
        site.keep_online()
        assert site.start() == []
        clock.move(1)
        offer = run_next(site)
    agent.finish(offer)
    run = site.run(offer.run_id)
    assert (run.state, run.not_before) == ("finished", None)


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        (timedelta(days=-9), timedelta(minutes=1)),
        (timedelta(0), timedelta(minutes=1)),
        (timedelta(days=900), timedelta(days=1)),
    ],
)
def test_a_node_can_postpone_a_run_neither_by_zero_nor_forever(
    site: Site, clock: MovedClock, said: timedelta, counts: timedelta
) -> None:
    agent, offer = running(site)
    agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason="later", not_before=clock() + said))
    assert site.run(offer.run_id).not_before == clock() + counts


def test_when_a_node_could_take_it_counts_for_nothing_where_it_did_not_decline(site: Site, clock: MovedClock) -> None:
    agent, offer = running(site, attempts=1)
    agent.hand_in(offer, agent.result(offer, Outcome.FAILED, reason="no", not_before=clock() + timedelta(hours=3)))
    run = site.run(offer.run_id)
    assert (run.state, run.not_before) == ("failed", None)


def test_a_storm_of_declines_ends_failed_with_the_last_reason(site: Site, clock: MovedClock) -> None:
    agent, offer = running(site)
    for _ in range(DECLINES_FORGIVEN):
        agent.finish(offer, Outcome.DECLINED, reason="no space left")
        clock.move(60)
        site.keep_online()
        offer = run_next(site)
    agent.finish(offer, Outcome.DECLINED, reason="no space left")
    run = site.run(offer.run_id)
    assert run.state == "failed"
    assert run.reason == f"declined {DECLINES_FORGIVEN + 1} times, the last time because: no space left"


@pytest.mark.parametrize(("boot", "code"), [("boot-1234", "lost_by_agent"), ("boot-5678", "lost_by_reboot")])
def test_an_order_that_a_new_agent_process_does_not_hold_is_lost_and_tried_again(
    site: Site, clock: MovedClock, boot: str, code: str
) -> None:
    agent, offer = running(site)
    clock.move(31)  # the server takes a rebooted node for a second copy of itself until the node has been silent
    agent.hello(instance="instance-after-restart", boot_id=boot)
    run = site.run(offer.run_id)
    assert (run.state, run.attempts_made, run.reason_code) == ("waiting", 1, code)
    assert agent.say(offer, OrderState.RUNNING, 0.5) is Word.UNKNOWN
    assert agent.finish(offer) == TOO_LATE
    site.start()
    agent.finish(agent.claim_offer())
    assert attempts(site) == ["lost", "finished"]


def test_an_order_lost_in_its_last_attempt_fails_the_run(site: Site) -> None:
    agent, offer = running(site, attempts=1)
    agent.hello(instance="instance-after-restart")
    run = site.run(offer.run_id)
    assert (run.state, run.reason_code) == ("failed", "lost_by_agent")
    assert run.reason == "lost in attempt 1, the last time because: the agent no longer has the order"


def test_an_order_that_the_new_process_adopted_goes_on(site: Site) -> None:
    agent, offer = running(site)
    agent.hello(offer, instance="instance-after-restart")
    assert agent.say(offer, OrderState.RUNNING, 0.5) is Word.CONTINUE
    assert agent.finish(offer) == ACCEPTED
    assert attempts(site) == ["finished"]


def test_a_hello_of_the_same_process_loses_nothing(site: Site) -> None:
    agent, offer = running(site)
    agent.hello(instance=agent.instance)
    assert site.run(offer.run_id).state == "active"


def test_an_order_only_offered_survives_a_restart_of_the_agent(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    agent = site.agent(1)
    agent.hello(instance="instance-after-restart")
    agent.finish(agent.claim_offer())
    assert site.run(run_id).state == "finished"


def test_when_one_node_of_a_gang_declines_the_others_are_stopped_and_all_is_tried_again(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2], target="nfs", exclusive="node+target")
    site.start()
    first, second = site.agent(1), site.agent(2)
    offers = [first.claim_offer(), second.claim_offer()]
    first.finish(offers[0], Outcome.DECLINED, reason="busy locally")
    assert site.run(run_id).state == "active"
    assert second.say(offers[1], OrderState.READY) is Word.CANCEL
    second.finish(offers[1], Outcome.CANCELLED)
    run = site.run(run_id)
    assert (run.state, run.declines, run.reason) == ("waiting", 1, "busy locally")


def test_a_gang_that_one_node_cancels_before_the_other_claimed_is_cancelled(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2])
    site.start()
    agent = site.agent(1)
    agent.finish(agent.claim_offer(), Outcome.CANCELLED, reason="its administrator stopped it")
    assert site.agent(2).offers() == []
    assert (site.run(run_id).state, site.run(run_id).declines) == ("cancelled", 0)


def test_a_target_stays_leased_until_the_last_node_of_the_gang_has_ended(site: Site) -> None:
    site.add_runs([1, 2], target="nfs", exclusive="node+target")
    site.start()
    (waiting,) = site.add_runs([1], target="nfs")
    first, second = site.agent(1), site.agent(2)
    offers = [first.claim_offer(), second.claim_offer()]
    first.finish(offers[0])
    assert site.start() == []
    second.finish(offers[1])
    assert site.start() == [waiting]


def test_raw_output_needs_the_fence_of_the_nodes_own_order(site: Site) -> None:
    agent, offer = running(site)
    raw = RawOutput("write.stdout", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", b"test")

    def store(node_id: int, fence: int) -> None:
        with site.database.transaction() as session:
            service.store_artefact(session, node_id, offer.order_id, fence, raw)

    with raised(STALE_FENCE):
        store(agent.node_id, offer.fence ^ 1 or 1)
    with raised(ORDER_NOT_FOUND):
        store(site.node_ids[1], offer.fence)
    for _ in range(2):
        store(agent.node_id, offer.fence)
    with site.database.transaction() as session:
        assert session.execute(text("SELECT name, size_bytes FROM artefact")).all() == [("write.stdout", 4)]


def test_results_and_cancels_at_the_same_moment_agree(site: Site, cancel: Callable[[int], None]) -> None:
    agent, offer = running(site)
    cancel(offer.run_id)
    assert agent.finish(offer) == ACCEPTED
    assert site.run(offer.run_id).state == "finished"


def test_the_begin_and_end_of_a_run_on_a_node_are_published_as_activity(site: Site) -> None:
    site.change("DELETE FROM change")
    site.add_runs([1])
    site.start()
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    with site.database.transaction() as session:
        updates = session.execute(text("SELECT kind, subject_id FROM change WHERE kind IN ('node', 'activity')")).all()
    assert [tuple(row) for row in updates] == [("activity", site.node_ids[0])] * 2
