"""A campaign's policy on other load: sent to the nodes with the order; their measurements are stored."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.plans import add_maintenance_window, operator, plan, run_ids
from factories.site import Offered, SimulatedAgent, Site
from sqlalchemy import text

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import service as campaigns
from iotide_server.kit.db import Database
from iotide_server.runs import reading
from iotide_wire.foreign import ForeignLoad
from iotide_wire.messages import OrderState, Outcome
from iotide_wire.plan import CampaignPlan, QuietPolicy

HOUR = 3600.0
NIGHT = {"from": "22:00", "until": "05:00", "time_zone": "Europe/Zurich"}
BEFORE = {
    "seconds": 5.1,
    "waited_seconds": 0.0,
    "processors": 4,
    "running_tasks": 3.2,
    "load1": 2.0,
    "cpu_ratio": 0.45,
    "psi_cpu_ratio": 0.2,
    "psi_io_ratio": None,
    "disk_bytes_per_second": 5e6,
    "network_bytes_per_second": 1e3,
    "sessions": 1,
    "jobs": ["4711"],
    "excess": "CPUs busy 45% of at most 10% of the time",
}
FOREIGN = {"before": BEFORE, "during": None}


@pytest.fixture
def owner(database: Database, clock: MovedClock) -> Principal:
    return operator(database, clock())


def submit(site: Site, owner: Principal, **changes: object) -> int:
    """Submit a campaign of one run."""
    with site.database.transaction() as session:
        given = CampaignPlan.model_validate(plan(**changes))
        campaign_id = campaigns.submit(session, owner, given, None, site.clock()).campaign_id
    (run_id,) = run_ids(site, campaign_id)
    return run_id


def offered(site: Site) -> tuple[SimulatedAgent, Offered]:
    assert site.start()
    return site.agent(1), site.agent(1).offer()


def stored(site: Site, run_id: int) -> list[ForeignLoad | None]:
    with site.database.transaction() as session:
        return [order.foreign_load for attempt in reading.attempts(session, run_id) for order in attempt.orders]


@pytest.mark.parametrize(
    ("given", "policy", "seconds"),
    [
        ({}, QuietPolicy.FLAG, 0.0),
        ({"quiet": "ignore"}, QuietPolicy.IGNORE, 0.0),
        ({"quiet": "refuse", "quiet_wait": "5 min"}, QuietPolicy.REFUSE, 0.0),
        ({"quiet": "wait"}, QuietPolicy.WAIT, 60.0),
        ({"quiet": "wait", "quiet_wait": "5 min"}, QuietPolicy.WAIT, 300.0),
    ],
)
def test_an_order_has_the_policy_for_a_busy_node(
    site: Site, owner: Principal, given: dict[str, Any], policy: QuietPolicy, seconds: float
) -> None:
    submit(site, owner, **given)
    agent, offer = offered(site)
    order = agent.claim(offer)
    assert (order.quiet, order.quiet_wait_seconds) == (policy, seconds)


def test_an_order_of_a_campaign_from_before_there_were_policies_is_flagged(site: Site) -> None:
    site.add_runs([1])
    agent, offer = offered(site)
    order = agent.claim(offer)
    assert (order.quiet, order.quiet_wait_seconds) == (QuietPolicy.FLAG, 0.0)


def test_a_run_waits_for_a_quiet_node_no_longer_than_its_window_lets_it_start(site: Site, owner: Principal) -> None:
    site.clock.now = datetime.fromisoformat("2026-11-22T03:50+01:00").astimezone(site.clock.now.tzinfo)
    site.keep_online()
    submit(site, owner, quiet="wait", quiet_wait="30 min", window=NIGHT, time_limit_seconds=HOUR)
    agent, offer = offered(site)
    # 05:00 minus the hour that it may take and the two minutes of every start.
    assert agent.claim(offer).quiet_wait_seconds == pytest.approx(8 * 60)
    site.clock.now += timedelta(minutes=9)
    assert agent.claim(offer).quiet_wait_seconds == 0.0


def test_a_run_waits_for_a_quiet_node_no_longer_than_a_maintenance_lets_it_start(site: Site, owner: Principal) -> None:
    begins = site.clock() + timedelta(minutes=70)
    submit(site, owner, quiet="wait", quiet_wait="30 min", time_limit_seconds=HOUR)
    add_maintenance_window(site, owner, begins, begins + timedelta(hours=1))
    agent, offer = offered(site)
    assert agent.claim(offer).quiet_wait_seconds == pytest.approx(8 * 60)


def test_the_use_by_others_is_stored_with_the_order(site: Site, owner: Principal) -> None:
    run_id = submit(site, owner)
    assert stored(site, run_id) == []
    agent, offer = offered(site)
    agent.claim(offer)
    assert stored(site, run_id) == [None]
    agent.hand_in(offer, agent.result(offer, foreign=FOREIGN))
    assert stored(site, run_id) == [ForeignLoad.model_validate(FOREIGN)]


def test_an_agent_that_reports_no_use_by_others_leaves_nothing(site: Site, owner: Principal) -> None:
    run_id = submit(site, owner)
    agent, offer = offered(site)
    agent.claim(offer)
    agent.finish(offer)
    assert stored(site, run_id) == [None]
    with site.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM node_order WHERE foreign_load IS NULL")) == 1


@pytest.mark.parametrize(("outcome", "state"), [(Outcome.DECLINED, "waiting"), (Outcome.FAILED, "failed")])
def test_a_run_that_was_declined_waits_again_and_one_that_refused_has_failed(
    site: Site, owner: Principal, outcome: Outcome, state: str
) -> None:
    run_id = submit(site, owner, quiet="wait")
    agent, offer = offered(site)
    agent.claim(offer)
    agent.hand_in(offer, agent.result(offer, outcome, reason="the node is not idle", foreign=FOREIGN))
    run = site.run(run_id)
    assert (run.state, run.attempts_made) == (state, 0 if state == "waiting" else 1)
    assert run.reason == "the node is not idle"
    assert site.node(1).exclusive_leases == 0
    assert stored(site, run_id) == [ForeignLoad.model_validate(FOREIGN)]


@pytest.mark.parametrize(("first", "second"), [("ready", "preflight"), ("preflight", "ready")])
def test_the_phase_of_the_delayed_node_of_a_gang_is_shown(site: Site, first: str, second: str) -> None:
    (run_id,) = site.add_runs([1, 2])
    site.start()
    for number, state in enumerate((first, second), start=1):
        agent = site.agent(number)
        agent.say(agent.claim_offer(), OrderState(state))
    with site.database.transaction() as session:
        assert reading.run(session, ADMIN, run_id).phase == "preflight"


def test_a_gang_of_which_one_node_is_not_quiet_is_freed_whole(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2])
    site.start()
    first, second = site.agent(1), site.agent(2)
    quiet, busy = first.claim_offer(), second.claim_offer()
    second.hand_in(busy, second.result(busy, Outcome.DECLINED, reason="the node is not idle", foreign=FOREIGN))
    assert first.hand_in(quiet, first.result(quiet, Outcome.CANCELLED, reason="another node ended")).accepted
    assert site.states([run_id]) == ["waiting"]
    assert {site.node(number).exclusive_leases for number in (1, 2)} == {0}
