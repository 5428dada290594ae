"""Settings of `[mpi]` in agent.toml, and the environment that they give to launchers and remote parts."""

import os
from pathlib import PurePosixPath
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from iotide_agent.mpi.launchers import REMOTE_PARTS, LauncherKind, PortRange, parse_ports, settings_of
from iotide_agent.mpi.networks import check_network

IOZONE: Final = "iozone"
SHORT_PATHS: Final = frozenset({LauncherKind.OPEN_MPI_4, LauncherKind.OPEN_MPI_5})
MOST_STATE_BYTES: Final = 48
"""Open MPI makes Unix sockets below the scratch directory of an order; their paths have at most 107 bytes."""
_OWN: Final = frozenset({"HOME", "TMPDIR"})
_OWN_PREFIX: Final = "IOTIDE_"


def _check_program(text: str) -> str:
    path = PurePosixPath(text)
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError("use an absolute path without '..', for example /opt/mpich/bin/mpiexec")
    return str(path)


def _check_launcher(launcher: tuple[str, ...]) -> tuple[str, ...]:
    return (_check_program(launcher[0]), *launcher[1:])


def _check_ports(text: str) -> str:
    parse_ports(text)
    return text


def _check_environment(variables: dict[str, str]) -> dict[str, str]:
    for name in variables:
        if name in _OWN or name.startswith(_OWN_PREFIX):
            raise ValueError(f"remove {name}, which each run sets itself")
    return variables


class MpiConfig(BaseModel):
    """How programs over several nodes start here, docs/mpi.md.

    Attributes:
        kind: Family of the launcher.
        launcher: Start of its command line, the first word as a path; for instance a wrapper that loads modules.
        programs: Remote parts that this node starts for another node's launcher, nothing else.
        ports: TCP ports for launcher, remote parts and tasks, as `first-last`. The firewall allows them from the
            cluster's nodes only.
        heads: Networks of the nodes that may be the head of a run; default: any node that the server names.
        interface: Network interface; default: that of `data_address`.
        environment: Variables of launcher and tasks. They get no others of the agent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: LauncherKind
    launcher: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1), AfterValidator(_check_launcher)
    ]
    programs: Annotated[tuple[Annotated[str, AfterValidator(_check_program)], ...], Field(min_length=1, max_length=20)]
    ports: Annotated[str, AfterValidator(_check_ports)] = "46000-46199"
    heads: Annotated[tuple[Annotated[str, AfterValidator(check_network)], ...], Field(max_length=100)] = ()
    interface: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$")] | None = None
    environment: Annotated[
        dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")], str], AfterValidator(_check_environment)
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_remote_parts(self) -> Self:
        names = {PurePosixPath(program).name for program in self.programs}
        needed = REMOTE_PARTS[self.kind]
        if missing := [name for name in needed if name not in names]:
            raise ValueError(f"add the path of {' and '.join(missing)}, which a launcher of kind {self.kind} starts")
        if unknown := sorted(names - {*needed, IOZONE}):
            raise ValueError(f"remove {', '.join(unknown)}; a launcher of kind {self.kind} starts {', '.join(needed)}")
        return self

    @property
    def port_range(self) -> PortRange:
        return parse_ports(self.ports)

    def load_environment(self, interface: str) -> dict[str, str]:
        """Return the whole environment of launcher or remote part, without the directories of the run."""
        settings = settings_of(self.kind, interface, self.port_range)
        return {"PATH": os.defpath, "LC_ALL": "C", **settings, **self.environment}
