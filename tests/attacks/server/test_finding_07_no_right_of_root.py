"""Whoever gets into a part of the server gets no right of root with it, wherever its code lies."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import pytest
from backend.bundled.test_up import COMMAND, QUIET, children_of, up
from bring_up import free_port
from opened import opened_command

from iotide_server.bundled.state import StateDirectory

pytestmark = pytest.mark.timeout(300)  # starts a whole server, on a machine that may be busy

IS_ROOT = os.geteuid() == 0
SETS: Final = ("CapInh", "CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if IS_ROOT else []))

READS: Final = """
import os, sys
uid, gid, groups = int(sys.argv[1]), int(sys.argv[2]), [int(group) for group in sys.argv[3].split()]
if os.geteuid() == 0:
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
os.open(sys.argv[4], os.O_RDONLY)
"""


def status_of(pid: int) -> Mapping[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def descendants(pid: int) -> list[int]:
    return [found for child in children_of(pid) for found in (child, *descendants(child))]


@pytest.fixture
def secret() -> Iterator[Path]:
    """Make a file of root's, where everybody may look for it."""
    with NamedTemporaryFile(prefix="iotide-") as file:
        if not IS_ROOT:
            os.fchmod(file.fileno(), 0)
        yield Path(file.name)


def test_no_part_has_a_capability_or_reads_what_is_roots(secret: Path) -> None:
    with up() as services:
        assert services.process is not None
        processes = [services.process.pid, *descendants(services.process.pid)]
        found = {pid: status_of(pid) for pid in processes}
    names = {status["Name"][0] for status in found.values()}
    assert len(names) >= 3, names  # PostgreSQL and Redis have their own, and Python runs the others
    for pid, status in found.items():
        sets = {name: int(status[name][0], 16) for name in SETS}
        assert sets == dict.fromkeys(SETS, 0), (pid, status["Name"])
        ids = {*status["Uid"], *status["Gid"]}
        assert "0" not in ids or not IS_ROOT, (pid, status["Name"], ids)
        assert status["NoNewPrivs"] == ["1" if IS_ROOT else status["NoNewPrivs"][0]]
    for who in {(status["Uid"][1], status["Gid"][1], " ".join(status["Groups"])) for status in found.values()}:
        done = subprocess.run(
            [sys.executable, "-c", READS, *who, str(secret)], capture_output=True, text=True, check=False
        )
        assert "PermissionError" in done.stderr, who


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
        assert f"The services run as {state.account.name}, who may not read {closed}." in done.stderr
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
    assert f"who may not enter {inner}" in done.stderr
    assert "--state, for instance /var/lib/iotide" in done.stderr
