"""Schedules that fire all the time: each waits for its own runs, and all of them leave room for the scheduler."""

import pytest
from factories.clock import MovedClock
from factories.plans import operator, plan
from factories.ready_cluster import ReadyCluster
from sqlalchemy import text

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.db import Database
from iotide_server.kit.pagination import PageRequest
from iotide_server.schedules import service
from iotide_server.schedules.firing import fire_due
from iotide_server.schedules.schemas import STILL_WAITS, FiringOutcome, FiringOutput
from iotide_wire.schedule import SchedulePlan


@pytest.fixture
def owner(database: Database, clock: MovedClock) -> Principal:
    with database.transaction() as session:
        ReadyCluster(session, clock())
    return operator(database, clock())


def add(database: Database, owner: Principal, clock: MovedClock, name: str, **changes: object) -> int:
    given = {"name": name, "plan": plan(**changes), "cron": "* * * * *", "time_zone": "UTC"}
    with database.transaction() as session:
        return service.create(session, owner, SchedulePlan.model_validate(given), clock())


def outcomes(database: Database, owner: Principal, schedule_id: int) -> list[FiringOutput]:
    """Return the firings of a schedule as the API shows them, oldest first."""
    with database.transaction() as session:
        page = service.firings(session, owner, schedule_id, PageRequest(limit=50, last_id=None))
        return list(reversed(page.items))


def change(database: Database, statement: str) -> None:
    with database.transaction() as session:
        session.execute(text(statement))


def test_a_firing_is_skipped_with_a_message_while_runs_of_the_previous_campaign_wait(
    database: Database, owner: Principal, clock: MovedClock
) -> None:
    schedule_id = add(database, owner, clock, "every-minute", repeats=2)
    for _ in range(3):
        clock.move(60)
        assert fire_due(database, clock())
    first, *later = outcomes(database, owner, schedule_id)
    assert first.outcome is FiringOutcome.SUBMITTED
    assert [(one.outcome, one.problem, one.missed) for one in later] == [(FiringOutcome.SKIPPED, STILL_WAITS, 0)] * 2
    change(database, "UPDATE run SET state = 'active', started_at = created_at WHERE state = 'waiting'")
    clock.move(60)
    assert fire_due(database, clock())
    assert outcomes(database, owner, schedule_id)[-1].outcome is FiringOutcome.SUBMITTED


def test_a_missed_firing_has_no_problem(database: Database, owner: Principal, clock: MovedClock) -> None:
    schedule_id = add(database, owner, clock, "daily")
    change(database, "UPDATE schedule SET cron = '0 3 * * *'")
    clock.move(3 * 86_400)
    assert fire_due(database, clock())
    (firing,) = outcomes(database, owner, schedule_id)
    assert (firing.outcome, firing.problem) == (FiringOutcome.SKIPPED, None)
    assert firing.missed > 0


def test_a_step_fires_one_schedule_so_that_runs_of_others_start_in_between(
    database: Database, owner: Principal, clock: MovedClock
) -> None:
    ids = [add(database, owner, clock, name) for name in ("a", "b", "c")]
    clock.move(60)

    def fired() -> int:
        return sum(len(outcomes(database, owner, schedule_id)) for schedule_id in ids)

    for count in (1, 2, 3):
        assert fire_due(database, clock())
        assert fired() == count
    assert not fire_due(database, clock())


def test_a_plan_that_is_stored_for_too_long_is_the_problem_of_its_firing(
    database: Database, owner: Principal, clock: MovedClock
) -> None:
    schedule_id = add(database, owner, clock, "slow")
    change(
        database,
        "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;"
        " CREATE TRIGGER dawdle BEFORE INSERT ON cell FOR EACH ROW EXECUTE FUNCTION dawdle()",
    )
    try:
        clock.move(60)
        assert fire_due(database, clock(), statement_seconds=0.2)
    finally:
        change(database, "DROP TRIGGER dawdle ON cell; DROP FUNCTION dawdle()")
    (firing,) = outcomes(database, owner, schedule_id)
    assert firing.outcome is FiringOutcome.FAILED
    assert str(firing.problem).startswith("storing its runs took longer than a request may take")
