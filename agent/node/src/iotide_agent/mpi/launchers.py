"""Command lines of MPI launchers, with our program in the place of the remote shell."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple


class LauncherKind(StrEnum):
    """Families of launchers, by their options."""

    MPICH = "mpich"
    OPEN_MPI_4 = "openmpi-4"
    OPEN_MPI_5 = "openmpi-5"
    INTEL = "intel"


REMOTE_PARTS: Final = {
    LauncherKind.MPICH: ("hydra_pmi_proxy",),
    LauncherKind.OPEN_MPI_4: ("orted",),
    LauncherKind.OPEN_MPI_5: ("prted",),
    LauncherKind.INTEL: ("hydra_bstrap_proxy", "hydra_pmi_proxy"),
}
"""Programs that each launcher starts on the other nodes."""
OWN_PART: Final = {LauncherKind.MPICH: "hydra_pmi_proxy", LauncherKind.INTEL: "hydra_bstrap_pr"}
"""Name in /proc of the part that a launcher starts on its own node; Open MPI's launcher starts ranks itself."""

LAUNCHER_PORTS: Final = 20
"""Ports for launcher and remote parts; Open MPI opens ten of its own at once. The ranks get the rest."""
FEWEST_PORTS: Final = LAUNCHER_PORTS + 20
_FIRST_PORT: Final = 1024
_LAST_PORT: Final = 65_535


class PortRange(NamedTuple):
    first: int
    last: int

    def of_launcher(self) -> "PortRange":
        return PortRange(self.first, self.first + LAUNCHER_PORTS - 1)

    def of_ranks(self) -> "PortRange":
        return PortRange(self.first + LAUNCHER_PORTS, self.last)

    @property
    def size(self) -> int:
        return self.last - self.first + 1


def parse_ports(text: str) -> PortRange:
    """Return the range of `first-last`; raise ValueError with the remedy."""
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise ValueError('write two ports, for instance "46000-46199"')
    ports = PortRange(int(first), int(last))
    if not _FIRST_PORT <= ports.first <= ports.last <= _LAST_PORT or ports.size < FEWEST_PORTS:
        reason = f"use at least {FEWEST_PORTS} ports between {_FIRST_PORT} and {_LAST_PORT}"
        raise ValueError(f"{reason}, {LAUNCHER_PORTS} for the launcher and one for each task of a node")
    return ports


class Launch(NamedTuple):
    """Program over the nodes of a gang.

    Attributes:
        launcher: Start of the command line, from agent.toml of the head.
        hosts: Addresses of the nodes; the head's own is the first.
        remote_start: Path of the program in the place of ssh.
        interface: Of this node's data address; empty if unknown.
    """

    kind: LauncherKind
    launcher: Sequence[str]
    hosts: Sequence[str]
    tasks_per_node: int
    remote_start: str
    interface: str
    ports: PortRange

    @property
    def tasks(self) -> int:
        return self.tasks_per_node * len(self.hosts)


class TooFewPortsError(ValueError):
    """The range of agent.toml has no port for each task."""


def check_tasks(tasks_per_node: int, ports: PortRange) -> None:
    """Raise TooFewPortsError unless each task of a node can have a port."""
    if tasks_per_node > ports.of_ranks().size:
        raise TooFewPortsError(
            f"{tasks_per_node} tasks per node need a port each, and {LAUNCHER_PORTS} are the launcher's; "
            f"`ports` of [mpi] in agent.toml has {ports.size}"
        )


def command_of(launch: Launch, program: Sequence[str]) -> tuple[str, ...]:
    """Return the launcher's argument list; raise TooFewPortsError."""
    check_tasks(launch.tasks_per_node, launch.ports)
    return (*launch.launcher, *_OPTIONS[launch.kind](launch), *program)


def settings_of(kind: LauncherKind, interface: str, ports: PortRange) -> dict[str, str]:
    """Return the variables that confine this node's ports, for the launcher and for each remote part.

    Ranks inherit them from the remote part of their node, so each node uses its own interface.
    """
    settings = dict(_SETTINGS[kind](ports))
    if kind in {LauncherKind.MPICH, LauncherKind.INTEL}:
        ranks = ports.of_ranks()
        settings |= {
            "UCX_TCP_PORT_RANGE": f"{ranks.first}-{ranks.last}",
            "FI_TCP_PORT_LOW_RANGE": str(ranks.first),
            "FI_TCP_PORT_HIGH_RANGE": str(ranks.last),
        }
        if interface:
            settings |= {"UCX_NET_DEVICES": interface, "FI_TCP_IFACE": interface}
    return settings


