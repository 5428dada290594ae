"""Creates a backup of the database, certificates and settings."""

import json
import os
import re
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.sessions import service as sessions
from iotide_server.backup.clients import choose_clients
from iotide_server.backup.errors import BACKUP_PLACE
from iotide_server.backup.manifest import (
    DATABASE,
    FORMAT,
    MANIFEST,
    SETTINGS,
    TLS_FILES,
    Manifest,
    fact_of,
    vault_fingerprints,
)
from iotide_server.kit.db import Database, brief_engine
from iotide_server.kit.migrations import SCHEMA_BEHIND, RevisionState, known_revisions, schema_state
from iotide_server.monitoring.repository import BACKUP_TAKEN

_DATED: Final = re.compile(r"iotide-\d{8}T\d{6}Z\.tar")


@dataclass(frozen=True)
class BackupSource:
    database_url: str
    settings: Mapping[str, object]
    tls: Path | None  # directory of `up`'s certificates
    vault_keys: str | None  # only fingerprints are stored
    version: str


def dated_place(directory: Path, now: datetime) -> Path:
    return directory / f"iotide-{now:%Y%m%dT%H%M%SZ}.tar"


def forget_older(directory: Path, keep: int) -> list[Path]:
    """Return the removed backups."""
    dated = sorted(place for place in directory.iterdir() if _DATED.fullmatch(place.name))
    for place in dated[:-keep]:
        place.unlink()
    return dated[:-keep]


def back_up(source: BackupSource, place: Path, now: datetime) -> Manifest:
    """Write a directory or `.tar` file for its owner. Raise BACKUP_PLACE, SCHEMA_BEHIND or errors of `Clients`."""
    if place.exists():
        raise BACKUP_PLACE(place=place, why="already exists", remedy="choose a new name")
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        draft.mkdir(mode=0o700)
        manifest = _write(source, draft, now)
        _move_into_place(draft, place)
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        raise BACKUP_PLACE(place=place, why=why, remedy="choose another path") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _write(source: BackupSource, draft: Path, now: datetime) -> Manifest:
    with psycopg.connect(source.database_url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if _value(connection, "SELECT to_regclass('alembic_version')") is None:
            raise SCHEMA_BEHIND(schema="no schema", revision=None, head=known_revisions()[0])
        postgres_major = connection.info.server_version // 10_000
        clients = choose_clients(at_least=postgres_major)
        snapshot = str(_value(connection, "SELECT pg_export_snapshot()"))
        bare = Manifest(
            format=FORMAT,
            made_at=now,
            iotide_version=source.version,
            schema_revision=str(_value(connection, "SELECT version_num FROM alembic_version")),
            postgres_major=postgres_major,
            client_major=clients.major,
            row_counts=row_counts(connection),
            vault_fingerprints=vault_fingerprints(source.vault_keys),
            has_sealed_secrets=bool(_value(connection, "SELECT EXISTS (SELECT FROM channel WHERE sealed IS NOT NULL)")),
            files={},
        )
        clients.dump(source.database_url, snapshot, draft / DATABASE)
    (draft / SETTINGS).write_text(json.dumps(dict(source.settings), indent=1, sort_keys=True) + "\n")
    _copy_tls(source.tls, draft)
    files = {str(file.relative_to(draft)): fact_of(file) for file in sorted(draft.rglob("*")) if file.is_file()}
    manifest = bare.model_copy(update={"files": files})
    (draft / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
    for file in draft.rglob("*"):
        if file.is_file():
            file.chmod(0o600)
    return manifest


def row_counts(connection: psycopg.Connection) -> dict[str, int]:
    names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    count = sql.SQL("SELECT count(*) FROM public.{}")
    return {name: int(str(_value(connection, count.format(sql.Identifier(name))))) for (name,) in names.fetchall()}


def _value(connection: psycopg.Connection, statement: str | sql.Composed) -> object:
    query = statement if isinstance(statement, sql.Composed) else sql.SQL(statement)
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]


def _copy_tls(tls: Path | None, draft: Path) -> None:
    if tls is None or not (tls / "ca.key").is_file():
        return
    (draft / "tls").mkdir(mode=0o700)
    for name in TLS_FILES:
        with suppress(FileNotFoundError):
            shutil.copyfile(tls / name, draft / "tls" / name)


def _move_into_place(draft: Path, place: Path) -> None:
    """Move the backup atomically, once it is on disk."""
    if place.suffix == ".tar":
        packed = draft.with_name(f"{draft.name}.tar")
        try:
            _pack(draft, packed)
            packed.rename(place)
        finally:
            packed.unlink(missing_ok=True)
    else:
        for file in sorted(draft.rglob("*")):
            _flush(file)
        _flush(draft)
        draft.rename(place)
    _flush(place.parent)


def _pack(draft: Path, packed: Path) -> None:
    descriptor = os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in _in_order(draft):
                archive.add(draft / name, arcname=name, filter=_anonymous)
        file.flush()
        os.fsync(descriptor)


def _in_order(draft: Path) -> Sequence[str]:
    names = [str(file.relative_to(draft)) for file in draft.rglob("*") if file.is_file()]
    return sorted(names, key=lambda name: (name != MANIFEST, name == DATABASE, name))


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_IS_STANDBY: Final = text("SELECT pg_is_in_recovery()")


def note_backup(database_url: str, place: Path, manifest: Manifest, now: datetime) -> None:
    with brief_engine(database_url) as engine, Database(engine).transaction() as session:
        _note(session, place, manifest, now)


def _note(session: Session, place: Path, manifest: Manifest, now: datetime) -> None:
    # A standby is read-only, and an old schema may lack tables.
    if session.scalars(_IS_STANDBY).one() or schema_state(session).standing is not RevisionState.CURRENT:
        return
    after = {"place": str(place), "made_at": manifest.made_at.isoformat(), "rows": sum(manifest.row_counts.values())}
    console = sessions.console_principal(session, now)
    audit.record(session, console, Action(BACKUP_TAKEN, "database", 0, None, after=after))
