import random
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from factories.broker import BrokerView
from factories.clock import MovedClock
from factories.invariants import violations
from factories.people import ADMIN
from factories.site import Site, started_by
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from iotide_server.kit.db import Database, open_engine
from iotide_server.runs import reading
from iotide_server.runs.resources import Occupancy, Resource, needs
from iotide_server.scheduling import repository
from iotide_server.scheduling.matching import Demand, WaitingRun, match
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.service import Scheduler
from iotide_wire.messages import OrderState, Outcome
from iotide_wire.plan import Exclusivity


def test_a_wake_up_starts_a_waiting_run_and_sends_only_ids_to_its_node(
    site: Site, scheduler: Scheduler, in_redis: BrokerView
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"campaign"})
    offer = site.agent(1).offer()
    assert (offer.run_id, site.run(run_id).state, site.run(run_id).attempts_made) == (run_id, "active", 1)
    assert in_redis.take(f"node.{site.node_ids[0]}") == [[offer.order_id, offer.fence]]
    assert in_redis.take(f"node.{site.node_ids[1]}") == []


def test_the_queues_of_two_nodes_are_served_at_once_and_one_run_at_a_time(site: Site) -> None:
    on_first, on_second, later = site.add_runs([1], [2], [1])
    assert site.start() == [on_first, on_second]
    assert site.start() == []
    assert site.run(later).state == "waiting"


def test_an_earlier_campaign_is_served_first_and_a_higher_priority_before_it(site: Site) -> None:
    (early,) = site.add_runs([1])
    (urgent,) = site.add_runs([1])
    site.change("UPDATE line_place SET sort_key = sort_key - 3600 WHERE run_id = :id", id=urgent)
    site.change("UPDATE run SET sort_key = sort_key - 3600 WHERE id = :id", id=urgent)
    assert site.start() == [urgent]
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    assert site.start() == [early]


@pytest.mark.parametrize(
    ("exclusive", "target", "together"),
    [
        ("none", "nfs", 4),
        ("node", "nfs", 2),
        ("node", "scratch", 2),
        ("node+target", "nfs", 1),
        ("node+target", "scratch", 2),
        ("cluster", "scratch", 1),
    ],
)
def test_exclusivity_decides_how_many_of_four_runs_on_two_nodes_with_two_slots_run_together(
    make_site: Callable[..., Site], exclusive: str, target: str, together: int
) -> None:
    site = make_site(slots=2)
    site.add_runs([1], [2], [1], [2], exclusive=exclusive, target=target)
    assert len(site.start()) == together
    assert site.start() == []


def test_a_run_with_an_exclusive_target_waits_for_its_users_and_no_later_one_gets_ahead(
    make_site: Callable[..., Site],
) -> None:
    site = make_site(node_count=3)
    (shared,) = site.add_runs([1], target="nfs")
    assert site.start() == [shared]
    (alone,) = site.add_runs([2], target="nfs", exclusive="node+target")
    (later,) = site.add_runs([3], target="nfs", limit=3600.0)
    assert site.start() == []
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    assert site.start() == [alone]
    agent = site.agent(2)
    agent.finish(agent.claim_offer())
    assert site.start() == [later]


def test_a_node_stays_idle_for_as_long_as_its_last_run_wanted_and_the_scheduler_wakes_then(
    site: Site, scheduler: Scheduler
) -> None:
    first, second = site.add_runs([1], cool_down=90.0, repeats=2)
    (of_others,) = site.add_runs([1])
    scheduler.step({"campaign"})
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    assert scheduler.step({"freed"}) <= timedelta(seconds=5)
    assert site.states([first, second, of_others]) == ["finished", "waiting", "waiting"]
    with site.database.transaction() as session:
        reason = reading.why_waiting(session, reading.run(session, ADMIN, second), site.clock())
    assert reason == "Node n1 cools down until 2026-11-21 10:01:30 UTC"
    site.clock.move(89.9)
    site.keep_online()
    assert timedelta(0) < scheduler.step(set()) <= timedelta(seconds=0.2)
    site.clock.move(0.1)
    scheduler.step(set())
    assert site.states([first, second, of_others]) == ["finished", "active", "waiting"]


@pytest.mark.parametrize(("exclusive", "starts"), [("node", True), ("node+target", False)])
def test_a_shared_target_cools_down_only_after_an_exclusive_run(site: Site, exclusive: str, *, starts: bool) -> None:
    site.add_runs([1], target="nfs", exclusive=exclusive, cool_down=60.0)
    site.start()
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    (elsewhere,) = site.add_runs([2], target="nfs")
    assert site.start() == ([elsewhere] if starts else [])


def test_an_order_that_never_loaded_its_node_leaves_nothing_to_cool_down(site: Site) -> None:
    site.add_runs([1], cool_down=60.0)
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason="busy", started_at=None))
    (of_others,) = site.add_runs([1])
    assert site.start() == [of_others]


