"""Facts of a node's MPI: family and release of its launcher, and the transport where agent.toml chooses one."""

import re
from typing import Final

from iotide_agent.mpi.launchers import LauncherKind
from iotide_agent.node.mpi_config import MpiConfig
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable
from iotide_wire.facts import Facts

_VERSIONS: Final = {
    LauncherKind.MPICH: re.compile(r"^\s*Version:\s+(\S{1,40})", re.MULTILINE),
    LauncherKind.OPEN_MPI_4: re.compile(r"\(Open MPI\) (\S{1,40})"),
    LauncherKind.OPEN_MPI_5: re.compile(r"\(Open MPI\) (\S{1,40})"),
    LauncherKind.INTEL: re.compile(r"\bVersion (\S{1,40})"),
}
_TRANSPORTS: Final = (
    *("UCX_TLS", "FI_PROVIDER", "MPIR_CVAR_CH4_NETMOD", "I_MPI_FABRICS", "I_MPI_OFI_PROVIDER"),
    *("OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl"),
)
"""Environment variables that choose how tasks reach each other."""
_MOST_CHARACTERS: Final = 200


def mpi_facts(mpi: MpiConfig | None, reader: Reader, run_as: tuple[int, ...] = ()) -> Facts:
    """Return no facts without `[mpi]`, and none that is not known: MPI itself chooses a transport without a word."""
    if mpi is None:
        return {}
    facts: Facts = {"mpi.kind": mpi.kind.value}
    printed = reader.read(CommandWant((*mpi.launcher, "--version"), "the MPI of [mpi] in agent.toml", run_as=run_as))
    found = None if isinstance(printed, Unavailable) else _VERSIONS[mpi.kind].search(printed)
    if found:
        facts["mpi.version"] = found[1]
    if chosen := [f"{name}={mpi.environment[name]}" for name in _TRANSPORTS if name in mpi.environment]:
        facts["mpi.transport"] = " ".join(chosen)[:_MOST_CHARACTERS]
    return facts
