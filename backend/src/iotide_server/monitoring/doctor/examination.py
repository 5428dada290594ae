"""Checks of an installation; a failed check does not stop the others."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from redis import Redis, RedisError
from sqlalchemy.exc import SQLAlchemyError

from iotide_server.bundled.acl import NodeAccess
from iotide_server.clusters.agents.credentials import acl_rows
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database, brief_engine, limit_statements, storage_failure
from iotide_server.kit.migrations import RevisionState
from iotide_server.kit.vault import Vault
from iotide_server.monitoring import repository
from iotide_server.monitoring.doctor import database, machine, nodes, redis
from iotide_server.monitoring.doctor import server as service
from iotide_server.monitoring.doctor.findings import Finding, fine, note, warning

_REDIS_SECONDS: Final = 3.0
_STATEMENT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Installation:
    database_url: str
    redis_url: str
    redis_admin_url: str
    public_url: str
    broker_url: str
    ca_certificate: Path | None
    metrics_host: str | None
    vault: Vault | None
    directories: tuple[Path, ...]
    version: str
    is_public: bool


def examine(installation: Installation, clock: Clock) -> list[Finding]:
    database_findings, accesses = _look_at_database(installation, clock)
    return [
        *database_findings,
        *_look_at_redis(installation, accesses),
        *machine.judge_addresses(installation.public_url, installation.broker_url, installation.metrics_host),
        machine.judge_front(
            installation.public_url, machine.read_front(installation.public_url, installation.ca_certificate), clock()
        ),
        judge_reading(is_public=installation.is_public),
        *(machine.judge_room(machine.read_room(directory)) for directory in installation.directories),
    ]


def _look_at_database(installation: Installation, clock: Clock) -> tuple[list[Finding], list[NodeAccess]]:
    findings: list[Finding] = []
    accesses: list[NodeAccess] = []
    try:
        with brief_engine(installation.database_url) as engine:
            with Database(engine).transaction() as session:
                repository.bound(session, _STATEMENT_SECONDS)
                facts = database.read_database(session, clock())
                findings += database.judge_database(facts)
                if facts.schema.standing is RevisionState.CURRENT:
                    findings += service.judge_service(service.read_service(session, installation.vault, clock()))
                    findings += nodes.judge_nodes(nodes.read_nodes(session, clock()), installation.version)
                    findings.append(judge_backup(repository.newest_backup(session), clock()))
                    accesses = acl_rows(session)
            with Database(engine).transaction() as session:
                limit_statements(session, _STATEMENT_SECONDS)
                database.try_storage(session)
    except SQLAlchemyError as error:
        failure = storage_failure(error)
        words = str(getattr(error, "orig", error)).splitlines()[0]
        findings.append(database.unreachable(words) if failure is None else database.storage_failed(failure))
    return findings, accesses


def _look_at_redis(installation: Installation, accesses: Sequence[NodeAccess]) -> Iterator[Finding]:
    seconds = {"socket_timeout": _REDIS_SECONDS, "socket_connect_timeout": _REDIS_SECONDS}
    with (
        closing(Redis.from_url(installation.redis_url, **seconds)) as own,
        closing(Redis.from_url(installation.redis_admin_url, **seconds)) as admin,
    ):
        try:
            facts = redis.read_redis(own, admin)
        except RedisError as error:
            yield redis.unreachable(str(error))
            return
    yield from redis.judge_redis(facts, accesses)


BACKUP_OLD_AFTER: Final = timedelta(days=8)  # tolerates a weekly backup that is a little late
_HOUR: Final = timedelta(hours=1)
_TWO_DAYS: Final = timedelta(days=2)


def judge_reading(*, is_public: bool) -> Finding:
    if is_public:
        sentence = "anonymous users can read everything except users, tokens, channels and the audit log"
        return note("public_read", sentence, "nothing, if this is intended; otherwise set IOTIDE_PUBLIC_READ=false")
    return fine("public_read", "reading requires signing in")


def judge_backup(newest_at: datetime | None, now: datetime) -> Finding:
    """Report how much could be lost with the database. `newest_at` is of the last audited backup."""
    elsewhere = "backups by other tools are not recorded"
    remedy = "run `iotide-server backup` every night (docs/backup.md), and keep its files on another machine"
    if newest_at is None:
        return note("backup", f"`iotide-server backup` has never run; {elsewhere}", remedy)
    age = now - newest_at
    sentence = f"the last `iotide-server backup` is {_words(age)} old"
    if age > BACKUP_OLD_AFTER:
        return warning("backup", f"{sentence}; {elsewhere}", remedy)
    return fine("backup", f"{sentence}; its file was not checked")


def _words(age: timedelta) -> str:
    return f"{age // _HOUR} h" if age < _TWO_DAYS else f"{age.days} days"
