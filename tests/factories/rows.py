"""What stands in the tables."""

from sqlalchemy import func, select

from iotide_server.kit.db import Base, Database


def count(database: Database, table: str) -> int:
    """How many rows a table has."""
    with database.transaction() as session:
        return session.execute(select(func.count()).select_from(Base.metadata.tables[table])).scalar_one()
