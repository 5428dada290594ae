"""Facts of a launcher by what each family prints for --version."""

import pytest

from iotide_agent.mpi.launchers import REMOTE_PARTS, LauncherKind
from iotide_agent.node.mpi_config import MpiConfig
from iotide_agent.node.mpi_facts import mpi_facts
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable, Want

PRINTED = {
    LauncherKind.MPICH: "HYDRA build details:\n    Version:               5.0.2\n    Release Date:          ...\n",
    LauncherKind.OPEN_MPI_4: "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n",
    LauncherKind.OPEN_MPI_5: "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
    LauncherKind.INTEL: "Intel(R) MPI Library for Linux* OS, Version 2021.19 Build 20260101 (id: 0123abc)\n",
}
VERSIONS = {"mpich": "5.0.2", "openmpi-4": "4.1.4", "openmpi-5": "5.0.11", "intel": "2021.19"}


class Printing(Reader):
    def __init__(self, answer: str | Unavailable) -> None:
        self.answer = answer
        self.wants: list[Want] = []

    def read(self, want: Want) -> str | Unavailable:
        self.wants.append(want)
        return self.answer


def config(kind: LauncherKind, **environment: str) -> MpiConfig:
    programs = [f"/opt/mpi/bin/{name}" for name in REMOTE_PARTS[kind]]
    launcher = ("/opt/run", "mpi", "mpiexec")
    return MpiConfig.model_validate(
        {"kind": kind, "launcher": launcher, "programs": programs, "environment": environment}
    )


@pytest.mark.parametrize("kind", LauncherKind)
def test_family_and_release_are_facts(kind: LauncherKind) -> None:
    reader = Printing(PRINTED[kind])
    assert mpi_facts(config(kind), reader, (7, 8)) == {"mpi.kind": kind.value, "mpi.version": VERSIONS[kind.value]}
    (want,) = reader.wants
    assert isinstance(want, CommandWant)
    assert (want.argv, want.run_as) == (("/opt/run", "mpi", "mpiexec", "--version"), (7, 8))


@pytest.mark.parametrize("answer", ["", "unknown option --version\n", Unavailable("it did not answer within 10 s")])
def test_a_launcher_without_a_known_answer_has_no_release(answer: str | Unavailable) -> None:
    assert mpi_facts(config(LauncherKind.MPICH), Printing(answer)) == {"mpi.kind": "mpich"}


def test_only_a_chosen_transport_is_a_fact() -> None:
    chosen = config(LauncherKind.MPICH, UCX_TLS="tcp,self", FI_PROVIDER="tcp;ofi_rxm", LD_LIBRARY_PATH="/opt")
    facts = mpi_facts(chosen, Printing(PRINTED[LauncherKind.MPICH]))
    assert facts["mpi.transport"] == "UCX_TLS=tcp,self FI_PROVIDER=tcp;ofi_rxm"


def test_a_node_without_mpi_starts_no_command() -> None:
    reader = Printing("")
    assert mpi_facts(None, reader) == {}
    assert reader.wants == []
