"""Alembic environment. The caller passes an open connection (see iotide_server.kit.migrations)."""

from alembic import context

given = context.config.attributes

context.configure(connection=given["connection"], target_metadata=given["metadata"], transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
