"""A real PostgreSQL for the server's tests: one a session, one migrated database a test."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from factories.people import Person, person
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.main import create_app
from iotide_server.settings import Settings

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
_SERVER_OPTIONS = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=200"


class Server(NamedTuple):
    """A running PostgreSQL."""

    socket_directory: Path

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.socket_directory}"

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/bin"))
    directory = tmp_path_factory.mktemp("postgres")
    data = directory / "data"
    # PostgreSQL refuses to run as root.
    account = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    for path in (directory, *directory.parents[:3]):
        path.chmod(0o755)
    shutil.chown(directory, account.pw_uid, account.pw_gid)

    def run(*command: str | Path) -> None:
        subprocess.run(command, check=True, user=account.pw_uid, group=account.pw_gid, stdout=subprocess.DEVNULL)

    run(programs / "initdb", "-D", data, "-U", "postgres", "--no-sync", "--auth=trust", "-E", "UTF8", "--locale=C")
    run(
        *(programs / "pg_ctl", "-D", data, "-w", "-l", directory / "log", "-o"),
        f"-k {directory} -c listen_addresses= {_SERVER_OPTIONS}",
        "start",
    )
    yield Server(directory)
    run(programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    server.run("CREATE DATABASE migrated")
    engine = open_engine(server.url("migrated"))
    migrate(engine)
    engine.dispose()
    return "migrated"


@pytest.fixture
def database_url(server: Server, template: str) -> Iterator[str]:
    server.run(f"CREATE DATABASE test TEMPLATE {template}")
    yield server.url("test")
    server.run("DROP DATABASE test WITH (FORCE)")


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
