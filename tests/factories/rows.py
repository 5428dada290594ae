"""Rows and schemas of test databases."""

from alembic import command
from sqlalchemy import Engine, func, select

from iotide_server.kit.db import Base, Database
from iotide_server.kit.migrations import alembic_config


def count(database: Database, table: str) -> int:
    """Return the number of rows of a table."""
    with database.transaction() as session:
        return session.execute(select(func.count()).select_from(Base.metadata.tables[table])).scalar_one()


def upgrade(engine: Engine, revision: str) -> None:
    """Upgrade an empty database, or one of an earlier revision, to the schema of a revision."""
    with engine.connect() as connection:
        command.upgrade(alembic_config(connection), revision)
        connection.commit()
