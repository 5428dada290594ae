"""Repeats that are released evenly over hours or days."""

from datetime import timedelta
from typing import Any

import pytest
from factories.people import ADMIN
from factories.plans import plan
from factories.raised import raised
from factories.site import Site

from iotide_server.campaigns import reading, repeats, service
from iotide_server.campaigns.errors import ADAPTIVE_AND_SPREAD, SPREAD_OF_ONE_RUN
from iotide_server.campaigns.repeats import MoreRepeats
from iotide_server.campaigns.schemas import CampaignOutput, RepeatsInput
from iotide_server.kit.clock import written
from iotide_wire.plan import CampaignPlan

DAY = timedelta(days=1)


def submit(site: Site, **changes: Any) -> int:  # noqa: ANN401 - any field of a plan
    """Submit three repeats of one cell, one a day, unless changed."""
    spread = plan(repeats=3, spread="3 days", **changes)
    with site.database.transaction() as session:
        return service.submit(session, ADMIN, CampaignPlan.model_validate(spread), None, site.clock()).campaign_id


def shown(site: Site, campaign_id: int) -> CampaignOutput:
    with site.database.transaction() as session:
        return reading.campaign(session, ADMIN, campaign_id, site.clock())


def finish(site: Site) -> None:
    agent = site.agent(1)
    agent.finish(agent.claim_offer())


def test_each_day_releases_one_repeat_and_the_campaign_says_when(site: Site) -> None:
    began = site.clock()
    campaign_id = submit(site)
    first, second, third = site.runs_of(campaign_id)
    assert site.start() == [first]
    finish(site)
    assert site.start() == []
    assert shown(site, campaign_id).next_release_at == began + DAY
    assert shown(site, campaign_id).seconds_remaining_estimated == pytest.approx(2 * DAY.total_seconds())
    assert site.why_waiting(second).startswith(f"Starts not before {written(began + DAY)}")
    site.clock.move(DAY.total_seconds())
    site.keep_online()
    assert site.start() == [second]
    finish(site)
    site.clock.move(DAY.total_seconds())
    site.keep_online()
    assert site.start() == [third]
    finish(site)
    assert (shown(site, campaign_id).state, shown(site, campaign_id).next_release_at) == ("finished", None)


def test_a_repeat_that_is_not_released_is_ahead_of_no_other_run(site: Site) -> None:
    campaign_id = submit(site)
    (other,) = site.add_runs([1])
    second = site.runs_of(campaign_id)[1]
    assert "2 runs ahead" in site.why_waiting(second)
    assert "1 run ahead" in site.why_waiting(other)


def test_a_change_of_priority_keeps_the_days(site: Site) -> None:
    campaign_id = submit(site)
    began = site.clock().timestamp()
    with site.database.transaction() as session:
        service.change_priority(session, ADMIN, campaign_id, 1)
    keys = [site.run(run_id).sort_key for run_id in site.runs_of(campaign_id)]
    assert keys == pytest.approx([began - 3600 + day * DAY.total_seconds() for day in range(3)])


def test_added_repeats_are_spread_at_the_same_interval(site: Site) -> None:
    campaign_id = submit(site)
    site.clock.move(60)
    with site.database.transaction() as session:
        repeats.add(session, ADMIN, MoreRepeats(campaign_id, RepeatsInput(repeats=2), None), site.clock())
    fourth, fifth = site.runs_of(campaign_id)[3:]
    assert site.run(fourth).not_before is None
    assert site.run(fifth).not_before == site.clock() + DAY


def test_the_days_of_a_stage_begin_with_the_stage(site: Site) -> None:
    began = site.clock()
    campaign_id = submit(site, stages=[{"variant": "one"}, {"variant": "two"}])
    runs = site.runs_of(campaign_id)
    for run_id in runs[:3]:
        assert site.start() == [run_id]
        finish(site)
        site.clock.move(DAY.total_seconds())
        site.keep_online()
    assert site.start() == [runs[3]]
    assert [site.run(run_id).not_before for run_id in runs[4:]] == [began + 4 * DAY, began + 5 * DAY]


def test_only_several_repeats_of_a_fixed_number_can_be_spread(site: Site) -> None:
    adaptive = plan(repeats={"until": "3 %"}, spread="1 d")
    for given, error in ((adaptive, ADAPTIVE_AND_SPREAD), (plan(spread="1 d"), SPREAD_OF_ONE_RUN)):
        with raised(error), site.database.transaction() as session:
            service.submit(session, ADMIN, CampaignPlan.model_validate(given), None, site.clock())
