"""Brings a database to the schema of this release while the service goes on, and says whether a schema can be served.

A migration never makes others wait long: where it does not get a lock soon it gives up, lets all who stand behind it
pass, and tries again. Two processes that migrate at once take turns.
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
from sqlalchemy import text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, Session, mapped_column

from iotide_server.kit.db import Base
from iotide_server.kit.errors import ErrorKind

OLDEST_SERVED: Final = "0032"
"""Last revision of the previous release, 0.1.0: its code works on this schema, so the two may run at once."""

_LOCK: Final = 0x696F74696465  # "iotide": advisory locks of other programs in the same database stay apart
_RETRIED: Final = (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected)
_TURN_SECONDS: Final = 0.2  # so often is asked whether another process has migrated
_log = structlog.get_logger(__name__)

MIGRATION_BLOCKED = ErrorKind(409, "migration_blocked", field="database", shows="").says(
    "the database was too busy to be migrated for {waited:seconds}: {error}",
    "look in pg_stat_activity for a transaction that is open for long, end it, and run `iotide-server migrate`"
    " again; what was done stays",
)
SCHEMA_BEHIND = ErrorKind(409, "schema_behind", field="database", shows="revision").says(
    "the database has {schema}, and this release needs {head}", "run `iotide-server migrate`"
)
SCHEMA_TOO_NEW = ErrorKind(409, "schema_too_new", field="database", shows="revision").says(
    "the database has schema {revision}; this release knows {head} and can no longer work on that",
    "start the release that migrated it, or restore the backup from before with `iotide-server restore`",
)
SCHEMA_TOO_OLD = ErrorKind(409, "schema_too_old", field="revision").says(
    "schema {revision} is older than {oldest} of release 0.1.0, the oldest that this release upgrades",
    "run `iotide-server migrate` of release 0.2.0 first; a backup is restored with that release",
)


class SchemaFloor(Base):
    """How old code may be that works on this schema: one row, written by whoever migrates."""

    __tablename__ = "schema_floor"

    # code that knows this one works, though it does not know all that came after
    revision: Mapped[str] = mapped_column(primary_key=True)


class RevisionState(StrEnum):
    """AHEAD: a revision that this release does not know, made by a newer one."""

    CURRENT = "current"
    BEHIND = "behind"
    AHEAD = "ahead"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Revisions as Alembic names them; `found` is None in a database that was never migrated."""

    found: str | None
    expected: str
    standing: RevisionState

    @property
    def words(self) -> str:
        """For a person."""
        match self.standing:
            case RevisionState.CURRENT:
                return f"the schema is at revision {self.found}"
            case RevisionState.BEHIND:
                return f"the schema is at revision {self.found}, and this release was written for {self.expected}"
            case RevisionState.AHEAD:
                return f"the schema is at revision {self.found}, which a newer release made"
            case RevisionState.EMPTY:
                return "the database has no schema yet"


@dataclass(frozen=True, slots=True)
class LockPatience:
    """How a busy database is treated."""

    # a migration waits no longer for a lock, since everybody else then waits behind it
    lock_wait: timedelta = timedelta(seconds=2)
    # nor does a statement of it run longer; a migration that has to says so itself, by SET LOCAL
    statement: timedelta = timedelta(minutes=15)
    # before the second try, and twice as long before each further one, up to `longest_pause`
    pause: timedelta = timedelta(milliseconds=500)
    longest_pause: timedelta = timedelta(seconds=10)
    in_all: timedelta = timedelta(minutes=15)  # then it is given up


AS_USUAL: Final = LockPatience()


def migrations_directory() -> Path:
    """The Alembic scripts: inside an installed wheel, else at the top of the repository."""
    package = Path(str(files("iotide_server")))
    bundled = package / "migrations"
    return bundled if bundled.is_dir() else package.parents[2] / "migrations"


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's settings, over an open connection where one is needed."""
    config = Config()
    config.set_main_option("script_location", str(migrations_directory()))
    config.attributes["connection"] = connection
    return config


def migrate(engine: Engine, patience: LockPatience = AS_USUAL, sleep: Callable[[float], None] = time.sleep) -> None:
    """Run pending migrations, each in a transaction, one process at a time; raise SCHEMA_TOO_OLD, MIGRATION_BLOCKED."""
    with engine.connect() as connection:
        # Asked again and again rather than waited for: an index that is built CONCURRENTLY waits for every statement
        # that began before it, and so for this one, which would wait for whoever builds it.
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
            connection.commit()
            sleep(_TURN_SECONDS)
        connection.commit()
        try:
            refuse_too_old(schema_state(connection).found)
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
    """All that this release has scripts for, the newest first."""
    return tuple(script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions())


def schema_state(connection: Connection | Session) -> SchemaState:
    """Compare the revision in the database with those of this release."""
    return judge(_only(connection, "alembic_version", "version_num"), known_revisions())


def judge(found: str | None, known: tuple[str, ...]) -> SchemaState:
    """How a database at the revision `found` stands to a release that knows these, the newest first."""
    if found is None:
        standing = RevisionState.EMPTY
    elif found == known[0]:
        standing = RevisionState.CURRENT
    else:
        # Revisions are numbers of four digits. Those before the oldest known one were squashed into it.
        is_behind = found in known or found < known[-1]
        standing = RevisionState.BEHIND if is_behind else RevisionState.AHEAD
    return SchemaState(found, known[0], standing)


def refuse_too_old(revision: str | None) -> None:
    """Raise SCHEMA_TOO_OLD for a revision before the first migration of this release."""
    oldest = known_revisions()[-1]
    if revision is not None and revision < oldest:
        raise SCHEMA_TOO_OLD(revision=revision, oldest=oldest)


def require_schema(engine: Engine) -> None:
    """Let a part of the service start on this database; raise SCHEMA_BEHIND, SCHEMA_TOO_OLD or SCHEMA_TOO_NEW."""
    # A schema that a newer release made is served as long as that one promises so: while it is deployed, both run.
    with engine.connect() as connection:
        schema = schema_state(connection)
        floor = _only(connection, "schema_floor", "revision")
    found, head = schema.found, schema.expected
    if schema.standing is RevisionState.CURRENT:
        return
    refuse_too_old(found)
    if schema.standing is not RevisionState.AHEAD:
        raise SCHEMA_BEHIND(schema=f"schema {found}" if found else "no schema", revision=found, head=head)
    if floor is None or floor > head:
        raise SCHEMA_TOO_NEW(revision=found, head=head)
    _log.info("schema_is_newer", revision=found, known=head)


def _only(connection: Connection | Session, table: str, column: str) -> str | None:
    if connection.scalar(text("SELECT to_regclass(:table)"), {"table": table}) is None:
        return None
    value: str | None = connection.scalar(text(f"SELECT {column} FROM {table}"))  # noqa: S608 - names of ours
    return value


def check_schema(engine: Engine) -> None:
    """Compare the migrated database with the models; raise alembic.util.exc.AutogenerateDiffsDetected."""
    with engine.connect() as connection:
        command.check(alembic_config(connection))
