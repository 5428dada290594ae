from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from factories.clock import MovedClock
from factories.plans import add_schedule, firings, plan, run_ids, stored
from factories.site import Site
from sqlalchemy import text

from iotide_server.accounts.roles.principal import Principal
from iotide_server.schedules import service
from iotide_server.schedules.calendar import LATE_AFTER
from iotide_server.schedules.failing import outcomes
from iotide_server.schedules.firing import fire_due
from iotide_server.scheduling.service import Scheduler


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def end_all_runs(site: Site) -> None:
    """End all runs, so that the next firing is not skipped."""
    site.change("DELETE FROM line_place")
    site.change("UPDATE run SET state = 'cancelled', ended_at = created_at WHERE state = 'waiting'")


@pytest.fixture
def fire(site: Site) -> Callable[[str], bool]:
    """Move the clock there and fire all due schedules."""

    def fire_at(moment: str) -> bool:
        site.clock.now = at(moment).astimezone(UTC)
        return fire_due(site.database, site.clock())

    return fire_at


def test_a_firing_is_a_campaign_in_the_name_of_its_owner(
    site: Site, owner: Principal, fire: Callable[[str], bool]
) -> None:
    schedule_id = add_schedule(site, owner)
    assert not fire("2026-11-22T02:29:59+01:00")
    assert fire("2026-11-22T02:30+01:00")
    assert not fire("2026-11-22T02:30:01+01:00")
    (firing,) = firings(site)
    assert (firing.schedule_id, firing.planned_at, firing.missed) == (schedule_id, at("2026-11-22T01:30+00:00"), 0)
    assert firing.campaign_id is not None
    assert len(run_ids(site, firing.campaign_id)) == 1
    with site.database.transaction() as session:
        statement = text(
            "SELECT owner_id FROM campaign"
            " UNION SELECT principal_id FROM audit_entry WHERE action = 'campaign_submitted'"
        )
        assert session.scalars(statement).all() == [owner.user_id]
        assert session.scalar(text("SELECT principal_name FROM audit_entry WHERE action = 'campaign_submitted'")) == (
            "grace (schedule every-night)"
        )
    assert stored(site, schedule_id).planned_at == at("2026-11-23T01:30+00:00")


def test_a_scheduler_fires_starts_and_wakes_in_time_for_the_next(
    site: Site, owner: Principal, scheduler: Scheduler, clock: MovedClock
) -> None:
    add_schedule(site, owner, cron="0 * * * *", time_zone="UTC")
    clock.move(3600 - 2)
    site.keep_online()
    assert timedelta(0) < scheduler.step({"start"}) <= timedelta(seconds=2)
    clock.move(2)
    scheduler.step(set())
    (firing,) = firings(site)
    assert firing.campaign_id is not None
    assert site.states(run_ids(site, firing.campaign_id)) == ["active"]


def test_two_schedulers_at_once_fire_each_planned_moment_once(site: Site, owner: Principal, clock: MovedClock) -> None:
    schedules = [add_schedule(site, owner, name=f"s{number}", cron="*/10 * * * *") for number in range(6)]
    together = Barrier(4)

    def fire_all(_: int) -> None:
        together.wait()
        while fire_due(site.database, clock()):
            pass

    for _ in range(5):
        end_all_runs(site)
        clock.move(600)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(fire_all, range(4)))
    found = firings(site)
    assert sorted((one.schedule_id, one.planned_at) for one in found) == sorted(
        (schedule_id, datetime(2026, 11, 21, 10, minute, tzinfo=UTC))
        for schedule_id in schedules
        for minute in (10, 20, 30, 40, 50)
    )
    assert len({one.campaign_id for one in found} - {None}) == 30


def test_a_firing_is_skipped_between_the_rounds_of_an_adaptive_campaign(
    site: Site, owner: Principal, fire: Callable[[str], bool]
) -> None:
    add_schedule(site, owner, plan=plan(repeats={"until": "3 %"}))
    fire("2026-11-22T02:30+01:00")
    end_all_runs(site)
    fire("2026-11-23T02:30+01:00")
    with site.database.transaction() as session:
        assert outcomes(session, None, None, 1) == []
    site.change("UPDATE adaptive_cell SET ended_at = now(), ended_because = 'failed'")
    fire("2026-11-24T02:30+01:00")
    first, between, after = firings(site)
    assert (between.campaign_id, between.missed, between.problem) == (None, 0, None)
    assert None not in {first.campaign_id, after.campaign_id}


