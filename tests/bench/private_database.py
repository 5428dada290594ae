"""Private PostgreSQL with durable commits for benches, and a database on it with the schema of this release."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import quantiles
from typing import Any

from services import running, temporary_state
from sqlalchemy import event, text
from sqlalchemy.engine import Connection

from iotide_server.bundled.postgres import PrivatePostgres, prepare_postgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate


@contextmanager
def private_postgres() -> Iterator[PrivatePostgres]:
    """Run a PostgreSQL with the owner's empty database for the time of the block."""
    with temporary_state() as state:
        postgres = prepare_postgres(state)
        with running(postgres.part(), state):
            postgres.create_owner()
            yield postgres


@contextmanager
def migrated_database() -> Iterator[Database]:
    """Run a PostgreSQL for the time of the block and yield its database, with the schema of this release."""
    with private_postgres() as postgres:
        engine = open_engine(postgres.url)
        migrate(engine)
        yield Database(engine)
        engine.dispose()


def vacuum(database: Database) -> None:
    """Vacuum as autovacuum would within a minute of many inserts."""
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def executed(database: Database, ask: Callable[[], object]) -> list[tuple[str, Any]]:
    """Return the statements that `ask` executes, with their parameters."""
    done: list[tuple[str, Any]] = []

    def note(_connection: Connection, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        done.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    ask()
    event.remove(database.engine, "before_cursor_execute", note)
    return done


def p95_ms(seconds: list[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return 1000 * quantiles(seconds, n=20)[-1]