def test_runs_that_wait_for_a_locked_target_do_not_hide_those_behind_them(site: Site) -> None:
    (alone,) = site.add_runs([1], target="nfs", exclusive="node+target")
    assert site.start() == [alone]
    site.add_runs(*[[2]] * 6, target="nfs")
    (behind,) = site.add_runs([2], target="scratch")
    assert site.start() == [behind]


def test_the_run_behind_any_number_that_wait_for_a_locked_target_starts(site: Site) -> None:
    (alone,) = site.add_runs([1], target="nfs", exclusive="node+target")
    assert site.start() == [alone]
    site.add_runs([2], target="nfs", repeats=40)
    (behind,) = site.add_runs([2], target="scratch")
    assert site.start() == [behind]


def test_the_run_behind_any_number_of_postponed_ones_starts(site: Site, clock: MovedClock) -> None:
    site.add_runs([1], repeats=40)
    site.change("UPDATE line_place SET not_before = :at", at=clock() + timedelta(hours=1))
    (behind,) = site.add_runs([1])
    assert site.start() == [behind]


def test_the_run_behind_any_number_of_gangs_that_wait_for_a_silent_node_starts(site: Site) -> None:
    site.add_runs([1, 2], repeats=40)
    site.change("UPDATE node_beat SET seen_at = seen_at - interval '31 s' WHERE node_id = :id", id=site.node_ids[1])
    (behind,) = site.add_runs([1])
    assert site.start() == [behind]


def test_gangs_that_wait_for_an_unknown_end_do_not_block_the_run_behind_them(site: Site) -> None:
    (overdue,) = site.add_runs([2])
    assert site.start() == [overdue]
    site.change("UPDATE run SET overdue = true WHERE id = :id", id=overdue)
    site.add_runs([1, 2], repeats=40)
    (behind,) = site.add_runs([1])
    assert site.start() == [behind]


def test_behind_a_gang_that_waits_those_that_can_start_before_it_are_seen_and_gangs_that_cannot_are_not(
    make_site: Callable[..., Site],
) -> None:
    site = make_site(node_count=4)
    (busy,) = site.add_runs([2, 4], limit=600.0)
    assert site.start() == [busy] * 2
    first, _, both = site.add_runs([1, 2], [1, 4], [1, 3], limit=60.0)
    with site.database.transaction() as session:
        seen = {run.run_id for run in site.lines.candidates(session, site.clock()).waiting}
    assert seen == {first, both}
    assert site.start() == [both] * 2


def test_a_target_that_is_wrongly_mounted_keeps_its_runs_waiting_and_no_others(site: Site) -> None:
    (gang,) = site.add_runs([1, 2])
    kept = site.add_runs([2], repeats=6)
    elsewhere, other_target = site.add_runs([1])[0], site.add_runs([2], target="nfs")[0]
    site.change(
        "UPDATE target_mount SET problem = 'nothing is mounted there' WHERE node_id = :node AND target_id = :target",
        node=site.node_ids[1],
        target=site.target_ids["scratch"],
    )
    assert sorted(site.start()) == [elsewhere, other_target]
    assert site.states([gang, *kept]) == ["waiting"] * 7
    for number in (1, 2):
        agent = site.agent(number)
        agent.finish(agent.claim_offer())
    with site.database.transaction() as session:
        waiting = reading.run(session, ADMIN, gang)
        because = reading.why_waiting(session, waiting, site.clock())
    assert because == "Target scratch on node n2: nothing is mounted there"
    site.change("UPDATE target_mount SET problem = NULL")
    assert set(site.start()) == {gang}


def test_a_gang_is_offered_to_all_its_nodes_or_to_none(make_site: Callable[..., Site]) -> None:
    site = make_site(node_count=3)
    (single,) = site.add_runs([2])
    assert site.start() == [single]
    (gang,) = site.add_runs([1, 2, 3], target="nfs", exclusive="node+target")
    assert site.start() == []
    agent = site.agent(2)
    agent.finish(agent.claim_offer())
    assert site.start() == [gang] * 3
    assert [site.agent(number).offer().run_id for number in (1, 2, 3)] == [gang] * 3
    assert len({site.agent(number).offer().fence for number in (1, 2, 3)}) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        "UPDATE node_beat SET seen_at = seen_at - interval '31 s' WHERE node_id = :id",
        "DELETE FROM node_beat WHERE node_id = :id",
        "UPDATE node SET problem = 'not trusted' WHERE id = :id",
        "UPDATE node SET retired_at = now() WHERE id = :id",
    ],
)
def test_a_node_that_cannot_be_counted_on_gets_nothing_and_the_others_all_the_same(site: Site, trouble: str) -> None:
    site.change(trouble, id=site.node_ids[0])
    _, on_second = site.add_runs([1], [2])
    assert site.start() == [on_second]


def test_a_node_that_contacts_the_server_again_is_served_again(site: Site) -> None:
    site.change("UPDATE node_beat SET seen_at = seen_at - interval '1 h'")
    (run_id,) = site.add_runs([1])
    assert site.start() == []
    site.agent(1).heartbeat()
    assert site.start() == [run_id]