def test_a_clock_that_was_set_back_fires_nothing_twice(
    site: Site, owner: Principal, fire: Callable[[str], bool]
) -> None:
    schedule_id = add_schedule(site, owner)
    fire("2026-11-22T02:30+01:00")
    site.change(
        "UPDATE schedule SET planned_at = :at, due_at = :at WHERE id = :id",
        at=at("2026-11-22T01:30+00:00"),
        id=schedule_id,
    )
    assert fire("2026-11-22T02:31+01:00")
    assert len(firings(site)) == 1
    assert stored(site, schedule_id).planned_at == at("2026-11-23T01:30+00:00")


LATE, ON_TIME = LATE_AFTER + timedelta(seconds=1), LATE_AFTER


@pytest.mark.parametrize(
    ("zone", "cron", "made_at", "policy", "back_at", "planned_at", "missed", "runs", "following"),
    [
        # the scheduler was away for a moment: on time
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "skip",
            "2026-06-02T02:35+02:00",
            "2026-06-02T02:30+02:00",
            0,
            True,
            "2026-06-03T02:30+02:00",
        ),
        # for a little longer than that, or for three nights
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "skip",
            "2026-06-02T02:35:01+02:00",
            "2026-06-02T02:30+02:00",
            1,
            False,
            "2026-06-03T02:30+02:00",
        ),
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "run_once",
            "2026-06-02T02:35:01+02:00",
            "2026-06-02T02:30+02:00",
            1,
            True,
            "2026-06-03T02:30+02:00",
        ),
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "skip",
            "2026-06-04T09:00+02:00",
            "2026-06-04T02:30+02:00",
            3,
            False,
            "2026-06-05T02:30+02:00",
        ),
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "run_once",
            "2026-06-04T09:00+02:00",
            "2026-06-04T02:30+02:00",
            3,
            True,
            "2026-06-05T02:30+02:00",
        ),
        # back just in time for the last firing: it replaces the others, and there is one campaign
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "skip",
            "2026-06-04T02:31+02:00",
            "2026-06-04T02:30+02:00",
            2,
            True,
            "2026-06-05T02:30+02:00",
        ),
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-06-01T12:00+02:00",
            "run_once",
            "2026-06-04T02:31+02:00",
            "2026-06-04T02:30+02:00",
            2,
            True,
            "2026-06-05T02:30+02:00",
        ),
        # away while the clocks went forward: skipped times were missed at the jump
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-03-28T12:00+01:00",
            "skip",
            "2026-03-29T03:04+02:00",
            "2026-03-29T03:00+02:00",
            0,
            True,
            "2026-03-30T02:30+02:00",
        ),
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-03-28T12:00+01:00",
            "run_once",
            "2026-03-29T09:00+02:00",
            "2026-03-29T03:00+02:00",
            1,
            True,
            "2026-03-30T02:30+02:00",
        ),
        (
            "America/New_York",
            "30 2 * * *",
            "2026-03-07T12:00-05:00",
            "skip",
            "2026-03-08T09:00-04:00",
            "2026-03-08T03:00-04:00",
            1,
            False,
            "2026-03-09T02:30-04:00",
        ),
        # away over the hour that came twice: missed once, not again in the second hour
        (
            "Europe/Zurich",
            "30 2 * * *",
            "2026-10-24T12:00+02:00",
            "run_once",
            "2026-10-25T02:31+01:00",
            "2026-10-25T02:30+02:00",
            1,
            True,
            "2026-10-26T02:30+01:00",
        ),
        (
            "America/New_York",
            "30 1 * * *",
            "2026-10-31T12:00-04:00",
            "skip",
            "2026-11-01T01:31-05:00",
            "2026-11-01T01:30-04:00",
            1,
            False,
            "2026-11-02T01:30-05:00",
        ),
        (
            "America/New_York",
            "30 1 * * *",
            "2026-10-31T12:00-04:00",
            "skip",
            "2026-11-01T01:31-04:00",
            "2026-11-01T01:30-04:00",
            0,
            True,
            "2026-11-02T01:30-05:00",
        ),
    ],
)
def test_firings_that_were_missed_are_left_out_or_made_good_by_one_campaign(
    site: Site,
    owner: Principal,
    fire: Callable[[str], bool],
    zone: str,
    cron: str,
    made_at: str,
    policy: str,
    back_at: str,
    planned_at: str,
    missed: int,
    following: str,
    *,
    runs: bool,
) -> None:
    site.clock.now = at(made_at).astimezone(UTC)
    schedule_id = add_schedule(site, owner, cron=cron, time_zone=zone, missed=policy)
    fire(back_at)
    (firing,) = firings(site)
    assert (firing.planned_at, firing.missed, firing.campaign_id is not None) == (at(planned_at), missed, runs)
    after = stored(site, schedule_id)
    assert (after.state, after.planned_at, after.firings_made) == ("active", at(following), int(runs))


