from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Site
from sqlalchemy import text

from iotide_server.clusters.drains import repository as drain_repository
from iotide_server.clusters.drains import service as drains
from iotide_server.clusters.drains.schemas import DrainInput
from iotide_server.clusters.drains.service import EVERYTHING, Drainable
from iotide_server.clusters.errors import DRAIN_END_PASSED
from iotide_server.clusters.views import DrainKind
from iotide_server.kit.db import Database
from iotide_server.runs import reading
from iotide_server.scheduling import repository, starting
from iotide_server.scheduling.matching import WaitingRun
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.service import Scheduler


def node(site: Site, number: int) -> Drainable:
    return Drainable(DrainKind.NODE, site.node_ids[number - 1], site.cluster_id)


def target(site: Site, name: str) -> Drainable:
    return Drainable(DrainKind.TARGET, site.target_ids[name], site.cluster_id)


def cluster(site: Site) -> Drainable:
    return Drainable(DrainKind.CLUSTER, site.cluster_id, site.cluster_id)


def drain(site: Site, subject: Drainable, *, until: datetime | None = None) -> None:
    with site.database.transaction() as session:
        drains.drain(session, ADMIN, subject, DrainInput(reason="its disk is replaced", until=until), site.clock())


def resume(site: Site, subject: Drainable) -> None:
    with site.database.transaction() as session:
        drains.resume(session, ADMIN, subject)


def why(site: Site, run_id: int) -> str | None:
    with site.database.transaction() as session:
        return reading.why_waiting(session, reading.run(session, ADMIN, run_id), site.clock())


def finish(site: Site, *numbers: int) -> None:
    for number in numbers:
        agent = site.agent(number)
        agent.finish(agent.claim_offer())


def test_nothing_new_starts_on_a_drained_node_and_what_runs_there_goes_on(site: Site) -> None:
    running, next_there, elsewhere = site.add_runs([1], [1], [2])
    assert site.start() == [running, elsewhere]
    agent = site.agent(1)
    offer = agent.claim_offer()
    drain(site, node(site, 1))
    agent.finish(offer)
    assert site.start() == []
    assert site.states([running, next_there]) == ["finished", "waiting"]
    assert why(site, next_there) == "Node n1 is drained by ada until it is resumed: its disk is replaced"
    resume(site, node(site, 1))
    assert site.start() == [next_there]


@pytest.mark.parametrize("name", ["scratch", "nfs"])
def test_no_new_run_loads_a_drained_target_on_any_node_however_many_wait_for_it(site: Site, name: str) -> None:
    waiting = site.add_runs([1], [2], [1, 2], target=name, repeats=4)
    other = "nfs" if name == "scratch" else "scratch"
    drain(site, target(site, name))
    behind = site.add_runs([1], [2], target=other)
    assert site.start() == behind
    assert site.states(waiting) == ["waiting"] * 12
    assert why(site, waiting[0]) == (
        f"Target {name} is drained by ada until it is resumed: its disk is replaced; waiting for node n1"
        f" (run {behind[0]}, exclusive)"
    )
    finish(site, 1, 2)
    resume(site, target(site, name))
    assert site.start() == waiting[:2]


@pytest.mark.parametrize("subject", [cluster, lambda _: EVERYTHING], ids=["cluster", "everything"])
def test_nothing_starts_in_a_drained_cluster_or_while_everything_is(
    site: Site, subject: Callable[[Site], Drainable]
) -> None:
    runs = site.add_runs([1], [2])
    drain(site, subject(site))
    assert site.start() == []
    what = "Everything" if subject(site) is EVERYTHING else "Cluster blade"
    assert why(site, runs[0]) == f"{what} is drained by ada until it is resumed: its disk is replaced"
    resume(site, subject(site))
    assert site.start() == runs


def test_a_drain_with_an_end_ends_automatically(site: Site, scheduler: Scheduler, clock: MovedClock) -> None:
    (run_id,) = site.add_runs([1])
    end = clock() + timedelta(seconds=3)
    drain(site, node(site, 1), until=end)
    assert scheduler.step({"drain"}) <= timedelta(seconds=3)
    because = why(site, run_id)
    assert because == "Node n1 is drained by ada until 2026-11-21 10:00:03 UTC: its disk is replaced"
    clock.move(2.9)
    scheduler.step(set())
    assert site.run(run_id).state == "waiting"
    clock.move(0.1)
    scheduler.step(set())
    assert site.run(run_id).state == "active"
    with site.database.transaction() as session:
        assert drain_repository.drains_of(session, DrainKind.NODE, site.node_ids) == {}
        updates = text("SELECT count(*) FROM change WHERE kind = 'node' AND subject_id = :id")
        assert session.scalars(updates, {"id": site.node_ids[0]}).one() >= 2