def test_a_run_is_not_tried_again_before_its_time_and_lets_others_pass(
    site: Site, scheduler: Scheduler, clock: MovedClock
) -> None:
    first, second = site.add_runs([1], [1])
    site.change(
        "UPDATE line_place SET not_before = :at WHERE run_id = :id", at=clock() + timedelta(seconds=3), id=first
    )
    wait = scheduler.step({"campaign"})
    assert site.states([first, second]) == ["waiting", "active"]
    assert wait <= timedelta(seconds=3)
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    clock.now += timedelta(seconds=2)
    scheduler.step({"freed"})
    assert site.run(first).state == "waiting"
    clock.now += timedelta(seconds=1)
    scheduler.step(set())
    assert site.run(first).state == "active"


def test_every_repeat_of_a_short_campaign_gets_done_with_the_node_never_shared(
    site: Site, scheduler: Scheduler
) -> None:
    run_ids = site.add_runs([1], [2], repeats=3)
    for _ in range(3):
        scheduler.step({"freed"})
        for number in (1, 2):
            agent = site.agent(number)
            agent.finish(agent.claim_offer())
    assert site.states(run_ids) == ["finished"] * 6
    with site.database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM lease WHERE active")).one() == 0


def test_the_database_refuses_to_lease_a_node_twice(site: Site, clock: MovedClock) -> None:
    first, second = site.add_runs([1], [1])
    stale = [
        WaitingRun(0.0, run_id, Demand.of(needs(Exclusivity.NODE, [site.node_ids[0]], [], site.cluster_id), 60.0, 0.0))
        for run_id in (first, second)
    ]
    with pytest.raises(IntegrityError, match="ck_node_leases"), site.database.transaction() as session:
        repository.start(session, stale, {first: 1, second: 2}, clock())
    assert site.states([first, second]) == ["waiting", "waiting"]


def test_valid_runs_of_a_batch_that_the_database_refuses_still_start(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = site.add_runs([1], [1], [2])
    stale = [
        WaitingRun(
            0.0, run_id, Demand.of(needs(Exclusivity.NODE, [site.node_ids[number - 1]], [], site.cluster_id), 60, 0)
        )
        for run_id, number in ((first, 1), (second, 1), (third, 2))
    ]
    monkeypatch.setattr("iotide_server.scheduling.starting.decide", lambda *_: stale)
    assert site.start() == [first, third]
    assert site.states([first, second, third]) == ["active", "waiting", "active"]


def test_six_schedulers_that_disagree_about_the_order_grant_nothing_twice(
    make_site: Callable[..., Site], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the election that prevents competing schedulers: only the database prevents a double grant."""

    def match_at_random(
        waiting: Sequence[WaitingRun], occupied: Mapping[Resource, Occupancy], now: datetime
    ) -> list[WaitingRun]:
        return match([run._replace(sort_key=random.random()) for run in waiting], occupied, now)  # noqa: S311

    monkeypatch.setattr("iotide_server.scheduling.starting.match", match_at_random)
    site = make_site(node_count=8)
    run_ids = [
        *site.add_runs(*[[number] for number in range(1, 9)], repeats=3, target="nfs"),
        *site.add_runs([1, 2], [3, 4, 5], [7, 8], repeats=2, target="nfs"),
        *site.add_runs([3], [6], repeats=2, target="nfs", exclusive="node+target"),
        *site.add_runs([5], repeats=2, exclusive="cluster"),
    ]
    databases = [Database(open_engine(database_url, pool_size=1)) for _ in range(6)]
    barrier = threading.Barrier(len(databases))

    def schedule(database: Database) -> int:
        barrier.wait()
        return len(started_by(database, NodeQueues(), site.clock()))

    rounds = 0
    with ThreadPoolExecutor(len(databases)) as pool:
        while not all(state == "finished" for state in site.states(run_ids)):
            rounds += 1
            assert rounds < 100
            begun = sum(pool.map(schedule, databases))
            with site.database.transaction() as session:
                assert violations(session) == {}
            assert begun > 0
            for number in range(1, 9):
                agent = site.agent(number)
                for offer in agent.offers():
                    agent.claim(offer)
                    agent.finish(offer)
    for database in databases:
        database.engine.dispose()
    with site.database.transaction() as session:
        attempts = session.execute(text("SELECT run_id, count(*) FROM attempt GROUP BY run_id")).all()
    assert sorted(attempts) == [(run_id, 1) for run_id in sorted(run_ids)]


def test_an_order_has_everything_that_its_node_needs(site: Site) -> None:
    (run_id,) = site.add_runs([1], target="nfs", exclusive="none", limit=90.0)
    site.start()
    agent = site.agent(1)
    offer = agent.offer()
    order = agent.claim(offer)
    assert (order.order_id, order.run_id, order.attempt, order.fence) == (offer.order_id, run_id, 1, offer.fence)
    assert (order.workload, order.repeat, order.node_mode, order.time_limit_seconds) == ("dd", 1, "shared", 90.0)
    assert [(target.name, target.path, target.fstype) for target in order.targets] == [("nfs", "/nfs", "ext4")]
    assert agent.say(offer, OrderState.PREFLIGHT) == "continue"