def _mpich(launch: Launch) -> tuple[str, ...]:
    return (
        *("-launcher", "rsh", "-launcher-exec", launch.remote_start, "-rmk", "user"),
        *("-localhost", launch.hosts[0], "-hosts", ",".join(launch.hosts)),
        # Without the launcher's environment, ranks have that of their own node's part.
        *("-genvnone", "-ppn", str(launch.tasks_per_node), "-n", str(launch.tasks)),
    )


def _intel(launch: Launch) -> tuple[str, ...]:
    return (
        *("-bootstrap", "rsh", "-bootstrap-exec", launch.remote_start, "-rmk", "user"),
        *("-hosts", ",".join(launch.hosts)),
        # Above 16 nodes Intel MPI starts parts from parts; this many branches make it flat.
        *("-branch-count", str(len(launch.hosts))),
        *(("-iface", launch.interface) if launch.interface else ()),
        *("-ppn", str(launch.tasks_per_node), "-n", str(launch.tasks)),
    )


def _parameters(option: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for name, value in parameters.items() for word in (option, name, value))


def _ranks_of_open_mpi(launch: Launch) -> tuple[str, ...]:
    ranks = launch.ports.of_ranks()
    parameters = {"btl_tcp_port_min_v4": str(ranks.first), "btl_tcp_port_range_v4": str(ranks.size)}
    if launch.interface:
        parameters["btl_tcp_if_include"] = launch.interface
    hosts = ",".join(f"{host}:{launch.tasks_per_node}" for host in launch.hosts)
    # As with Hydra, tasks may exceed CPUs and are not bound to one.
    placed = ("--bind-to", "none", "--host", hosts, "-np", str(launch.tasks))
    return (*_parameters("--mca", parameters), *placed)


def _open_mpi_4(launch: Launch) -> tuple[str, ...]:
    ports = launch.ports.of_launcher()
    parameters = {
        "plm": "rsh",  # inside a job of Slurm it would use srun
        "plm_rsh_agent": launch.remote_start,
        "plm_rsh_no_tree_spawn": "1",
        "plm_rsh_num_concurrent": str(len(launch.hosts)),
        "oob_tcp_dynamic_ipv4_ports": f"{ports.first}-{ports.last}",
    }
    if launch.interface:
        parameters["oob_tcp_if_include"] = launch.interface
    mapped = ("--oversubscribe", "--map-by", f"ppr:{launch.tasks_per_node}:node")
    return ("--leave-session-attached", *_parameters("--mca", parameters), *mapped, *_ranks_of_open_mpi(launch))


def _open_mpi_5(launch: Launch) -> tuple[str, ...]:
    ports = launch.ports.of_launcher()
    parameters = {
        "plm": "ssh",  # as above
        "plm_ssh_agent": launch.remote_start,
        "plm_ssh_no_tree_spawn": "1",
        "plm_ssh_num_concurrent": str(len(launch.hosts)),
        "prte_oob_tcp_dynamic_ipv4_ports": f"{ports.first}-{ports.last}",
    }
    if launch.interface:
        parameters["prte_if_include"] = launch.interface
    mapped = ("--map-by", f"ppr:{launch.tasks_per_node}:node:oversubscribe")
    return ("--leave-session-attached", *_parameters("--prtemca", parameters), *mapped, *_ranks_of_open_mpi(launch))


_OPTIONS: Final[Mapping[LauncherKind, Callable[[Launch], tuple[str, ...]]]] = {
    LauncherKind.MPICH: _mpich,
    LauncherKind.OPEN_MPI_4: _open_mpi_4,
    LauncherKind.OPEN_MPI_5: _open_mpi_5,
    LauncherKind.INTEL: _intel,
}
_SETTINGS: Final[Mapping[LauncherKind, Callable[[PortRange], Mapping[str, str]]]] = {
    LauncherKind.MPICH: lambda ports: {"MPIEXEC_PORT_RANGE": "{}:{}".format(*ports.of_launcher())},
    LauncherKind.OPEN_MPI_4: lambda _: {},
    LauncherKind.OPEN_MPI_5: lambda _: {},
    LauncherKind.INTEL: lambda ports: {"I_MPI_PORT_RANGE": "{}:{}".format(*ports.of_launcher())},
}
