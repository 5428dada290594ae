import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import iotide_agent.cli.agent as agent_commands
import iotide_server.cli as server_commands
from iotide_server.embedded.launch import launch_command
from iotide_server.embedded.privileges import Account, account_of, choose_account
from iotide_server.embedded.state import StateDirectory

from .conftest import ClosedDirectory

IS_ROOT = os.geteuid() == 0

BECOME = """
import json, os, subprocess, sys
from pathlib import Path
from iotide_server.embedded.privileges import become, choose_account
root, hidden = Path(sys.argv[1]), Path(sys.argv[2])
kept = become(choose_account(root), must_reach=[root, hidden])
shell = ["sh", "-c", "grep -E '^(Uid|CapPrm|NoNewPrivs)' /proc/self/status; cat " + str(hidden)]
child = subprocess.run(shell, capture_output=True, text=True)
writable = os.access("/etc/passwd", os.W_OK)
told = {"kept": [str(path) for path in kept], "child": child.stdout, "writable": writable, "directory": os.getcwd()}
print(json.dumps(told))
"""


def become_in_a_child(state: StateDirectory, code: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", BECOME, str(state.root), code], capture_output=True, text=True, check=True, cwd="/"
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_a_bare_child_is_an_ordinary_user_without_any_right(state: StateDirectory) -> None:
    command = launch_command(
        ("cat", "/proc/self/status"), stop_signal=signal.SIGKILL, account=state.account, is_bare=True
    )
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    status = {name: value.split() for name, _, value in (line.partition(":") for line in printed.splitlines())}
    assert set(status["Uid"]) == {str(state.account.uid)} != {"0"}
    assert int(status["CapPrm"][0], 16) == int(status["CapAmb"][0], 16) == 0


@pytest.mark.parametrize("is_bare", [True, False])
def test_a_child_leaves_a_directory_that_its_user_may_not_enter(
    state: StateDirectory, closed: ClosedDirectory, *, is_bare: bool
) -> None:
    if is_bare:
        code = ("-m", "iotide_server.embedded.launch", "--bare", str(state.account.uid), str(os.getpid()), "9", "--")
        command = [sys.executable, "-P", *code, "readlink", "/proc/self/cwd"]
        assert closed.run(*command).stdout == "/\n"
    else:
        told = closed.run(sys.executable, "-P", "-c", BECOME, str(state.root), "/etc/hostname").stdout
        assert json.loads(told)["directory"] == "/"


def test_a_child_stays_in_a_directory_that_its_user_may_enter(state: StateDirectory) -> None:
    command = launch_command(
        ("readlink", "/proc/self/cwd"), stop_signal=signal.SIGKILL, account=state.account, is_bare=True
    )
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd="/usr").stdout == "/usr\n"


def test_a_command_typed_in_a_removed_directory_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (server_commands, agent_commands):
        removed = tmp_path / "removed"
        removed.mkdir()
        monkeypatch.chdir(removed)
        removed.rmdir()
        directories: list[Path] = []
        monkeypatch.setattr(module, "app", lambda directories=directories: directories.append(Path.cwd()))
        module.main()
        assert directories == [Path("/")]


def test_code_below_a_closed_directory_can_be_read_and_nothing_be_written(
    state: StateDirectory, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    code = closed / "code.py"
    code.write_text("secret of root")
    told = become_in_a_child(state, str(code))
    assert "secret of root" in told["child"]
    if IS_ROOT:
        assert told["kept"] == [str(code)]
        # Root in a container may lack the first one; the second also writes.
        cap_dac_read_search, cap_dac_override = "0000000000000004", "0000000000000002"
        assert (cap_dac_override if told["writable"] else cap_dac_read_search) in told["child"]
        assert f"Uid:\t{state.account.uid}\t{state.account.uid}" in told["child"]


def test_open_code_needs_no_capability(state: StateDirectory) -> None:
    told = become_in_a_child(state, "/etc/hostname")
    assert told["kept"] == []
    assert "CapPrm:\t0000000000000000" in told["child"]


def test_the_owner_of_the_directory_runs_the_services(state: StateDirectory) -> None:
    assert choose_account(state.root) == state.account
    if IS_ROOT:
        os.chown(state.root, 4711, 4711)
        assert choose_account(state.root) == Account(name="4711", uid=4711, gid=4711)
        os.chown(state.root, 0, 0)
        assert choose_account(state.root).name == "nobody"


def test_an_absent_directory_is_for_nobody_or_the_caller(tmp_path: Path) -> None:
    account = choose_account(tmp_path / "absent")
    assert account.name == ("nobody" if IS_ROOT else account_of(os.geteuid()).name)


def test_a_program_below_a_closed_directory_cannot_be_executed(state: StateDirectory, tmp_path: Path) -> None:
    program = tmp_path / "closed" / "program"
    program.parent.mkdir(mode=0o700)
    program.touch(mode=0o755)
    if not IS_ROOT:
        program.parent.chmod(0)
    assert not state.can_execute(program)
    assert state.can_execute(Path("/bin/sh"))
    program.parent.chmod(0o700)


@pytest.mark.parametrize("stop_signal", ["SIGKILL", "SIGTERM"])
def test_a_child_dies_with_its_parent(stop_signal: str) -> None:
    parent = (
        "import os, subprocess, sys\n"
        "from signal import Signals\n"
        "from iotide_server.embedded.launch import launch_command\n"
        "from iotide_server.embedded.privileges import account_of\n"
        "me = account_of(os.geteuid())\n"
        f"command = launch_command(('cat',), stop_signal=Signals.{stop_signal}, account=me, is_bare=False)\n"
        "child = subprocess.Popen(command, stdin=subprocess.PIPE)\n"
        "child.stdin.write(b'x'); child.stdin.flush()\n"
        "sys.stdin.read()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read(1) == b"x"  # cat runs, so it has asked for its parent's death
        process.stdin.close()
        # The pipe ends only when cat, which has it as well, is gone.
        assert process.stdout.read() == b""
