"""Orders that only observe: they run next to any load, and no run depends on them."""

from datetime import timedelta

import pytest
from factories.clock import MovedClock
from factories.site import Offered, SimulatedAgent, Site, order_heartbeat
from sqlalchemy import select, text

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.queue import Broker
from iotide_server.results.models import Environment
from iotide_server.runs.models import Order, RunEvent
from iotide_server.scheduling.offers import MOST_OFFERS
from iotide_server.scheduling.service import Scheduler
from iotide_server.scheduling.watch import OBSERVER_GRACE
from iotide_wire.messages import CurvePiece, FinishReply, OrderRole, OrderState, Outcome, Word

ACCEPTED = FinishReply(accepted=True, duplicate=False)
TOO_LATE = FinishReply(accepted=False, duplicate=False)


def offered(site: Site, *, limit: float = 60.0) -> tuple[SimulatedAgent, Offered, Offered]:
    """Two nodes, the second is the server: its agent, and the offers to the client and to the server."""
    site.add_runs([1], observers=[2], limit=limit)
    site.start()
    return site.agent(2), site.agent(1).offer(), site.agent(2).offer()


def load(site: Site, offer: Offered) -> None:
    """Run the client's load to its end."""
    client = site.agent(1)
    client.claim(offer)
    assert client.say(offer, OrderState.READY) is Word.GO
    client.say(offer, OrderState.RUNNING, 0.5, started_at=site.clock())
    assert client.finish(offer) == ACCEPTED


def order(site: Site, offer: Offered) -> Order:
    with site.database.transaction() as session:
        return session.get_one(Order, offer.order_id)


def log(site: Site, run_id: int, kind: str) -> list[str]:
    statement = select(RunEvent.text).where(RunEvent.run_id == run_id, RunEvent.kind == kind).order_by(RunEvent.id)
    with site.database.transaction() as session:
        return list(session.scalars(statement))


def piece(site: Site, *values: float) -> CurvePiece:
    return CurvePiece(counter="cpu_user_ratio", started_at=site.clock(), step_seconds=1.0, values=values)


def curves(site: Site, offer: Offered) -> list[list[float]]:
    with site.database.transaction() as session:
        statement = text('SELECT "values" FROM curve_chunk WHERE order_id = :id ORDER BY started_at')
        return list(session.scalars(statement, {"id": offer.order_id}))


def test_an_observer_gets_an_order_without_targets_or_lease_and_its_node_stays_free(site: Site) -> None:
    server, _, observing = offered(site, limit=100.0)
    claimed = server.claim(observing)
    assert (claimed.role, claimed.targets, claimed.time_limit_seconds) == (OrderRole.OBSERVE, (), 700.0)
    (other,) = site.add_runs([2])
    assert site.start() == [other]
    assert site.node(2).exclusive_leases == 1


def test_a_node_without_load_observes_several_runs_at_once(site: Site) -> None:
    site.change("UPDATE node SET problem = 'broken' WHERE id = :id", id=site.node_ids[1])
    site.change("UPDATE node SET slots = 2 WHERE id = :id", id=site.node_ids[0])
    site.add_runs([1], [1], observers=[2], exclusive="none")
    assert len(site.start()) == 4
    server = site.agent(2)
    for offer in server.offers():
        server.claim(offer)
        assert server.say(offer, OrderState.RUNNING, started_at=site.clock()) is Word.CONTINUE


def test_the_barrier_waits_for_no_observer_and_an_observer_for_no_barrier(site: Site, clock: MovedClock) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    assert server.say(observing, OrderState.RUNNING, started_at=clock()) is Word.CONTINUE
    client = site.agent(1)
    client.claim(loading)
    assert client.say(loading, OrderState.READY) is Word.GO
    assert site.run(loading.run_id).state == "active"


def test_an_observer_learns_that_the_loads_have_ended_and_delivers_after_the_run(site: Site, clock: MovedClock) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    server.say(observing, OrderState.RUNNING, started_at=clock())
    load(site, loading)
    run = site.run(loading.run_id)
    assert run.state == "finished"
    clock.move(5)
    assert server.say(observing, OrderState.RUNNING) is Word.CANCEL
    said = server.result(observing, curves=(piece(site, 0.25, 0.5),), environment={"kernel.release": "6.1"})
    assert server.hand_in(observing, said) == ACCEPTED
    ended = order(site, observing)
    assert (ended.state, ended.outcome) == ("ended", "finished")
    assert curves(site, observing) == [[0.25, 0.5]]
    with site.database.transaction() as session:
        facts = session.get_one(Environment, ended.environment_sha256).facts
    assert facts == {"kernel.release": "6.1"}
    after = site.run(loading.run_id)
    assert (after.environment_sha256, after.ended_at, after.flags) == (run.environment_sha256, run.ended_at, [])


def test_the_end_of_the_loads_wakes_the_observer(site: Site, scheduler: Scheduler) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    load(site, loading)
    observer_order = order(site, observing)
    assert (observer_order.state, observer_order.next_offer_at, observer_order.cancel_wanted_at) == (
        "claimed",
        site.clock(),
        site.clock(),
    )
    scheduler.step(set())
    assert order(site, observing).offers_made == 1


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.DECLINED, Outcome.CANCELLED])
def test_a_run_does_not_fail_with_its_observer(site: Site, outcome: Outcome) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    assert server.finish(observing, outcome, reason="out of room") == ACCEPTED
    assert site.run(loading.run_id).state == "active"
    load(site, loading)
    run = site.run(loading.run_id)
    assert (run.state, run.reason, run.validity) == ("finished", None, "valid")


