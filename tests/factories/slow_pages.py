"""Pages that wait for the database, and the requests that wait behind them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import text

from iotide_server.kit.db import Database

_ASKED: Final = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def locks_wanted(database: Database) -> int:
    """Return how many statements wait for a lock."""
    with database.transaction() as session:  # a new one each time: within one, PostgreSQL shows what it showed first
        return session.scalar(text(_ASKED)) or 0


@contextmanager
def slow_campaigns(database: Database) -> Iterator[None]:
    """Have each list of campaigns wait."""
    with locked(database, "campaign"):
        yield


@contextmanager
def locked(database: Database, table: str) -> Iterator[None]:
    """Have each statement on the table wait."""
    with database.engine.connect() as holder:
        holder.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
        yield
        holder.rollback()
