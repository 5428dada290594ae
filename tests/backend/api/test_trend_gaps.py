"""Gaps without data and failed runs, in the answer of a trend."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import history
from factories.measured import Measured
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.campaigns.models import Cell
from iotide_server.kit.db import Database

FIRST = NOW - timedelta(days=60)
Get = Callable[..., dict[str, Any]]


@pytest.fixture
def get(client: TestClient, admin: Person) -> Get:
    return lambda series_id, **span: client.get(
        f"/api/v1/series/{series_id}/points", params=span, headers=admin.headers
    ).json()


def written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def fail(measured: Measured, cell: Cell, at: datetime, reason: str) -> int:
    run = measured.run(cell)
    run.state, run.started_at, run.ended_at = "failed", at, at + timedelta(minutes=5)
    run.reason_code, run.reason = "time_limit", reason
    measured.session.flush()
    return run.id


def test_a_trend_names_the_stretches_without_data_up_to_now(get: Get, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, FIRST)
        found = history(measured, [100.0] * 10).id
        history(measured, [100.0] * 10, first_day=20)
    gaps = get(found)["gaps"]
    days = [written(FIRST + timedelta(days=day)) for day in (9, 20, 29)]
    assert gaps == [{"since": days[0], "until": days[1]}, {"since": days[2], "until": None}]


def test_a_span_has_the_gaps_that_reach_into_it_and_no_point_need_lie_in_it(get: Get, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, FIRST)
        found = history(measured, [100.0] * 10).id
        history(measured, [100.0] * 10, first_day=20)
    span = {"from": written(FIRST + timedelta(days=12)), "to": written(FIRST + timedelta(days=15))}
    inside = get(found, **span)
    assert (inside["at"], len(inside["gaps"])) == ([], 1)
    before = {"from": written(FIRST), "to": written(FIRST + timedelta(days=5))}
    assert get(found, **before)["gaps"] == []


def test_failed_runs_of_the_same_cell_are_counted_with_the_reason_of_the_last_one(get: Get, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, FIRST)
        found = history(measured, [100.0] * 10).id
        cell = measured.cell()
        fail(measured, cell, FIRST + timedelta(days=11), "took longer than 60 s")
        last = fail(measured, cell, FIRST + timedelta(days=12), "no space left")
        other = measured.cell(None, direct=True)
        fail(measured, other, FIRST + timedelta(days=12), "is of another series")
        campaign_id, cell_id = cell.campaign_id, cell.id
    failures = get(found)["failures"]
    assert failures == [
        {
            "at": written(FIRST + timedelta(days=12, minutes=5)),
            "campaign_id": campaign_id,
            "cell_id": cell_id,
            "run_id": last,
            "run_count": 2,
            "reason_code": "time_limit",
            "reason": "no space left",
        }
    ]
    assert get(found, to=written(FIRST + timedelta(days=10)))["failures"] == []


def test_failed_runs_of_another_node_set_or_target_belong_to_another_series(get: Get, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, FIRST)
        found = history(measured, [100.0] * 4).id
        cell = measured.cell()
        measured.add_node("node2", cell)
        fail(measured, cell, FIRST + timedelta(days=4), "ran on two nodes")
    assert get(found)["failures"] == []


def test_the_newest_of_many_failed_cells_are_shown_in_time_order(get: Get, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, FIRST)
        found = history(measured, [100.0] * 4).id
        campaign = measured.campaign()
        for hour in range(103):
            fail(measured, measured.cell(campaign), FIRST + timedelta(hours=hour), f"reason {hour}")
    reasons = [failure["reason"] for failure in get(found)["failures"]]
    assert reasons == [f"reason {hour}" for hour in range(3, 103)]
