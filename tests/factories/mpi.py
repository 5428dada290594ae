"""MPI launchers for tests: the real ones if installed, else stand-ins."""

import shutil
from pathlib import Path
from typing import Any

STANDINS = Path(__file__).parents[1] / "standins"


def mpi_settings(tool: str) -> dict[str, Any]:
    """Return the node's settings for `ior` or `mdtest`."""
    if shutil.which(tool) and shutil.which("mpirun"):
        return {}
    return {"launcher": [str(STANDINS / "mpirun.py"), "-n", "{tasks}"], "program": str(STANDINS / f"{tool}.py")}
