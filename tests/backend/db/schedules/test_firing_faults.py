"""A fault of one schedule delays no other schedule and no run."""

from unittest.mock import Mock

import pytest
from factories.clock import MovedClock
from factories.plans import add_schedule, firings, stored
from factories.site import Site
from sqlalchemy.exc import DataError

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import service as campaigns
from iotide_server.schedules import service
from iotide_server.scheduling.service import Scheduler


@pytest.mark.parametrize("fault", [LookupError("a fault"), DataError("INSERT", {}, ValueError("out of range"))])
def test_a_fault_of_the_server_in_one_plan_holds_up_nothing_but_its_firing(
    site: Site,
    owner: Principal,
    scheduler: Scheduler,
    clock: MovedClock,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
) -> None:
    add_schedule(site, owner, cron="0 * * * *", time_zone="UTC")
    waiting = site.add_runs([1])
    monkeypatch.setattr(campaigns, "submit", Mock(side_effect=fault))
    clock.move(3600)
    site.keep_online()
    scheduler.step({"start"})
    (firing,) = firings(site)
    assert (firing.campaign_id, firing.missed) == (None, 0)
    assert "internal error" in (firing.problem or "")
    assert site.states(waiting) == ["active"]


def test_a_schedule_with_an_abolished_time_zone_is_paused_and_blocks_nothing(
    site: Site, owner: Principal, scheduler: Scheduler, clock: MovedClock
) -> None:
    schedule_id = add_schedule(site, owner, cron="0 * * * *", time_zone="UTC")
    waiting = site.add_runs([1])
    site.change("UPDATE schedule SET time_zone = 'Europe/Atlantis' WHERE id = :id", id=schedule_id)
    clock.move(3600)
    site.keep_online()
    scheduler.step({"start"})
    assert site.states(waiting) == ["active"]
    assert stored(site, schedule_id).state == "paused"
    (firing,) = firings(site)
    assert firing.problem is not None
    assert "Europe/Atlantis" in firing.problem
    with site.database.transaction() as session:
        shown = service.schedule(session, owner, schedule_id)
    assert shown.words == "0 * * * * in Europe/Atlantis (no longer readable)"
