"""The database: one declarative base, one engine a process, one transaction a request or task."""

import json
import select
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Final, TypeVar

import psycopg
import structlog
from psycopg import pq
from psycopg.adapt import PyFormat
from psycopg.conninfo import make_conninfo
from psycopg.errors import LockNotAvailable
from psycopg.types.array import ListDumper
from sqlalchemy import (
    BigInteger,
    Case,
    ColumnElement,
    DateTime,
    MetaData,
    Text,
    case,
    cast,
    create_engine,
    event,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.engine import Engine
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
from sqlalchemy.exc import IntegrityError, InvalidatePoolError, OperationalError, StatementError
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Mapped, Session, mapped_column, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from iotide_server.kit.app_values import AppValue

DATABASE: Final[AppValue["Database"]] = AppValue("database")


Json = dict[str, Any]
T = TypeVar("T")
LARGEST_NUMBER: Final = 1e18
"""An exabyte, or the age of the universe in seconds; sums of thousands of such numbers are still finite."""
_AFTER_COMMIT = "after_commit"
_ANSWER_SECONDS: Final = 5
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 10.0
_HELD_UP_SECONDS: Final = 0.1
_LARGEST_BIGINT: Final = 2**63 - 1
_log = structlog.get_logger(__name__)


class Base(DeclarativeBase):
    """Base of all tables; constraint names are fixed so that migrations and error handling can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads this name as it stands
        datetime: DateTime(timezone=True),
        Json: JSONB,
        list[Any]: JSONB,
        int: BigInteger,
    }


class Identified:
    """A table with a bigint identity as its key."""

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)


FRESH_SECONDS: Final = 30.0
"""What lay unused for longer may be dead without a word: something between here and the server has forgotten it."""
_USED_AT: Final = "used_at"
_PREPARED_STATEMENTS: Final = 40
"""That PostgreSQL keeps planned for a connection, some 100 KB each; psycopg's own 100 were 13 MB."""

CONNECTIONS = 3  # transactions of routes that one process of the API has open at once

EXPORT_STATEMENT_SECONDS: Final = 300.0  # the time limit of a statement that reads a piece of an export

FIRING_STATEMENT_SECONDS: Final = 30.0
"""The time limit of a statement of a firing, during which the scheduler does nothing else; as of a request."""

PASS_STATEMENT_SECONDS: Final = 60.0
"""The time limit of each statement by which the scheduler reads what waits and what is free: usually 0.3 s."""

WORK_STATEMENT_SECONDS: Final = 3600.0
"""The time limit of the worker's and the scheduler's statements; nobody waits at a page for these."""

BEAT_CONNECTIONS = 2
"""Besides these, those of heartbeats, which wait for no route: one for all idle nodes together, one for the others."""

CALLER_CONNECTIONS = 2
"""Besides these, those that find out who calls: one before a body is read, one before a page waits for its place."""


SHOWN_STATEMENT_CHARACTERS: Final = 2000
"""An error shows this much of its statement. The error's text goes into logs, and a statement may have megabytes."""


def open_engine(database_url: str, *, pool_size: int = CONNECTIONS, statement_seconds: float | None = None) -> Engine:
    """Return an engine over psycopg 3, for a URL `postgresql://...`, whose sessions speak UTC.

    They compile no statement: all are short, and compiling is not. At most `pool_size` connections are open, and kept:
    opening one costs as much as ten requests, and most under load. A statement may take `statement_seconds`, waits for
    locks included; None: no limit.
    """
    limit = "" if statement_seconds is None else f" -c statement_timeout={round(statement_seconds * 1000)}"
    url = database_url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_use_lifo=True,  # so that few of them know all statements: what PostgreSQL keeps of these is megabytes
        json_deserializer=read_json,
        hide_parameters=True,  # an error's text goes into logs, and digests and sealed secrets are parameters
        connect_args={"options": f"-c timezone=UTC -c jit=off{limit}"},
    )
    _set_up(engine)
    _drop_dead_connections(engine)
    _cut_statements(engine)
    return engine


@contextmanager
def brief_engine(database_url: str, *, pool_size: int = 1) -> Iterator[Engine]:
    """Open an engine for the time of the block."""
    engine = open_engine(database_url, pool_size=pool_size)
    try:
        yield engine
    finally:
        engine.dispose()


