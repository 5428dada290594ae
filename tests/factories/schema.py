"""Databases at the schema of this release: a process migrates one, and copies it for whoever needs another."""

from contextlib import suppress

import psycopg
from psycopg.errors import DuplicateDatabase
from sqlalchemy import event
from sqlalchemy.engine import Engine

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.kit.db import open_engine
from iotide_server.kit.migrations import migrate

_TEMPLATE = "schema"
_PREPARED_STATEMENTS = 500


def create_migrated(postgres_server: PrivatePostgres, name: str) -> str:
    """Create a migrated database without rows and return its URL.

    Raises:
        DuplicateDatabase: there is one of this name.
    """
    with suppress(DuplicateDatabase):  # this process has migrated it already
        postgres_server.create_database(_TEMPLATE)
        engine = open_engine(postgres_server.url_of(_TEMPLATE))
        migrate(engine)
        engine.dispose()
    postgres_server.create_database(name, template=_TEMPLATE)
    return postgres_server.url_of(name)


def open_planned(database_url: str, *, pool_size: int) -> Engine:
    """Return an engine that keeps its statements planned, since tests repeat more of them than a server does."""
    engine = open_engine(database_url, pool_size=pool_size)

    @event.listens_for(engine, "connect")
    def keep(connection: psycopg.Connection, _record: object) -> None:
        connection.prepared_max = _PREPARED_STATEMENTS

    return engine
