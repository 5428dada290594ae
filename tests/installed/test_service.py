"""`iotide-server setup` with a real systemd: the service starts, stops, fails and survives a power cut."""

import re
from collections.abc import Iterator

import pytest
from bare_node import PYTHON, SERVER, BareNode, write_server
from bring_up import wait_for
from installed.machine import ADDRESS, Machine

UNIT = "iotide.service"
URL = f"https://{ADDRESS}:8470"
NEWER = """
import json
from pathlib import Path
import psycopg
url = json.loads(Path("/var/lib/iotide/environment.json").read_text())["IOTIDE_DATABASE_URL"]
with psycopg.connect(url) as connection:
    connection.execute("UPDATE alembic_version SET version_num = '9001'")
    connection.execute("UPDATE schema_floor SET revision = '9000'")
"""
CURL = ("curl", "--silent", "--show-error", "--fail", "--cacert", "/var/lib/iotide/tls/ca.crt")

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    node = BareNode(tmp_path_factory.mktemp("machine") / "root", has_agent=False)
    write_server(node.root / SERVER[1:])
    running = Machine(node)
    try:
        running.boot()
        yield running
    finally:
        running.cut_power()


@pytest.fixture(scope="module")
def link(machine: Machine) -> str:
    """Return the sign-in link that the first setup printed."""
    done = machine.run(SERVER, "setup", "--listen", ADDRESS)
    assert done.returncode == 0, done.stderr + journal(machine)
    assert f"iotide is ready: {URL}\n" in done.stdout
    assert re.search(r"fingerprint of its authority, for `iotide login`: [0-9a-f]{64}\n", done.stdout)
    found = re.search(r"sign in once, within a day: (\S+)", done.stdout)
    assert found is not None, done.stdout
    return found[1]


def journal(machine: Machine) -> str:
    return machine.run("journalctl", f"--unit={UNIT}", "--no-pager").stdout


def page(machine: Machine) -> str:
    done = machine.run(*CURL, f"{URL}/api/v1/ready")
    return done.stdout or done.stderr


def state(machine: Machine) -> str:
    return machine.run("systemctl", "is-active", UNIT).stdout.strip()


def test_setup_returns_when_the_page_answers(machine: Machine, link: str) -> None:
    assert link.startswith(f"{URL}/")
    assert page(machine) == '{"status":"ready"}'
    assert machine.run("systemctl", "is-enabled", UNIT).stdout == "enabled\n"
    users = set(machine.run("ps", "-o", "user=", "--ppid", main_process(machine)).stdout.split())
    assert users == {"iotide"}


def main_process(machine: Machine) -> str:
    return machine.run("systemctl", "show", "--property=MainPID", "--value", UNIT).stdout.strip()


def test_the_journal_has_no_link_and_status_has_the_address(machine: Machine, link: str) -> None:
    assert link.partition("#token=")[2] not in journal(machine)
    assert f"iotide is ready: {URL}" in machine.run("systemctl", "status", UNIT).stdout


def test_a_second_setup_changes_nothing_and_says_how_to_get_a_link(machine: Machine, link: str) -> None:
    process = main_process(machine)
    again = machine.run(SERVER, "setup")
    assert again.returncode == 0, again.stderr
    assert "nothing to change: this server is set up" in again.stdout
    assert again.stdout.endswith("within a day: iotide-server admin-link\n")
    assert main_process(machine) == process
    assert link not in again.stdout


def test_start_returns_when_the_page_answers_and_stop_when_everything_ended(machine: Machine, link: str) -> None:
    assert link
    assert machine.run("systemctl", "stop", UNIT).returncode == 0
    log = machine.node.read("/var/lib/iotide/log/postgres.log")
    assert log.rstrip().endswith("database system is shut down")
    assert machine.run("pgrep", "--uid", "iotide").stdout == ""
    assert machine.run("systemctl", "start", UNIT).returncode == 0
    assert page(machine) == '{"status":"ready"}'


def test_another_start_on_its_state_is_refused_with_the_command_that_stops_it(machine: Machine, link: str) -> None:
    assert link
    refused = machine.run(SERVER, "up", "--port", "9470")
    assert refused.returncode == 2
    assert f"as process {main_process(machine)}." in refused.stderr
    assert f"systemctl stop {UNIT}" in refused.stderr


def test_after_a_power_cut_the_machine_starts_the_service_with_its_data(machine: Machine, link: str) -> None:
    machine.cut_power()
    machine.boot()
    assert state(machine) == "active"
    assert page(machine) == '{"status":"ready"}'
    token = link.partition("#token=")[2]
    post = ("--request", "POST", "--header", "Content-Type: application/json", "--data", f'{{"token":"{token}"}}')
    signed_in = machine.run(*CURL, *post, f"{URL}/api/v1/session/link")
    assert signed_in.returncode == 0, signed_in.stderr


def test_a_new_version_restarts_the_service(machine: Machine, link: str) -> None:
    assert link
    unit = machine.node.root / f"etc/systemd/system/{UNIT}"
    whole = unit.read_text()
    unit.write_text(whole.replace(whole.partition("\n")[0], "# Unit of iotide-server 0.1.0"))
    process = main_process(machine)
    done = machine.run(SERVER, "setup")
    assert done.returncode == 0, done.stderr
    assert unit.read_text() == whole
    assert main_process(machine) != process
    assert page(machine) == '{"status":"ready"}'


def test_a_taken_port_ends_the_start_with_the_reason_and_setup_names_the_program(machine: Machine, link: str) -> None:
    assert link
    machine.run("systemctl", "stop", UNIT)
    machine.run("systemd-run", "--unit=taker", PYTHON, "-m", "http.server", "8470")
    wait_for("the other program", lambda: machine.run("curl", "--silent", f"http://{ADDRESS}:8470").stdout or None)
    assert machine.run("systemctl", "start", UNIT).returncode != 0
    assert f"Port 8470 on {ADDRESS} is already in use" in journal(machine)
    machine.run("systemctl", "stop", UNIT)
    refused = machine.run(SERVER, "setup")
    assert refused.returncode == 2
    assert re.search(r"is already in use by python\S* \(process \d+\)", refused.stderr), refused.stderr
    assert "with IOTIDE_PORT in /etc/iotide/server.env" in refused.stderr
    machine.run("systemctl", "stop", "taker")
    assert machine.run(SERVER, "setup").returncode == 0
    assert page(machine) == '{"status":"ready"}'


def test_an_older_release_refuses_a_newer_database_with_the_remedy(machine: Machine, link: str) -> None:
    assert link
    program = machine.node.root / "opt/newer"
    program.write_text(machine.node.read(SERVER).partition("from iotide_server.cli")[0] + NEWER)
    program.chmod(0o755)
    assert machine.run("/opt/newer").returncode == 0
    assert machine.run("systemctl", "restart", UNIT).returncode != 0
    for said in (journal(machine), machine.run(SERVER, "setup").stderr):
        assert "the database has schema 9001, which is too new for this release" in said
        assert "start the release that migrated it" in said
