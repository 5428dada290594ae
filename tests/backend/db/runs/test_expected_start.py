from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN, Person
from factories.site import Site

from iotide_server.accounts.models import Role
from iotide_server.clusters.drains import service as drains
from iotide_server.clusters.drains.schemas import DrainInput
from iotide_server.clusters.drains.service import Drainable
from iotide_server.clusters.views import DrainKind
from iotide_server.runs import reading
from iotide_server.runs.forecast import MOST_AHEAD, Expectation


def expected(site: Site, run_id: int) -> Expectation | None:
    with site.database.transaction() as session:
        return reading.expected_start(session, reading.run(session, ADMIN, run_id), site.clock())


def end_after(site: Site, seconds: float) -> None:
    """End the run on the first node after a load of that length."""
    agent = site.agent(1)
    offer = agent.claim_offer()
    started_at = site.clock()
    site.clock.move(seconds)
    site.keep_online()
    agent.hand_in(offer, agent.result(offer, started_at=started_at, ended_at=site.clock()))


def test_a_run_is_expected_to_take_as_long_as_the_last_of_its_cell(site: Site, clock: MovedClock) -> None:
    runs = site.add_runs([1], repeats=4, limit=3600.0, cool_down=5.0)
    site.start()
    end_after(site, 120)
    clock.move(5)
    site.start()
    assert expected(site, runs[0]) is None
    assert expected(site, runs[2]) == Expectation(clock() + timedelta(seconds=125))
    assert expected(site, runs[3]) == Expectation(clock() + timedelta(seconds=250))


def test_the_forecast_includes_the_usual_pause_between_runs(site: Site, clock: MovedClock) -> None:
    runs = site.add_runs([1], repeats=5, limit=3600.0)
    for _ in range(2):
        site.start()
        end_after(site, 60)
        clock.move(7)
    site.start()
    assert expected(site, runs[4]) == Expectation(clock() + timedelta(seconds=60 + 60 + 7))


def test_a_new_cell_is_expected_to_take_as_long_as_its_campaigns_others_of_that_workload(
    site: Site, clock: MovedClock
) -> None:
    _, _, third = site.add_runs([1], [1], [1], limit=3600.0)
    site.start()
    end_after(site, 60)
    site.start()
    assert expected(site, third) == Expectation(clock() + timedelta(seconds=60))


def test_a_campaign_of_which_nothing_has_ended_is_expected_to_take_its_limit(site: Site, clock: MovedClock) -> None:
    _, second = site.add_runs([1], [1], limit=3600.0)
    site.start()
    assert expected(site, second) == Expectation(clock() + timedelta(hours=1))


def test_no_start_is_expected_behind_an_overdue_run(site: Site) -> None:
    first, second = site.add_runs([1], [1])
    site.start()
    site.change("UPDATE run SET overdue = true WHERE id = :id", id=first)
    assert expected(site, second) == Expectation(None, f"the end of run {first} on node n1 is not known")


def test_a_target_that_is_not_mounted_is_why_nothing_is_foreseen(site: Site) -> None:
    (run_id,) = site.add_runs([1], target="nfs")
    site.change(
        "UPDATE target_mount SET problem = 'nothing is mounted there' WHERE target_id = :id", id=site.target_ids["nfs"]
    )
    assert expected(site, run_id) == Expectation(None, "target nfs on node n1: nothing is mounted there")


def test_behind_hundreds_of_runs_nothing_is_foreseen(site: Site) -> None:
    site.add_runs([1], repeats=MOST_AHEAD)
    (just,) = site.add_runs([2])
    (beyond,) = site.add_runs([2])
    assert expected(site, just) == Expectation(site.clock())
    assert expected(site, beyond) == Expectation(None, f"more than {MOST_AHEAD} runs are ahead in its cluster")


@pytest.mark.parametrize(("minutes", "seconds"), [(9, 0), (11, 60)])
def test_runs_of_a_penalized_owner_are_placed_behind(
    site: Site, make_person: Callable[..., Person], minutes: int, seconds: float
) -> None:
    light = make_person("ben", Role.OPERATOR).principal.user_id
    site.change(
        "INSERT INTO fair_share (cluster_id, owner_id, nodes_used, stands_back_seconds, sampled_at)"
        " VALUES (:cluster, 0, 1, 600, now())",
        cluster=site.cluster_id,
    )
    site.add_runs([1], limit=60.0)
    site.clock.move(minutes * 60.0)
    site.keep_online()
    (late,) = site.add_runs([1], owner=light)
    assert expected(site, late) == Expectation(site.clock() + timedelta(seconds=seconds))


def test_a_run_that_starts_during_the_request_has_no_expected_start(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    with site.database.transaction() as session:
        found = reading.run(session, ADMIN, run_id)
        assert site.start() == [run_id]
        assert reading.expected_start(session, found, site.clock()) is None


def test_a_drained_node_has_no_expected_start(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    with site.database.transaction() as session:
        subject = Drainable(DrainKind.NODE, site.node_ids[0], site.cluster_id)
        drains.drain(session, ADMIN, subject, DrainInput(reason="its disk is replaced"), site.clock())
    assert expected(site, run_id) == Expectation(None, "node n1 is drained")
