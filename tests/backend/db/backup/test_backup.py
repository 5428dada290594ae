import json
import tarfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from factories.announced import hello as announced_hello
from factories.measured import Measured
from factories.raised import raised
from sqlalchemy import select

from iotide_server.backup.archives import opened
from iotide_server.backup.backup import BackupSource, back_up, dated_place, forget_older
from iotide_server.backup.errors import (
    BACKUP_NEWER,
    BACKUP_PLACE,
    BACKUP_UNREADABLE,
    DATABASE_IN_USE,
    DATABASE_NOT_EMPTY,
    POSTGRES_CLIENT_FAILED,
    SCHEMA_NEWER,
    VAULT_KEY_DIFFERS,
)
from iotide_server.backup.inflight import LEAP
from iotide_server.backup.manifest import DATABASE, MANIFEST, Manifest, vault_fingerprints
from iotide_server.backup.restore import RestoreOptions, restore
from iotide_server.clusters.models import Drain, Node, NodeHeartbeat
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import SCHEMA_BEHIND, SCHEMA_TOO_OLD
from iotide_server.notifications.models import Channel
from iotide_server.runs.models import Attempt, Order, Run, RunEvent
from iotide_server.runs.service import ASKED_AGAIN, lose_missing
from iotide_wire.messages import HeldOrder, HelloRequest

NOW = datetime(2026, 11, 25, 2, 30, tzinfo=UTC)
KEY = "a" * 43
OTHER_KEY = "b" * 43
FENCE = 7


@pytest.fixture
def source(database: Database, database_url: str, tmp_path: Path) -> BackupSource:
    """A database with a node, an offered and a running order, and a channel with a sealed secret."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        session.add(NodeHeartbeat(node_id=measured.node.id, seen_at=NOW))
        measured.node.agent_instance = "before"
        for state in ("offered", "running"):
            run = measured.run(measured.cell(buffered=state == "running"))
            attempt = Attempt(run_id=run.id, ordinal=1, fence=FENCE)
            session.add(attempt)
            session.flush()
            order = Order(attempt_id=attempt.id, run_id=run.id, node_id=measured.node.id, role="load", state=state)
            if state == "running":
                order.claimed_at, order.claimed_by = NOW, "before"
            session.add(order)
        channel = Channel(name="ops", cluster_id=measured.cluster.id, kind="webhook", settings={}, sealed="sealed")
        session.add(channel)
    tls = tmp_path / "tls"
    tls.mkdir()
    for name in ("ca.crt", "ca.key", "server.crt", "server.key"):
        (tls / name).write_text(f"-- {name}")
    return BackupSource(database_url, {"public_url": "http://x"}, tls, KEY, "0.2.0")


def restored(place: Path, url: str, **wanted: bool | str | None) -> Manifest:
    with opened(place) as (manifest, directory):
        restore(manifest, directory, url, RestoreOptions(**{"vault_keys": KEY, **wanted}), NOW + timedelta(seconds=10))  # type: ignore[arg-type]
        return manifest


def hello(**holds: int) -> HelloRequest:
    """Say hello as a new process of the node's agent, with the order named `o7` and its fence."""
    held = tuple(HeldOrder(order_id=int(key[1:]), fence=fence) for key, fence in holds.items())
    return announced_hello("instance-after").model_copy(update={"holds": held})


