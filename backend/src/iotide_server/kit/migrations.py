"""Migrates the database while the service runs, and checks schemas.

A migration that does not soon get a lock gives up, lets waiting statements pass, and retries.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import errors
from sqlalchemy import MetaData, text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, Session, mapped_column

from iotide_server.kit.db import Base
from iotide_server.kit.errors import ErrorKind

OLDEST_SERVED: Final = "0032"
"""Last revision of release 0.1.0, which may run at once with the current schema."""

_LOCK: Final = 0x696F74696465  # "iotide"
_RETRIED: Final = (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected)
_TURN_SECONDS: Final = 0.2
_log = structlog.get_logger(__name__)

MIGRATION_BLOCKED = ErrorKind(409, "migration_blocked", field="database", shows="").says(
    "the database was too busy to migrate for {waited:seconds}: {error}",
    "find a long-running transaction in pg_stat_activity, end it, and run `iotide-server migrate`"
    " again; completed migrations are kept",
)
SCHEMA_BEHIND = ErrorKind(409, "schema_behind", field="database", shows="revision").says(
    "the database has {schema}, and this release needs {head}", "run `iotide-server migrate`"
)
SCHEMA_TOO_NEW = ErrorKind(409, "schema_too_new", field="database", shows="revision").says(
    "the database has schema {revision}, which is too new for this release ({head})",
    "start the release that migrated it, or restore an older backup with `iotide-server restore`",
)
SCHEMA_TOO_OLD = ErrorKind(409, "schema_too_old", field="revision").says(
    "schema {revision} is too old; this release upgrades from {oldest} (release 0.1.0)",
    "run `iotide-server migrate` of release 0.2.0 first; restore old backups with that release",
)


class SchemaFloor(Base):
    """Oldest revision whose code works on this schema, in a single row."""

    __tablename__ = "schema_floor"

    revision: Mapped[str] = mapped_column(primary_key=True)


class RevisionState(StrEnum):
    """Revision compared with this release. AHEAD: created by a newer release."""

    CURRENT = "current"
    BEHIND = "behind"
    AHEAD = "ahead"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """`found` is None in a database that was never migrated."""

    found: str | None
    expected: str
    standing: RevisionState

    @property
    def words(self) -> str:
        match self.standing:
            case RevisionState.CURRENT:
                return f"the schema is at revision {self.found}"
            case RevisionState.BEHIND:
                return f"the schema is at revision {self.found}; this release expects {self.expected}"
            case RevisionState.AHEAD:
                return f"the schema is at revision {self.found}, created by a newer release"
            case RevisionState.EMPTY:
                return "the database has no schema yet"


@dataclass(frozen=True, slots=True)
class LockPatience:
    lock_wait: timedelta = timedelta(seconds=2)
    # statement timeout; SET LOCAL in a migration may raise it
    statement: timedelta = timedelta(minutes=15)
    # doubles with each retry up to `longest_pause`
    pause: timedelta = timedelta(milliseconds=500)
    longest_pause: timedelta = timedelta(seconds=10)
    in_all: timedelta = timedelta(minutes=15)


AS_USUAL: Final = LockPatience()


def migrations_directory() -> Path:
    package = Path(str(files("iotide_server")))
    bundled = package / "migrations"
    return bundled if bundled.is_dir() else package.parents[2] / "migrations"


def alembic_config(connection: Connection | None = None, metadata: MetaData | None = None) -> Config:
    """Return the configuration of alembic.

    Args:
        metadata: the tables of this release, to compare the database with.
    """
    config = Config()
    config.set_main_option("script_location", str(migrations_directory()))
    config.attributes.update(connection=connection, metadata=metadata)
    return config


def migrate(engine: Engine, patience: LockPatience = AS_USUAL, sleep: Callable[[float], None] = time.sleep) -> None:
    """Run pending migrations, one transaction each. Raise SCHEMA_TOO_OLD, SCHEMA_TOO_NEW or MIGRATION_BLOCKED.

    A newer release's schema that this release serves stays as it is.
    """
    with engine.connect() as connection:
        # Poll: CREATE INDEX CONCURRENTLY waits for all older statements, so it and a waiting process would block each
        # other.
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
            connection.commit()
            sleep(_TURN_SECONDS)
        connection.commit()
        try:
            schema = schema_state(connection)
            refuse_too_old(schema.found)
            if schema.standing is RevisionState.AHEAD:
                _accept_newer(connection, schema)
            else:
                _upgrade(connection, patience, sleep)
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
            connection.execute(text("RESET lock_timeout"))
            connection.execute(text("RESET statement_timeout"))
            connection.commit()


def _upgrade(connection: Connection, patience: LockPatience, sleep: Callable[[float], None]) -> None:
    for name, limit in (("lock_timeout", patience.lock_wait), ("statement_timeout", patience.statement)):
        milliseconds = round(limit.total_seconds() * 1000)
        connection.execute(
            text("SELECT set_config(:name, :value, false)"), {"name": name, "value": f"{milliseconds}ms"}
        )
    connection.commit()
    pause, paused = patience.pause, timedelta(0)
    while True:
        try:
            command.upgrade(alembic_config(connection), "head")
            _write_floor(connection)
            connection.commit()
        except OperationalError as error:
            connection.rollback()
            if not isinstance(error.orig, _RETRIED):
                raise
            if paused >= patience.in_all:
                raise MIGRATION_BLOCKED(waited=paused, error=str(error.orig).splitlines()[0]) from error
            _log.warning("migration_waits", error=str(error.orig).splitlines()[0], pause_seconds=pause.total_seconds())
            sleep(pause.total_seconds())
            paused += pause + patience.lock_wait
            pause = min(pause * 2, patience.longest_pause)
        else:
            return


def _write_floor(connection: Connection) -> None:
    if connection.execute(text("SELECT revision FROM schema_floor")).scalars().all() != [OLDEST_SERVED]:
        connection.execute(text("DELETE FROM schema_floor"))
        connection.execute(text("INSERT INTO schema_floor (revision) VALUES (:revision)"), {"revision": OLDEST_SERVED})


@cache
def known_revisions() -> tuple[str, ...]:
    return tuple(script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions())


def schema_state(connection: Connection | Session) -> SchemaState:
    return judge(_only(connection, "alembic_version", "version_num"), known_revisions())


def judge(found: str | None, known: tuple[str, ...]) -> SchemaState:
    if found is None:
        standing = RevisionState.EMPTY
    elif found == known[0]:
        standing = RevisionState.CURRENT
    else:
        # Numbers have four digits. Revisions before the first known one were squashed into it.
        is_behind = found in known or found < known[-1]
        standing = RevisionState.BEHIND if is_behind else RevisionState.AHEAD
    return SchemaState(found, known[0], standing)


def refuse_too_old(revision: str | None) -> None:
    oldest = known_revisions()[-1]
    if revision is not None and revision < oldest:
        raise SCHEMA_TOO_OLD(revision=revision, oldest=oldest)


def require_schema(engine: Engine) -> None:
    """Raise SCHEMA_BEHIND, SCHEMA_TOO_OLD or SCHEMA_TOO_NEW."""
    with engine.connect() as connection:
        schema = schema_state(connection)
        if schema.standing is RevisionState.AHEAD:
            _accept_newer(connection, schema)
            return
    if schema.standing is RevisionState.CURRENT:
        return
    refuse_too_old(schema.found)
    found = f"schema {schema.found}" if schema.found else "no schema"
    raise SCHEMA_BEHIND(schema=found, revision=schema.found, head=schema.expected)


def _accept_newer(connection: Connection, schema: SchemaState) -> None:
    """Accept a newer release's schema down to its floor, so that both run during an upgrade. Raise SCHEMA_TOO_NEW."""
    floor = _only(connection, "schema_floor", "revision")
    if floor is None or floor > schema.expected:
        raise SCHEMA_TOO_NEW(revision=schema.found, head=schema.expected)
    _log.info("schema_is_newer", revision=schema.found, known=schema.expected)


def _only(connection: Connection | Session, table: str, column: str) -> str | None:
    if connection.scalar(text("SELECT to_regclass(:table)"), {"table": table}) is None:
        return None
    value: str | None = connection.scalar(text(f"SELECT {column} FROM {table}"))  # noqa: S608 - names of ours
    return value


def check_schema(engine: Engine, metadata: MetaData) -> None:
    """Raise alembic.util.exc.AutogenerateDiffsDetected if the database differs from the models."""
    with engine.connect() as connection:
        command.check(alembic_config(connection, metadata))
