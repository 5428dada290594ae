"""A separate database with a user's own cluster, into which something large is loaded once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from factories.announced import NOW
from factories.clock import MovedClock
from factories.clusters import make_cluster, make_node
from factories.people import Person, person
from factories.rows import count
from factories.schema import create_migrated
from fastapi.testclient import TestClient
from pydantic import SecretStr

from iotide_server.accounts.models import Role
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.kit.db import Base, Database, open_engine
from iotide_server.main import create_app
from iotide_server.settings import Settings

_KEPT = {"audit_entry", "change"}
"""Finished work is never deleted, and updates for browsers are deleted after an hour anyway."""


@dataclass(frozen=True)
class Loaded:
    """The database, and its API as an admin calls it.

    Attributes:
        clock: the time at which the loaded history ends.
        rows_before: the rows of each table before loading.
    """

    database: Database
    client: TestClient
    admin: Person
    clock: MovedClock
    rows_before: dict[str, int]

    def get(self, path: str, **query: str | int) -> Any:  # noqa: ANN401 - JSON
        answer = self.client.get(f"/api/v1{path}", headers=self.admin.headers, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refusal(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """Return status and error code of a refused request."""
        answer = self.client.request(method, f"/api/v1{path}", json=body, headers=self.admin.headers)
        return answer.status_code, answer.json().get("error", {}).get("code", "")


def rows(database: Database) -> dict[str, int]:
    """Return the number of rows of each table, except those that only grow."""
    return {table: count(database, table) for table in Base.metadata.tables if table not in _KEPT}


@contextmanager
def to_be_loaded(postgres_server: PrivatePostgres, name: str) -> Iterator[Loaded]:
    """Yield the installation before loading; its server runs."""
    url = create_migrated(postgres_server, name)
    database = Database(open_engine(url))
    with database.transaction() as session:
        admin = person(session, "ada", Role.ADMIN, now=NOW)
        make_node(session, make_cluster(session))
    before = rows(database)
    clock = MovedClock()
    settings = Settings(database_url=SecretStr(url), redis_url=SecretStr("redis://127.0.0.1:1/0"))
    with TestClient(create_app(settings, clock), raise_server_exceptions=False) as client:
        yield Loaded(database, client, admin, clock, before)
    database.engine.dispose()
