"""Database access: base of tables, engines and transactions."""

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
from pydantic_core import from_json
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
"""Larger than an exabyte in bytes or the universe's age in seconds; sums of thousands are still finite."""
_AFTER_COMMIT = "after_commit"
_ANSWER_SECONDS: Final = 5
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 10.0
_HELD_UP_SECONDS: Final = 0.1
_LARGEST_BIGINT: Final = 2**63 - 1
_log = structlog.get_logger(__name__)


class Base(DeclarativeBase):
    """Base of all tables. Migrations and error handling use the constraint names."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy requires this name
        datetime: DateTime(timezone=True),
        Json: JSONB,
        list[Any]: JSONB,
        int: BigInteger,
    }


class Identified:
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)


FRESH_SECONDS: Final = 30.0
"""A firewall may silently drop a connection that is idle for longer."""
_USED_AT: Final = "used_at"
_PREPARED_STATEMENTS: Final = 40
"""Per connection, each about 100 KB in PostgreSQL. psycopg's default of 100 took 13 MB."""

CONNECTIONS = 3

EXPORT_STATEMENT_SECONDS: Final = 300.0

FIRING_STATEMENT_SECONDS: Final = 30.0
"""Same as for a request: the scheduler does nothing else while a schedule fires."""

PASS_STATEMENT_SECONDS: Final = 60.0
"""For each statement of a scheduler pass, which usually takes 0.3 s."""

WORK_STATEMENT_SECONDS: Final = 3600.0

HEARTBEAT_CONNECTIONS = 2
"""For heartbeats: one connection for all idle nodes, one for the others."""

CALLER_CONNECTIONS = 2
"""For authentication: one connection before bodies are read, one before page requests wait."""


SHOWN_STATEMENT_CHARACTERS: Final = 2000
"""Errors are logged, and statements may be megabytes long."""


def open_engine(database_url: str, *, pool_size: int = CONNECTIONS, statement_seconds: float | None = None) -> Engine:
    """Return a psycopg 3 engine for a `postgresql://` URL, with sessions in UTC.

    JIT is off because it is slow for short statements. The pool keeps its connections, since opening one costs as
    much as ten requests. `statement_seconds` includes waits for locks; None: no limit.
    """
    limit = "" if statement_seconds is None else f" -c statement_timeout={round(statement_seconds * 1000)}"
    url = database_url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_use_lifo=True,  # few connections prepare all statements, which take megabytes in PostgreSQL
        json_deserializer=read_json,
        hide_parameters=True,  # logged errors would show digests and encrypted secrets
        connect_args={"options": f"-c timezone=UTC -c jit=off{limit}"},
    )
    _set_up(engine)
    _drop_dead_connections(engine)
    _cut_statements(engine)
    return engine


@contextmanager
def brief_engine(database_url: str, *, pool_size: int = 1) -> Iterator[Engine]:
    engine = open_engine(database_url, pool_size=pool_size)
    try:
        yield engine
    finally:
        engine.dispose()


def read_json(stored: bytes) -> Any:  # noqa: ANN401 - JSON
    """Parse stored JSON. Lone surrogates, which PostgreSQL accepts in `json`, become `?`."""
    try:
        return from_json(stored)  # ten times as fast for the short values of most columns
    except ValueError:  # a lone surrogate, or deep nesting
        # UTF-8 cannot encode lone surrogates: one such row would fail every list with it.
        return json.loads(json.dumps(json.loads(stored), ensure_ascii=False).encode(errors="replace"))


class _IdsDumper(ListDumper):
    """Sends integers as bigint, the type of ids.

    PostgreSQL searches arrays of other types element by element: 100,000 in 100,000 takes half a minute.
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
    """Check connections like `pool_pre_ping`, without its query per transaction (a fifth of a heartbeat's cost).

    A closed connection becomes readable. Only readable or long idle connections are pinged.
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
    asked = make_conninfo(database_url, connect_timeout=_ANSWER_SECONDS).encode()
    pause_seconds = _FIRST_PAUSE_SECONDS
    while (answer := pq.Ping(pq.PGconn.ping(asked))) is not pq.Ping.OK:
        _log.warning("database_awaited", answer=answer.name.lower(), pause_seconds=pause_seconds)
        sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)


def any_of(ids: Iterable[int]) -> ColumnElement[int]:
    # One array parameter: a statement with more than 65,535 parameters fails.
    return func.any(cast(sorted(ids), ARRAY(BigInteger)))