def test_a_repeated_drain_has_the_new_reason_and_end_and_the_old_start(site: Site, clock: MovedClock) -> None:
    began_at = clock()
    drain(site, node(site, 1))
    clock.move(60)
    drain(site, node(site, 1), until=clock() + timedelta(hours=1))
    with site.database.transaction() as session:
        (drained,) = drain_repository.drains_of(session, DrainKind.NODE, site.node_ids).values()
        actions = session.execute(text("SELECT action, before, after FROM audit_entry ORDER BY id")).all()
    assert (drained.since, drained.until) == (began_at, clock() + timedelta(hours=1))
    assert [action for action, _, _ in actions] == ["node_drained", "node_drained"]
    assert actions[1].before["until"] is None
    assert actions[1].after["until"] == (clock() + timedelta(hours=1)).isoformat()


def test_an_end_that_has_passed_is_refused(site: Site) -> None:
    with raised(DRAIN_END_PASSED):
        drain(site, node(site, 1), until=site.clock())


def test_gangs_that_name_a_drained_node_keep_no_other_idle_however_many_wait(site: Site, clock: MovedClock) -> None:
    gangs = site.add_runs([1, 2], repeats=6)
    drain(site, node(site, 1), until=clock() + timedelta(days=7))
    behind = site.add_runs([2], limit=3600.0, repeats=2)
    assert site.start() == behind[:1]
    finish(site, 2)
    assert site.start() == behind[1:]
    assert site.states(gangs) == ["waiting"] * 6


@pytest.mark.parametrize("trouble", ["SET problem = 'no answer to 6 offers'", "SET name = name"])
def test_gangs_that_name_a_node_that_is_away_keep_no_other_idle_either(site: Site, trouble: str) -> None:
    site.add_runs([1, 2], repeats=6)
    site.change(f"UPDATE node {trouble} WHERE id = :id", id=site.node_ids[0])
    if "problem" not in trouble:
        site.change("UPDATE node_beat SET seen_at = seen_at - interval '1 h' WHERE node_id = :id", id=site.node_ids[0])
    (behind,) = site.add_runs([2])
    assert site.start() == [behind]


def test_a_drain_that_comes_between_decision_and_start_is_honoured(
    make_site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(node_count=4)
    on_node, on_target, free = site.add_runs([1])[0], site.add_runs([2], target="nfs")[0], site.add_runs([3])[0]
    decide = starting.decide

    def decide_and_be_late(database: Database, lines: NodeQueues, now: datetime) -> list[WaitingRun]:
        decided = decide(database, lines, now)
        drain(site, node(site, 1))
        drain(site, target(site, "nfs"))
        return decided

    monkeypatch.setattr(starting, "decide", decide_and_be_late)
    assert site.start() == [free]
    assert site.states([on_node, on_target]) == ["waiting", "waiting"]


def test_a_drain_sees_runs_that_are_being_started(site: Site) -> None:
    """The drain waits for the transaction of the start: no run starts after it has returned."""
    (run_id,) = site.add_runs([1])
    seen: list[Sequence[str]] = []

    def drain_and_look() -> None:
        drain(site, node(site, 1))
        seen.append(site.states([run_id]))

    with ThreadPoolExecutor(1) as pool:
        with site.database.transaction() as session:
            waiting = site.lines.candidates(session, site.clock()).waiting
            repository.start(session, waiting, {run_id: 1}, site.clock())
            drained = pool.submit(drain_and_look)
            blocked = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            while not session.scalars(blocked).one():
                assert not drained.done()
        drained.result()
    assert seen == [["active"]]


def test_a_retired_node_or_target_leaves_no_drain_behind(site: Site) -> None:
    drain(site, target(site, "nfs"))
    with site.database.transaction() as session:
        drain_repository.forget(session, DrainKind.TARGET, site.target_ids["nfs"])
        assert drains.list_drains(session, ADMIN, None) == []
