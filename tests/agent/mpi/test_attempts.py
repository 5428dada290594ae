"""Third net of the aftermath: processes of an attempt that closed the lock and left the session of their load."""

import os
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from agent.order_rig import Rig, eventually, python, step

from iotide_agent.runner import processes
from iotide_agent.runner.card import ATTEMPT

_NUMBERS = count(70)
DAEMON = (
    "import os,sys,time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    os.closerange(0, 256)\n"
    "    note = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
    "    os.write(note, str(os.getpid()).encode())\n"
    "    os.close(note)\n"
    "time.sleep(100)\n"
)


@pytest.fixture
def attempt() -> Iterator[str]:
    """Yield an attempt that no other test has, and end what is left of it."""
    own = f"{os.getpid()}-{next(_NUMBERS)}"
    yield own
    for left in pids_of(own):
        os.kill(left, signal.SIGKILL)


def killed_with_a_daemon(rig: Rig, note: Path) -> int:
    """Return the pid of a process that is in neither session nor lock of the order, whose runner is dead."""
    rig.start()
    rig.until_phase("ready")
    rig.go([step(*python(DAEMON), str(note))])
    daemon = int(rig.until(lambda: note.exists() and note.read_text()))
    rig.until(lambda: rig.phase().get("loads"))
    assert rig.process is not None
    rig.process.kill()
    rig.process.wait()
    return daemon


def pids_of(attempt: str) -> list[int]:
    return [stat.pid for stat in processes.with_variable(f"{ATTEMPT}={attempt}", {os.getuid()})]


def is_gone(pid: int) -> bool:
    left = processes.stat_of(pid)
    return left is None or left.state in "ZX"


def test_a_daemon_of_an_attempt_ends_with_the_aftermath(
    make_rig: Callable[..., Rig], tmp_path: Path, attempt: str
) -> None:
    rig = make_rig(attempt=attempt)
    daemon = killed_with_a_daemon(rig, tmp_path / "daemon")
    # The load itself ends with its runner, a moment later.
    eventually(lambda: pids_of(attempt) == [daemon], 5.0)
    rig.start("--aftermath")
    assert rig.until_ended()["code"] == "runner_died"
    eventually(lambda: is_gone(daemon), 5.0)


def test_a_daemon_of_another_attempt_is_not_touched(make_rig: Callable[..., Rig], tmp_path: Path, attempt: str) -> None:
    rig = make_rig(attempt=attempt)
    killed_with_a_daemon(rig, tmp_path / "daemon")
    for other in (attempt[:-1], f"1{attempt}", f"{attempt}0"):
        assert processes.with_variable(f"{ATTEMPT}={other}", {os.getuid()}) == []
    assert processes.with_variable(f"{ATTEMPT}={attempt}", {os.getuid() + 1}) == []


@pytest.mark.parametrize("own", ["", "7-70"])
def test_only_loads_of_one_program_over_several_nodes_have_the_variable(make_rig: Callable[..., Rig], own: str) -> None:
    rig = make_rig(attempt=own)
    rig.run([step("env", name="env")])
    assert (f"{ATTEMPT}=" in rig.output("000-env.stdout")) is bool(own)
