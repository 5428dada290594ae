from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from factories.broker import BrokerView
from factories.clock import MovedClock
from factories.raised import raised
from factories.site import Site
from sqlalchemy import text

from iotide_server.agent_api.errors import ORDER_WITHDRAWN
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.kit.work import do_work, want_all, want_work
from iotide_server.runs.lifecycle import DECLINES_FORGIVEN
from iotide_server.scheduling.offers import MOST_OFFERS, MOST_TOGETHER, RETRY_AFTER, send_due_work
from iotide_server.scheduling.service import Scheduler
from iotide_wire.messages import OrderState, Outcome, Word


def queue(site: Site, number: int = 1) -> str:
    return f"node.{site.node_ids[number - 1]}"


def step_for(scheduler: Scheduler, clock: MovedClock, seconds: float, *, online: Site | None = None) -> None:
    """Let time pass as the process does: exactly as long as each step returns."""
    end = clock.now + timedelta(seconds=seconds)
    while True:
        if online is not None:
            online.keep_online()
        wait = scheduler.step(set())
        if clock.now + wait > end:
            clock.now = end
            return
        clock.now += wait


def test_an_offer_is_repeated_with_longer_and_longer_pauses(
    site: Site, scheduler: Scheduler, in_redis: BrokerView, clock: MovedClock
) -> None:
    site.add_runs([1])
    begin, sent_at = clock.now, []
    while clock.now < begin + timedelta(seconds=62):
        wait = scheduler.step(set())
        sent_at += [(clock.now - begin).total_seconds()] * len(in_redis.take(queue(site)))
        clock.now += wait
    gaps = [round(later - earlier) for earlier, later in pairwise(sent_at)]
    assert gaps == [1, 2, 4, 8, 16]


def test_a_claimed_order_is_not_offered_again(
    site: Site, scheduler: Scheduler, in_redis: BrokerView, clock: MovedClock
) -> None:
    site.add_runs([1])
    scheduler.step(set())
    site.agent(1).claim_offer()
    in_redis.take(queue(site))
    step_for(scheduler, clock, 60, online=site)
    assert in_redis.take(queue(site)) == []


