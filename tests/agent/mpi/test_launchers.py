"""Command lines of launchers and the settings that confine their ports."""

import pytest

from iotide_agent.mpi.launchers import (
    Launch,
    LauncherKind,
    PortRange,
    TooFewPortsError,
    command_of,
    parse_ports,
    settings_of,
)

PORTS = PortRange(46_000, 46_199)
HOSTS = ("10.77.0.1", "10.77.0.2", "10.77.0.3")


def launch(kind: LauncherKind, tasks_per_node: int = 2, interface: str = "eth0") -> Launch:
    return Launch(kind, ("/opt/mpi/bin/mpiexec",), HOSTS, tasks_per_node, "/run/rsh", interface, PORTS)


def words(kind: LauncherKind, interface: str = "eth0") -> str:
    return " ".join(command_of(launch(kind, interface=interface), ("/opt/ior", "-w")))


def test_hydra_starts_its_proxies_by_our_program_and_leaves_its_environment_at_home() -> None:
    assert words(LauncherKind.MPICH) == (
        "/opt/mpi/bin/mpiexec -launcher rsh -launcher-exec /run/rsh -rmk user -localhost 10.77.0.1 "
        "-hosts 10.77.0.1,10.77.0.2,10.77.0.3 -genvnone -ppn 2 -n 6 /opt/ior -w"
    )


def test_open_mpi_4_neither_uses_srun_nor_leaves_its_session_nor_starts_members_from_members() -> None:
    assert words(LauncherKind.OPEN_MPI_4) == (
        "/opt/mpi/bin/mpiexec --leave-session-attached --mca plm rsh --mca plm_rsh_agent /run/rsh "
        "--mca plm_rsh_no_tree_spawn 1 --mca plm_rsh_num_concurrent 3 "
        "--mca oob_tcp_dynamic_ipv4_ports 46000-46019 --mca oob_tcp_if_include eth0 "
        "--oversubscribe --map-by ppr:2:node "
        "--mca btl_tcp_port_min_v4 46020 --mca btl_tcp_port_range_v4 180 --mca btl_tcp_if_include eth0 "
        "--bind-to none --host 10.77.0.1:2,10.77.0.2:2,10.77.0.3:2 -np 6 /opt/ior -w"
    )


def test_open_mpi_5_has_the_same_under_its_own_names() -> None:
    assert words(LauncherKind.OPEN_MPI_5) == (
        "/opt/mpi/bin/mpiexec --leave-session-attached --prtemca plm ssh --prtemca plm_ssh_agent /run/rsh "
        "--prtemca plm_ssh_no_tree_spawn 1 --prtemca plm_ssh_num_concurrent 3 "
        "--prtemca prte_oob_tcp_dynamic_ipv4_ports 46000-46019 --prtemca prte_if_include eth0 "
        "--map-by ppr:2:node:oversubscribe "
        "--mca btl_tcp_port_min_v4 46020 --mca btl_tcp_port_range_v4 180 --mca btl_tcp_if_include eth0 "
        "--bind-to none --host 10.77.0.1:2,10.77.0.2:2,10.77.0.3:2 -np 6 /opt/ior -w"
    )


def test_intel_mpi_starts_all_parts_from_the_head() -> None:
    assert words(LauncherKind.INTEL) == (
        "/opt/mpi/bin/mpiexec -bootstrap rsh -bootstrap-exec /run/rsh -rmk user "
        "-hosts 10.77.0.1,10.77.0.2,10.77.0.3 -branch-count 3 -iface eth0 -ppn 2 -n 6 /opt/ior -w"
    )


@pytest.mark.parametrize("kind", LauncherKind)
def test_without_a_known_interface_no_option_names_one(kind: LauncherKind) -> None:
    assert "include" not in words(kind, interface="")
    assert "-iface" not in words(kind, interface="")
    assert not {"UCX_NET_DEVICES", "FI_TCP_IFACE"} & settings_of(kind, "", PORTS).keys()


def test_launcher_and_ranks_share_no_port() -> None:
    assert settings_of(LauncherKind.MPICH, "eth0", PORTS) == {
        "MPIEXEC_PORT_RANGE": "46000:46019",
        "UCX_TCP_PORT_RANGE": "46020-46199",
        "FI_TCP_PORT_LOW_RANGE": "46020",
        "FI_TCP_PORT_HIGH_RANGE": "46199",
        "UCX_NET_DEVICES": "eth0",
        "FI_TCP_IFACE": "eth0",
    }
    assert settings_of(LauncherKind.INTEL, "eth0", PORTS)["I_MPI_PORT_RANGE"] == "46000:46019"
    assert settings_of(LauncherKind.OPEN_MPI_5, "eth0", PORTS) == {}


def test_more_tasks_than_ports_are_refused_with_the_setting() -> None:
    command_of(launch(LauncherKind.MPICH, tasks_per_node=180), ())
    with pytest.raises(TooFewPortsError, match=r"181 tasks per node .* `ports` of \[mpi\]"):
        command_of(launch(LauncherKind.MPICH, tasks_per_node=181), ())


def test_a_range_of_ports_is_two_numbers_with_room() -> None:
    assert parse_ports("46000-46199") == PORTS
    for text in ("46000", "46000:46199", "46199-46000", "46000-46010", "80-200", "65000-66000", "a-b", "-1-46000"):
        with pytest.raises(ValueError, match="ports"):
            parse_ports(text)
