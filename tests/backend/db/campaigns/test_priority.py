from collections.abc import Callable

import pytest
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Site
from sqlalchemy import text

from iotide_server.campaigns import service
from iotide_server.campaigns.errors import CAMPAIGN_ENDED
from iotide_server.runs import service as runs


def give_priority(site: Site, run_id: int, priority: int) -> None:
    """Set the priority of a run's campaign."""
    with site.database.transaction() as session:
        service.change_priority(session, ADMIN, site.run(run_id).campaign_id, priority)


def line(site: Site, number: int) -> list[int]:
    with site.database.transaction() as session:
        places = text("SELECT run_id FROM line_place WHERE node_id = :id ORDER BY sort_key, run_id")
        return list(session.scalars(places, {"id": site.node_ids[number - 1]}))


def test_runs_of_a_campaign_that_gets_priority_are_served_before_earlier_ones_and_after_when_it_loses_it(
    site: Site,
) -> None:
    early = site.add_runs([1], repeats=2)
    site.clock.move(20)
    late = site.add_runs([1], [1, 2], repeats=2)
    assert line(site, 1) == [*early, *late]
    give_priority(site, late[0], 3)
    assert line(site, 1) == [*late, *early]
    assert site.run(late[0]).sort_key == pytest.approx(site.run(late[0]).created_at.timestamp() - 3 * 3600)
    assert site.start() == [late[0]]
    give_priority(site, late[0], 0)
    assert line(site, 1) == [*early, *late[1:]]
    with site.database.transaction() as session:
        audited = session.execute(text("SELECT action, before, after FROM audit_entry ORDER BY id")).all()
    assert [(row.before, row.after) for row in audited] == [
        ({"priority": 0}, {"priority": 3}),
        ({"priority": 3}, {"priority": 0}),
    ]


def test_a_step_of_priority_counts_as_an_hour_of_waiting(site: Site) -> None:
    (early,) = site.add_runs([1])
    site.clock.move(3601)
    (late,) = site.add_runs([1])
    give_priority(site, late, 1)
    assert line(site, 1) == [early, late]
    give_priority(site, late, 2)
    assert line(site, 1) == [late, early]


def test_a_run_that_waits_again_has_the_new_priority_of_its_campaign(site: Site, cancel: Callable[[int], None]) -> None:
    (early,) = site.add_runs([1])
    lost, cancelled, open_still = site.add_runs([2], [1], [1])
    site.start()
    agent = site.agent(2)
    agent.claim_offer()
    cancel(cancelled)
    give_priority(site, lost, 9)
    agent.hello(instance="instance-after-restart")
    with site.database.transaction() as session:
        runs.retry(session, ADMIN, cancelled, site.clock())
    assert line(site, 1) == [cancelled, open_still]
    assert site.states([early, lost]) == ["active", "waiting"]
    assert {site.run(run_id).sort_key for run_id in (lost, cancelled, open_still)} == {
        site.clock().timestamp() - 9 * 3600
    }


def test_a_declined_run_keeps_its_position_when_its_campaign_gets_priority(site: Site) -> None:
    declined, other = site.add_runs([1], [1])
    site.change("UPDATE run SET not_before = created_at + interval '1 day' WHERE id = :id", id=declined)
    give_priority(site, declined, 1)
    assert line(site, 1) == [declined, other]


def test_a_campaign_that_has_ended_has_no_priority_to_change(site: Site, cancel: Callable[[int], None]) -> None:
    (run_id,) = site.add_runs([1])
    cancel(run_id)
    with raised(CAMPAIGN_ENDED):
        give_priority(site, run_id, 1)
