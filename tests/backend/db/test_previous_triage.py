"""Alerts of release 0.2.0 that people triaged pass its upgrade and the analysis by a new detector.

`tests/contract/record_triage.py` recorded them.
"""

from collections.abc import Iterator
from typing import Any, Final, LiteralString

import psycopg
import pytest
from factories.rows import upgrade
from previous import load_triage
from psycopg.rows import dict_row

from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.reanalysis import ChangeFate, last_reanalysis
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.trends.changes.analysis import analyse_series, reanalyse

RELEASE: Final = "0.2.0"
SCHEMA: Final = "0039"
OPEN: Final = {"untriaged", "acknowledged", "investigating", "fixed"}
Rows = list[dict[str, Any]]

ALERTS: Final = """
SELECT alert.id, alert.state, state_before, closed_because, owner_id, due_at, event_id, baseline_level, baseline_at,
       alert.change_point_id, group_id, muted.until
FROM alert LEFT JOIN series_mute AS muted USING (series_id) ORDER BY alert.id
"""
ACTIONS: Final = "SELECT * FROM alert_action ORDER BY id"
REPORTED: Final = "SELECT id FROM change_point WHERE confirmed_at IS NOT NULL AND gone_at IS NULL"
LOST: Final = """
SELECT DISTINCT ON (alert_id) alert_id AS id, before ->> 'state' AS state FROM alert_action
WHERE before ->> 'state' IS NOT NULL AND after ->> 'state' = 'closed' ORDER BY alert_id, alert_action.id DESC
"""


@pytest.fixture(scope="module")
def url(postgres_server: PrivatePostgres) -> Iterator[str]:
    postgres_server.create_database("triage")
    url = postgres_server.url_of("triage")
    engine = open_engine(url)
    upgrade(engine, SCHEMA)
    load_triage(RELEASE, url)
    engine.dispose()
    yield url
    postgres_server.drop_database("triage")


@pytest.fixture(scope="module")
def before(url: str) -> dict[str, Rows]:
    return {statement: rows(url, statement) for statement in (ALERTS, ACTIONS, REPORTED, LOST)}


@pytest.fixture(scope="module")
def upgraded(url: str, before: dict[str, Rows]) -> Iterator[Database]:
    """The migrated database once the worker has analysed all series, twice."""
    del before
    engine = open_engine(url)
    migrate(engine)
    database = Database(engine)
    with database.transaction() as session:
        reanalyse(session, 0)
    waiting = rows(url, "SELECT key FROM work WHERE kind = 'analysis' AND done_version < version ORDER BY key")
    for _ in range(2):
        for row in waiting:
            with database.transaction() as session:
                analyse_series(session, row["key"])
                raise_alerts(session, row["key"])
    yield database
    engine.dispose()


@pytest.fixture(scope="module")
def alerts(url: str, upgraded: Database) -> dict[int, dict[str, Any]]:
    del upgraded
    return {row["id"]: row for row in rows(url, ALERTS)}


def rows(url: str, statement: LiteralString) -> Rows:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        return connection.execute(statement).fetchall()


def test_the_dump_holds_each_verdict_and_alerts_that_lost_theirs(before: dict[str, Rows]) -> None:
    states = {row["state"] for row in before[ALERTS]}
    assert states >= {"acknowledged", "investigating", "expected", "noise", "wont_fix", "fixed", "closed"}
    assert any(row["state_before"] == "closed" for row in before[ALERTS])
    assert any(row["until"] for row in before[ALERTS])
    assert any(row["baseline_at"] for row in before[ALERTS])


def test_all_alerts_keep_owner_due_date_event_baseline_and_mute(
    before: dict[str, Rows], alerts: dict[int, dict[str, Any]]
) -> None:
    kept = ("owner_id", "due_at", "event_id", "baseline_level", "baseline_at", "change_point_id", "until")
    for row in before[ALERTS]:
        assert {name: alerts[row["id"]][name] for name in kept} == {name: row[name] for name in kept}


def test_every_action_and_comment_survives(url: str, before: dict[str, Rows], upgraded: Database) -> None:
    del upgraded
    assert rows(url, ACTIONS)[: len(before[ACTIONS])] == before[ACTIONS]


def test_only_open_alerts_of_changes_that_no_longer_hold_are_closed(
    url: str, before: dict[str, Rows], alerts: dict[int, dict[str, Any]]
) -> None:
    reported = {row["id"] for row in rows(url, REPORTED)}
    for row in before[ALERTS]:
        now = alerts[row["id"]]
        if row["state"] == "closed" or row["change_point_id"] is None:
            continue
        if row["state"] not in OPEN or row["change_point_id"] in reported:
            assert now["state"] == row["state"]
        else:
            assert now["state"] in {"closed", "recovered", "verified"}
            assert now["state_before"] == row["state"]


def test_closed_alerts_know_again_what_people_had_said(
    before: dict[str, Rows], alerts: dict[int, dict[str, Any]]
) -> None:
    lost = {row["id"] for row in before[ALERTS] if row["state_before"] == "closed"}
    said = {row["id"]: row["state"] for row in before[LOST] if row["id"] in lost}
    assert set(said.values()) == {"acknowledged"}
    for alert_id, state in said.items():
        now = alerts[alert_id]
        assert state in {now["state"], now["state_before"]}


def test_no_alert_is_raised_again_for_a_known_change(
    before: dict[str, Rows], alerts: dict[int, dict[str, Any]]
) -> None:
    known = {row["id"] for row in before[REPORTED]}
    raised = [alerts[alert_id] for alert_id in alerts.keys() - {row["id"] for row in before[ALERTS]}]
    assert [row for row in raised if row["change_point_id"] in known] == []


def test_all_that_differs_is_listed(url: str, before: dict[str, Rows], upgraded: Database) -> None:
    with upgraded.transaction() as session:
        found = last_reanalysis(session)
        differences = [one.difference for one in found.findings]
    gone = {row["id"] for row in before[REPORTED]} - {row["id"] for row in rows(url, REPORTED)}
    assert gone
    assert len([one for one in differences if one is not ChangeFate.APPEARED]) == len(gone)
    assert found.series_count == rows(url, "SELECT count(*) FROM series_course")[0]["count"]