def test_firings_during_a_pause_are_not_missed(site: Site, owner: Principal, fire: Callable[[str], bool]) -> None:
    schedule_id = add_schedule(site, owner, missed="run_once")
    with site.database.transaction() as session:
        service.pause(session, owner, schedule_id)
    assert not fire("2026-11-25T12:00+01:00")
    with site.database.transaction() as session:
        service.resume(session, owner, schedule_id, site.clock())
    assert not fire("2026-11-26T02:29+01:00")
    assert fire("2026-11-26T02:30+01:00")
    assert [one.missed for one in firings(site)] == [0]


@pytest.mark.parametrize(
    ("limit", "count"),
    [({"max_firings": 2}, 2), ({"ends_at": "2026-11-24T01:30:00Z"}, 3), ({"ends_at": "2026-11-24T01:29:00Z"}, 2)],
)
def test_it_ends_after_a_number_of_firings_or_at_a_time(
    site: Site, owner: Principal, fire: Callable[[str], bool], limit: dict[str, object], count: int
) -> None:
    schedule_id = add_schedule(site, owner, **limit)
    for day in range(22, 28):
        fire(f"2026-11-{day}T02:30+01:00")
        end_all_runs(site)
    assert len(firings(site)) == count
    assert (stored(site, schedule_id).state, stored(site, schedule_id).due_at) == ("ended", None)


def test_a_random_offset_delays_a_firing_and_a_new_scheduler_draws_the_same(
    site: Site, owner: Principal, fire: Callable[[str], bool]
) -> None:
    schedule_id = add_schedule(site, owner, random_offset_seconds=7200)
    drawn = stored(site, schedule_id)
    assert drawn.planned_at is not None
    assert drawn.due_at is not None
    assert drawn.planned_at < drawn.due_at <= drawn.planned_at + timedelta(hours=2)
    with site.database.transaction() as session:
        service.pause(session, owner, schedule_id)
        service.resume(session, owner, schedule_id, site.clock())
    assert stored(site, schedule_id).due_at == drawn.due_at
    assert not fire((drawn.due_at - timedelta(seconds=1)).isoformat())
    assert fire(drawn.due_at.isoformat())
    assert [one.planned_at for one in firings(site)] == [drawn.planned_at]


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("UPDATE node SET retired_at = now()", "there is no node n1"),
        ("UPDATE target SET retired_at = now()", "there is no target scratch"),
        ("UPDATE target_mount SET problem = 'nothing is mounted there; mount it'", "nothing is mounted there"),
        ("UPDATE user_account SET disabled_at = now()", "the schedule's owner is deleted or disabled"),
        ("DELETE FROM role_grant", "there is no cluster blade"),
        ("UPDATE schedule SET plan = plan - 'nodes'", "plan.nodes: Field required"),
    ],
)
def test_a_plan_that_cannot_be_submitted_is_written_down_and_the_schedule_goes_on(
    site: Site, owner: Principal, fire: Callable[[str], bool], trouble: str, words: str
) -> None:
    schedule_id = add_schedule(site, owner)
    site.change(trouble)
    assert fire("2026-11-22T02:30+01:00")
    (firing,) = firings(site)
    assert firing.campaign_id is None
    assert words in (firing.problem or "")
    assert stored(site, schedule_id).planned_at == at("2026-11-23T01:30+00:00")


def test_one_schedule_in_trouble_holds_up_no_other(site: Site, owner: Principal, fire: Callable[[str], bool]) -> None:
    add_schedule(site, owner, name="first", plan=plan(targets=["nfs"]))
    second = add_schedule(site, owner, name="second")
    site.change("UPDATE target SET retired_at = now() WHERE name = 'nfs'")
    for _ in range(2):
        assert fire("2026-11-22T02:30+01:00")
    assert [(one.schedule_id == second, one.problem is None) for one in firings(site)] == [(False, False), (True, True)]


def test_a_removed_schedule_no_longer_fires(site: Site, owner: Principal, fire: Callable[[str], bool]) -> None:
    schedule_id = add_schedule(site, owner)
    with site.database.transaction() as session:
        service.remove(session, owner, schedule_id, site.clock())
    assert not fire("2026-11-22T02:30+01:00")
