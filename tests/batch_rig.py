"""A cluster with runs as jobs of a batch system: enrolled nodes without a running agent, and a gateway."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Self

from bring_up import StackError, wait_for
from local_stack import BIN, LocalStack
from submitting import TARGET, Submitting
from watched_loads import WatchedLoads

SHARED: Final = "shared"
_numbers = count(1)


@dataclass
class BatchRig(Submitting):
    """One cluster.

    Attributes:
        environment: of the gateway and so of the jobs, such as the path of the batch system's commands.
        batch: more lines of `[batch]`.
        config_of: the node whose configuration jobs read; `{node}`: the node that runs the job.
        of_nodes: by node, more lines of its agent.toml; with any, all nodes share a second target.
        shared: path of that target.
        loads: the loads that really ran, of all jobs together.
    """

    longest_start_seconds = 60
    longest_run_seconds = 90

    stack: LocalStack
    system: str
    nodes: Sequence[str]
    environment: Mapping[str, str]
    batch: str = ""
    config_of: str = "{node}"
    of_nodes: Mapping[str, str] = field(default_factory=dict)
    cluster: str = field(init=False)
    cluster_id: int = field(init=False)
    base: Path = field(init=False)
    target: Path = field(init=False)
    shared: Path = field(init=False)
    loads: WatchedLoads = field(init=False)
    gateway: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.cluster = f"{self.system}-{next(_numbers)}"
        self.base = self.stack.directory / "batch" / self.cluster
        self.target = self.stack.directory / "targets" / self.cluster
        self.shared = self.target.with_name(f"{self.cluster}-shared")
        for directory in (self.target, self.shared):
            directory.mkdir(mode=0o700, parents=True)
        (self.base / "logs").mkdir(parents=True)
        self.loads = WatchedLoads(self.stack.directory / "watched" / self.cluster)
        path = f"{self.loads.environment['PATH'].partition(':')[0]}:{self.environment.get('PATH', os.environ['PATH'])}"
        self.environment = {**os.environ, **self.environment, "PATH": path}
        body = {"name": self.cluster, "description": "", "launcher": self.system}
        self.cluster_id = self.stack.post("/clusters", body)["id"]

    def __enter__(self) -> Self:
        try:
            for node in self.nodes:
                approved = f'approved_directories = ["{self.target}", "{self.shared}"]\n{self.of_nodes.get(node, "")}'
                self._enroll(node, "compute", approved)
                self.command(node, "announce")
            batch = f'[batch]\nsystem = "{self.system}"\nagent_config = "{self.base}/{self.config_of}/agent.toml"\n'
            self._enroll(
                "login", "gateway", f'{batch}poll_seconds = 1\nlog_directory = "{self.base}/logs"\n{self.batch}'
            )
            self.start_gateway()
            self._add_target()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_gateway()

    def start_gateway(self) -> None:
        """Start it, and wait until it has reported the nodes."""
        self.start_gateway_alone()
        wait_for("nodes online", self._all_online, seconds=60)

    def start_gateway_alone(self) -> None:
        """Start it without waiting for the nodes."""
        with (self.base / "gateway.log").open("ab") as log:
            argv = [str(BIN / "iotide-agent"), "gateway", "--config", str(self.base / "login/agent.toml")]
            self.gateway = subprocess.Popen(argv, stdout=log, stderr=log, env=dict(self.environment))

    def stop_gateway(self) -> None:
        """End it; jobs continue."""
        if self.gateway is not None:
            self.gateway.terminate()
            self.gateway.wait(20)
            self.gateway = None

    def command(self, node: str, *arguments: str, typed: str = "") -> str:
        """Return the output of `iotide-agent` on the node.

        Args:
            typed: its standard input.

        Raises:
            StackError: it failed.
        """
        argv = [str(BIN / "iotide-agent"), *arguments, "--config", str(self.base / node / "agent.toml")]
        done = subprocess.run(
            argv, input=typed, capture_output=True, text=True, check=False, timeout=60, env=dict(self.environment)
        )
        if done.returncode:
            raise StackError(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
        return done.stdout

    @property
    def first_node(self) -> str:
        """Return the node of its plans."""
        return self.nodes[0]

    def job(self, run_id: int) -> dict[str, Any] | None:
        """Return the job of the run's last attempt, once it has a number."""
        attempts = self.run(run_id)["attempts"]
        job: dict[str, Any] | None = attempts[-1]["batch_job"] if attempts else None
        return job if job and job["job_id"] else None

    def wait_job(self, run_id: int, *states: str) -> dict[str, Any]:
        """Return the job, once it is in one of these states."""

        def there() -> dict[str, Any] | None:
            job = self.job(run_id)
            return job if job and job["state"] in states else None

        return wait_for(f"a job of run {run_id} that is {' or '.join(states)}", there, seconds=60)

    def wait_clean(self, *, seconds: float = 15) -> None:
        """Wait until no load runs and the target holds no files of any run."""

        def clean() -> bool | None:
            return None if any(self.target.iterdir()) or self.loads.is_any_running() else True

        wait_for(f"the clean-up of {self.target}", clean, seconds=seconds)

    def _enroll(self, name: str, role: str, more: str) -> None:
        home = self.base / name
        home.mkdir(parents=True)
        (home / "agent.toml").write_text(
            f'server = "{self.stack.url}"\nnode_name = "{name}"\nrole = "{role}"\n'
            f'state_directory = "{home / "state"}"\n{more}'
        )
        join = self.stack.post(f"/clusters/{self.cluster_id}/join-tokens", {"uses": 1, "expires_in_seconds": 600})
        self.command(name, "enroll", typed=join["token"])

    def _all_online(self) -> bool | None:
        nodes = self.stack.get("/nodes", cluster_id=self.cluster_id, limit=500)["items"]
        return True if all(node["state"] == "online" for node in nodes) else None

    def _add_target(self) -> None:
        nodes = self.stack.get("/nodes", cluster_id=self.cluster_id, limit=500)["items"]
        ids = [node["id"] for node in nodes if node["name"] in self.nodes]
        self.stack.add_target(self.cluster_id, TARGET, self.target, ids)
        if self.of_nodes:
            body = {"cluster_id": self.cluster_id, "name": SHARED, "path": str(self.shared), "scope": "shared"}
            self.stack.post("/targets", {**body, "nodes": ids, "reserve_bytes": None})
