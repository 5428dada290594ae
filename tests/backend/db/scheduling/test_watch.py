from datetime import timedelta

from factories.clock import MovedClock
from factories.site import Offered, Site, agree
from sqlalchemy import text

from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.runs import service as runs
from iotide_server.runs.models import Order
from iotide_server.scheduling.service import WATCH_EVERY, Scheduler
from iotide_server.scheduling.watch import BARRIER_TIMEOUT
from iotide_wire.messages import OrderState, Word

ADA = Principal(PrincipalKind.USER, 1, "ada")


def watch(scheduler: Scheduler, clock: MovedClock, seconds: float) -> None:
    """Step until that much time has passed."""
    end = clock.now + timedelta(seconds=seconds)
    while clock.now < end:
        clock.now += min(WATCH_EVERY, end - clock.now)
        scheduler.step(set())


def running(site: Site, scheduler: Scheduler) -> tuple[int, Offered]:
    """A run with a started load, and its order."""
    (run_id,) = site.add_runs([1], limit=60.0)
    scheduler.step(set())
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=site.clock())
    return run_id, offer


def order(site: Site, offer: Offered) -> Order:
    with site.database.transaction() as session:
        return session.get_one(Order, offer.order_id)


def test_silence_is_flagged_and_never_frees_anything(site: Site, scheduler: Scheduler, clock: MovedClock) -> None:
    run_id, offer = running(site, scheduler)
    last_seen_at = clock()
    (waiting,) = site.add_runs([1])
    for _ in range(3):
        clock.now += timedelta(days=10)
        scheduler.step(set())
    assert order(site, offer).silent_since == last_seen_at
    assert site.states([run_id, waiting]) == ["active", "waiting"]


def test_the_first_heartbeat_clears_the_flag(site: Site, scheduler: Scheduler, clock: MovedClock) -> None:
    _, offer = running(site, scheduler)
    watch(scheduler, clock, 60)
    assert order(site, offer).silent_since is not None
    site.agent(1).say(offer, OrderState.RUNNING, 0.1)
    assert order(site, offer).silent_since is None


def test_after_its_own_start_the_scheduler_first_waits_for_three_heartbeats(
    site: Site, scheduler: Scheduler, database: Database, broker: Broker, clock: MovedClock
) -> None:
    _, offer = running(site, scheduler)
    clock.now += timedelta(hours=1)
    restarted = Scheduler(database, broker, lambda: None, clock)
    watch(restarted, clock, SILENT_AFTER.total_seconds() - 1)
    assert order(site, offer).silent_since is None
    watch(restarted, clock, 6)
    assert order(site, offer).silent_since is not None


def test_a_time_limit_that_passes_in_silence_marks_the_run_and_frees_nothing(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    run_id, _ = running(site, scheduler)
    watch(scheduler, clock, 119)
    assert not site.run(run_id).overdue
    watch(scheduler, clock, 10)
    run = site.run(run_id)
    assert (run.overdue, run.state) == (True, "active")


def test_a_gang_of_which_a_node_is_not_ready_in_time_is_dissolved_and_tried_again(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    run_id = site.add_runs([1, 2])[0]
    scheduler.step(set())
    first, second = site.agent(1), site.agent(2)
    ready, late = first.claim_offer(), second.claim_offer()
    second.say(late, OrderState.PREFLIGHT)
    late_seconds = BARRIER_TIMEOUT.total_seconds()
    clock.now += timedelta(seconds=late_seconds - 10)
    assert first.say(ready, OrderState.READY) is Word.CONTINUE
    clock.now += timedelta(seconds=20)
    scheduler.step(set())

    run = site.run(run_id)
    assert (run.state, run.reason_code, run.declines, run.attempts_made) == ("waiting", "not_together", 1, 0)
    assert run.reason is not None
    assert "missing: n2" in run.reason
    assert {site.node(number).exclusive_leases for number in (1, 2)} == {0}
    assert first.say(ready, OrderState.READY) is Word.UNKNOWN
    assert second.say(late, OrderState.READY) is Word.UNKNOWN

    clock.now += timedelta(minutes=1)
    site.keep_online()
    assert site.start() == [run_id, run_id]


def test_a_gang_with_a_node_that_never_received_the_start_time_is_dissolved(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    run_id = site.add_runs([1, 2])[0]
    scheduler.step(set())
    cut_off, hearing = site.agent(1), site.agent(2)
    first, second = cut_off.claim_offer(), hearing.claim_offer()
    cut_off.say(first, OrderState.READY)
    for _ in range(60):
        assert hearing.say(second, OrderState.READY) is Word.CONTINUE
        watch(scheduler, clock, 2)
    watch(scheduler, clock, 20)
    assert site.run(run_id).reason_code == "not_together"
    assert "missing: n1" in str(site.run(run_id).reason)
    assert cut_off.say(first, OrderState.READY) is Word.UNKNOWN


def test_a_gang_that_may_wait_for_idle_nodes_gets_that_much_longer(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    run_id = site.add_runs([1, 2])[0]
    site.change('UPDATE campaign SET plan = \'{"quiet": "wait", "quiet_wait_seconds": 300.0}\'')
    scheduler.step(set())
    for agent in (site.agent(1), site.agent(2)):
        agent.claim_offer()
    watch(scheduler, clock, BARRIER_TIMEOUT.total_seconds() + 290)
    assert site.states([run_id]) == ["active"]
    watch(scheduler, clock, 20)
    assert site.run(run_id).reason_code == "not_together"


def test_a_gang_that_got_its_moment_is_never_dissolved(site: Site, scheduler: Scheduler, clock: MovedClock) -> None:
    run_id = site.add_runs([1, 2], limit=3600.0)[0]
    scheduler.step(set())
    offers = [(agent, agent.claim_offer()) for agent in (site.agent(1), site.agent(2))]
    assert agree(*offers) == [Word.GO, Word.GO]
    watch(scheduler, clock, 3 * BARRIER_TIMEOUT.total_seconds())
    assert site.states([run_id]) == ["active"]
    assert [agent.say(offer, OrderState.RUNNING, 0.1) for agent, offer in offers] == [Word.CONTINUE] * 2


def test_a_gang_that_a_person_cancels_before_its_moment_ends_though_a_node_is_silent(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    run_id = site.add_runs([1, 2])[0]
    scheduler.step(set())
    site.agent(1).claim_offer()
    site.agent(2).claim_offer()
    with site.database.transaction() as session:
        runs.cancel_campaign(session, ADA, site.run(run_id).campaign_id, clock())
    watch(scheduler, clock, BARRIER_TIMEOUT.total_seconds() + 10)
    assert site.states([run_id]) == ["cancelled"]
    assert {site.node(number).exclusive_leases for number in (1, 2)} == {0}


def test_changes_are_kept_for_an_hour(site: Site, scheduler: Scheduler, clock: MovedClock) -> None:
    site.change("UPDATE change SET at = :at", at=clock())
    for minutes, is_there in ((59, True), (2, False)):
        clock.now += timedelta(minutes=minutes)
        scheduler.step(set())
        assert (_updates(site) > 0) == is_there


def _updates(site: Site) -> int:
    """Return the number of updates from before the test's own watch."""
    with site.database.transaction() as session:
        return int(session.scalars(text("SELECT count(*) FROM change WHERE at <= '2026-11-21 10:00:00Z'")).one())
