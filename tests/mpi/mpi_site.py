"""Cluster of four agents on hosts of their own, with an MPI, and a program that measures and notes what it does."""

import json
import subprocess
import sysconfig
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from bring_up import wait_for
from local_stack import Agent, Launch, LocalStack
from mpi.hosts import Host, Process
from submitting import TARGET, Submitting

TASKS: Final = 2
TRANSFER_BYTES: Final = 65_536
IOZONE: Final = "/usr/bin/iozone"
SLOW_DROP_SECONDS: Final = 1.0
"""Time that the last host needs to empty its cache, so that a reader that does not wait for it is seen."""
_HERE: Final = Path(__file__).parent
_SOURCES: Final = (_HERE.parent / "standins/ior.c", _HERE / "witness.c")
_LAUNCH: Final = """#!/bin/sh
[ "$1" = --version ] || printf '%s launch %s -1 0\\n' "$(date +%s%N)" "$(uname -n)" >>{log}
exec {launcher} "$@"
"""
_DROP: Final = """#!/bin/sh
sleep {seconds}
printf '%s drop %s -1 0\\n' "$(date +%s%N)" {host} >>{log}
"""


class Mpi(NamedTuple):
    """An installed MPI; `own_name` is that of its launcher's process, `part_name` that of its remote part."""

    kind: str
    directory: Path
    launcher: str
    part: str
    environment: Mapping[str, str]
    launcher_names: frozenset[str]


def installed(open_mpi: Path) -> list[Mpi]:
    scripts = Path(sysconfig.get_path("scripts"))
    # Without these words, tasks would look for each other in the memory of one machine, by its boot id.
    by_network = {"UCX_TLS": "tcp,self"}
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # All hosts have the same few CPUs.
    politely = {"OMPI_MCA_mpi_yield_when_idle": "1"}
    return [
        Mpi("mpich", scripts, "mpiexec.hydra", "hydra_pmi_proxy", by_network, frozenset({"mpiexec.hydra"})),
        Mpi("openmpi-5", open_mpi.absolute(), "mpirun", "prted", as_root | politely, frozenset({"mpirun", "prterun"})),
    ]


class Mark(NamedTuple):
    """Line of the program's own log."""

    seconds: float
    event: str
    host: str
    rank: int
    moved_bytes: int


