"""MPI programs for tests: the installed `ior` and `mdtest`, else MPI programs of ours that take their options."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

STANDINS: Final = Path(__file__).parents[1] / "standins"
SCRIPTS: Final = sysconfig.get_path("scripts")


def launcher_of(name: str) -> str:
    """Return the path of a program of MPICH, which is among the packages of the tests."""
    found = shutil.which(name, path=f"{SCRIPTS}:{os.environ['PATH']}")
    if found is None:
        raise RuntimeError(f"{name} of MPICH is not installed; run: uv sync --all-packages")
    return found


@cache
def by_rank(tool: str) -> str:
    """Return our program with the options of a tool. All processes of the machine share what one has compiled."""
    source = STANDINS / f"{tool}.c"
    digest = hashlib.sha256(source.read_bytes() + SCRIPTS.encode()).hexdigest()[:16]
    program = Path(tempfile.gettempdir()) / f"iotide-tests-{os.getuid()}-{digest}" / tool
    if not program.exists():
        program.parent.mkdir(mode=0o755, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as own:
            made = Path(own) / tool
            subprocess.run([launcher_of("mpicc"), "-O2", "-o", made, source], check=True)
            made.rename(program)
    return str(program)


@contextmanager
def iozone_alone() -> Iterator[None]:
    """Wait for other tests of iozone over several nodes: two at once on a machine fail, because of its fixed port."""
    with (Path(tempfile.gettempdir()) / f"iotide-tests-{os.getuid()}-iozone.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def mpi_settings(tool: str) -> dict[str, Any]:
    """Return the node's settings for `ior`, `mdtest` or `io500`. If it is not installed, a recorded run is replayed."""
    if shutil.which(tool) and shutil.which("mpirun"):
        return {}
    program = str(STANDINS / "io500.py") if tool == "io500" else by_rank(tool)
    return {"launcher": [launcher_of("mpiexec.hydra"), "-n", "{tasks}"], "program": program}
