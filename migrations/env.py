"""Alembic environment. The caller passes an open connection (see iotide_server.kit.migrations)."""

from alembic import context
from sqlalchemy.engine import Connection

from iotide_server.tables import metadata

connection: Connection = context.config.attributes["connection"]

context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
