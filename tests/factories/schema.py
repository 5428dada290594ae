"""Databases at the schema of this release: each process migrates one and copies it for every further one."""

from contextlib import suppress

from psycopg.errors import DuplicateDatabase

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.kit.db import open_engine
from iotide_server.kit.migrations import migrate

_TEMPLATE = "schema"


def create_migrated(postgres_server: PrivatePostgres, name: str) -> str:
    """Create a migrated database without rows and return its URL.

    Raises:
        DuplicateDatabase: a database of this name exists.
    """
    with suppress(DuplicateDatabase):  # this process has already migrated it
        postgres_server.create_database(_TEMPLATE)
        engine = open_engine(postgres_server.url_of(_TEMPLATE))
        migrate(engine)
        engine.dispose()
    postgres_server.create_database(name, template=_TEMPLATE)
    return postgres_server.url_of(name)