@pytest.mark.parametrize("name", ["all.tar", "all"])
def test_a_backup_is_private_complete_and_lists_its_content(source: BackupSource, tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    manifest = back_up(source, place, NOW)
    assert place.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert manifest.row_counts["node_order"] == 2
    assert manifest.vault_fingerprints == vault_fingerprints(KEY)
    assert sorted(manifest.files) == [
        "database.dump",
        "settings.json",
        *(f"tls/{file}" for file in ("ca.crt", "ca.key", "server.crt", "server.key")),
    ]
    with opened(place) as (read, directory):
        assert read == manifest
        assert json.loads((directory / "settings.json").read_text()) == {"public_url": "http://x"}
        everything = b"".join(file.read_bytes() for file in directory.rglob("*") if file.is_file())
    assert KEY.encode() not in everything
    with raised(BACKUP_PLACE, match="already exists"):
        back_up(source, place, NOW)


def test_a_backup_that_fails_leaves_nothing(
    source: BackupSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "all.tar"
    with psycopg.connect(source.database_url) as other:
        other.execute("LOCK TABLE cluster IN ACCESS EXCLUSIVE MODE")
        monkeypatch.setattr("iotide_server.backup.backup.row_counts", lambda _: {})
        monkeypatch.setattr("iotide_server.backup.clients._WAIT", "100ms")
        with raised(POSTGRES_CLIENT_FAILED, match="pg_dump"):
            back_up(source, place, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["tls"]


def test_only_the_newest_dated_backups_stay(tmp_path: Path) -> None:
    places = [dated_place(tmp_path, NOW + timedelta(days=day)) for day in range(5)]
    for place in [*places, tmp_path / "mine.tar"]:
        place.touch()
    assert forget_older(tmp_path, 2) == places[:3]
    assert sorted(tmp_path.iterdir()) == sorted([*places[3:], tmp_path / "mine.tar"])


def test_a_restore_returns_the_same_data_and_is_refused_twice(source: BackupSource, tmp_path: Path, empty: str) -> None:
    place = tmp_path / "all.tar"
    back_up(source, place, NOW)
    manifest = restored(place, empty)
    with psycopg.connect(empty) as connection:
        names = connection.execute("SELECT name FROM channel").fetchall()
        counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone() for name in ("run", "cell")}  # noqa: S608
        after = connection.execute("SELECT after FROM audit_entry WHERE action = 'database_restored'").fetchall()
    assert names == [("ops",)]
    assert counts == {name: (manifest.row_counts[name],) for name in ("run", "cell")}
    assert after[0][0]["orders_in_flight"] == 2
    with raised(DATABASE_NOT_EMPTY):
        restored(place, empty)
    restored(place, empty, replace=True)


def test_the_next_hello_decides_about_orders_in_flight(source: BackupSource, tmp_path: Path, empty: str) -> None:
    place = tmp_path / "all.tar"
    back_up(source, place, NOW)
    restored(place, empty)
    engine = open_engine(empty, pool_size=1)
    with Database(engine).transaction() as session:
        node = session.scalars(select(Node)).one()
        assert node.agent_instance is None
        assert node.declared_dead_at is not None
        assert "the database was restored to 2026-11-25 02:30:00 UTC" in (node.problem or "")
        assert session.scalars(select(NodeHeartbeat.seen_at)).one() < NOW
        offered, running = session.scalars(select(Order).order_by(Order.id)).all()
        assert [(order.state, order.claimed_by, order.next_offer_at) for order in (offered, running)] == [
            ("claimed", ASKED_AGAIN, None),
            ("running", ASKED_AGAIN, None),
        ]
        assert "Check the nodes" in session.scalars(select(Drain)).one().reason
        assert len(session.scalars(select(RunEvent).where(RunEvent.kind == "restored")).all()) == 2
        lose_missing(session, node.id, hello(**{f"o{offered.id}": FENCE}), NOW)
        assert (offered.state, offered.claimed_by, offered.claimed_at) == ("claimed", "instance-after", NOW)
        assert (running.state, running.outcome) == ("ended", "lost")
        run = session.get_one(Run, running.run_id)
        assert (run.state, run.attempts_made) == ("waiting", 0)
    engine.dispose()


def test_an_order_that_was_never_claimed_is_withdrawn(source: BackupSource, tmp_path: Path, empty: str) -> None:
    place = tmp_path / "all.tar"
    back_up(source, place, NOW)
    restored(place, empty, resume=True)
    engine = open_engine(empty, pool_size=1)
    with Database(engine).transaction() as session:
        assert session.scalars(select(Drain)).all() == []
        node = session.scalars(select(Node)).one()
        lose_missing(session, node.id, hello(), NOW)
        assert [order.outcome for order in session.scalars(select(Order).order_by(Order.id))] == ["withdrawn", "lost"]
        event = RunEvent(run_id=session.scalars(select(Run.id)).first() or 0, kind="x", text="x")
        session.add(event)
        session.flush()
        assert event.id > LEAP
    engine.dispose()


def change_dump(directory: Path) -> None:
    with (directory / DATABASE).open("ab") as dump:
        dump.write(b"x")


def drop_tls(directory: Path) -> None:
    (directory / "tls/ca.key").unlink()


def climb_out(directory: Path) -> None:
    manifest = json.loads((directory / MANIFEST).read_text())
    manifest["files"]["../outside"] = manifest["files"].pop(DATABASE)
    (directory / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_dump, "database.dump is missing or was changed"),
        (drop_tls, "tls/ca.key is missing"),
        (climb_out, "has no readable manifest.json"),
    ],
)
def test_a_backup_that_was_changed_is_refused_before_anything_is_touched(
    source: BackupSource, tmp_path: Path, change: Callable[[Path], None], words: str
) -> None:
    place = tmp_path / "all"
    back_up(source, place, NOW)
    change(place)
    with raised(BACKUP_UNREADABLE, match=words), opened(place):
        pass


