"""Processes of a node's local user that look like those of a run."""

import fcntl
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from iotide_agent.runner import processes

STRANGER: Final = 65534
RUNNER: Final = "/opt/agent/iotide_agent/runner"
SAY_AND_WAIT: Final = "echo ready; read line"


class Started:
    """Processes of this user or of a stranger. Each has started when it is returned, and ends with the test."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def __call__(self, *command: str, user: int | None = None, descriptors: tuple[int, ...] = ()) -> int:
        groups: list[int] | None = None if user is None else []
        process = subprocess.Popen(
            command,
            user=user,
            group=user,
            extra_groups=groups,
            pass_fds=descriptors,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        return process.pid

    def end(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


@pytest.fixture
def start() -> Iterator[Started]:
    started = Started()
    yield started
    started.end()


@pytest.fixture
def lock() -> Iterator[Path]:
    """Make a file that a stranger may open by this name, as one can in a mount namespace."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        file = Path(name) / "lock"
        file.touch(mode=0o644)
        yield file


def test_a_stranger_with_a_file_of_that_name_holds_no_lock(lock: Path, start: Started) -> None:
    stranger = start("/bin/sh", "-c", f"exec 9<{lock}; {SAY_AND_WAIT}", user=STRANGER)
    own = start("/bin/sh", "-c", f"exec 9<{lock}; {SAY_AND_WAIT}")
    assert stranger not in processes.holders(lock)
    assert processes.holders(lock) == [own]


def test_a_stranger_who_locks_another_file_holds_none_of_ours(lock: Path, start: Started) -> None:
    with lock.with_name("other").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        start("/bin/sh", "-c", f"exec 9<{lock}; {SAY_AND_WAIT}", user=STRANGER, descriptors=(file.fileno(),))
    assert processes.holders(lock) == []


def test_a_load_under_another_user_that_inherited_the_lock_holds_it(lock: Path, start: Started) -> None:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        load = start("/bin/sh", "-c", SAY_AND_WAIT, user=STRANGER, descriptors=(file.fileno(),))
    assert processes.holders(lock) == [load]


def test_a_stranger_with_the_runners_command_line_is_not_the_runner(start: Started) -> None:
    directory = "/var/lib/iotide-agent/orders/7"
    command = ("/bin/sh", "-c", SAY_AND_WAIT, RUNNER, directory)
    start(*command, user=STRANGER)
    assert processes.started_with(RUNNER, directory) == []
    own = start(*command)
    assert own in processes.started_with(RUNNER, directory)


def test_the_command_line_of_a_stranger_is_not_read(start: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stranger can map it from a file that hangs; then its reader hangs, too."""
    stranger = start("/bin/sh", "-c", SAY_AND_WAIT, user=STRANGER)
    own = start("/bin/sh", "-c", SAY_AND_WAIT)
    read: list[str] = []
    read_bytes = Path.read_bytes

    def note(path: Path) -> bytes:
        read.append(str(path))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", note)
    processes.started_with(RUNNER, "/var/lib/iotide-agent/orders/7")
    assert f"/proc/{own}/cmdline" in read
    assert f"/proc/{stranger}/cmdline" not in read
