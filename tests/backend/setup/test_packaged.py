"""Last step of the installation of the server's deb, on a host of its own."""

import subprocess
from pathlib import Path

import pytest
from bare_node import SERVER, BareNode, write_server


@pytest.fixture
def machine(tmp_path: Path) -> BareNode:
    node = BareNode(tmp_path / "machine", has_agent=False)
    write_server(node.root / SERVER[1:])
    node.pretend_systemd()
    return node


def finish(machine: BareNode) -> subprocess.CompletedProcess[str]:
    program = machine.root / SERVER[1:]
    text, _, _ = program.read_text().partition("from iotide_server.cli import")
    program.write_text(f"{text}from iotide_server.setup.packaged import main\nsys.exit(main())\n")
    return machine.run(SERVER)


def test_an_installation_makes_user_and_state_and_starts_nothing(machine: BareNode) -> None:
    for _ in ("installed", "installed again"):
        done = finish(machine)
        assert done.returncode == 0, done.stderr
        assert machine.read("/etc/passwd").count("iotide:x:") == 1
    state = (machine.root / "var/lib/iotide").stat()
    assert (state.st_mode & 0o7777, state.st_uid) == (0o700, int(machine.read("/etc/passwd").split(":")[-5]))
    assert machine.systemctl_calls() == ["daemon-reload"] * 2


def test_an_upgrade_restarts_an_enabled_server_and_keeps_its_state(machine: BareNode) -> None:
    (machine.root / "run/systemctl.state").write_text("is-enabled iotide.service\n")
    state = machine.root / "var/lib/iotide"
    state.mkdir()
    state.chmod(0o750)
    assert finish(machine).returncode == 0
    assert state.stat().st_mode & 0o7777 == 0o750
    assert machine.systemctl_calls() == ["daemon-reload", "restart iotide.service"]


def test_a_host_where_no_user_can_be_created_is_named(machine: BareNode) -> None:
    (machine.root / "local/bin/useradd").write_text("#!/bin/sh\necho no room in /etc/passwd >&2\nexit 1\n")
    (machine.root / "local/bin/useradd").chmod(0o755)
    failed = finish(machine)
    assert failed.returncode == 1
    assert "no room in /etc/passwd; correct this" in failed.stderr
    assert not (machine.root / "var/lib/iotide").exists()
