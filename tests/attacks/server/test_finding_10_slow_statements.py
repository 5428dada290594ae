"""Statements with a time limit: the request fails with a message instead of holding a connection."""

from collections.abc import Iterator

import pytest
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.kit.db import Database, open_engine
from iotide_server.main import create_app
from iotide_server.settings import Settings


@pytest.fixture
def impatient(shared_app: FastAPI, client: TestClient, database_url: str, database: Database) -> Iterator[TestClient]:
    """Return the API with a statement timeout of a fifth of a second."""
    engine = open_engine(database_url, statement_seconds=0.2)
    shared_app.state.database = Database(engine)
    yield client
    shared_app.state.database = database
    engine.dispose()


def test_a_statement_over_its_limit_is_a_503_with_that_reason(
    impatient: TestClient, database: Database, admin: Person
) -> None:
    with database.transaction() as other:
        other.execute(text("LOCK TABLE campaign IN ACCESS EXCLUSIVE MODE"))
        answer = impatient.get("/api/v1/campaigns", headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (503, "took_too_long")
    assert error["message"] == "the request exceeded the database's time limit; nothing was changed"
    assert "request less at once" in error["remedy"]
    assert int(answer.headers["Retry-After"]) > 0
    assert impatient.get("/api/v1/campaigns", headers=admin.headers).status_code == 200


def test_the_api_bounds_the_statements_of_people_and_of_agents(settings: Settings) -> None:
    app = create_app(settings)
    for database in (app.state.database, app.state.database.heartbeats):
        with database.transaction() as session:
            assert session.scalar(text("SHOW statement_timeout")) == "30s"
        database.engine.dispose()


def test_a_transaction_may_have_a_limit_of_its_own(database: Database) -> None:
    with database.transaction(statement_seconds=300) as session:
        assert session.scalar(text("SHOW statement_timeout")) == "5min"
    with database.transaction() as session:
        assert session.scalar(text("SHOW statement_timeout")) == "0"
