"""Third net of the aftermath: processes of an attempt that closed the lock and left the session of their load."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from agent.order_rig import Rig, eventually, python, step

from iotide_agent.runner import processes
from iotide_agent.runner.card import ATTEMPT

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


def is_gone(pid: int) -> bool:
    left = processes.stat_of(pid)
    return left is None or left.state in "ZX"


def test_a_daemon_of_an_attempt_ends_with_the_aftermath(make_rig: Callable[..., Rig], tmp_path: Path) -> None:
    rig = make_rig(attempt="7-70")
    daemon = killed_with_a_daemon(rig, tmp_path / "daemon")
    assert [stat.pid for stat in processes.with_variable(f"{ATTEMPT}=7-70", {os.getuid()})] == [daemon]
    rig.start("--aftermath")
    assert rig.until_ended()["code"] == "runner_died"
    eventually(lambda: is_gone(daemon), 5.0)


def test_a_daemon_of_another_attempt_is_not_touched(make_rig: Callable[..., Rig], tmp_path: Path) -> None:
    rig = make_rig(attempt="7-70")
    daemon = killed_with_a_daemon(rig, tmp_path / "daemon")
    for other in ("7-7", "17-70", "7-700"):
        assert processes.with_variable(f"{ATTEMPT}={other}", {os.getuid()}) == []
    assert processes.with_variable(f"{ATTEMPT}=7-70", {os.getuid() + 1}) == []
    os.kill(daemon, signal.SIGKILL)


@pytest.mark.parametrize("attempt", ["", "7-70"])
def test_only_loads_of_one_program_over_several_nodes_have_the_variable(
    make_rig: Callable[..., Rig], attempt: str
) -> None:
    rig = make_rig(attempt=attempt)
    rig.run([step("env", name="env")])
    assert (f"{ATTEMPT}=" in rig.output("000-env.stdout")) is bool(attempt)