def test_a_backup_of_a_newer_format_names_the_release_that_reads_it(source: BackupSource, tmp_path: Path) -> None:
    place = tmp_path / "all"
    back_up(source, place, NOW)
    manifest = json.loads((place / MANIFEST).read_text())
    newer = manifest | {"format": 2, "iotide_version": "9.0.0", "unheard_of": True}
    (place / MANIFEST).write_text(json.dumps(newer))
    with raised(BACKUP_NEWER, match="has format 2") as refused, opened(place):
        pass
    assert refused.value.remedy == "restore it with iotide-server 9.0.0 or newer"


def test_a_database_without_a_schema_is_not_backed_up(source: BackupSource, tmp_path: Path, empty: str) -> None:
    with raised(SCHEMA_BEHIND, match="no schema"):
        back_up(replace(source, database_url=empty), tmp_path / "all", NOW)
    assert list(tmp_path.iterdir()) == [tmp_path / "tls"]


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "all.tar"
    place.write_bytes(b"no archive")
    with raised(BACKUP_UNREADABLE, match="is not a readable backup"), opened(place):
        pass
    with tarfile.open(place, "w") as archive:
        member = tarfile.TarInfo("/etc/iotide-outside")
        archive.addfile(member)
    with raised(BACKUP_UNREADABLE), opened(place):
        pass
    with tarfile.open(place, "w"):
        pass
    with raised(BACKUP_UNREADABLE) as refused, opened(place):
        pass
    assert refused.value.value == str(place)  # but not the directory into which it was unpacked
    assert not Path("/etc/iotide-outside").exists()


def test_another_key_and_a_newer_or_too_old_schema_are_refused(
    source: BackupSource, tmp_path: Path, empty: str
) -> None:
    place = tmp_path / "all"
    manifest = back_up(source, place, NOW)
    for other in (OTHER_KEY, None):
        with raised(VAULT_KEY_DIFFERS) as refused:
            restored(place, empty, vault_keys=other)
        assert "--without-vault-key" in (refused.value.remedy or "")
    restored(place, empty, vault_keys=f"{OTHER_KEY},{KEY}")
    newer = manifest.model_copy(update={"schema_revision": "9001", "iotide_version": "9.0.0"})
    with raised(SCHEMA_NEWER, match=r"9001 of iotide 9\.0\.0"):
        restore(newer, place, empty, RestoreOptions(KEY), NOW)
    older = manifest.model_copy(update={"schema_revision": "0017", "iotide_version": "0.1.0"})
    with raised(SCHEMA_TOO_OLD, match="0017 is too old"):
        restore(older, place, empty, RestoreOptions(KEY), NOW)


def test_a_failed_restore_leaves_the_database_unchanged(source: BackupSource, tmp_path: Path, empty: str) -> None:
    place = tmp_path / "all"
    manifest = back_up(source, place, NOW)
    with psycopg.connect(empty) as connection:
        connection.execute("CREATE TABLE mine (x int)")
    (place / DATABASE).write_bytes((place / DATABASE).read_bytes()[:-2000])
    with raised(POSTGRES_CLIENT_FAILED, match="pg_restore"):
        restore(manifest, place, empty, RestoreOptions(KEY, replace=True), NOW)
    with psycopg.connect(empty) as connection:
        tables = connection.execute("SELECT schemaname || '.' || tablename FROM pg_tables WHERE tablename = 'mine'")
        assert tables.fetchall() == [("public.mine",)]
        with raised(DATABASE_IN_USE, match="in use by"):
            restore(manifest, place, empty, RestoreOptions(KEY, replace=True), NOW)