@dataclass
class MpiSite(Submitting):
    """One cluster.

    Attributes:
        base: Programs, log and behaviour of the program.
    """

    longest_start_seconds: ClassVar[float] = 60
    longest_run_seconds: ClassVar[float] = 120

    stack: LocalStack
    hosts: Sequence[Host]
    mpi: Mpi
    cluster: str = field(init=False)
    base: Path = field(init=False)
    target: Path = field(init=False)
    agents: dict[str, Agent] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cluster = self.mpi.kind
        self.base = self.stack.directory / self.mpi.kind
        self.base.mkdir()
        self.target = self.stack.directory / "targets" / self.mpi.kind
        self._log, self._behaviour = self.base / "log", self.base / "behaviour"
        self._log.touch()
        self._compile()
        self._script("launch", _LAUNCH.format(log=self._log, launcher=self.mpi.directory / self.mpi.launcher))
        cluster_id = self.stack.add_cluster(self.cluster)
        for host in self.hosts:
            launch = Launch(configuration=self._configuration(host), within=host.within)
            self.agents[host.name] = self.stack.add_agent(cluster_id, host.name, [self.target], launch=launch)
        body = {"cluster_id": cluster_id, "name": TARGET, "path": str(self.target), "scope": "shared"}
        nodes = [agent.node_id for agent in self.agents.values()]
        self.stack.post("/targets", {**body, "nodes": nodes, "reserve_bytes": None})

    @property
    def first_node(self) -> str:
        """Return the head of its plans."""
        return self.hosts[0].name

    def _compile(self) -> None:
        where = [f'-DWITNESS_LOG="{self._log}"', f'-DWITNESS_BEHAVIOUR="{self._behaviour}"']
        wrapped = ["-U_FORTIFY_SOURCE", "-Wl,--wrap=pwrite,--wrap=pread"]
        sources = [str(source) for source in _SOURCES]
        command = [str(self.mpi.directory / "mpicc"), "-O2", *where, *wrapped, "-o", str(self.base / "ior"), *sources]
        subprocess.run(command, check=True)

    def _script(self, name: str, text: str) -> Path:
        path = self.base / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def _configuration(self, host: Host) -> str:
        seconds = SLOW_DROP_SECONDS if host is self.hosts[-1] else 0
        drop = self._script(f"drop-{host.name}", _DROP.format(seconds=seconds, host=host.name, log=self._log))
        programs = json.dumps([str(self.mpi.directory / self.mpi.part), IOZONE])
        variables = "".join(f"{name} = {json.dumps(value)}\n" for name, value in self.mpi.environment.items())
        return (
            f'data_address = "{host.address}"\ncache_drop_command = ["{drop}"]\n'
            f'[mpi]\nkind = "{self.mpi.kind}"\nlauncher = ["{self.base / "launch"}"]\nprograms = {programs}\n'
            f"[mpi.environment]\n{variables}"
            f'[workloads.ior]\nlauncher = []\nprogram = "{self.base / "ior"}"\n'
        )

    def submit_ior(
        self, *, transfers: int = 32, tasks: int = TASKS, nodes: int = 4, time_limit_seconds: float = 60.0
    ) -> int:
        """Submit a run of one program that writes and reads a shared file; return its id."""
        options = {
            "tasks": tasks,
            "transfer_size_bytes": TRANSFER_BYTES,
            "transfers_per_block": transfers,
            "file_per_process": False,
            "reorder": True,
        }
        return self._submit("ior", options, nodes, time_limit_seconds)

    def submit_iozone(self, *, file_bytes: int, processes: int) -> int:
        """Submit a run of IOzone over two nodes; return its id."""
        options = {
            "mode": "throughput",
            "cluster": True,
            "stone_walling": False,
            "tests": ["write", "read"],
            "file_size_bytes": file_bytes,
            "max_record_size_bytes": TRANSFER_BYTES,
            "processes": processes,
        }
        return self._submit("iozone", options, 2, 60.0)

    def _submit(self, workload: str, options: Mapping[str, Any], nodes: int, time_limit_seconds: float) -> int:
        together = {"nodes": [host.name for host in self.hosts[:nodes]], "nodes_at_once": True, "quiet": "ignore"}
        return self.submit_one(
            workload,
            options,
            **together,
            time_limit_seconds=time_limit_seconds,
            attempts_allowed=3,
            cool_down_seconds=0,
        )

    def misbehave(self, behaviour: str, *, rank: int = -1, milliseconds: int = 0) -> None:
        """Have the program do this from its next first barrier on."""
        self._behaviour.write_text(f"{behaviour} {rank} {milliseconds}\n")

    def behave(self) -> None:
        self._behaviour.unlink(missing_ok=True)

    def log_bytes(self) -> int:
        return self._log.stat().st_size

    def marks(self, since_bytes: int = 0) -> list[Mark]:
        """Return what the program noted after the log had this size, in order of time."""
        found = []
        for line in self._log.read_bytes()[since_bytes:].decode().splitlines():
            nanoseconds, event, host, rank, moved_bytes = line.split()
            found.append(Mark(int(nanoseconds) / 1e9, event, host, int(rank), int(moved_bytes)))
        return sorted(found)

    def loads(self, run_id: int | None = None) -> list[tuple[Host, Process]]:
        """Return the living processes of all runs, or of one run."""
        start = "" if run_id is None else f"{run_id}-"
        return [
            (host, process)
            for host in self.hosts
            for process in host.living()
            if process.attempt and process.attempt.startswith(start)
        ]

    def of_agent(self, host: Host, *, runners: bool) -> list[Process]:
        """Return the processes of the host's agent, or its runners."""
        own = str(self.agents[host.name].directory)
        return [
            process
            for process in host.living()
            if own in process.command and ("iotide_agent/runner" in process.command) is runners and not process.attempt
        ]

    def restart_agent(self, host: Host) -> None:
        self.stack.restart_agent(self.agents[host.name])

    def wait_gone(self, run_id: int, attempt: str, *, seconds: float) -> list[tuple[Host, Process]]:
        """Return what is left of an attempt, or of all of the run's, after at most this time."""
        until = time.monotonic() + seconds
        while left := [one for one in self.loads(run_id) if attempt in {"", one[1].attempt}]:
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        return left

    def wait_empty(self, *, seconds: float = 20.0) -> list[str]:
        """Return what is left on the target after at most this time."""
        until = time.monotonic() + seconds
        while (left := [path.name for path in self.target.iterdir()]) and time.monotonic() < until:
            time.sleep(0.1)
        return left

    def retry(self, run_id: int) -> None:
        self.stack.post(f"/runs/{run_id}/retry", {})

    def wait_online(self) -> None:
        """Wait until the server sees all agents."""

        def online() -> bool | None:
            items = self.stack.get("/nodes", limit=500)["items"]
            states = {item["name"]: item["state"] for item in items if item["id"] in self._node_ids}
            return True if set(states.values()) == {"online"} else None

        wait_for("agents online", online, seconds=90)

    @property
    def _node_ids(self) -> set[int]:
        return {agent.node_id for agent in self.agents.values()}

    def close(self) -> None:
        """End all agents with what they run."""
        for host in self.hosts:
            host.end_all()
        for agent in self.agents.values():
            self.stack.stop_agent(agent)
