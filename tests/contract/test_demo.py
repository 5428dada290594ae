"""`./dev demo`: all its processes end, however it is ended.

One demo is whole, with a smaller campaign. Others have idle processes as server and agent: how those two handle
SIGTERM is tested elsewhere (`backend/bundled/test_up.py`, `agent/core/test_driver.py`).
"""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest
from bring_up import free_port, wait_for

pytestmark = pytest.mark.timeout(300)

DEMO: Final = Path(__file__).resolve().parents[2] / "deploy/demo"
WHOLE: Final = "import demo, pathlib, sys; demo.PLAN = pathlib.Path(sys.argv.pop(1)); sys.exit(demo.main())"
PLAN: Final = """
name: demo
cluster: demo
nodes: [demo-node]
targets: [disk, shm]
repeats: 1
workloads:
  - workload: dd
    options: {file_size_bytes: 1 MiB, block_size_bytes: 64 KiB}
"""
LIGHT: Final = Path(__file__).parents[1] / "standins/light_demo.py"
SHOWN_SECONDS: Final = 120.0
ENDED_SECONDS: Final = 60.0


class Demo:
    """A demo with its own terminal."""

    def __init__(self, directory: Path, *program: str) -> None:
        self.state = directory / "state"
        self._terminal, its = pty.openpty()
        argv = [sys.executable, *program, "--state", str(self.state), "--port", str(free_port())]
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *argv],
            stdin=its, stdout=its, stderr=its, env={**os.environ, "PYTHONPATH": str(DEMO)},
        )  # fmt: skip
        os.close(its)
        self.shown = ""

    def wait_shown(self, words: str) -> None:
        deadline = time.monotonic() + SHOWN_SECONDS
        while words not in self.shown:
            assert select.select([self._terminal], [], [], deadline - time.monotonic())[0], self.shown
            self.shown += os.read(self._terminal, 4096).decode()

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def processes(self, *words: str) -> dict[int, str]:
        """Return the processes below its directory with these words in their commands."""
        found = {}
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = file.read_text().replace("\0", " ")
            except OSError:  # it ended meanwhile
                continue
            if all(word in command for word in (str(self.state), *words)):
                found[int(file.parent.name)] = command
        return found

    def wait_ended(self) -> int:
        """Return its exit status; read its output meanwhile, so that it never blocks."""
        wait_for("the demo's end", self._ended, seconds=ENDED_SECONDS)
        return self.process.returncode

    def _ended(self) -> bool | None:
        if select.select([self._terminal], [], [], 0)[0]:
            with suppress(OSError):  # the terminal has no reader any more
                self.shown += os.read(self._terminal, 4096).decode()
        return None if self.process.poll() is None else True

    def close(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._terminal)


@pytest.fixture
def directory() -> Iterator[Path]:
    """Return a directory that every user may enter, since a server started as root switches to another user."""
    path = Path(tempfile.mkdtemp(prefix="iotide-demo-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def demo(directory: Path) -> Iterator[Demo]:
    plan = directory / "plan.yaml"
    plan.write_text(PLAN)
    with closing(Demo(directory, "-c", WHOLE, str(plan))) as running:
        yield running


@pytest.fixture
def light_demo(directory: Path, request: pytest.FixtureRequest) -> Iterator[Demo]:
    with closing(Demo(directory, str(LIGHT), request.param)) as running:
        yield running


def test_ctrl_c_ends_all_of_it_however_often_it_is_pressed(demo: Demo) -> None:
    demo.wait_shown("demo: 2 runs finished, 0 failed")
    demo.press(b"\x03")
    wait_for("an agent that ends", lambda: True if not demo.processes("iotide-agent") else None)
    demo.press(b"\x03")
    assert demo.wait_ended() == 128 + signal.SIGINT, demo.shown
    assert demo.processes() == {}


@pytest.mark.parametrize("light_demo", ["agent never starts"], indirect=True)
def test_sigterm_ends_all_of_it_while_its_agent_starts(light_demo: Demo) -> None:
    def agent() -> bool | None:
        return True if light_demo.processes("iotide-agent run") else None

    wait_for("an agent", agent, seconds=SHOWN_SECONDS)
    (own,) = (pid for pid, command in light_demo.processes(LIGHT.name).items() if "setsid" not in command)
    os.kill(own, signal.SIGTERM)
    assert light_demo.wait_ended() == 128 + signal.SIGTERM, light_demo.shown
    assert light_demo.processes() == {}


@pytest.mark.parametrize("light_demo", ["all works"], indirect=True)
def test_it_ends_with_its_server_and_reports_it(light_demo: Demo) -> None:
    light_demo.wait_shown("demo: 2 runs finished, 0 failed")
    (server,) = light_demo.processes("iotide-server up")
    assert light_demo.processes("iotide-agent run")
    os.kill(server, signal.SIGTERM)
    assert light_demo.wait_ended() == 1
    assert "demo: the server ended" in light_demo.shown
    assert light_demo.processes() == {}
