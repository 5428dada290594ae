"""Commands of `iotide-server`, against the migrated database."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from factories.announced import workload
from factories.clusters import make_cluster, make_node
from factories.people import person
from sqlalchemy import select

from iotide_server import cli
from iotide_server.accounts.models import ApiToken, AuditEntry, LoginLink, Role, User
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.clusters.models import Node
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database
from iotide_server.monitoring.repository import newest_backup
from iotide_server.workloads.service import announce

Answer = tuple[int, str, str]
NOW = datetime(2026, 11, 25, 10, 0, tzinfo=UTC)


@pytest.fixture
def command(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Run a command with the settings in the environment; return exit status, stdout and stderr."""
    del database
    for name, value in (("DATABASE_URL", database_url), ("REDIS_URL", "redis://127.0.0.1:1/0")):
        monkeypatch.setenv(f"IOTIDE_{name}", value)
    monkeypatch.setenv("IOTIDE_PUBLIC_URL", "https://bench.example.org")

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr("sys.argv", ["iotide-server", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


@pytest.fixture
def people(database: Database) -> None:
    """Ada is an admin, grace is a viewer with two tokens, and eve is disabled."""
    with database.transaction() as session:
        person(session, "ada", Role.ADMIN, now=NOW)
        grace = person(session, "grace", Role.VIEWER, now=NOW)
        person(session, "eve", Role.VIEWER, now=NOW)
        session.scalars(select(User).where(User.name == "eve")).one().disabled_at = NOW
        session.add(ApiToken(user_id=grace.principal.id, name="nightly", secret_sha256="0" * 64, scopes=["read"]))


@pytest.mark.usefixtures("people")
def test_everybody_has_a_line_with_roles_and_what_is_open(command: Callable[..., Answer]) -> None:
    status, printed, _ = command("users")
    lines = {line.split()[0]: line for line in printed.splitlines()}
    assert status == 0
    assert list(lines) == ["name", "ada", "eve", "grace"]
    assert "admin of all clusters" in lines["ada"]
    assert lines["eve"].startswith("eve (disabled)")
    assert lines["grace"].split()[-3:] == ["0", "2", "0"]


@pytest.mark.usefixtures("people")
def test_a_link_for_a_person_is_made_in_the_name_of_the_administrator(
    command: Callable[..., Answer], database: Database
) -> None:
    status, printed, _ = command("user-link", "grace")
    assert (status, printed.startswith("https://bench.example.org/login#token=")) == (0, True)
    with database.transaction() as session:
        link = session.scalars(select(LoginLink)).one()
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "link_made")).one()
        grace = session.scalars(select(User).where(User.name == "grace")).one()
        assert (link.user_id, entry.subject_id, entry.principal_name) == (grace.id, grace.id, "ada")
        assert timedelta(hours=23) < link.expires_at - system_clock() <= timedelta(days=1)


@pytest.mark.usefixtures("people")
def test_an_unknown_or_disabled_user_gets_no_link_and_the_error_has_a_remedy(
    command: Callable[..., Answer], database: Database
) -> None:
    status, printed, complaint = command("user-link", "graec")
    assert (status, printed) == (2, "")
    assert "there is no user graec" in complaint
    assert "grace" in complaint
    status, printed, complaint = command("user-link", "eve")
    assert (status, printed) == (2, "")
    assert "eve is disabled" in complaint
    with database.transaction() as session:
        assert session.scalars(select(LoginLink)).all() == []


@pytest.mark.usefixtures("people")
def test_all_tokens_of_a_person_are_revoked_once_each_with_its_trace(
    command: Callable[..., Answer], database: Database
) -> None:
    assert command("revoke-tokens", "grace")[:2] == (0, "revoked: test, nightly\n")
    assert command("revoke-tokens", "grace")[:2] == (0, "grace has no API tokens\n")
    assert command("revoke-tokens", "nobody")[0] == 2
    with database.transaction() as session:
        kept = session.scalars(select(ApiToken.user_id).where(ApiToken.revoked_at.is_(None))).all()
        grace = session.scalars(select(User).where(User.name == "grace")).one()
        assert kept
        assert grace.id not in kept  # others keep theirs
        traces = session.scalars(select(AuditEntry).where(AuditEntry.action == "token_revoked")).all()
        assert [entry.principal_name for entry in traces] == ["ada", "ada"]


