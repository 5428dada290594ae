"""What starts the programs of MPI in tests: the real ones where they are installed, else what stands in for them."""

import shutil
from pathlib import Path
from typing import Any

STANDINS = Path(__file__).parents[1] / "standins"


def mpi_settings(tool: str) -> dict[str, Any]:
    """Settings of the node for `ior` or `mdtest`."""
    if shutil.which(tool) and shutil.which("mpirun"):
        return {}
    return {"launcher": [str(STANDINS / "mpirun.py"), "-n", "{tasks}"], "program": str(STANDINS / f"{tool}.py")}
