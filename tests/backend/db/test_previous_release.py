"""The database of the previous release passes the migrations, and the API answers for all its rows."""

import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, LiteralString

import psycopg
import pytest
from factories.people import person
from factories.rows import upgrade
from fastapi.testclient import TestClient
from previous import PREVIOUS, load_database
from pydantic import SecretStr
from sqlalchemy import Engine

from iotide_server.accounts.models import Role
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.reanalysis import last_reanalysis
from iotide_server.backup.clients import choose_clients, libpq_environment
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import OLDEST_SERVED, check_schema, migrate, require_schema
from iotide_server.main import create_app
from iotide_server.settings import Settings
from iotide_server.statistics.changepoints import DETECTOR
from iotide_server.tables import metadata
from iotide_server.trends.changes.analysis import analyse_series, reanalyse
from iotide_server.trends.points.service import recompute_points
from iotide_server.trends.points.superseding import settle_superseded

API: Final = "/api/v1"
MOST_OF_EACH: Final = 5
STREAMS: Final = {f"{API}/events"}
REFUSALS: Final = {
    *("campaign_not_paused", "nothing_to_show", "sides_wanted", "person_wanted", "no_provider", "cluster_made_up"),
    "node_not_stuck",
}
"""Refused: requests about a campaign or node in another state or a node of sample data, requests that need one of two
named things, and requests that only a browser or an OpenID provider may make.
"""
TABLES: Final = {
    "alert_id": "alert",
    "artefact_id": "artefact",
    "campaign_id": "campaign",
    "channel_id": "channel",
    "cluster_id": "cluster",
    "incident_id": "alert_group",
    "node_id": "node",
    "reading_id": "reading",
    "rule_id": "alert_rule",
    "run_id": "run",
    "schedule_id": "schedule",
    "series_id": "series",
    "target_id": "target",
    "template_id": "template",
}
"""Source of the ids for each path parameter."""


@pytest.fixture(scope="module")
def url(postgres_server: PrivatePostgres) -> Iterator[str]:
    postgres_server.create_database("previous")
    url = postgres_server.url_of("previous")
    load_database(PREVIOUS, url)
    yield url
    postgres_server.drop_database("previous")


@pytest.fixture(scope="module")
def counts_before(url: str) -> dict[str, int]:
    return counts(url)


@pytest.fixture(scope="module")
def schema_before(url: str, postgres_server: PrivatePostgres) -> str:
    return schema(url, postgres_server)


@pytest.fixture(scope="module")
def database(url: str, counts_before: dict[str, int], schema_before: str) -> Iterator[Database]:
    """The previous release's data at the schema of this one."""
    del counts_before, schema_before
    engine = open_engine(url)
    migrate(engine)
    yield Database(engine)
    engine.dispose()


@pytest.fixture(scope="module")
def caller(url: str, database: Database) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """API client that may see everything."""
    app = create_app(Settings(database_url=SecretStr(url), redis_url=SecretStr("redis://127.0.0.1:1/0")))
    with database.transaction() as session:
        headers = person(session, "keeper", Role.ADMIN, None, now=datetime.now(UTC)).headers
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client, headers


def counts(url: str) -> dict[str, int]:
    tables = ("campaign", "run", "node_order", "sample", "series", "artefact", "blob", "curve_chunk", "node")
    with psycopg.connect(url) as connection:
        found = ((table, connection.execute(f"SELECT count(*) FROM {table}").fetchone()) for table in tables)  # noqa: S608
        return {table: int(row[0]) for table, row in found if row}


def schema(url: str, postgres_server: PrivatePostgres) -> str:
    """Return pg_dump's schema, without the lines that differ from call to call."""
    program = choose_clients(at_least=postgres_server.programs.major).directory / "pg_dump"
    command = [str(program), "--schema-only", "--no-owner", "--no-privileges"]
    environment = {**os.environ, **libpq_environment(url)}
    dumped = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return "\n".join(line for line in dumped.splitlines() if not line.startswith("\\"))


def lines(url: str, statement: LiteralString) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def ids(url: str, table: str) -> list[int]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(f"SELECT id FROM {table} ORDER BY id DESC LIMIT {MOST_OF_EACH}")  # noqa: S608
        return [int(row[0]) for row in rows.fetchall()]


def test_the_dump_holds_some_of_everything(url: str, counts_before: dict[str, int]) -> None:
    assert all(counts_before.values()), counts_before
    with psycopg.connect(url) as connection:
        states = connection.execute("SELECT DISTINCT state FROM run ORDER BY state").fetchall()
        assert [state for (state,) in states] == ["active", "cancelled", "failed", "finished", "waiting"]
    for table in ("schedule", "alert_rule", "channel", "user_account", "api_token", "event"):
        assert ids(url, table), table


def test_the_migrations_of_that_release_make_its_schema(
    schema_before: str, empty: str, empty_engine: Engine, postgres_server: PrivatePostgres
) -> None:
    upgrade(empty_engine, OLDEST_SERVED)
    postgres_server.create_database("again")
    again = postgres_server.url_of("again")
    # PostgreSQL writes restored conditions in another way, such as those of the release's dump.
    with psycopg.connect(again) as connection:
        connection.execute(schema(empty, postgres_server).encode())
    assert schema(again, postgres_server) == schema_before
    postgres_server.drop_database("again")


def test_it_migrates_to_the_schema_of_this_release_and_loses_no_row(
    url: str, database: Database, counts_before: dict[str, int]
) -> None:
    check_schema(database.engine, metadata)
    require_schema(database.engine)
    assert counts(url) == counts_before


