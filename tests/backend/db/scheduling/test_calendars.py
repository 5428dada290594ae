"""Windows and maintenance windows of runs; the clock begins at 2026-11-21 10:00 UTC, which is 11:00 in Zurich."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.plans import add_maintenance_window, operator, plan, run_ids
from factories.site import Site
from sqlalchemy import text

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import service as campaigns
from iotide_server.clusters import maintenance
from iotide_server.clusters import repository as clusters
from iotide_server.kit.db import Database
from iotide_server.runs import reading
from iotide_server.runs import service as runs
from iotide_server.scheduling.service import Scheduler
from iotide_wire.messages import Outcome
from iotide_wire.plan import CampaignPlan

HOUR = 3600.0


def window(opens: str, closes: str, zone: str = "Europe/Zurich") -> dict[str, str]:
    return {"from": opens, "until": closes, "time_zone": zone}


@pytest.fixture
def owner(database: Database, clock: MovedClock) -> Principal:
    return operator(database, clock())


def submit(site: Site, owner: Principal, **changes: object) -> list[int]:
    """Submit a campaign; return its runs."""
    with site.database.transaction() as session:
        given = CampaignPlan.model_validate(plan(**changes))
        campaign_id = campaigns.submit(session, owner, given, None, site.clock()).campaign_id
    return run_ids(site, campaign_id)


def go_to(site: Site, moment: str) -> None:
    site.clock.now = datetime.fromisoformat(moment).astimezone(site.clock.now.tzinfo)
    site.keep_online()


def finish(site: Site, number: int = 1) -> None:
    agent = site.agent(number)
    agent.finish(agent.claim_offer())


def why(site: Site, run_id: int) -> str | None:
    with site.database.transaction() as session:
        return reading.why_waiting(session, reading.run(session, ADMIN, run_id), site.clock())


def places(site: Site) -> int:
    with site.database.transaction() as session:
        return int(session.execute(text("SELECT count(*) FROM line_place")).scalar_one())


@pytest.mark.parametrize(
    ("hours", "limit_hours", "moment", "starts"),
    [
        (window("22:00", "05:00"), 1, "2026-11-21T21:59:59+01:00", False),
        (window("22:00", "05:00"), 1, "2026-11-21T22:00+01:00", True),
        (window("22:00", "05:00"), 1, "2026-11-22T03:57:59+01:00", True),
        (window("22:00", "05:00"), 1, "2026-11-22T03:58+01:00", False),  # two minutes to start, an hour to run
        (window("22:00", "05:00"), 6, "2026-11-21T22:57+01:00", True),
        (window("22:00", "05:00"), 6, "2026-11-21T22:58+01:00", False),
        (window("22:00", "05:00", "America/New_York"), 1, "2026-11-21T22:00+01:00", False),
        (window("22:00", "05:00", "America/New_York"), 1, "2026-11-22T04:00+01:00", True),
        (window("12:00", "14:00"), 1, "2026-11-21T12:30+01:00", True),
        (window("12:00", "14:00"), 1, "2026-11-21T13:30+01:00", False),
        # on the days on which the clocks change
        (window("22:00", "05:00"), 6.5, "2027-03-27T22:10+01:00", False),
        (window("22:00", "05:00"), 6.5, "2027-03-28T22:10+02:00", True),
        (window("02:30", "04:00"), 0.5, "2027-03-28T03:00+02:00", True),
        (window("02:15", "04:00"), 1.5, "2027-10-31T02:10+01:00", True),  # the hour comes again, and it is open
        (window("22:00", "05:00", "America/New_York"), 6.5, "2027-03-13T22:10-05:00", False),
        (window("22:00", "05:00", "America/New_York"), 6.5, "2027-11-06T23:10-04:00", True),
    ],
)
def test_a_run_starts_only_in_its_window_and_only_if_it_ends_in_it(
    site: Site, owner: Principal, hours: dict[str, str], limit_hours: float, moment: str, *, starts: bool
) -> None:
    (run_id,) = submit(site, owner, window=hours, time_limit_seconds=limit_hours * HOUR)
    assert site.start() == []
    go_to(site, moment)
    assert site.start() == ([run_id] if starts else [])


def test_the_scheduler_wakes_when_a_window_opens_and_runs_go_on_when_it_has_closed(
    site: Site, owner: Principal, scheduler: Scheduler
) -> None:
    first, second = submit(site, owner, window=window("22:00", "05:00"), repeats=2)
    scheduler.step({"campaign"})
    assert why(site, first) == "The campaign's window (22:00 to 05:00 Europe/Zurich) opens at 2026-11-21 21:00:00 UTC"
    go_to(site, "2026-11-21T20:59:58+00:00")
    assert timedelta(0) < scheduler.step(set()) <= timedelta(seconds=2)
    go_to(site, "2026-11-21T21:00:00+00:00")
    scheduler.step(set())
    assert site.states([first, second]) == ["active", "waiting"]
    go_to(site, "2026-11-22T03:30+00:00")
    scheduler.step(set())
    assert (site.states([first, second]), places(site)) == (["active", "waiting"], 0)
    finish(site)
    go_to(site, "2026-11-22T03:40+00:00")
    scheduler.step({"freed"})
    assert site.states([first, second]) == ["finished", "waiting"]
    assert why(site, second) == "The campaign's window (22:00 to 05:00 Europe/Zurich) opens at 2026-11-22 21:00:00 UTC"
    go_to(site, "2026-11-22T21:00:01+00:00")
    scheduler.step(set())
    assert site.states([second]) == ["active"]


def test_a_run_that_is_declined_after_the_last_start_waits_for_the_next_opening(site: Site, owner: Principal) -> None:
    (run_id,) = submit(site, owner, window=window("11:00", "13:00"))
    assert site.start() == [run_id]
    agent = site.agent(1)
    offer = agent.claim_offer()
    go_to(site, "2026-11-21T12:30+01:00")
    agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason="busy", started_at=None))
    assert site.start() == []
    go_to(site, "2026-11-22T10:59+01:00")
    assert site.start() == []
    go_to(site, "2026-11-22T11:00+01:00")
    assert site.start() == [run_id]


def test_a_run_of_a_campaign_that_has_ended_is_retried_in_the_window(site: Site, owner: Principal) -> None:
    (run_id,) = submit(site, owner, window=window("11:00", "13:00"))
    site.start()
    agent = site.agent(1)
    agent.finish(agent.claim_offer(), Outcome.FAILED, reason="no")
    go_to(site, "2026-11-21T15:00+01:00")
    assert site.start() == []
    with site.database.transaction() as session:
        assert session.scalars(text("SELECT turns_at FROM campaign_window")).all() == [None]
        runs.retry(session, ADMIN, run_id, site.clock())
    assert site.start() == []
    assert why(site, run_id) == "The campaign's window (11:00 to 13:00 Europe/Zurich) opens at 2026-11-22 10:00:00 UTC"
    go_to(site, "2026-11-22T11:00+01:00")
    assert site.start() == [run_id]


def test_a_stage_that_begins_while_the_window_is_closed_waits_for_it(site: Site, owner: Principal) -> None:
    stages = [{"variant": "before"}, {"variant": "after"}]
    first, second = submit(site, owner, window=window("11:00", "13:00"), stages=stages)
    assert site.start() == [first]
    go_to(site, "2026-11-21T12:58+01:00")
    finish(site)
    assert site.start() == []
    assert places(site) == 0
    go_to(site, "2026-11-22T11:00+01:00")
    assert site.start() == [second]


def test_a_stage_that_has_not_begun_stays_out_of_the_queues_when_the_window_opens(site: Site, owner: Principal) -> None:
    stages = [{"variant": "before"}, {"variant": "after"}]
    first, _ = submit(site, owner, window=window("12:00", "14:00"), stages=stages)
    go_to(site, "2026-11-21T12:00+01:00")
    assert site.start() == [first]
    assert places(site) == 0


def test_a_closed_window_holds_no_node_and_hides_no_run(site: Site, owner: Principal) -> None:
    submit(site, owner, window=window("22:00", "05:00"), repeats=40)
    (behind,) = submit(site, owner, time_limit_seconds=20 * HOUR)
    assert site.start() == [behind]
    assert places(site) == 0


def test_a_run_that_waits_for_its_window_is_counted_when_its_node_is_to_be_retired(
    site: Site, owner: Principal
) -> None:
    submit(site, owner, window=window("22:00", "05:00"), repeats=3)
    with site.database.transaction() as session:
        assert [clusters.runs_that_need(session, node_id) for node_id in site.node_ids] == [3, 0]


def test_a_cancelled_campaign_does_not_come_back_when_its_window_opens(site: Site, owner: Principal) -> None:
    (run_id,) = submit(site, owner, window=window("22:00", "05:00"))
    with site.database.transaction() as session:
        runs.cancel(session, ADMIN, run_id, site.clock())
    go_to(site, "2026-11-21T22:00+01:00")
    assert site.start() == []
    assert places(site) == 0


@pytest.mark.parametrize(
    ("limit_seconds", "moment", "starts"),
    [
        # maintenance from 13:00 to 18:00 UTC: two minutes to start, then the time limit
        (HOUR, "2026-11-21T11:57:59+00:00", True),
        (HOUR, "2026-11-21T11:58:00+00:00", False),
        (60.0, "2026-11-21T12:56:59+00:00", True),
        (60.0, "2026-11-21T12:57:00+00:00", False),
        (1.0, "2026-11-21T13:00:00+00:00", False),
        (1.0, "2026-11-21T17:59:59+00:00", False),
        (20 * HOUR, "2026-11-21T18:00:00+00:00", True),
    ],
)
def test_no_run_starts_in_a_maintenance_window_or_if_it_could_not_end_before(
    site: Site, owner: Principal, limit_seconds: float, moment: str, *, starts: bool
) -> None:
    add_maintenance_window(site, owner, site.clock() + timedelta(hours=3), site.clock() + timedelta(hours=8))
    go_to(site, moment)
    (run_id,) = submit(site, owner, time_limit_seconds=limit_seconds)
    assert site.start() == ([run_id] if starts else [])


@pytest.mark.parametrize(
    ("from_local", "until_local", "moment", "starts"),
    [
        # local maintenance days over the change of the clocks, in their own time zones
        ("2027-03-28T02:00+01:00", "2027-03-28T04:00+02:00", "2027-03-28T03:59:59+02:00", False),
        ("2027-03-28T02:00+01:00", "2027-03-28T04:00+02:00", "2027-03-28T04:00+02:00", True),
        ("2027-10-31T01:00+02:00", "2027-10-31T02:30+01:00", "2027-10-31T02:30+02:00", False),
        ("2027-10-31T01:00+02:00", "2027-10-31T02:30+01:00", "2027-10-31T02:30+01:00", True),
        ("2027-11-07T00:30-04:00", "2027-11-07T01:30-05:00", "2027-11-07T01:30-04:00", False),
        ("2027-11-07T00:30-04:00", "2027-11-07T01:30-05:00", "2027-11-07T01:30-05:00", True),
    ],
)
def test_a_maintenance_window_ends_on_time_when_clocks_change(
    site: Site, owner: Principal, from_local: str, until_local: str, moment: str, *, starts: bool
) -> None:
    add_maintenance_window(site, owner, datetime.fromisoformat(from_local), datetime.fromisoformat(until_local))
    go_to(site, moment)
    (run_id,) = submit(site, owner)
    assert site.start() == ([run_id] if starts else [])


def test_a_short_run_overtakes_runs_that_reach_into_the_maintenance_window(site: Site, owner: Principal) -> None:
    add_maintenance_window(site, owner, site.clock() + timedelta(hours=1), site.clock() + timedelta(hours=8))
    long = submit(site, owner, repeats=40, time_limit_seconds=2 * HOUR)
    (short,) = submit(site, owner, time_limit_seconds=60.0)
    assert site.start() == [short]
    assert why(site, long[0]) == (
        "Its time limit reaches into the maintenance window from 2026-11-21 11:00:00 UTC to 2026-11-21 18:00:00 UTC:"
        f" new firmware; waiting for node n1 (run {short}, exclusive)"
    )


def test_the_scheduler_wakes_when_a_maintenance_window_ends_or_is_removed(
    site: Site, owner: Principal, scheduler: Scheduler
) -> None:
    window_id = add_maintenance_window(site, owner, site.clock(), site.clock() + timedelta(hours=2))
    (run_id,) = submit(site, owner)
    scheduler.step({"campaign"})
    assert why(site, run_id) == "The cluster is in maintenance until 2026-11-21 12:00:00 UTC: new firmware"
    go_to(site, "2026-11-21T11:59:59+00:00")
    assert timedelta(0) < scheduler.step(set()) <= timedelta(seconds=1)
    assert site.states([run_id]) == ["waiting"]
    go_to(site, "2026-11-21T12:00:00+00:00")
    scheduler.step(set())
    assert site.states([run_id]) == ["active"]
    finish(site)
    (second,) = submit(site, owner)
    longer = add_maintenance_window(site, owner, site.clock(), site.clock() + timedelta(hours=2))
    scheduler.step({"blackout"})
    assert site.states([second]) == ["waiting"]
    with site.database.transaction() as session:
        maintenance.remove_maintenance_window(session, owner, longer)
        maintenance.remove_maintenance_window(session, owner, window_id)
    site.clock.move(1)
    scheduler.step({"blackout"})
    assert site.states([second]) == ["active"]


def test_a_gang_too_late_for_the_maintenance_window_reserves_no_node(site: Site, owner: Principal) -> None:
    (single,) = site.add_runs([2], limit=2.5 * HOUR)
    assert site.start() == [single]
    add_maintenance_window(site, owner, site.clock() + timedelta(hours=4), site.clock() + timedelta(hours=8))
    (gang,) = site.add_runs([1, 2], limit=2 * HOUR)
    (long,) = site.add_runs([1], limit=3 * HOUR)
    assert site.start() == [long]
    assert site.states([gang]) == ["waiting"]


def test_a_maintenance_window_affects_only_its_cluster(site: Site, owner: Principal, database: Database) -> None:
    add_maintenance_window(site, owner, site.clock(), site.clock() + timedelta(hours=2))
    other: dict[str, Any] = {"name": "elsewhere"}
    with database.transaction() as session:
        session.execute(text("INSERT INTO cluster (name) VALUES (:name)"), other)
        session.execute(text("UPDATE blackout SET cluster_id = (SELECT id FROM cluster WHERE name = :name)"), other)
    (run_id,) = submit(site, owner)
    assert site.start() == [run_id]
