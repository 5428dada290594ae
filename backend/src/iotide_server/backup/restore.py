"""Restores a database completely or not at all.

Until then, a separate schema keeps the former content.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg
from sqlalchemy import text
from sqlalchemy.engine import Engine

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.sessions import service as sessions
from iotide_server.backup.backup import row_counts
from iotide_server.backup.clients import choose_clients
from iotide_server.backup.errors import (
    COUNTS_DIFFER,
    DATABASE_IN_USE,
    DATABASE_NOT_EMPTY,
    SCHEMA_NEWER,
    VAULT_KEY_DIFFERS,
)
from iotide_server.backup.inflight import Settled, settle
from iotide_server.backup.manifest import DATABASE, Manifest, vault_fingerprints
from iotide_server.kit.db import Database, brief_engine
from iotide_server.kit.migrations import known_revisions, migrate, refuse_too_old

_ASIDE: Final = "iotide_set_aside"

_FORMER: Final = "iotide_former"


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    vault_keys: str | None
    without_vault_key: bool = False  # give up secrets of channels
    replace: bool = False
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    manifest: Manifest
    settled: Settled


def restore(manifest: Manifest, directory: Path, database_url: str, wanted: RestoreOptions, now: datetime) -> Restored:
    """Restore the database, migrate it, and settle orders in flight.

    Raise errors of `check`, DATABASE_NOT_EMPTY, DATABASE_IN_USE, POSTGRES_CLIENTS_MISSING, POSTGRES_CLIENT_FAILED or
    COUNTS_DIFFER without any change.
    """
    check(manifest, wanted)
    with _room(database_url, replace=wanted.replace) as server_major:
        clients = choose_clients(at_least=max(server_major, manifest.client_major))
        clients.load(database_url, directory / DATABASE)
        _require_counts(database_url, manifest)
        with brief_engine(database_url) as engine:
            migrate(engine)
            settled = _settle(engine, manifest, wanted, now)
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
    return Restored(manifest, settled)


def check(manifest: Manifest, wanted: RestoreOptions) -> None:
    """Raise SCHEMA_NEWER, SCHEMA_TOO_OLD or VAULT_KEY_DIFFERS for an unusable backup."""
    refuse_too_old(manifest.schema_revision)
    if manifest.schema_revision not in known_revisions():
        raise SCHEMA_NEWER(revision=manifest.schema_revision, version=manifest.iotide_version)
    at_hand = vault_fingerprints(wanted.vault_keys)
    # The first key has encrypted all recent secrets.
    is_openable = bool(manifest.vault_fingerprints) and manifest.vault_fingerprints[0] in at_hand
    if manifest.has_sealed_secrets and not wanted.without_vault_key and not is_openable:
        raise VAULT_KEY_DIFFERS()


@contextmanager
def _room(database_url: str, *, replace: bool) -> Iterator[int]:
    """Yield the server's version. On failure, put the former content back."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        _require_alone(connection)
        _take_back_interrupted(connection)
        _drop_former(connection)
        tables = _table_count(connection)
        if tables and not replace:
            raise DATABASE_NOT_EMPTY(tables=tables)
        with connection.transaction():
            connection.execute(f"ALTER SCHEMA public RENAME TO {_ASIDE}")
            connection.execute("CREATE SCHEMA public")
            connection.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")  # as in a new database
        try:
            yield connection.info.server_version // 10_000
        except BaseException:
            _take_back_interrupted(connection)
            raise
        _drop_former(connection)


def _take_back_interrupted(connection: psycopg.Connection) -> None:
    if connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", [_ASIDE]).fetchone() is None:
        return
    with connection.transaction():
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute(f"ALTER SCHEMA {_ASIDE} RENAME TO public")


def _drop_former(connection: psycopg.Connection) -> None:
    connection.execute(f"DROP SCHEMA IF EXISTS {_FORMER} CASCADE")


def _require_alone(connection: psycopg.Connection) -> None:
    others = connection.execute(
        "SELECT DISTINCT coalesce(nullif(application_name, ''), 'a session') || ' of ' || usename FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY 1"
    ).fetchall()
    if others:
        raise DATABASE_IN_USE(names=[name for (name,) in others])


def _table_count(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    return int(row[0]) if row else 0


def _require_counts(database_url: str, manifest: Manifest) -> None:
    with psycopg.connect(database_url) as connection:
        counts = row_counts(connection)
    differing = sorted(
        name for name in counts.keys() | manifest.row_counts.keys() if counts.get(name) != manifest.row_counts.get(name)
    )
    if differing:
        raise COUNTS_DIFFER(tables=differing)


def _settle(engine: Engine, manifest: Manifest, wanted: RestoreOptions, now: datetime) -> Settled:
    with Database(engine).transaction() as session:
        settled = settle(session, manifest.made_at, now, resume=wanted.resume)
        console = sessions.console_principal(session, now)
        after = {
            "made_at": manifest.made_at.isoformat(),
            "iotide_version": manifest.iotide_version,
            "nodes_asked": settled.node_count,
            "orders_in_flight": settled.order_count,
            "drained_clusters": list(settled.drained_clusters),
        }
        audit.record(session, console, Action("database_restored", "database", 0, None, after=after))
        # In the same transaction, because the former content must not be put back from now on.
        session.execute(text(f"ALTER SCHEMA {_ASIDE} RENAME TO {_FORMER}"))
    return settled