def test_only_superseded_series_lose_points(url: str, database: Database) -> None:
    with database.transaction() as session:
        settle_superseded(session, 0)
    marked = lines(
        url, "SELECT DISTINCT workload, metric, superseded FROM series WHERE superseded <> '' ORDER BY 1, 2, 3"
    )
    assert marked == [("dd", "total_throughput", "node_clock")]
    assert lines(url, "SELECT count(*) FROM point JOIN series ON series.id = series_id WHERE superseded <> ''") == [
        (0,)
    ]
    without = "SELECT metric FROM series WHERE superseded = '' AND workload = 'dd' AND NOT EXISTS"
    assert lines(url, without + " (SELECT FROM point WHERE series_id = series.id)") == []


def test_runs_known_by_a_superseded_number_are_known_by_their_throughput_once_the_worker_was_there(
    url: str, database: Database
) -> None:
    wrong = "SELECT count(*) FROM run_headline JOIN series ON series.id = series_id WHERE superseded <> ''"
    assert lines(url, wrong) == [(0,)]
    [waiting] = lines(
        url, "SELECT array_agg(key ORDER BY key) FROM work WHERE kind = 'points' AND done_version < version"
    )
    with database.transaction() as session:
        for cell_id in waiting[0]:
            recompute_points(session, cell_id)
    known_by = """
        SELECT DISTINCT series.metric FROM run_headline JOIN run ON run.id = run_id JOIN cell ON cell.id = run.cell_id
        JOIN series ON series.id = series_id WHERE series.workload = 'dd'
    """
    assert lines(url, known_by) == [("throughput",)]
    unknown = (
        "SELECT id FROM run WHERE state = 'finished' AND NOT EXISTS (SELECT FROM run_headline WHERE run_id = run.id)"
    )
    assert lines(url, unknown) == []


def test_its_series_are_analysed_again_and_verdicts_stay(url: str, database: Database) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            """
            INSERT INTO alert (cluster_id, series_id, kind, state, change_point_id, at, window_from, window_until,
                               raised_at)
            SELECT cluster_id, series_id, 'change',
                   (ARRAY['acknowledged', 'expected', 'noise', 'wont_fix'])[1 + change_point.id % 4],
                   change_point.id, at, at, at, now()
            FROM change_point JOIN series ON series.id = series_id
            WHERE confirmed_at IS NOT NULL AND gone_at IS NULL AND superseded = ''
              AND NOT EXISTS (SELECT FROM alert WHERE change_point_id = change_point.id)
            """
        )
        connection.commit()
    verdicts = "SELECT id, state FROM alert WHERE state IN ('expected', 'noise', 'wont_fix') ORDER BY id"
    before, changes = lines(url, verdicts), lines(url, "SELECT id FROM change_point ORDER BY id")
    assert changes
    assert lines(url, "SELECT key FROM work WHERE kind = 'reanalysis' AND done_version < version") == [(0,)]
    with database.transaction() as session:
        reanalyse(session, 0)
    waiting = lines(url, "SELECT key FROM work WHERE kind = 'analysis' AND done_version < version")
    for (series_id,) in waiting:
        with database.transaction() as session:
            analyse_series(session, series_id)
            raise_alerts(session, series_id)
    assert lines(url, verdicts) == before
    assert set(changes) <= set(lines(url, "SELECT id FROM change_point"))
    acknowledged = """
        SELECT count(*) FROM alert JOIN change_point ON change_point.id = change_point_id
        WHERE change_point_id % 4 = 0 AND gone_at IS NULL AND state NOT IN ('acknowledged', 'recovered')
    """
    assert lines(url, acknowledged) == [(0,)]
    others = "SELECT count(*) FROM series_course WHERE detector <> %s"
    with psycopg.connect(url) as connection:
        assert connection.execute(others, [DETECTOR]).fetchall() == [(0,)]
    with database.transaction() as session:
        listed = {one.series_id for one in last_reanalysis(session).findings}
    gone = """
        SELECT DISTINCT series_id FROM change_point JOIN series_course USING (series_id)
        WHERE confirmed_at IS NOT NULL AND gone_at = detector_since
    """
    assert {series_id for (series_id,) in lines(url, gone)} <= listed


def test_the_api_answers_for_all_that_it_holds(url: str, caller: tuple[TestClient, dict[str, str]]) -> None:
    client, headers = caller
    asked, wrong = 0, []
    for path in paths(client.get(f"{API}/openapi.json").json(), url):
        answer = client.get(path, headers=headers)
        asked += 1
        if answer.status_code != 200 and answer.json()["error"]["code"] not in REFUSALS:
            wrong.append(f"{answer.status_code} {path}: {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert asked > 100, asked


def paths(document: dict[str, Any], url: str) -> Iterator[str]:
    """Return every GET request that needs no query, with existing ids."""
    for path, methods in document["paths"].items():
        asks_for_query = [one for one in methods.get("get", {}).get("parameters", []) if one["in"] == "query"]
        is_plain = not any(one.get("required") for one in asks_for_query)
        if "get" not in methods or not is_plain or path in STREAMS or "/agent/" in path:
            continue
        names = re.findall(r"\{(\w+)\}", path)
        if not names:
            yield path
        elif len(names) == 1 and names[0] in TABLES:
            yield from (path.replace(f"{{{names[0]}}}", str(one)) for one in ids(url, TABLES[names[0]]))
