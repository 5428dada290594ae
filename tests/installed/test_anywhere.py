"""Server as README installs it, readable by every user, started by root in a directory that only root may enter."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from bring_up import free_port
from opened import lend

TOP: Final = Path(__file__).resolve().parents[2]
README: Final = TOP / "README.md"
INSTALL: Final = ("uv", "tool", "install", "./backend[embedded]", "--with", "./agent/wire")
PYTHON: Final = "/usr/bin/python3"
"""The system's own, which every user may run."""
READY_SECONDS: Final = 30.0
"""From the command to the first sign-in; `./dev test-deploy` runs nothing next to it."""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Return a directory that every user may enter, like /opt."""
    path = Path(tempfile.mkdtemp(prefix="iotide-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def server(place: Path) -> Path:
    """Return the program, installed by the line in README."""
    assert " ".join(INSTALL) in README.read_text().replace("'", "")
    where = {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(place / "bin"), "UV_PYTHON": PYTHON}
    # Otherwise uv reuses a wheel of an earlier state of these sources.
    fresh = [word for name in ("iotide-server", "iotide-wire") for word in ("--refresh-package", name)]
    subprocess.run([*INSTALL, *fresh], cwd=TOP, env={**os.environ, **where}, check=True, umask=0o022)
    return place / "bin/iotide-server"


@pytest.fixture
def state(place: Path) -> Path:
    """Return a state directory of an ordinary user, as an installation of 0.2.0 has one of `nobody`."""
    return lend(place / "state")


def test_up_typed_where_its_user_may_not_enter_is_ready(
    server: Path, place: Path, state: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    closed = tmp_path / "root"
    closed.mkdir(mode=0o700)
    ports = {"--port": free_port(), "--redis-port": free_port()}
    options = [word for name, port in ports.items() for word in (name, str(port))]
    said = place / "said"
    with said.open("w") as out:
        began = time.monotonic()
        up = subprocess.Popen(
            [server, "up", "--state", state, *options],
            cwd=closed,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(closed)},
        )
    try:
        while "iotide is ready" not in said.read_text():
            assert up.poll() is None, said.read_text()
            assert time.monotonic() - began < READY_SECONDS, said.read_text()
            time.sleep(0.1)
        record_property("printed", f"ready after {time.monotonic() - began:.0f} s")
        assert Path(f"/proc/{up.pid}").stat().st_uid == state.stat().st_uid != 0
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(60)
