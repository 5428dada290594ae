import os
import pwd
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import iotide_agent.cli.agent as agent_commands
import iotide_server.commands.program as server_commands
from iotide_server.bundled import StartError
from iotide_server.bundled.launch import launch_command
from iotide_server.bundled.privileges import Account, account_of, choose_account
from iotide_server.bundled.state import StateDirectory

from .conftest import ClosedDirectory

IS_ROOT = os.geteuid() == 0

BECOME = """
import os, sys
from pathlib import Path
from iotide_server.bundled.privileges import become, choose_account
become(choose_account(Path(sys.argv[1])), state=Path(sys.argv[1]))
print(os.getcwd())
"""


def test_a_child_is_an_ordinary_user_without_any_right(state: StateDirectory) -> None:
    command = launch_command(("cat", "/proc/self/status"), stop_signal=signal.SIGKILL, account=state.account)
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    status = {name: value.split() for name, _, value in (line.partition(":") for line in printed.splitlines())}
    assert set(status["Uid"]) == {str(state.account.uid)} != {"0"}
    assert int(status["CapPrm"][0], 16) == int(status["CapAmb"][0], 16) == 0


@pytest.mark.parametrize("is_launched", [True, False])
def test_a_child_leaves_a_directory_that_its_user_may_not_enter(
    state: StateDirectory, closed: ClosedDirectory, *, is_launched: bool
) -> None:
    if is_launched:
        code = ("-m", "iotide_server.bundled.launch", str(state.account.uid), str(os.getpid()), "9", "--")
        command = [sys.executable, "-P", *code, "readlink", "/proc/self/cwd"]
    else:
        command = [sys.executable, "-P", "-c", BECOME, str(state.root)]
    assert closed.run(*command).stdout == "/\n"


def test_a_child_stays_in_a_directory_that_its_user_may_enter(state: StateDirectory) -> None:
    command = launch_command(("readlink", "/proc/self/cwd"), stop_signal=signal.SIGKILL, account=state.account)
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd="/usr").stdout == "/usr\n"


def test_a_command_typed_in_a_removed_directory_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((server_commands, "program_of"), (agent_commands, "app")):
        removed = tmp_path / "removed"
        removed.mkdir()
        monkeypatch.chdir(removed)
        removed.rmdir()
        directories: list[Path] = []
        program = partial(lambda directories: directories.append(Path.cwd()), directories)
        monkeypatch.setattr(module, name, program if name == "app" else lambda _, program=program: program)
        module.main()
        assert directories == [Path("/")]


def test_the_owner_of_the_directory_runs_the_services(state: StateDirectory) -> None:
    assert choose_account(state.root) == state.account
    if IS_ROOT:
        os.chown(state.root, 4711, 4711)
        assert choose_account(state.root) == Account(name="4711", uid=4711, gid=4711)


def test_a_new_directory_is_for_the_user_iotide_or_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = pwd.struct_passwd(("iotide", "x", 4712, 4712, "", "/nonexistent", "/usr/sbin/nologin"))
    monkeypatch.setattr(pwd, "getpwnam", {"iotide": service}.__getitem__)
    monkeypatch.setattr(pwd, "getpwuid", {4712: service, os.geteuid(): pwd.getpwuid(os.geteuid())}.__getitem__)
    for directory in (tmp_path, tmp_path / "absent"):
        account = choose_account(directory)
        assert account == (Account("iotide", 4712, 4712) if IS_ROOT else account_of(os.geteuid()))


def test_without_the_user_iotide_the_error_shows_how_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(StartError, match="this system has no user iotide") as no:
        choose_account(tmp_path / "absent")
    assert "useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin iotide" in no.value.remedy


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
        "from iotide_server.bundled.launch import launch_command\n"
        "from iotide_server.bundled.privileges import account_of\n"
        "me = account_of(os.geteuid())\n"
        f"command = launch_command(('cat',), stop_signal=Signals.{stop_signal}, account=me)\n"
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
        assert process.stdout.read(1) == b"x"  # cat runs, so it has already asked for the signal at its parent's death
        process.stdin.close()
        # The pipe ends only when cat, which holds it as well, is gone.
        assert process.stdout.read() == b""
