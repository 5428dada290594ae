"""An attacker in a part of the server gets no right of root, wherever its code is installed."""

import os
import subprocess
import sys
from pathlib import Path

from backend.bundled.test_up import COMMAND, QUIET
from bring_up import free_port
from opened import opened_command

from iotide_server.bundled.state import StateDirectory

IS_ROOT = os.geteuid() == 0


def test_code_that_its_user_may_not_read_is_refused_with_the_commands_to_install_it(
    state: StateDirectory, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    ports = ("--port", str(free_port()), "--redis-port", str(free_port()), "--database-url", "postgresql://nowhere/x")
    command = opened_command([*COMMAND, "up", "--state", str(state.root), *ports], state=state.root)
    environment = QUIET | {"PYTHONPATH": str(closed)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert done.returncode != 0
    if IS_ROOT:
        assert done.returncode == 2
        assert f"The services run as {state.account.name}, which cannot read {closed}." in done.stderr
        assert "UV_TOOL_DIR=/opt/iotide/tools" in done.stderr
        assert "uv tool install --force './backend[embedded]' --with ./agent/wire" in done.stderr


def test_a_state_directory_that_its_user_may_not_enter_is_refused(tmp_path: Path, state: StateDirectory) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    inner = closed / "state"
    inner.mkdir(mode=0o700)
    os.chown(inner, state.account.uid, state.account.gid)
    closed.chmod(0o700 if IS_ROOT else 0)
    code = (
        "import sys; from pathlib import Path\n"
        "from iotide_server.bundled.privileges import account_of, become\n"
        "become(account_of(int(sys.argv[1])), state=Path(sys.argv[2]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(state.account.uid), str(inner)], capture_output=True, text=True, check=False
    )
    closed.chmod(0o700)
    assert f"which cannot access {inner}" in done.stderr
    assert "--state, for instance /var/lib/iotide" in done.stderr
