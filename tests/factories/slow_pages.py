"""Pages that wait for the database, and the requests that wait behind them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import text

from iotide_server.kit.db import Database

_ASKED: Final = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def locks_wanted(database: Database) -> int:
    """Return the number of statements that wait for a lock."""
    # a new transaction each time: within one, PostgreSQL repeats its first answer
    with database.transaction() as session:
        return session.scalar(text(_ASKED)) or 0


@contextmanager
def slow_campaigns(database: Database) -> Iterator[None]:
    """Make each list of campaigns wait."""
    with locked(database, "campaign"):
        yield


@contextmanager
def locked(database: Database, table: str) -> Iterator[None]:
    """Make each statement on the table wait."""
    with database.engine.connect() as holder:
        holder.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
        yield
        holder.rollback()
