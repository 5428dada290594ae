"""`iotide-server setup` on a machine of its own: what it checks, creates, keeps and rejects.

`tests/installed/test_service.py` starts the service by a real systemd.
"""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_node import SERVER, BareNode, killed_in, write_server
from bring_up import free_port

from iotide_server.setup.texts import unit

UNIT = "/etc/systemd/system/iotide.service"
SETTINGS = "/etc/iotide/server.env"


@pytest.fixture
def machine(tmp_path: Path) -> BareNode:
    node = BareNode(tmp_path / "machine", has_agent=False)
    write_server(node.root / SERVER[1:])
    return node


@pytest.fixture
def port() -> int:
    return free_port(in_a_row=3)


def setup(machine: BareNode, *options: object) -> subprocess.CompletedProcess[str]:
    return machine.run(SERVER, "setup", *map(str, options))


def owner(machine: BareNode, path: str) -> tuple[int, str]:
    found = (machine.root / path.lstrip("/")).stat()
    names = {int(line.split(":")[2]): line.split(":")[0] for line in machine.read("/etc/passwd").splitlines()}
    return found.st_mode & 0o7777, names[found.st_uid]


def test_setup_creates_user_state_settings_and_unit(machine: BareNode) -> None:
    done = setup(machine, "--listen", "192.0.2.10", "--public-name", "bench.example.org", "--port", 9470)
    assert done.returncode == 0, done.stderr
    assert owner(machine, "/var/lib/iotide") == (0o700, "iotide")
    assert owner(machine, SETTINGS) == (0o600, "root")
    assert owner(machine, UNIT) == (0o644, "root")
    settings = machine.read(SETTINGS).splitlines()
    assert settings[2:] == [
        "IOTIDE_LISTEN=192.0.2.10",
        "IOTIDE_PORT=9470",
        "IOTIDE_PUBLIC_NAME=bench.example.org",
    ]
    assert f"ExecStart={SERVER} up --state /var/lib/iotide\n" in machine.read(UNIT)
    assert "/nonexistent:/usr/sbin/nologin" in machine.read("/etc/passwd")


def test_a_database_url_is_kept_as_it_is_for_systemd_and_shells(machine: BareNode) -> None:
    url = "postgresql://iotide@/iotide?host=/var/run/postgresql&application_name=iotide"
    done = setup(machine, "--database-url", url)
    assert done.returncode == 0, done.stderr
    assert f"IOTIDE_DATABASE_URL='{url}'" in machine.read(SETTINGS).splitlines()
    read = machine.run("sh", "-c", f'. {SETTINGS}; printf %s "$IOTIDE_DATABASE_URL"')
    assert read.stdout == url
    assert "nothing to change" in setup(machine, "--database-url", url).stdout
    refused = setup(machine, "--database-url", "postgresql://elsewhere/iotide")
    assert f"{SETTINGS} has IOTIDE_DATABASE_URL={url}; change it there" in refused.stderr


def test_a_unit_of_the_package_is_not_written_again(machine: BareNode) -> None:
    program = machine.root / SERVER[1:]
    elsewhere = (
        "import pathlib, iotide_wire.setup.services as module\n"
        "module._PACKAGED_UNITS = (pathlib.Path('/etc/packaged'),)\n"
    )
    program.write_text(program.read_text().replace("\nmain()\n", f"\n{elsewhere}main()\n"))
    packaged = machine.root / "etc/packaged/iotide.service"
    packaged.parent.mkdir()
    packaged.write_text(unit(Path(SERVER)))
    assert setup(machine).returncode == 0
    own = machine.root / UNIT[1:]
    assert not own.exists()
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("[Service]\nExecStart=/opt/older/bin/iotide-server up\n")
    assert setup(machine).returncode == 0
    assert own.read_text() == unit(Path(SERVER))


def test_without_systemd_it_prints_a_command_that_starts_the_server(machine: BareNode, port: int) -> None:
    (machine.root / "etc/iotide").mkdir()
    (machine.root / SETTINGS[1:]).write_text(f"IOTIDE_PORT={port}\nIOTIDE_DATABASE_URL=postgresql://127.0.0.1:1/x\n")
    done = setup(machine)
    assert done.returncode == 0, done.stderr
    start = done.stdout.partition("start the server with: ")[2].strip()
    refused = machine.run("sh", "-c", start)
    assert "The database cannot be reached" in refused.stderr, refused.stdout
    assert "starting redis" in refused.stdout
    assert owner(machine, "/var/lib/iotide/iotide.lock")[1] == "iotide"


