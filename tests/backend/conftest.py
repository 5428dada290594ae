"""The real PostgreSQL for the server's tests: one migrated database a test."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from factories.people import Person, person
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.embedded.postgres import PrivatePostgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.main import create_app
from iotide_server.settings import Settings

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def template(postgres_server: PrivatePostgres) -> str:
    """The name of a migrated database to copy."""
    postgres_server.create_database("migrated")
    engine = open_engine(postgres_server.url_of("migrated"))
    migrate(engine)
    engine.dispose()
    return "migrated"


@pytest.fixture
def database_url(postgres_server: PrivatePostgres, template: str) -> Iterator[str]:
    """A migrated database of this test alone."""
    postgres_server.create_database("test", template=template)
    yield postgres_server.url_of("test")
    postgres_server.drop_database("test")


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A migrated, empty database."""
    database = Database(open_engine(database_url))
    yield database
    database.engine.dispose()


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A transaction that is rolled back in the end."""
    with database.engine.connect() as connection:
        transaction = connection.begin()
        with Session(connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as session:
            yield session
        transaction.rollback()


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def settings(database_url: str) -> Settings:
    return Settings(database_url=SecretStr(database_url), redis_url=SecretStr("redis://127.0.0.1:1/0"))


@pytest.fixture
def client(settings: Settings, clock: Time) -> Iterator[TestClient]:
    """The API, called by nobody."""
    with TestClient(create_app(settings, clock), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def make_person(database: Database) -> Callable[..., Person]:
    """Makes a person with roles; `Person.headers` calls the API as them."""

    def make(name: str, role: Role, cluster_id: int | None = None) -> Person:
        with database.transaction() as session:
            return person(session, name, role, cluster_id, now=NOW)

    return make


@pytest.fixture
def admin(make_person: Callable[..., Person]) -> Person:
    """An administrator of all clusters."""
    return make_person("ada", Role.ADMIN)
