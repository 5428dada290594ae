"""Schedules of one cluster that fire all the time: those of other clusters still fire, and none is missed."""

from datetime import timedelta
from typing import Final

import pytest
from factories.clock import MovedClock
from factories.plans import operator, plan
from factories.raised import raised
from factories.ready_cluster import ReadyCluster
from sqlalchemy import text

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import service as campaigns
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.kit.quotas import IN_SESSION, QUOTA_REACHED, Quotas
from iotide_server.schedules import service
from iotide_server.schedules.firing import fire_due
from iotide_server.scheduling.service import Scheduler
from iotide_wire.schedule import SchedulePlan

ONE: Final = Quotas(waiting_runs_of_person=1)


@pytest.fixture
def owner(database: Database, clock: MovedClock) -> Principal:
    with database.transaction() as session:
        ReadyCluster(session, clock())
        ReadyCluster(session, clock(), name="other")
    return operator(database, clock())


def add(database: Database, owner: Principal, clock: MovedClock, name: str, **changes: object) -> int:
    given = {"name": name, "plan": plan(), "cron": "* * * * *", "time_zone": "UTC", **changes}
    with database.transaction() as session:
        return service.create(session, owner, SchedulePlan.model_validate(given), clock())


def fired(database: Database) -> list[str]:
    """Return the names of the schedules that fired, in order."""
    with database.transaction() as session:
        statement = text("SELECT name FROM firing JOIN schedule ON schedule.id = schedule_id ORDER BY firing.id")
        return list(session.scalars(statement))


def test_a_plan_that_the_quota_refuses_is_not_expanded(
    database: Database, owner: Principal, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, owner, clock, "a", plan=plan(repeats=2))
    expanded = []
    monkeypatch.setattr(campaigns, "foresee", lambda *_: expanded.append(1))
    clock.move(60)
    assert fire_due(Database(database.engine, info={IN_SESSION: ONE}), clock())
    with database.transaction() as session:
        assert "2 waiting runs of one user" in str(session.scalar(text("SELECT problem FROM firing")))
    assert expanded == []


@pytest.mark.parametrize("quotas", [Quotas(active_schedules=1), Quotas(schedules_a_day=2)])
def test_a_schedule_beyond_a_quota_is_refused_before_its_plan_is_expanded(
    database: Database, owner: Principal, clock: MovedClock, monkeypatch: pytest.MonkeyPatch, quotas: Quotas
) -> None:
    bounded = Database(database.engine, info={IN_SESSION: quotas})
    add(bounded, owner, clock, "a")
    expanded = []
    monkeypatch.setattr(service, "foresee", lambda *_: expanded.append(1))
    with raised(QUOTA_REACHED) as refusal:
        add(bounded, owner, clock, "b")
    assert refusal.value.field == "plan.cluster"
    assert expanded == []


def test_an_active_schedule_that_moves_to_another_cluster_asks_for_room_there(
    database: Database, owner: Principal, clock: MovedClock
) -> None:
    bounded = Database(database.engine, info={IN_SESSION: Quotas(active_schedules=1)})
    add(bounded, owner, clock, "a")
    schedule_id = add(bounded, owner, clock, "b", plan=plan(cluster="other"))
    given = {"name": "b", "plan": plan(), "cron": "* * * * *", "time_zone": "UTC"}
    with raised(QUOTA_REACHED, match="2 active schedules"), bounded.transaction() as session:
        service.replace(session, owner, schedule_id, SchedulePlan.model_validate(given), clock())


def test_a_schedule_with_a_failed_firing_rests_and_reports_it(
    database: Database, owner: Principal, clock: MovedClock
) -> None:
    schedule_id = add(database, owner, clock, "a", plan=plan(repeats=2))
    bounded = Database(database.engine, info={IN_SESSION: ONE})
    clock.move(60)
    assert fire_due(bounded, clock())
    with database.transaction() as session:
        assert str(session.scalar(text("SELECT problem FROM firing"))).endswith(
            "; the next firing is at least 10 minutes later"
        )
        (following, *_) = service.schedule(session, owner, schedule_id).next_firings
    assert 600 <= (following.planned_at - clock()).total_seconds() <= 660
    clock.move(540)
    assert not fire_due(bounded, clock())
    clock.move(120)
    assert fire_due(bounded, clock())


def test_clusters_take_turns_so_that_many_schedules_of_one_do_not_hold_up_those_of_others(
    database: Database, owner: Principal, clock: MovedClock
) -> None:
    for number in range(4):
        add(database, owner, clock, f"many{number}")
    clock.move(61)
    add(database, owner, clock, "single", plan=plan(cluster="other"))
    clock.move(60)
    for _ in range(3):
        clock.move(1)
        assert fire_due(database, clock())
    assert fired(database) == ["many0", "single", "many1"]
    clock.move(57)
    for _ in range(2):
        clock.move(1)
        assert fire_due(database, clock())
    assert fired(database)[3:] == ["single", "many2"]


@pytest.fixture
def scheduler(database: Database, clock: MovedClock) -> Scheduler:
    return Scheduler(database, Broker("redis://127.0.0.1:1/0"), lambda: None, clock)


def test_a_firing_that_stood_behind_others_was_not_missed(
    database: Database, owner: Principal, clock: MovedClock, scheduler: Scheduler
) -> None:
    at = clock() + timedelta(minutes=1)
    for name in ("a", "b", "c"):
        add(database, owner, clock, name, missed="skip", cron=f"{at.minute} {at.hour} * * *")
    clock.move(60)
    for _ in range(3):
        scheduler.step(set())
        clock.move(200)
    with database.transaction() as session:
        found = session.execute(text("SELECT campaign_id IS NOT NULL, missed FROM firing")).all()
    assert [tuple(row) for row in found] == [(True, 0)] * 3


def test_a_firing_for_which_no_scheduler_ran_was_missed(
    database: Database, owner: Principal, clock: MovedClock, scheduler: Scheduler
) -> None:
    add(database, owner, clock, "a", missed="skip", cron="30 2 * * *")
    scheduler.step(set())
    clock.move(2 * 86_400)
    scheduler.step(set())
    with database.transaction() as session:
        found = session.execute(text("SELECT campaign_id, missed FROM firing")).one()
    assert tuple(found) == (None, 2)