def read_json(stored: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return stored JSON; a lone surrogate, which PostgreSQL takes into a column of type `json`, becomes `?`."""
    # No answer in UTF-8 could hold it, so one such row would fail each list that it is in.
    value = json.loads(stored)
    if b"\\ud" not in stored:
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


class _IdsDumper(ListDumper):
    """Sends whole numbers as bigint, as ids are; psycopg takes the smallest type that holds them.

    PostgreSQL looks a bigint up in an array of another type element by element: 100,000 in 100,000 take half a minute.
    """

    def _find_list_element(self, L: list[Any], format: PyFormat) -> Any:  # noqa: A002, ANN401, N803 - as in psycopg
        element = super()._find_list_element(L, format)
        return _LARGEST_BIGINT if type(element) is int and element <= _LARGEST_BIGINT else element


def _set_up(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def set_up(connection: psycopg.Connection, _record: ConnectionPoolEntry) -> None:
        connection.prepared_max = _PREPARED_STATEMENTS
        connection.adapters.register_dumper(list, _IdsDumper)


def _cut_statements(engine: Engine) -> None:
    @event.listens_for(engine, "handle_error")
    def cut(context: ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        if isinstance(error, StatementError) and error.statement is not None:
            left_out = len(error.statement) - SHOWN_STATEMENT_CHARACTERS
            if left_out > 0:
                shown = error.statement[:SHOWN_STATEMENT_CHARACTERS]
                error.statement = f"{shown} ... ({left_out} more characters)"


def _drop_dead_connections(engine: Engine) -> None:
    """As `pool_pre_ping`, which asks the database before each transaction: of a beat that were a fifth of its cost.

    A server that ended or dropped a connection has said so on its socket, where nothing else waits to be read; only
    then, and of what lay unused for long, is the database asked.
    """

    @event.listens_for(engine, "connect")
    @event.listens_for(engine, "checkin")
    def note(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def look(connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: object) -> None:
        try:
            if time.monotonic() - record.info[_USED_AT] > FRESH_SECONDS or _has_to_be_read(connection.fileno()):
                engine.dialect.do_ping(connection)
        except psycopg.Error as error:
            raise InvalidatePoolError from error


def _has_to_be_read(socket: int) -> bool:
    looked_at = select.poll()
    looked_at.register(socket, select.POLLIN)
    return bool(looked_at.poll(0))


def await_server(database_url: str, sleep: Callable[[float], None] = time.sleep) -> None:
    """Return once PostgreSQL takes connections, however long that is; whom it then lets in is not asked."""
    asked = make_conninfo(database_url, connect_timeout=_ANSWER_SECONDS).encode()
    pause_seconds = _FIRST_PAUSE_SECONDS
    while (answer := pq.Ping(pq.PGconn.ping(asked))) is not pq.Ping.OK:
        _log.warning("database_awaited", answer=answer.name.lower(), pause_seconds=pause_seconds)
        sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)


def any_of(ids: Iterable[int]) -> ColumnElement[int]:
    """Return what a column equals when it is one of these ids."""
    # One parameter, however many: a statement with more than 65,535 parameters fails.
    return func.any(cast(sorted(ids), ARRAY(BigInteger)))


def in_clusters(
    column: InstrumentedAttribute[int], visible: Iterable[int] | None, cluster_id: int | None = None
) -> list[ColumnElement[bool]]:
    """Return conditions: the column is the id of a visible cluster (None: of any), and `cluster_id` if it is given."""
    conditions = [] if visible is None else [column == any_of(visible)]
    return conditions if cluster_id is None else [*conditions, column == cluster_id]


def array_of(ids: Iterable[int] | None) -> list[int] | None:
    """Return ids as a parameter of plain SQL; None, which stands for all, stays None."""
    return None if ids is None else sorted(ids)


class StorageFailure(StrEnum):
    """Names what keeps PostgreSQL from its own disk."""

    FULL = "full"
    BROKEN = "broken"


_STORAGE_STATES: Final = {"53100": StorageFailure.FULL, "58030": StorageFailure.BROKEN}
"""By SQLSTATE: `disk_full` and `io_error`."""


def storage_failure(error: Exception) -> StorageFailure | None:
    """Return what a database error says of PostgreSQL's disk; None where it is about something else."""
    return _STORAGE_STATES.get(getattr(getattr(error, "orig", None), "sqlstate", None) or "")


def any_text_of(texts: Iterable[str]) -> ColumnElement[str]:
    """Return what a column equals when it is one of these texts; one parameter, as with `any_of`."""
    return func.any(cast(sorted(map(str, texts)), ARRAY(Text)))


def none_of(ids: Iterable[int]) -> ColumnElement[int]:
    """Return what a column differs from when it is none of these ids; one parameter, as with `any_of`."""
    return func.all(cast(sorted(ids), ARRAY(BigInteger)))


@contextmanager
def savepoint(session: Session, taken: Exception) -> Iterator[None]:
    """Make a change that a constraint may refuse; then raise `taken` and go on as if it had not been tried."""
    try:
        with session.begin_nested():
            yield
    except IntegrityError as error:
        raise taken from error


def set_fields(row: Base, changes: Json) -> Json:
    """Set these fields of a row, and return what they were."""
    before = {field: getattr(row, field) for field in changes}
    for field, value in changes.items():
        setattr(row, field, value)
    return before


def fields_of(row: Base, *names: str) -> Json:
    """Return these fields of a row as JSON has them, times in ISO 8601."""
    values = {name: getattr(row, name) for name in names}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def transaction_time(session: Session) -> datetime:
    """Return when this transaction began, by the database's clock."""
    return session.scalars(func.now().select()).one()


def limit_statements(session: Session, seconds: float) -> None:
    """Give the statements of this transaction a time limit of their own, in place of the engine's."""
    session.execute(text("SELECT set_config('statement_timeout', :limit, true)"), {"limit": str(round(seconds * 1000))})


def limit_locks(session: Session, seconds: float) -> None:
    """Fail a statement of this transaction that waits longer than this for another transaction."""
    session.execute(text("SELECT set_config('lock_timeout', :limit, true)"), {"limit": str(round(seconds * 1000))})


@contextmanager
def unless_held_up(database: "Database") -> Iterator[Session]:
    """Open a transaction that ends at once, and changes nothing, where another one holds a row that it needs."""
    # For what is tried again soon anyway, by one process for all clusters: a node may hold its own rows for long.
    try:
        with database.transaction() as session:
            limit_locks(session, _HELD_UP_SECONDS)
            yield session
    except OperationalError as error:
        if not isinstance(error.orig, LockNotAvailable):
            raise
        _log.info("left_for_later", reason=str(error.orig).splitlines()[0])


def refresh_statistics(session: Session, *tables: str) -> None:
    """Have the planner know of very many rows that this transaction wrote; the tables are no input.

    It would else take these tables for as small as they were, until PostgreSQL looks at them by itself within minutes,
    and read all of a table for each row of another one.
    """
    session.execute(text(f"ANALYZE {', '.join(tables)}"))


def up_to(column: InstrumentedAttribute[Json], size_bytes: int) -> Case[Json | None]:
    """Return JSON of at most this size as text; else NULL, so that a list stays small."""
    return case((func.octet_length(cast(column, Text)) <= size_bytes, column))


class Database:
    """Hands out transactions over one engine; each session has `info`, for example the site's quotas."""

    def __init__(self, engine: Engine, of_beats: Engine | None = None, info: Mapping[str, Any] | None = None) -> None:
        self.engine = engine
        # The same database for heartbeats and finding out who calls, over connections that no route takes.
        self.beats = self if of_beats is None else Database(of_beats)
        self._sessions = sessionmaker(engine, expire_on_commit=False, info=dict(info or {}))

    @contextmanager
    def transaction(self, *, statement_seconds: float | None = None) -> Iterator[Session]:
        """Open a transaction, committed unless the block raises; `statement_seconds` replace the engine's limit."""
        with self._sessions.begin() as session:
            if statement_seconds is not None:
                limit_statements(session, statement_seconds)
            yield session
        for act in session.info.get(_AFTER_COMMIT, ()):
            act()


def after_commit(session: Session, act: Callable[[], None]) -> None:
    """Have `act` done once the transaction has been committed, for what must not happen when it is rolled back.

    A crash in between loses it: whoever calls this has a second way to the same end.
    """
    session.info.setdefault(_AFTER_COMMIT, []).append(act)


def in_parts(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items, taken when asked for, the last one of what is left (3.12: `itertools.batched`)."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part


def number(value: object) -> float | None:
    """Return a reported number from 0 to 1e18; None for anything else, such as a text, NaN or 10**400."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST_NUMBER else None
