"""Real MPICH for nodes on this machine, and a program that notes its environment."""

import subprocess
import sysconfig
from pathlib import Path
from typing import Final

from slurm.real_slurm import NODES

_SOURCE: Final = Path(__file__).parents[1] / "standins/ior.c"
_SCRIPTS: Final = Path(sysconfig.get_path("scripts"))
_NOTING: Final = """#!/bin/sh
case "$1" in -h | --version) exec {program} "$@" ;; esac
env | sed "s/^/{who} /" >>{base}/environment
[ {who} = launcher ] || [ ! -e {base}/slow ] || sleep 60
exec {program} "$@"
"""


def mpi_of_nodes(base: Path) -> dict[str, str]:
    """Compile the program below `base` and return lines of agent.toml by node."""
    subprocess.run([_SCRIPTS / "mpicc", "-O2", "-o", base / "ior", _SOURCE], check=True)
    for name, who, program in (
        ("launch", "launcher", _SCRIPTS / "mpiexec.hydra"),
        ("noting-ior", "task", base / "ior"),
    ):
        (base / name).write_text(_NOTING.format(who=who, base=base, program=program))
        (base / name).chmod(0o755)
    return {
        node: f'data_address = "127.0.0.{number}"\n'
        f'[mpi]\nkind = "mpich"\ninterface = "lo"\nlauncher = ["{base}/launch"]\n'
        f'programs = ["{_SCRIPTS}/hydra_pmi_proxy"]\n'
        f'[workloads.ior]\nlauncher = []\nprogram = "{base}/noting-ior"\n'
        for number, node in enumerate(NODES, start=1)
    }
