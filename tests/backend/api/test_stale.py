"""Series without new data on the status board: scheduled or not, stopped deliberately or not."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import history
from factories.measured import Measured
from factories.people import Person
from factories.schedules import add_schedule
from fastapi.testclient import TestClient
from sqlalchemy import update
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.results.models import Point, Series
from iotide_server.schedules.models import Firing, Schedule
from iotide_server.trends.changes.analysis import analyse_series, analyse_young
from iotide_server.trends.models import SeriesCourse

DAY = timedelta(days=1)


def measured_on(session: Session, days_ago: Sequence[float]) -> Measured:
    """Return an analysed series with a point from that many days ago."""
    measured = Measured(session, NOW - timedelta(days=400))
    series = history(measured, [100.0] * len(days_ago))
    points = session.query(Point).filter_by(series_id=series.id).order_by(Point.id).all()
    for point, days in zip(points, days_ago, strict=True):
        point.at = NOW - timedelta(days=days)
    session.flush()
    analyse_series(session, series.id)
    return measured


def board(client: TestClient, person: Person, days: int = 90) -> dict[str, Any]:
    answer = client.get("/api/v1/board", params={"days": days}, headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def scheduled(session: Session, state: str, removed_at: datetime | None = None) -> None:
    """Assign all points to firings of a schedule that is in this state now."""
    cluster_id = session.query(Series).one().cluster_id
    made = add_schedule(session, cluster_id, NOW + DAY, state=state, name="weekly", removed_at=removed_at)
    for point in session.query(Point).order_by(Point.at):
        session.add(Firing(schedule_id=made.id, planned_at=point.at, fired_at=point.at, campaign_id=point.campaign_id))
    session.flush()


@pytest.mark.parametrize("days", [7, 30, 90, 365])
def test_a_series_without_a_schedule_is_stale_after_twice_its_usual_gap_in_every_period(
    client: TestClient, admin: Person, database: Database, days: int
) -> None:
    with database.transaction() as session:
        measured_on(session, [60, 53, 46, 39, 32])
    found = board(client, admin, days)
    (cell,) = found["cells"]
    words = f"no data since {NOW - 32 * DAY:%-d %b %Y}: usually measured every 7 days"
    assert (cell["state"], cell["words"]) == ("stale", words)
    (item,) = found["attention"]
    assert (item["kind"], item["words"], item["series"]["id"]) == ("stale_series", words, cell["worst"]["id"])
    assert item["remedy"] == "measure it again, or retire its target"


@pytest.mark.parametrize(
    ("days_ago", "gap_days"),
    [
        ([20], None),
        ([20.4, 20.3, 20.2, 20.1, 20.0], None),
        ([40, 30, 20], None),
        ([18, 17, 16, 15], 1),
        ([400.1, 400, 21, 14, 7.1, 7], 7),
    ],
    ids=["one campaign", "one afternoon", "two gaps", "four days", "several a day"],
)
def test_a_gap_is_usual_from_three_gaps_between_days_on(
    database: Database, days_ago: list[float], gap_days: float | None
) -> None:
    with database.transaction() as session:
        measured_on(session, days_ago)
        course = session.query(SeriesCourse).one()
        assert course.usual_gap_seconds == (None if gap_days is None else gap_days * 86400)
        course.usual_gap_seconds = 0.5
        session.flush()
        analyse_young(session, [course.series_id])
        session.refresh(course)
        assert course.usual_gap_seconds == (None if gap_days is None else gap_days * 86400)


def test_a_series_without_a_usual_gap_is_not_stale_and_none_is_before_twice_its_gap(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured_on(session, [20])
    assert [cell["state"] for cell in board(client, admin)["cells"]] == ["no_baseline"]
    with database.transaction() as session:
        session.execute(update(SeriesCourse).values(usual_gap_seconds=10.1 * 86400))
    assert [cell["state"] for cell in board(client, admin)["cells"]] == ["no_baseline"]
    with database.transaction() as session:
        session.execute(update(SeriesCourse).values(usual_gap_seconds=9.9 * 86400))
    assert [cell["state"] for cell in board(client, admin)["cells"]] == ["stale"]


@pytest.mark.parametrize(
    ("state", "removed_at", "words", "listed_later"),
    [
        ("paused", None, "schedule weekly is paused", 1),
        ("paused", NOW, "schedule weekly was deleted", 0),
        ("ended", None, "schedule weekly has ended", 0),
    ],
)
def test_a_deliberately_stopped_series_is_stale_and_needs_no_attention(
    client: TestClient,
    admin: Person,
    database: Database,
    state: str,
    removed_at: datetime | None,
    words: str,
    listed_later: int,
) -> None:
    with database.transaction() as session:
        measured_on(session, [60, 53, 46, 39, 32])
        scheduled(session, state, removed_at)
    found = board(client, admin)
    (cell,) = found["cells"]
    assert (cell["state"], cell["words"]) == ("stale", f"no data since {NOW - 32 * DAY:%-d %b %Y}: {words}")
    assert found["attention"] == []
    assert len(board(client, admin, 7)["cells"]) == listed_later


def test_retired_series_are_left_out(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = measured_on(session, [60, 53, 46, 39, 32])
        measured.target.retired_at = NOW
    found = board(client, admin)
    assert (found["cells"], found["attention"]) == ([], [])


def test_a_series_that_its_schedule_will_measure_in_time_is_not_stale(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured_on(session, [12, 11, 10, 9, 8])
        scheduled(session, "active")
    assert [cell["state"] for cell in board(client, admin)["cells"]] == ["no_baseline"]
    with database.transaction() as session:
        session.execute(update(Schedule).values(due_at=NOW - DAY))
    found = board(client, admin)
    assert [cell["state"] for cell in found["cells"]] == ["stale"]
    assert {item["kind"] for item in found["attention"]} == {"overdue_schedule", "stale_series"}
