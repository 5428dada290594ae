"""Checks of PostgreSQL."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.db import CALLER_CONNECTIONS, CONNECTIONS, HEARTBEAT_CONNECTIONS, StorageFailure
from iotide_server.kit.migrations import RevisionState, SchemaState, schema_state
from iotide_server.monitoring.doctor.findings import Finding, fine, warning, wrong
from iotide_wire.units import format_seconds

OLDEST_MAJOR: Final = 15  # two constraints need UNIQUE NULLS NOT DISTINCT
_OF_A_PROCESS: Final = CONNECTIONS + HEARTBEAT_CONNECTIONS + CALLER_CONNECTIONS + 2
NEEDED_CONNECTIONS: Final = 4 * _OF_A_PROCESS + 3 + 3
"""For four busy API processes, the scheduler and one worker (ARCHITECTURE.md)."""
CLOCK_TOLERANCE: Final = timedelta(seconds=1)
_CROWDED: Final = 0.8
_SETTINGS: Final = (
    "max_connections",
    "superuser_reserved_connections",
    "fsync",
    "full_page_writes",
    "synchronous_commit",
)
_SOME_PAGES: Final = text(
    "CREATE TEMP TABLE iotide_doctor ON COMMIT DROP AS SELECT repeat(md5('x'), 30) FROM generate_series(1, 1000)"
)


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    version: int  # `server_version_num`, such as 150018
    settings: Mapping[str, str]
    connections: int
    clock_offset: timedelta  # how far its clock is ahead of this machine's
    schema: SchemaState


def read_database(session: Session, now: datetime) -> DatabaseFacts:
    server_time = session.scalars(text("SELECT clock_timestamp()")).one()
    rows = session.execute(
        text("SELECT name, setting FROM pg_settings WHERE name = ANY(:names)"), {"names": list(_SETTINGS)}
    )
    return DatabaseFacts(
        version=int(session.scalars(text("SHOW server_version_num")).one()),
        settings={row.name: row.setting for row in rows},
        connections=session.scalars(
            text("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        ).one(),
        clock_offset=server_time - now,
        schema=schema_state(session),
    )


def try_storage(session: Session) -> None:
    """Have PostgreSQL allocate a few pages of its disk. Raise SQLAlchemyError, see `storage_failure`."""
    session.execute(_SOME_PAGES)


def storage_failed(failure: StorageFailure) -> Finding:
    if failure is StorageFailure.FULL:
        remedy = "free space there; PostgreSQL and the service then recover automatically"
        return wrong("database_storage", "PostgreSQL's disk is full: nothing new can be stored", remedy)
    return wrong("database_storage", "PostgreSQL's disk reports errors", "check PostgreSQL's log and its disk")


def unreachable(error: str) -> Finding:
    remedy = "start PostgreSQL, or check IOTIDE_DATABASE_URL and the network"
    return wrong("database", f"PostgreSQL does not answer: {error}", remedy)


def judge_database(facts: DatabaseFacts) -> Iterator[Finding]:
    yield _version(facts.version)
    yield _connections(facts)
    yield _durability(facts.settings)
    yield _clock(facts.clock_offset)
    yield _schema(facts.schema)


def _version(version: int) -> Finding:
    major = version // 10_000
    if major < OLDEST_MAJOR:
        return wrong("database", f"PostgreSQL {major} answers", f"use PostgreSQL {OLDEST_MAJOR} or newer")
    return fine("database", f"PostgreSQL {major} answers")


def _connections(facts: DatabaseFacts) -> Finding:
    most = int(facts.settings["max_connections"]) - int(facts.settings["superuser_reserved_connections"])
    remedy = (
        "raise max_connections in postgresql.conf and restart PostgreSQL;"
        f" each further API process needs {_OF_A_PROCESS}"
    )
    if most < NEEDED_CONNECTIONS:
        sentence = f"it allows {most} connections; four API processes, scheduler and worker need {NEEDED_CONNECTIONS}"
        return wrong("database_connections", sentence, remedy)
    if facts.connections > _CROWDED * most:
        return warning("database_connections", f"{facts.connections} of {most} connections are in use", remedy)
    return fine("database_connections", f"{facts.connections} of {most} connections are in use")


def _durability(settings: Mapping[str, str]) -> Finding:
    off = [name for name in ("fsync", "full_page_writes") if settings[name] == "off"]
    if off:
        sentence = f"{' and '.join(off)} is off: a power failure can lose acknowledged data of agents"
        return wrong("database_durability", sentence, f"set {off[0]} = on in postgresql.conf")
    if settings["synchronous_commit"] == "off":
        sentence = "synchronous_commit is off: a power failure loses the last commits, even acknowledged ones"
        return warning("database_durability", sentence, "set synchronous_commit = on in postgresql.conf")
    return fine("database_durability", "committed data survives a power failure")


def _clock(offset: timedelta) -> Finding:
    seconds = offset.total_seconds()
    if abs(offset) > CLOCK_TOLERANCE:
        sentence = (
            f"its clock is {format_seconds(abs(seconds))} {'ahead of' if seconds > 0 else 'behind'} this machine's"
        )
        return wrong("database_clock", sentence, "synchronise both clocks, for instance with chrony")
    return fine(
        "database_clock", f"its clock is within {format_seconds(CLOCK_TOLERANCE.total_seconds())} of this machine's"
    )


def _schema(schema: SchemaState) -> Finding:
    match schema.standing:
        case RevisionState.CURRENT:
            return fine("schema", schema.words)
        case RevisionState.AHEAD:
            return warning("schema", schema.words, "upgrade this installation to that release")
        case RevisionState.BEHIND | RevisionState.EMPTY:
            return wrong("schema", schema.words, "run `iotide-server migrate` of this release")
