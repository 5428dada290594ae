import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from iotide_server.bundled import StartError
from iotide_server.bundled.privileges import account_of
from iotide_server.bundled.state import StateDirectory, default_state_directory, hold, prepare_state_directory

from .conftest import wait_until

ORDINARY = account_of(os.geteuid() or pwd.getpwnam("nobody").pw_uid)
"""Account that runs the services of these tests."""

HOLDER = """
import subprocess, sys
from pathlib import Path
from iotide_server.bundled.privileges import choose_account
from iotide_server.bundled.state import hold, prepare_state_directory
root = Path(sys.argv[1])
with hold(prepare_state_directory(root, choose_account(root))) as descriptor:
    child = subprocess.Popen(["cat"], pass_fds=[descriptor], stdin=subprocess.PIPE)
    print(child.pid, flush=True)
    child.wait()
"""


def start_holder(state: StateDirectory) -> tuple["subprocess.Popen[str]", int]:
    """Start a process that holds the state directory, and a child of it that inherits the lock."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(state.root)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    return holder, int(holder.stdout.readline())


def test_a_second_start_on_the_same_directory_is_refused_by_name(state: StateDirectory) -> None:
    named = rf"is already running on {state.root} as process {os.getpid()}\."
    with hold(state), pytest.raises(StartError, match=named) as no, hold(state):
        pass
    assert "--state" in no.value.remedy


def test_a_start_after_a_clean_end_holds_at_once(state: StateDirectory) -> None:
    for _ in range(2):
        with hold(state):
            pass


def test_a_start_waits_for_what_an_earlier_one_left(state: StateDirectory) -> None:
    holder, orphan = start_holder(state)
    with holder:
        holder.kill()
    # The orphan reads from a pipe that broke with its parent, and so ends without a signal.
    with hold(state):
        wait_until(lambda: not Path(f"/proc/{orphan}").exists())


def test_a_leftover_process_that_does_not_end_is_killed(state: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide_server.bundled.state._ORPHAN_PATIENCE_SECONDS", 0.2)
    holder, orphan = start_holder(state)
    with holder:
        os.kill(orphan, signal.SIGSTOP)
        holder.kill()
    with hold(state):
        wait_until(lambda: not Path(f"/proc/{orphan}").exists())


def test_a_process_number_given_to_another_process_does_not_count(state: StateDirectory) -> None:
    (state.root / "iotide.lock").write_text(f"{os.getpid()} 1 another-boot")
    with hold(state):
        pass


def test_a_directory_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(StartError, match="is not empty and not an iotide state directory"):
        prepare_state_directory(tmp_path, ORDINARY)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state"
    file.touch()
    with pytest.raises(StartError, match="cannot be used"):
        prepare_state_directory(file, ORDINARY)


def test_only_the_account_can_enter_a_new_directory(tmp_path: Path) -> None:
    root = tmp_path / "new" / "state"
    state = prepare_state_directory(root, ORDINARY)
    state.secret("password")
    for path in (root, root / "secrets", root / "secrets" / "password"):
        assert path.stat().st_uid == ORDINARY.uid
        assert path.stat().st_mode & 0o077 == 0


def test_a_secret_stays_the_same_and_differs_from_the_next(state: StateDirectory) -> None:
    assert state.secret("a") == state.secret("a")
    assert state.secret("a") != state.secret("b")
    assert len(state.secret("a")) >= 32


def test_the_environment_names_the_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IOTIDE_STATE", str(tmp_path))
    assert default_state_directory() == tmp_path
    monkeypatch.delenv("IOTIDE_STATE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert default_state_directory() == tmp_path / "iotide"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_state_directory() == Path("/var/lib/iotide")
