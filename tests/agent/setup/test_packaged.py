"""Last step of the deb's and the rpm's installation, on a host of its own."""

import subprocess
from pathlib import Path

import pytest
from bare_node import PROGRAM, BareNode


@pytest.fixture
def node(tmp_path: Path) -> BareNode:
    return BareNode(tmp_path / "node")


def finish(node: BareNode) -> subprocess.CompletedProcess[str]:
    program = node.root / "opt/iotide-agent-1/bin/iotide-agent"
    text, _, _ = program.read_text().partition("from iotide_agent.cli import")
    program.write_text(f"{text}from iotide_agent.setup.packaged import main\nsys.exit(main())\n")
    return node.run(PROGRAM)


def test_an_installation_makes_user_and_state_and_starts_nothing(node: BareNode) -> None:
    node.pretend_systemd()
    for _ in ("installed", "installed again"):
        done = finish(node)
        assert done.returncode == 0, done.stderr
        assert node.read("/etc/passwd").count("iotide-agent:x:") == 1
    state = (node.root / "var/lib/iotide-agent").stat()
    assert (state.st_mode & 0o7777, state.st_uid) == (0o700, int(node.read("/etc/passwd").split(":")[-5]))
    assert node.systemctl_calls() == ["daemon-reload"] * 2


def test_an_upgrade_restarts_an_enabled_agent_and_keeps_its_state(node: BareNode) -> None:
    node.pretend_systemd()
    (node.root / "run/systemctl.state").write_text("is-enabled iotide-agent.service\n")
    state = node.root / "var/lib/iotide-agent"
    state.mkdir()
    state.chmod(0o750)
    assert finish(node).returncode == 0
    assert state.stat().st_mode & 0o7777 == 0o750
    assert node.systemctl_calls() == ["daemon-reload", "restart iotide-agent.service"]


def test_a_host_where_no_user_can_be_created_is_named(node: BareNode) -> None:
    (node.root / "local/bin/useradd").write_text("#!/bin/sh\necho no room in /etc/passwd >&2\nexit 1\n")
    (node.root / "local/bin/useradd").chmod(0o755)
    failed = finish(node)
    assert failed.returncode == 1
    assert "useradd --system" in failed.stderr
    assert "no room in /etc/passwd; correct this" in failed.stderr
    assert not (node.root / "var/lib/iotide-agent").exists()