def test_an_unclaimed_order_is_withdrawn_and_its_node_skipped_until_it_answers(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step(set())
    lost_offer = site.agent(1).offer()
    step_for(scheduler, clock, 63.5)
    run, node = site.run(run_id), site.node(1)
    assert (run.state, run.attempts_made, run.declines, run.reason_code) == ("waiting", 0, 1, "unclaimed")
    assert node.problem is not None
    assert f"{MOST_OFFERS} offers" in node.problem

    step_for(scheduler, clock, 600, online=site)
    assert (site.run(run_id).state, site.run(run_id).declines) == ("waiting", 1), "heartbeats alone do not return it"
    with raised(ORDER_WITHDRAWN):
        site.agent(1).claim(lost_offer)
    scheduler.step({"node"})
    assert site.node(1).problem is None
    assert site.agent(1).offer().fence != lost_offer.fence


def test_a_node_that_never_claims_does_not_keep_a_run_forever(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    (run_id,) = site.add_runs([1])
    agent = site.agent(1)
    for _ in range(DECLINES_FORGIVEN + 1):
        agent.hello(instance=agent.instance)
        step_for(scheduler, clock, 130, online=site)
    run = site.run(run_id)
    assert (run.state, run.reason_code) == ("failed", "unclaimed")
    assert run.reason is not None
    assert run.reason.startswith(f"declined {DECLINES_FORGIVEN + 1} times")


def test_while_redis_is_away_runs_start_and_nothing_counts_as_offered(
    site: Site, database: Database, broker: Broker, in_redis: BrokerView, clock: MovedClock
) -> None:
    (run_id,) = site.add_runs([1])
    deaf = Scheduler(database, Broker("redis://127.0.0.1:1/0"), lambda: None, clock)
    step_for(deaf, clock, 200, online=site)
    assert site.run(run_id).state == "active"
    assert site.node(1).problem is None
    clock.move(1)
    Scheduler(database, broker, lambda: None, clock).step(set())
    offer = site.agent(1).offer()
    assert in_redis.take(queue(site)) == [[offer.order_id, offer.fence]]


def test_messages_come_after_redis_was_emptied(
    site: Site, scheduler: Scheduler, in_redis: BrokerView, clock: MovedClock
) -> None:
    site.add_runs([1])
    scheduler.step(set())
    in_redis.redis.flushall()
    step_for(scheduler, clock, 1.5)
    assert len(in_redis.take(queue(site))) == 1


def test_the_users_of_redis_are_looked_after_every_five_seconds_and_whenever_it_fails(
    site: Site, database: Database, broker: Broker, clock: MovedClock
) -> None:
    del site
    calls: list[float] = []
    begin = clock.now
    look = lambda: calls.append((clock.now - begin).total_seconds())  # noqa: E731 - it only notes the time
    step_for(Scheduler(database, broker, look, clock), clock, 11)
    assert calls == [5.0, 10.0]


@pytest.mark.parametrize("exclusive", ["node", "none"])
def test_a_cancel_is_sent_to_the_node_until_it_answers(
    site: Site,
    scheduler: Scheduler,
    in_redis: BrokerView,
    clock: MovedClock,
    exclusive: str,
    cancel: Callable[..., None],
) -> None:
    (run_id,) = site.add_runs([1], exclusive=exclusive)
    scheduler.step(set())
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.RUNNING, 0.1)
    in_redis.take(queue(site))
    cancel(run_id)
    step_for(scheduler, clock, 3.5, online=site)
    assert in_redis.take(queue(site)) == [[offer.order_id, offer.fence]] * 3
    assert agent.say(offer, OrderState.RUNNING, 0.2) is Word.CANCEL
    agent.finish(offer, Outcome.CANCELLED)
    step_for(scheduler, clock, 60, online=site)
    assert in_redis.take(queue(site)) == []
    assert site.run(run_id).state == "cancelled"


def test_a_cancel_is_sent_at_most_six_times_to_a_node_that_never_answers(
    site: Site, scheduler: Scheduler, in_redis: BrokerView, clock: MovedClock, cancel: Callable[..., None]
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step(set())
    site.agent(1).claim_offer()
    in_redis.take(queue(site))
    cancel(run_id)
    step_for(scheduler, clock, 600)
    assert len(in_redis.take(queue(site))) == MOST_OFFERS
    assert site.run(run_id).state == "active", "silence frees nothing"


def test_the_last_cancel_is_sent_again_after_redis_was_unreachable(
    site: Site,
    database: Database,
    scheduler: Scheduler,
    in_redis: BrokerView,
    clock: MovedClock,
    cancel: Callable[..., None],
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step(set())
    offer = site.agent(1).claim_offer()
    in_redis.take(queue(site))
    cancel(run_id)
    site.change("UPDATE node_order SET offers_made = :made", made=MOST_OFFERS - 1)
    Scheduler(database, Broker("redis://127.0.0.1:1/0"), lambda: None, clock).step(set())
    step_for(scheduler, clock, 60)
    assert in_redis.take(queue(site)) == [[offer.order_id, offer.fence]]


def test_thousands_of_sends_do_not_stop_the_scheduler(
    site: Site, database: Database, scheduler: Scheduler, in_redis: BrokerView, clock: MovedClock
) -> None:
    site.add_runs([1])
    scheduler.step(set())
    offer = site.agent(1).claim_offer()
    in_redis.take(queue(site))
    with database.transaction() as session:
        want_work(session, "count", 7, clock())
    site.change("UPDATE work SET sends = 5000")
    site.change(
        "UPDATE node_order SET offers_made = 5000, cancel_wanted_at = :now, next_offer_at = :now WHERE id = :id",
        now=clock(),
        id=offer.order_id,
    )
    scheduler.step({"work"})
    assert in_redis.take("server") == [["count", 7]]
    assert in_redis.take(queue(site)) == [[offer.order_id, offer.fence]]


def test_work_is_named_to_the_workers_until_it_is_done(
    site: Site, database: Database, scheduler: Scheduler, in_redis: BrokerView, clock: MovedClock
) -> None:
    del site
    done: list[int] = []
    with database.transaction() as session:
        want_work(session, "count", 7, clock())
    scheduler.step({"work"})
    assert in_redis.take("server") == [["count", 7]]
    step_for(scheduler, clock, 35)
    assert in_redis.take("server") == [["count", 7]] * 2
    for _ in range(2):
        do_work(database, {"count": lambda _, key: done.append(key)}, "count", 7)
    step_for(scheduler, clock, 600)
    assert (done, in_redis.take("server")) == ([7], [])


def test_work_of_some_kinds_is_named_many_rows_to_a_message(
    database: Database, redis_server: PrivateRedis, in_redis: BrokerView, clock: MovedClock
) -> None:
    with database.transaction() as session:
        want_all(session, "analysis", range(1, MOST_TOGETHER + 3), clock())
        want_all(session, "points", [1, 2], clock())
    broker = Broker(redis_server.url, frozenset({"analysis"}))
    assert send_due_work(database, broker, clock())
    broker.close()
    named = sorted(in_redis.take("server"), key=len)
    assert {str(message) for message in named[:2]} == {"['points', 1]", "['points', 2]"}
    assert [(kind, len(keys)) for kind, *keys in named[2:]] == [("analysis", 2), ("analysis", MOST_TOGETHER)]
    assert {key for _, *keys in named[2:] for key in keys} == set(range(1, MOST_TOGETHER + 3))


def test_work_that_redis_does_not_take_is_due_again_whole(database: Database, clock: MovedClock) -> None:
    with database.transaction() as session:
        want_all(session, "analysis", [1, 2, 3], clock())
        want_all(session, "points", [1], clock())
    away = Broker("redis://127.0.0.1:1/0", frozenset({"analysis"}))
    assert not send_due_work(database, away, clock())
    with database.transaction() as session:
        rows = session.execute(text("SELECT sends, due_at FROM work")).all()
    assert [tuple(row) for row in rows] == [(0, clock() + RETRY_AFTER)] * 4