def test_a_silent_observer_is_named_in_the_log_and_its_run_starts_and_ends_without_it(
    site: Site, clock: MovedClock
) -> None:
    clock.now += SILENT_AFTER + timedelta(seconds=1)
    site.agent(1).heartbeat()
    server, loading, observing = offered(site)
    assert log(site, loading.run_id, "observed") == ["to be observed by n2 (silent; the run does not wait for it)"]
    load(site, loading)
    assert site.run(loading.run_id).state == "finished"
    assert order(site, observing).outcome == "withdrawn"
    assert log(site, loading.run_id, "withdrawn") == ["n2: withdrawn: the loads ended before the node claimed it"]
    assert server.offers() == []


def test_a_late_observer_learns_of_the_end_by_its_first_heartbeat_and_delivers_curves(
    site: Site, clock: MovedClock
) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    load(site, loading)
    clock.move(OBSERVER_GRACE.total_seconds() - 1)
    heartbeat = order_heartbeat(observing, started_at=clock(), curves=(piece(site, 0.75),))
    assert server.heartbeat(heartbeat).orders[0].word is Word.CANCEL
    assert curves(site, observing) == [[0.75]]


def test_a_silent_observer_is_closed_after_a_grace_period_and_its_late_report_changes_nothing(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    load(site, loading)
    for seconds, state in ((OBSERVER_GRACE.total_seconds() - 5, "claimed"), (10.0, "ended")):
        clock.now += timedelta(seconds=seconds)
        scheduler.step(set())
        assert order(site, observing).state == state
    assert order(site, observing).outcome == "lost"
    assert server.say(observing, OrderState.RUNNING) is Word.UNKNOWN
    assert server.finish(observing) == TOO_LATE
    assert site.run(loading.run_id).state == "finished"


def test_after_its_own_start_the_scheduler_gives_observers_their_grace_again(
    site: Site, broker: Broker, clock: MovedClock
) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    load(site, loading)
    clock.now += timedelta(hours=1)
    restarted = Scheduler(site.database, broker, lambda: None, clock)
    clock.now += OBSERVER_GRACE - timedelta(seconds=1)
    restarted.step(set())
    assert server.finish(observing) == ACCEPTED


def test_an_unclaimed_observing_order_is_withdrawn_while_the_load_continues(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    _, loading, observing = offered(site, limit=3600.0)
    client = site.agent(1)
    client.claim(loading)
    for _ in range(MOST_OFFERS + 1):
        clock.now += timedelta(seconds=33)
        client.say(loading, OrderState.RUNNING, 0.1, started_at=clock())
        scheduler.step(set())
    assert order(site, observing).outcome == "withdrawn"
    assert site.run(loading.run_id).state == "active"


def test_an_observer_that_lost_its_order_costs_the_run_nothing(site: Site) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    server.hello(instance="instance-n2-again")
    assert order(site, observing).outcome == "lost"
    load(site, loading)
    assert site.run(loading.run_id).state == "finished"


def test_an_observer_makes_no_run_overdue_and_is_not_its_progress(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    server, loading, observing = offered(site, limit=60.0)
    server.claim(observing)
    server.say(observing, OrderState.RUNNING, started_at=clock())
    clock.now += timedelta(seconds=150)
    client = site.agent(1)
    client.claim(loading)
    client.say(loading, OrderState.RUNNING, 0.5, started_at=clock())
    scheduler.step(set())
    assert not site.run(loading.run_id).overdue


def test_a_run_that_is_tried_again_is_observed_again(site: Site, scheduler: Scheduler, clock: MovedClock) -> None:
    server, loading, first = offered(site)
    server.claim(first)
    client = site.agent(1)
    client.claim(loading)
    client.finish(loading, Outcome.DECLINED, reason="busy")
    assert server.say(first, OrderState.RUNNING, started_at=clock()) is Word.CANCEL
    clock.now += timedelta(minutes=1)
    site.keep_online()
    scheduler.step({"retried"})
    second = server.offer()
    assert second.run_id == loading.run_id
    server.claim(second)
    assert server.finish(first) == ACCEPTED
    load(site, client.offer())
    assert server.say(second, OrderState.RUNNING) is Word.CANCEL
    assert site.run(loading.run_id).state == "finished"


def test_a_cancelled_run_ends_with_its_loads(site: Site) -> None:
    server, loading, observing = offered(site)
    server.claim(observing)
    client = site.agent(1)
    client.claim(loading)
    client.finish(loading, Outcome.CANCELLED, reason="cancelled by the user")
    assert site.run(loading.run_id).state == "cancelled"
    assert server.say(observing, OrderState.RUNNING) is Word.CANCEL
    assert server.finish(observing) == ACCEPTED


def test_a_retired_observer_gets_no_order(site: Site) -> None:
    site.change("UPDATE node SET retired_at = now() WHERE id = :id", id=site.node_ids[1])
    (run_id,) = site.add_runs([1], observers=[2])
    assert site.start() == [run_id]
    assert log(site, run_id, "observed") == ["not observed by n2 (retired)"]
