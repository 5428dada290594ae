"""Fixtures of the server's tests and of attacks on it: PostgreSQL is migrated once and emptied after every test."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import psycopg
import pytest
from access.site import AccessSite
from access.table import Asking, TakenBack
from factories.announced import NOW
from factories.broker import BrokerView
from factories.clock import MovedClock
from factories.invariants import violations
from factories.people import Person, person
from factories.schema import create_migrated
from factories.site import Site
from fastapi import FastAPI
from fastapi.testclient import TestClient
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import DuplicateDatabase
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from pydantic import SecretStr
from redis import Redis
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from iotide_server.accounts import passwords
from iotide_server.accounts.models import Role
from iotide_server.agent_files.shelf import AGENT_SHELF, AUTHORITY, AgentShelf
from iotide_server.bundled.acl import apply_nodes
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.change_feed import routes as live
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.queue import Broker
from iotide_server.main import create_app, measure
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.sending import AttemptOutcome, Result
from iotide_server.scheduling.service import Scheduler
from iotide_server.settings import Settings
from iotide_server.tables import metadata

QUICK_PASSWORDS = PasswordHash([Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1)])
# Ten times faster than TRUNCATE or a copy of the database for each test. As a function on a lasting connection it is
# planned once.
_EMPTY_ALL = "; ".join(str(table.delete()) for table in metadata.sorted_tables)


@pytest.fixture(scope="session")
def migrated_url(postgres_server: PrivatePostgres) -> str:
    """A database at the schema of this release."""
    with suppress(DuplicateDatabase):  # another directory with these fixtures has made it
        create_migrated(postgres_server, "migrated")
    return postgres_server.url_of("migrated")


@pytest.fixture(scope="session")
def empty_all(postgres_server: PrivatePostgres, migrated_url: str) -> Iterator[Callable[[], None]]:
    """Delete every row of the migrated database."""
    database = conninfo_to_dict(migrated_url)["dbname"]
    with psycopg.connect(make_conninfo(postgres_server.superuser_url, dbname=database), autocommit=True) as connection:
        # a test that left a transaction open fails here instead of hanging
        connection.execute("SET lock_timeout = '5s'")
        # Without triggers, which only a superuser may disable: checking references to deleted rows took most of the
        # time.
        connection.execute("SET session_replication_role = replica")
        body = f"CREATE FUNCTION pg_temp.empty_all() RETURNS void LANGUAGE plpgsql AS $$ BEGIN {_EMPTY_ALL}; END $$"
        connection.execute(body.encode())

        def empty() -> None:
            connection.execute("SELECT pg_temp.empty_all()")

        yield empty


@pytest.fixture
def empty(postgres_server: PrivatePostgres) -> Iterator[str]:
    """Return the URL of an empty database for this test only."""
    postgres_server.create_database("empty")
    yield postgres_server.url_of("empty")
    postgres_server.drop_database("empty")


@pytest.fixture
def empty_engine(empty: str) -> Iterator[Engine]:
    """Return the engine of an empty database for this test only."""
    engine = open_engine(empty)
    yield engine
    engine.dispose()


@pytest.fixture
def migrated_engine(postgres_server: PrivatePostgres) -> Iterator[Engine]:
    """Return the engine of a database for this test only, at the schema of this release."""
    engine = open_engine(create_migrated(postgres_server, "of_one_test"))
    yield engine
    engine.dispose()
    postgres_server.drop_database("of_one_test")


@pytest.fixture
def database_url(migrated_url: str, empty_all: Callable[[], None]) -> Iterator[str]:
    """A migrated database, emptied after the test."""
    yield migrated_url
    empty_all()


@pytest.fixture(scope="session")
def engine(migrated_url: str) -> Iterator[Engine]:
    """Share one engine among all tests of this process: each new one would compile every statement again."""
    engine = open_engine(migrated_url, pool_size=12)  # tests of concurrency open many connections
    yield engine
    engine.dispose()


@pytest.fixture
def database(database_url: str, engine: Engine) -> Database:
    """A migrated, empty database."""
    del database_url
    return Database(engine)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A transaction that is rolled back at the end."""
    with database.engine.connect() as connection:
        transaction = connection.begin()
        with Session(connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as session:
            yield session
        transaction.rollback()


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


def settings_of(database_url: str) -> Settings:
    # Without Chromium: tests that call every route would print for every caller.
    redis_url = SecretStr("redis://127.0.0.1:1/0")
    return Settings(database_url=SecretStr(database_url), redis_url=redis_url, chromium="")


@pytest.fixture
def settings(database_url: str) -> Settings:
    return settings_of(database_url)


@pytest.fixture(scope="session")
def shared_app(migrated_url: str) -> Iterator[FastAPI]:
    """Share one app among all tests of this process: each new one would build every requested route again."""
    app = create_app(settings_of(migrated_url))
    AGENT_SHELF.put(app.state, AgentShelf({AUTHORITY: "certificate"}))
    yield app
    app.state.turns.close()


@pytest.fixture
def prepared_app(shared_app: FastAPI, database: Database, clock: MovedClock) -> FastAPI:
    """Return the shared application on the emptied database, with the clock of this test."""
    shared_app.state.database = database
    shared_app.state.clock = clock
    shared_app.state.storage_failed = (None, None)  # a previous test may have filled it
    measure(shared_app)
    return shared_app


@pytest.fixture
def client(prepared_app: FastAPI) -> Iterator[TestClient]:
    """API client without credentials."""
    with TestClient(prepared_app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def kept_site(
    shared_app: FastAPI, migrated_url: str, engine: Engine, empty_all: Callable[[], None]
) -> Iterator[AccessSite]:
    """One object of each kind and every caller, for all tests of a module; its `database` is reserved for them."""
    del migrated_url
    shared_app.state.database, shared_app.state.clock = Database(engine), MovedClock()
    with pytest.MonkeyPatch.context() as patch, TestClient(shared_app, raise_server_exceptions=False) as client:
        measure(shared_app)
        patch.setattr(live, "STREAM_SECONDS", 0.01)
        patch.setattr(Office, "send", lambda *_: AttemptOutcome(Result.REFUSED, "nothing leaves this test"))
        # Checking a password is slow on purpose, and every caller does it here.
        patch.setattr(passwords, "_passwords", QUICK_PASSWORDS)
        yield AccessSite(client, shared_app.state.database, shared_app.state.clock)
    empty_all()


@pytest.fixture
def taken_back(shared_app: FastAPI, kept_site: AccessSite) -> Iterator[TakenBack]:
    """The API on one connection, with transactions that can be rolled back."""
    with kept_site.database.engine.connect() as connection:
        shared_app.state.database = TakenBack(connection)
        yield shared_app.state.database
        shared_app.state.database = kept_site.database


@pytest.fixture
def asking(shared_app: FastAPI, kept_site: AccessSite, taken_back: TakenBack) -> Asking:
    """The API with every caller, about objects that stay."""
    portal = kept_site.client.portal
    assert portal is not None, "the client of the site is open"
    return Asking(shared_app, portal, taken_back, kept_site.ids, kept_site.headers)


@pytest.fixture
def site(kept_site: AccessSite, taken_back: TakenBack) -> Iterator[AccessSite]:
    """The site in its first state; changes of the test are rolled back."""
    with taken_back.taken_back():
        yield kept_site


@pytest.fixture
def make_person(database: Database) -> Callable[..., Person]:
    """Make a person with roles; `Person.headers` calls the API as them."""

    def make(name: str, role: Role, cluster_id: int | None = None) -> Person:
        with database.transaction() as session:
            return person(session, name, role, cluster_id, now=NOW)

    return make


@pytest.fixture
def admin(make_person: Callable[..., Person]) -> Person:
    """An administrator of all clusters."""
    return make_person("ada", Role.ADMIN)


@pytest.fixture
def make_site(database: Database, clock: MovedClock) -> Iterator[Callable[..., Site]]:
    """Make a cluster at work; after the test, check its rows against the rules that always hold."""
    yield lambda **wanted: Site(database, clock, **wanted)
    with database.transaction() as session:
        assert violations(session) == {}


@pytest.fixture
def in_redis(redis_server: PrivateRedis) -> Iterator[BrokerView]:
    """Return the real Redis, empty, and without users of nodes."""
    with Redis.from_url(redis_server.admin_url) as redis:
        redis.flushall()
        apply_nodes(redis, [])
        yield BrokerView(redis)


@pytest.fixture
def broker(redis_server: PrivateRedis, in_redis: BrokerView) -> Iterator[Broker]:
    """Return the broker of a scheduler's process."""
    del in_redis
    broker = Broker(redis_server.url, admin_url=redis_server.admin_url)
    yield broker
    broker.close()


@pytest.fixture
def scheduler(database: Database, broker: Broker, clock: MovedClock) -> Scheduler:
    """Return a scheduler that a test steps."""
    return Scheduler(database, broker, lambda: None, clock)