def test_a_backup_leaves_a_trace_by_which_the_doctor_knows_its_age(
    command: Callable[..., Answer], database: Database, tmp_path: Path
) -> None:
    status, printed, complaint = command("backup", str(tmp_path), "--keep", "1")
    assert (status, complaint) == (0, "")
    with database.transaction() as session:
        taken_at = newest_backup(session)
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "backup_taken")).one()
    assert taken_at is not None
    assert abs(taken_at - system_clock()) < timedelta(minutes=1)
    assert printed.startswith(f"{(entry.after or {})['place']}: ")


@pytest.mark.parametrize("content", [b"no key", b"\xff\xfe"])
def test_a_file_without_a_vault_key_is_named_and_its_content_is_not_shown(
    command: Callable[..., Answer], tmp_path: Path, content: bytes
) -> None:
    key = tmp_path / "vault"
    key.write_bytes(content)
    status, _, complaint = command("restore", str(tmp_path), "--vault-key-file", str(key))
    assert status == 2
    assert f"{key} contains no vault key" in complaint


@pytest.mark.parametrize("arguments", [("users",), ("admin-link",), ("load-published",), ("backup", "all.tar")])
def test_a_database_that_was_never_migrated_is_a_remedy_and_no_stack_trace(
    command: Callable[..., Answer],
    postgres_server: PrivatePostgres,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
) -> None:
    postgres_server.create_database("unmigrated")
    monkeypatch.setenv("IOTIDE_DATABASE_URL", postgres_server.url_of("unmigrated"))
    monkeypatch.chdir(tmp_path)
    try:
        status, printed, complaint = command(*arguments)
    finally:
        postgres_server.drop_database("unmigrated")
    assert (status, printed) == (2, "")
    assert "run `iotide-server migrate`" in complaint


@pytest.mark.usefixtures("people")
def test_entries_of_clusters_are_listed_and_undone(command: Callable[..., Answer], database: Database) -> None:
    with database.transaction() as session:
        node = make_node(session, make_cluster(session, "lab"), "liar")
        announce(
            session, node, [workload("copy", breaks_series=True), workload("odd", options_schema={"type": "array"})]
        )
    status, printed, _ = command("catalogue")
    header, *lines = (line.split() for line in printed[printed.index("id ") :].splitlines())
    assert (status, header[:4]) == (0, ["id", "cluster", "workload", "revision"])
    copy, odd = lines
    assert (copy[1:7], copy[-1]) == (["lab", "copy", "1", "(breaks", "series)", "liar"], "1")
    assert odd[1:4] == ["lab", "odd", "rejected"]
    status, _, complaint = command("undo-workload", copy[0])
    assert status == 2
    assert "is announced by liar\nrevoke or retire these nodes" in complaint
    with database.transaction() as session:
        announce(session, session.get_one(Node, node.id), [])
    assert command("undo-workload", copy[0])[:2] == (0, "copy revision 1: removed; 0 series rejoined\n")
    assert command("undo-workload", copy[0])[0] == 2
    with database.transaction() as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "catalogue_entry_undone")).one()
        assert (entry.principal_name, entry.before and entry.before["name"]) == ("ada", "copy")


@pytest.mark.usefixtures("people")
def test_all_that_one_node_announced_is_taken_back_at_once(command: Callable[..., Answer], database: Database) -> None:
    with database.transaction() as session:
        lab = make_cluster(session, "lab")
        liar, honest = make_node(session, lab, "liar"), make_node(session, lab, "honest")
        announce(session, honest, [workload("own")])
        announce(session, liar, [workload("copy"), workload("odd", options_schema={"type": "array"})])
        announce(session, liar, [])
        announce(session, honest, [])
    for wrong in ([], ["--cluster", "lab"], ["--node", "liar"], ["1", "--cluster", "lab", "--node", "liar"]):
        assert command("undo-workload", *wrong)[0] == 2
    assert command("undo-workload", "--cluster", "lab", "--node", "liar", "--since", "2999-01-01")[0] == 2
    status, printed, _ = command("undo-workload", "--cluster", "lab", "--node", "liar")
    assert (status, printed.splitlines()) == (
        0,
        ["copy revision 1: removed; 0 series rejoined", "odd (rejected): removed; 0 series rejoined"],
    )
    assert [line.split()[2] for line in command("catalogue")[1].splitlines()[1:]] == ["own"]
    assert command("undo-workload", "--cluster", "lab", "--since", "2020-01-01")[0] == 0