def test_a_second_setup_changes_nothing(machine: BareNode) -> None:
    setup(machine, "--listen", "192.0.2.10")
    before = machine.files()
    for options in ((), ("--listen", "192.0.2.10")):
        again = setup(machine, *options)
        assert again.returncode == 0, again.stderr
        assert "nothing to change: this server is set up" in again.stdout
    assert machine.files() == before


def test_settings_are_kept_and_never_contradicted(machine: BareNode) -> None:
    setup(machine)
    file = machine.root / SETTINGS[1:]
    edited = f"{file.read_text()}# for the department\nIOTIDE_PUBLIC_READ=true\nIOTIDE_OIDC_NAME='our #1 site'\n"
    file.write_text(edited)
    assert setup(machine).returncode == 0
    refused = setup(machine, "--listen", "192.0.2.10")
    assert refused.returncode == 2
    assert f"--listen 192.0.2.10: {SETTINGS} does not set IOTIDE_LISTEN; change it there" in refused.stderr
    refused = setup(machine, "--port", "9470")
    assert f"{SETTINGS} has IOTIDE_PORT=8470" in refused.stderr
    assert file.read_text() == edited


def test_a_dry_run_prints_files_and_commands_and_changes_nothing(machine: BareNode) -> None:
    machine.pretend_systemd()
    before = machine.files()
    done = setup(machine, "--listen", "127.0.0.1", "--port", free_port(in_a_row=3), "--dry-run")
    assert done.returncode == 0, done.stderr
    for line in (
        "would run useradd --system --user-group",
        "would create /var/lib/iotide for iotide",
        f"would write {SETTINGS}",
        "    IOTIDE_LISTEN=127.0.0.1",
        f"would write {UNIT}",
        "    Type=notify",
        "would run systemctl daemon-reload",
        "would run systemctl enable iotide.service",
        "would run systemctl restart iotide.service",
    ):
        assert line in done.stdout
    assert (machine.files(), machine.systemctl_calls()) == (before, [])


def test_setup_is_for_root(machine: BareNode) -> None:
    ordinary = ("setpriv", "--reuid=65534", "--clear-groups", SERVER, "setup")
    refused = machine.run(*ordinary)
    assert refused.returncode == 2
    assert "Run it as root, or with --dry-run." in refused.stderr
    assert machine.run(*ordinary, "--dry-run").returncode == 0
    setup(machine)
    refused = machine.run(*ordinary, "--dry-run")
    assert refused.returncode == 2
    assert f"{SETTINGS}: Permission denied\nRun it as root." in refused.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--public-name", "two words"), "--public-name 'two words': use an address or a host name"),
        (("--listen", "192.0.2.1"), "192.0.2.1 is not an address of this machine"),
        (("--port", "65534"), "--port"),
        (("--database-url", "iotide"), "--database-url 'iotide': use a URL such as postgresql://"),
    ],
)
def test_a_bad_option_is_explained_and_changes_nothing(
    machine: BareNode, options: tuple[str, ...], sentence: str
) -> None:
    machine.pretend_systemd()
    before = machine.files()
    refused = setup(machine, *options)
    assert (refused.returncode, machine.files()) == (2, before), refused.stdout
    assert sentence in refused.stderr


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_a_taken_port_is_named_with_its_program_before_anything_is_written(
    machine: BareNode, port: int, offset: int
) -> None:
    machine.pretend_systemd()
    before = machine.files()
    with socket.create_server(("127.0.0.1", port + offset)):
        refused = setup(machine, "--listen", "127.0.0.1", "--port", port)
    assert (refused.returncode, machine.files()) == (2, before)
    name = Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    assert f"Port {port + offset} on 127.0.0.1 is already in use by {name} (process {os.getpid()})." in refused.stderr
    assert "choose another port with --port" in refused.stderr


