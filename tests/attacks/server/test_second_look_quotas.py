"""An operator's token that fills a cluster: each kind of object has a quota, and the error names it."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from factories.clock import MovedClock
from factories.people import Person
from factories.plans import operator, plan
from factories.raised import raised
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import repeats
from iotide_server.campaigns import service as campaigns
from iotide_server.campaigns.repeats import MoreRepeats
from iotide_server.campaigns.resolved import MAX_ROWS, resolve
from iotide_server.campaigns.schemas import RepeatsInput
from iotide_server.kit.db import Database
from iotide_server.kit.errors import IotideError
from iotide_server.kit.quotas import IN_SESSION, QUOTA_REACHED, Quotas
from iotide_server.schedules import service as schedules
from iotide_server.schedules.firing import fire_due
from iotide_server.settings import Settings
from iotide_server.templates import service as templates
from iotide_server.templates.schemas import TemplateInput
from iotide_server.trends.events import service as events
from iotide_server.trends.events.schemas import EventInput
from iotide_wire.plan import CampaignPlan
from iotide_wire.schedule import SchedulePlan

FEW: Final = Quotas(
    waiting_runs=5,
    waiting_runs_of_person=3,
    active_schedules=1,
    templates=1,
    runs_a_day=100,
    schedules_a_day=100,
    templates_a_day=100,
    events_a_day=4,
)


@pytest.fixture
def bounded(database: Database, clock: MovedClock) -> Database:
    """Return the database under small quotas, with a cluster."""
    with database.transaction() as session:
        ReadyCluster(session, clock())
    return Database(database.engine, info={IN_SESSION: FEW})


@pytest.fixture
def grace(bounded: Database, clock: MovedClock) -> Principal:
    return operator(bounded, clock())


def submit(database: Database, principal: Principal, clock: MovedClock, **changes: object) -> int:
    with database.transaction() as session:
        made = CampaignPlan.model_validate(plan(**changes))
        return campaigns.submit(session, principal, made, None, clock()).campaign_id


def refused(database: Database, act: Callable[[Session], object]) -> IotideError:
    with raised(QUOTA_REACHED) as refusal, database.transaction() as session:
        act(session)
    assert (refusal.value.status, refusal.value.code) == (409, "quota_reached")
    return refusal.value


def test_waiting_runs_of_a_person_and_of_a_cluster_are_bounded(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    submit(bounded, grace, clock, repeats=3)
    with raised(QUOTA_REACHED) as refusal:
        submit(bounded, grace, clock, repeats=1)
    assert refusal.value.message == (
        "repeats: there would be 4 waiting runs of one user in the cluster; the limit is 3"
    )
    assert "IOTIDE_QUOTA_WAITING_RUNS_OF_PERSON" in str(refusal.value.remedy)
    ada = operator(bounded, clock(), "ada")
    with raised(QUOTA_REACHED, match="6 waiting runs in the cluster; the limit is 5") as refusal:
        submit(bounded, ada, clock, repeats=3)
    assert str(refusal.value.remedy).endswith("raise IOTIDE_QUOTA_WAITING_RUNS")
    submit(bounded, ada, clock, repeats=2)


def test_added_repeats_count_as_waiting_runs(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    campaign_id = submit(bounded, grace, clock, repeats=2)
    more = MoreRepeats(campaign_id, RepeatsInput(repeats=2), None)
    error = refused(bounded, lambda session: repeats.add(session, grace, more, clock()))
    assert error.field == "repeats"
    with bounded.transaction() as session:
        repeats.add(session, grace, MoreRepeats(campaign_id, RepeatsInput(repeats=1), None), clock())


def add_schedule(session: Session, grace: Principal, clock: MovedClock, name: str) -> int:
    given = {"name": name, "plan": plan(repeats=2), "cron": "* * * * *", "time_zone": "UTC"}
    return schedules.create(session, grace, SchedulePlan.model_validate(given), clock())


def test_a_firing_over_the_quota_reports_it(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    with bounded.transaction() as session:
        add_schedule(session, grace, clock, "a")
    submit(bounded, grace, clock, repeats=2)
    clock.move(60)
    assert fire_due(bounded, clock())
    with bounded.transaction() as session:
        problem = session.scalar(text("SELECT problem FROM firing"))
    assert str(problem).startswith("repeats: there would be 4 waiting runs of one user in the cluster")


def test_active_schedules_are_bounded_also_where_one_is_resumed(
    bounded: Database, grace: Principal, clock: MovedClock
) -> None:
    with bounded.transaction() as session:
        schedule_id = add_schedule(session, grace, clock, "a")
    assert "2 active schedules" in refused(bounded, lambda s: add_schedule(s, grace, clock, "b")).message
    with bounded.transaction() as session:
        schedules.pause(session, grace, schedule_id)
        add_schedule(session, grace, clock, "b")
    assert refused(bounded, lambda s: schedules.resume(s, grace, schedule_id, clock())).field == "schedule_id"


def test_templates_are_bounded(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    def add(session: Session, name: str) -> int:
        given = {"name": name, "plan": plan()}
        return templates.create(session, grace, TemplateInput.model_validate(given), clock())

    with bounded.transaction() as session:
        add(session, "a")
    assert "2 templates in the cluster" in refused(bounded, lambda session: add(session, "b")).message


def test_events_that_people_add_are_bounded_by_day(bounded: Database, grace: Principal, clock: MovedClock) -> None:
    def add(session: Session) -> None:
        events.add(session, grace, EventInput(cluster="blade", text="a new switch"), clock())

    for _ in range(2):
        with bounded.transaction() as session:
            add(session)
    assert "3 events added to the cluster by one person today (UTC)" in refused(bounded, add).message
    clock.move(86_401)
    with bounded.transaction() as session:
        add(session)


def test_quotas_are_settings(settings: Settings) -> None:
    assert settings.quotas == Quotas()
    few = settings.model_copy(update={f"quota_{name}": getattr(FEW, name) for name in FEW.__slots__})
    assert few.quotas == FEW


def sized(nodes: int, targets: int, observers: int, values: int, **changes: object) -> CampaignPlan:
    sweep = {"block_size_bytes": [512 * (number + 1) for number in range(values)]}
    own: dict[str, Any] = {
        "nodes": [f"n{number}" for number in range(nodes)],
        "targets": [f"t{number}" for number in range(targets)],
        "observers": [f"o{number}" for number in range(observers)],
        "workloads": [{"workload": "dd", "sweep": sweep}],
    }
    return CampaignPlan.model_validate(plan(**{**own, **changes}))


@pytest.mark.parametrize(
    ("nodes", "targets", "observers", "values", "changes", "rows"),
    [
        (1_000, 100, 0, 10, {"nodes_at_once": True, "targets_at_once": True}, 1_000_000),
        (100, 1, 0, 1_000, {"nodes_at_once": [1, 50, 100]}, 151_000),
        (1, 1, 100, 100, {}, 100 * 101),
        (10, 10, 0, 100, {"repeats": 3}, 30_000),
    ],
)
def test_rows_of_a_plan_are_counted_without_making_them(
    nodes: int, targets: int, observers: int, values: int, changes: dict[str, object], rows: int
) -> None:
    made = sized(nodes, targets, observers, values, **changes)
    resolve(made)
    often = made.model_copy(update={"repeats": made.repeats * (MAX_ROWS // rows + 1)})
    with pytest.raises(IotideError) as refusal:
        resolve(often)
    assert refusal.value.code in {"campaign_rows", "campaign_too_large"}
    if refusal.value.code == "campaign_rows":
        assert refusal.value.value == rows * often.repeats // made.repeats


def test_a_gang_over_the_rows_of_a_plan_is_refused_by_the_api(
    client: TestClient, database: Database, admin: Person, clock: MovedClock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=30)
    sweep = {"block_size_bytes": [512 * (number + 1) for number in range(1_000)], "writers": list(range(1, 51))}
    workloads = [{"workload": "dd", "options": {"file_size_bytes": "1 MiB"}, "sweep": sweep}]
    wanted = ready.plan(nodes_at_once=True, repeats=2, workloads=workloads)
    answer = client.post("/api/v1/campaigns/preview", json={**wanted, "observers": []}, headers=admin.headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "campaign_rows"
    assert answer.json()["error"]["value"] == 3_000_000