def in_clusters(
    column: InstrumentedAttribute[int], visible: Iterable[int] | None, cluster_id: int | None = None
) -> list[ColumnElement[bool]]:
    """Return conditions: the cluster is visible (None: any is), and equals `cluster_id` if given."""
    conditions = [] if visible is None else [column == any_of(visible)]
    return conditions if cluster_id is None else [*conditions, column == cluster_id]


def array_of(ids: Iterable[int] | None) -> list[int] | None:
    return None if ids is None else sorted(ids)


class StorageFailure(StrEnum):
    FULL = "full"
    BROKEN = "broken"


_STORAGE_STATES: Final = {"53100": StorageFailure.FULL, "58030": StorageFailure.BROKEN}


def storage_failure(error: Exception) -> StorageFailure | None:
    return _STORAGE_STATES.get(getattr(getattr(error, "orig", None), "sqlstate", None) or "")


def any_text_of(texts: Iterable[str]) -> ColumnElement[str]:
    return func.any(cast(sorted(map(str, texts)), ARRAY(Text)))


def none_of(ids: Iterable[int]) -> ColumnElement[int]:
    """Return ALL over the ids: a column that differs from it has none of them."""
    return func.all(cast(sorted(ids), ARRAY(BigInteger)))


@contextmanager
def savepoint(session: Session, taken: Exception) -> Iterator[None]:
    """Run the block in a savepoint. On a constraint violation, roll back and raise `taken`."""
    try:
        with session.begin_nested():
            yield
    except IntegrityError as error:
        raise taken from error


def set_fields(row: Base, changes: Json) -> Json:
    before = {field: getattr(row, field) for field in changes}
    for field, value in changes.items():
        setattr(row, field, value)
    return before


def fields_of(row: Base, *names: str) -> Json:
    values = {name: getattr(row, name) for name in names}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def transaction_time(session: Session) -> datetime:
    return session.scalars(func.now().select()).one()


def limit_statements(session: Session, seconds: float) -> None:
    session.execute(text("SELECT set_config('statement_timeout', :limit, true)"), {"limit": str(round(seconds * 1000))})


def limit_locks(session: Session, seconds: float) -> None:
    session.execute(text("SELECT set_config('lock_timeout', :limit, true)"), {"limit": str(round(seconds * 1000))})


@contextmanager
def unless_held_up(database: "Database") -> Iterator[Session]:
    # The work is soon retried, and a node may lock its rows for long.
    try:
        with database.transaction() as session:
            limit_locks(session, _HELD_UP_SECONDS)
            yield session
    except OperationalError as error:
        if not isinstance(error.orig, LockNotAvailable):
            raise
        _log.info("left_for_later", reason=str(error.orig).splitlines()[0])


def refresh_statistics(session: Session, *tables: str) -> None:
    """Analyze tables after many writes. Table names must not come from input.

    Otherwise the planner assumes old sizes until autovacuum runs, and may scan whole tables repeatedly.
    """
    session.execute(text(f"ANALYZE {', '.join(tables)}"))


def up_to(column: InstrumentedAttribute[Json], size_bytes: int) -> Case[Json | None]:
    """Return a JSON column, or NULL if its text is larger."""
    return case((func.octet_length(cast(column, Text)) <= size_bytes, column))


class Database:
    """Hands out transactions on one engine. `info` is passed to each session."""

    def __init__(
        self, engine: Engine, for_heartbeats: Engine | None = None, info: Mapping[str, Any] | None = None
    ) -> None:
        self.engine = engine
        # Separate connections that routes cannot use up.
        self.heartbeats = self if for_heartbeats is None else Database(for_heartbeats)
        self._sessions = sessionmaker(engine, expire_on_commit=False, info=dict(info or {}))

    @contextmanager
    def transaction(self, *, statement_seconds: float | None = None) -> Iterator[Session]:
        """Open a transaction, committed unless the block raises. `statement_seconds` replaces the engine's timeout."""
        with self._sessions.begin() as session:
            if statement_seconds is not None:
                limit_statements(session, statement_seconds)
            yield session
        for act in session.info.get(_AFTER_COMMIT, ()):
            act()


def after_commit(session: Session, act: Callable[[], None]) -> None:
    """Call `act` after the commit. A crash in between loses the call, so the caller needs another way to its result."""
    session.info.setdefault(_AFTER_COMMIT, []).append(act)


def in_parts(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of up to `size` items (3.12: `itertools.batched`)."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part


def number(value: object) -> float | None:
    """Return a reported number from 0 to 1e18; None for all else, such as a string, NaN or 10**400."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST_NUMBER else None


def containing(words: str) -> str:
    """Return the pattern of ILIKE for texts that contain these words literally."""
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