HOLDER = """
import os, sys
from pathlib import Path
from iotide_server.bundled.privileges import choose_account
from iotide_server.bundled.state import hold, prepare_state_directory
root = Path("/var/lib/iotide")
with hold(prepare_state_directory(root, choose_account(root))):
    print(os.getpid(), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_server(machine: BareNode) -> Iterator[int]:
    """Return the id of a process that uses the state directory, as `iotide-server up` in a terminal does."""
    machine.run("useradd", "--system", "--user-group", "iotide")
    program = machine.root / "opt/holder"
    program.write_text((machine.root / SERVER[1:]).read_text().partition("from iotide_server.cli")[0] + HOLDER)
    program.chmod(0o755)
    with subprocess.Popen(
        machine.command("/opt/holder"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        yield int(holder.stdout.readline())
        holder.communicate()


def test_a_server_that_already_uses_the_state_is_named(machine: BareNode, port: int, other_server: int) -> None:
    machine.pretend_systemd()
    refused = setup(machine, "--port", port)
    assert refused.returncode == 2
    assert f"is already running on /var/lib/iotide as process {other_server}" in refused.stderr
    assert not (machine.root / UNIT[1:]).exists()


@pytest.mark.parametrize("has_file", [False, True])
def test_a_state_directory_of_another_user_is_left_alone(machine: BareNode, *, has_file: bool) -> None:
    state = machine.root / "var/lib/iotide"
    state.mkdir()
    if has_file:
        (state / "iotide.lock").touch()
    else:
        os.chown(state, 65534, 65534)
    refused = setup(machine)
    assert refused.returncode == 2
    assert f"/var/lib/iotide belongs to {'root' if has_file else 'nobody'}" in refused.stderr
    assert "chown -R iotide: /var/lib/iotide" in refused.stderr
    assert not (machine.root / UNIT[1:]).exists()


def test_the_units_of_a_server_in_several_parts_are_left_alone(machine: BareNode) -> None:
    unit = machine.root / "etc/systemd/system/iotide-api.service"
    unit.parent.mkdir(parents=True)
    unit.touch()
    refused = setup(machine)
    assert refused.returncode == 2
    assert "iotide-api.service exists: this machine already has the server as several units" in refused.stderr


def test_a_program_that_the_unit_could_not_start_is_refused(machine: BareNode) -> None:
    (machine.root / "opt/iotide").chmod(0o700)
    refused = setup(machine)
    assert refused.returncode == 2
    assert "the user iotide may not start" in refused.stderr
    assert "install the server where every user may read it" in refused.stderr


def test_a_start_that_fails_prints_the_reason_from_the_journal(machine: BareNode, port: int) -> None:
    machine.pretend_systemd()
    systemctl = machine.root / "local/bin/systemctl"
    systemctl.write_text(systemctl.read_text().replace("restart) ", 'restart) echo "Job failed." >&2; exit 1; '))
    journal = machine.root / "local/bin/journalctl"
    journal.write_text("#!/bin/sh\necho 'the database has schema 9001, which is too new'\n")
    journal.chmod(0o755)
    failed = setup(machine, "--port", port)
    assert failed.returncode == 2
    assert "the database has schema 9001, which is too new\n" in failed.stderr
    assert "Job failed.; correct this, then run setup again: it continues" in failed.stderr


def test_a_full_disk_stops_setup_and_keeps_whole_files(machine: BareNode) -> None:
    program = machine.root / SERVER[1:]
    whole = program.read_text()
    full = "import errno, os\ndef fsync(_):\n    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
    limited = (
        f"{full}import iotide_wire.setup.changes as module\nmodule.os = type('os', (), dict(vars(os), fsync=fsync))\n"
    )
    program.write_text(whole.replace("\nmain()\n", f"\n{limited}main()\n"))
    stopped = setup(machine)
    assert stopped.returncode == 2
    assert "No space left on device\nCorrect this, then run setup again: it continues." in stopped.stderr
    assert list((machine.root / "etc/iotide").iterdir()) == []
    program.write_text(whole)
    assert setup(machine).returncode == 0


def test_a_disk_with_too_little_space_is_named(machine: BareNode) -> None:
    program = machine.root / SERVER[1:]
    needed = "import iotide_server.setup.service as module\nmodule._STATE_BYTES = 1 << 60\n"
    program.write_text(program.read_text().replace("\nmain()\n", f"\n{needed}main()\n"))
    refused = setup(machine)
    assert refused.returncode == 2
    assert "/var/lib is almost full: " in refused.stderr
    assert not (machine.root / "etc/iotide").exists()


STAGES = (
    "iotide_wire.setup.changes.write_whole",
    "iotide_wire.setup.changes.run",
    "iotide_server.setup.service.create_state",
)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_setup_continues_when_it_is_repeated(machine: BareNode, stage: str, moment: str) -> None:
    module, _, function = stage.rpartition(".")
    program = machine.root / SERVER[1:]
    whole = program.read_text()
    program.write_text(killed_in(whole, "main()", module, function, is_after=moment == "after"))
    assert setup(machine, "--listen", "192.0.2.10").returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}
    program.write_text(whole)
    done = setup(machine, "--listen", "192.0.2.10")
    assert done.returncode == 0, done.stderr
    assert owner(machine, "/var/lib/iotide") == (0o700, "iotide")
    assert "IOTIDE_LISTEN=192.0.2.10" in machine.read(SETTINGS)
    assert "nothing to change" in setup(machine).stdout
