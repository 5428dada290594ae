"""An operator's token that adds and removes in a loop: quotas count all additions of a day, including removed
objects.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Barrier
from typing import Final

import pytest
from factories.clock import MovedClock
from factories.plans import operator, plan
from factories.raised import raised
from factories.ready_cluster import ReadyCluster
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repeats, repository
from iotide_server.campaigns import service as campaigns
from iotide_server.campaigns.planned import PlannedCampaign
from iotide_server.campaigns.repeats import MoreRepeats
from iotide_server.campaigns.schemas import RepeatsInput
from iotide_server.kit.db import Database
from iotide_server.kit.errors import IotideError
from iotide_server.kit.quotas import IN_SESSION, QUOTA_REACHED, Addition, QuotaKind, Quotas, count_day
from iotide_server.runs import service as runs
from iotide_server.schedules import service as schedules
from iotide_server.templates import service as templates
from iotide_server.templates.schemas import TemplateInput
from iotide_server.trends.events import service as events
from iotide_server.trends.events.schemas import EventInput
from iotide_wire.plan import CampaignPlan
from iotide_wire.schedule import SchedulePlan

A_DAY_SECONDS: Final = 86_400
PATIENCE_SECONDS: Final = 3.0
DAILY: Final = Quotas(
    waiting_runs=5, waiting_runs_of_person=3, runs_a_day=12, schedules_a_day=6, templates_a_day=6, events_a_day=6
)


@pytest.fixture
def bounded(database: Database, clock: MovedClock) -> Database:
    """Return the database under small quotas of a day, with a cluster."""
    with database.transaction() as session:
        ReadyCluster(session, clock())
    return Database(database.engine, info={IN_SESSION: DAILY})


@pytest.fixture
def grace(bounded: Database, clock: MovedClock) -> Principal:
    return operator(bounded, clock())


def cluster_id(session: Session) -> int:
    found: int = session.scalars(text("SELECT id FROM cluster")).one()
    return found


def submit(database: Database, who: Principal, clock: MovedClock, count: int) -> int:
    with database.transaction() as session:
        made = CampaignPlan.model_validate(plan(repeats=count))
        return campaigns.submit(session, who, made, None, clock()).campaign_id


def submit_and_cancel(database: Database, who: Principal, clock: MovedClock, count: int) -> list[int]:
    """Return the ids of the cancelled runs."""
    campaign_id = submit(database, who, clock, count)
    with database.transaction() as session:
        campaigns.cancel(session, who, campaign_id, clock())
        found = session.scalars(text("SELECT id FROM run WHERE campaign_id = :id ORDER BY id"), {"id": campaign_id})
        return list(found)


def in_a_loop(database: Database, act: Callable[[Session, int], object]) -> IotideError:
    """Act three times, which half of a quota of six allows, and return the rejection of the fourth."""
    for number in range(3):
        with database.transaction() as session:
            act(session, number)
    with raised(QUOTA_REACHED) as refusal, database.transaction() as session:
        act(session, 3)
    return refusal.value


def test_cancelled_runs_count_to_the_day_of_a_person_and_of_a_cluster(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    for _ in range(2):
        submit_and_cancel(bounded, grace, clock, 3)
    with raised(QUOTA_REACHED) as refusal:
        submit(bounded, grace, clock, 1)
    assert refusal.value.message == (
        "repeats: there would be 7 runs added to the cluster by one person today (UTC); the limit is 6"
    )
    assert str(refusal.value.remedy).endswith("raise IOTIDE_QUOTA_RUNS_A_DAY")
    ada, eve = operator(bounded, clock(), "ada"), operator(bounded, clock(), "eve")
    for _ in range(2):
        submit_and_cancel(bounded, ada, clock, 3)
    with raised(QUOTA_REACHED, match="13 runs added to the cluster today"):
        submit(bounded, eve, clock, 1)
    clock.move(A_DAY_SECONDS)
    submit(bounded, grace, clock, 3)


def test_events_that_were_removed_count_to_the_day(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    def add_and_remove(session: Session, _: int) -> None:
        event = events.add(session, grace, EventInput(cluster="blade", text="a new switch"), clock())
        events.remove(session, grace, event.id, clock())

    assert "4 events added to the cluster by one person today" in in_a_loop(bounded, add_and_remove).message


def test_templates_that_were_removed_count_to_the_day(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    def keep_and_remove(session: Session, number: int) -> None:
        given = TemplateInput.model_validate({"name": f"t{number}", "plan": plan()})
        templates.remove(session, grace, templates.create(session, grace, given, clock()))

    assert "4 templates added to the cluster by one person today" in in_a_loop(bounded, keep_and_remove).message


def add_schedule(session: Session, who: Principal, clock: MovedClock, name: str) -> int:
    given = {"name": name, "plan": plan(), "cron": "* * * * *", "time_zone": "UTC"}
    return schedules.create(session, who, SchedulePlan.model_validate(given), clock())


def test_schedules_that_were_removed_count_to_the_day(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    def add_and_remove(session: Session, number: int) -> None:
        schedule_id = add_schedule(session, grace, clock, f"s{number}")
        schedules.remove(session, grace, schedule_id, clock())

    assert "4 schedules added to the cluster by one person today" in in_a_loop(bounded, add_and_remove).message


def test_copies_of_a_schedule_count_to_the_day(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    ada = operator(bounded, clock(), "ada")
    with bounded.transaction() as session:
        schedule_id = add_schedule(session, ada, clock, "a")
    refusal = in_a_loop(bounded, lambda session, _: schedules.duplicate(session, grace, schedule_id, clock()))
    assert "4 schedules added" in refusal.message


def test_a_removed_schedule_loses_its_plan_and_is_still_shown(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    with bounded.transaction() as session:
        schedule_id = add_schedule(session, grace, clock, "a")
        schedules.remove(session, grace, schedule_id, clock())
    with bounded.transaction() as session:
        assert session.scalar(text("SELECT octet_length(plan::text) FROM schedule")) == len("{}")
        shown = schedules.schedule(session, grace, schedule_id)
    assert (shown.name, shown.plan) == ("a", None)


def test_retried_runs_ask_for_room_and_count_to_the_day(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    eve = operator(bounded, clock(), "eve")
    cancelled = submit_and_cancel(bounded, grace, clock, 3) + submit_and_cancel(bounded, grace, clock, 3)

    def retry(run_id: int) -> None:
        with bounded.transaction() as session:
            runs.retry(session, eve, run_id, clock())

    for run_id in cancelled[:3]:
        retry(run_id)
    with raised(QUOTA_REACHED) as refusal:
        retry(cancelled[3])
    assert refusal.value.message == ("run_id: there would be 4 waiting runs of one user in the cluster; the limit is 3")
    for run_id in cancelled[:3]:
        with bounded.transaction() as session:
            runs.cancel(session, eve, run_id, clock())
        retry(run_id)
    with raised(QUOTA_REACHED, match="7 runs added to the cluster by one person today"):
        retry(cancelled[3])


def test_a_retry_beyond_the_quota_is_refused_before_it_waits_for_others_of_the_cluster(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    [run_id] = submit_and_cancel(bounded, grace, clock, 1)
    submit(bounded, grace, clock, 3)
    with bounded.transaction() as other, bounded.transaction(statement_seconds=PATIENCE_SECONDS) as session:
        count_day(other, Addition(QuotaKind.RUNS, cluster_id(other), None, clock()))
        with raised(QUOTA_REACHED, match="4 waiting runs of one user"):
            runs.retry(session, grace, run_id, clock())


def test_a_request_across_midnight_leaves_the_new_day_unchanged(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    def count(now: datetime, number: int) -> None:
        with bounded.transaction() as session:
            count_day(session, Addition(QuotaKind.EVENTS, cluster_id(session), grace.user_id, now, number))

    began = clock()
    clock.move(A_DAY_SECONDS)
    count(clock(), 3)
    count(began, 1)
    with raised(QUOTA_REACHED, match="4 events added"):
        count(clock(), 1)


def test_added_repeats_count_to_the_caller_and_not_to_the_campaigns_owner(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    eve = operator(bounded, clock(), "eve")
    campaign_id = submit(bounded, grace, clock, 1)

    def add(count: int) -> None:
        with bounded.transaction() as session:
            repeats.add(session, eve, MoreRepeats(campaign_id, RepeatsInput(repeats=count), None), clock())

    add(2)
    with raised(QUOTA_REACHED, match="4 waiting runs of one user"):
        add(2)
    submit(bounded, grace, clock, 2)


def test_quotas_hold_where_two_requests_read_them_at_once(
    bounded: Database, grace: Principal, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(bounded, operator(bounded, clock(), "ada"), clock, 2)
    eve = operator(bounded, clock(), "eve")
    both_have_asked = Barrier(2)
    insert = repository.insert_cells

    def insert_once_both_have_asked(session: Session, campaign_id: int, planned: PlannedCampaign) -> None:
        both_have_asked.wait(timeout=30)
        insert(session, campaign_id, planned)

    monkeypatch.setattr(repository, "insert_cells", insert_once_both_have_asked)

    def is_refused(who: Principal) -> bool:
        try:
            submit(bounded, who, clock, 3)
        except IotideError:
            return True
        return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(is_refused, (grace, eve))) == [False, True]
    with bounded.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM run WHERE state = 'waiting'")) == DAILY.waiting_runs
