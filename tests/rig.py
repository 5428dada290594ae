"""A whole iotide with one cluster, one watched agent and one target, for contract tests, faults and benches."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bring_up import wait_for
from local_stack import Agent, Launch, LocalStack
from made_mounts import FileSystem, as_root, made_mount
from submitting import TARGET, Submitting
from watched_loads import WatchedLoads

NODE = "node-1"
FIO_SMALL = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2}
"""A load that runs for `runtime_seconds` and needs 4 MiB."""

WARM = 'cache_drop = "never"\n'
"""Lines of agent.toml for tests that need no empty page cache: the programs of all tests would be read from disk again
after each read phase of a load. A run drops only the files of its load instead."""

_numbers = count(1)


def unmount(mount_point: Path) -> None:
    """Unmount it as soon as no agent uses it: a running agent opens it every now and then."""
    command = as_root("umount", mount_point)
    wait_for("the unmounting", lambda: subprocess.run(command, check=False).returncode == 0 or None, seconds=60)


@dataclass(frozen=True)
class Rig(Submitting):
    """One node and one target of scope `node`, alone in their cluster.

    Attributes:
        target: the approved directory that is the target; empty unless a run is active there.
        loads: the loads that really ran on the node.
    """

    stack: LocalStack
    cluster: str
    cluster_id: int
    agent: Agent
    target: Path
    target_id: int
    loads: WatchedLoads

    @property
    def first_node(self) -> str:
        """Return the node of its plans."""
        return NODE

    def leftovers(self) -> list[str]:
        """Return the paths on the target."""
        return sorted(str(path.relative_to(self.target)) for path in self.target.rglob("*"))

    def wait_clean(self, *, seconds: float = 15) -> None:
        """Wait until no load runs and the target holds no files of any run."""

        def clean() -> bool | None:
            return None if self.leftovers() or self.loads.is_any_running() else True

        wait_for(f"the clean-up of {self.target}", clean, seconds=seconds)


@contextmanager
def running_stack(server_disk: FileSystem | None = None, *, agents_share: str = "") -> Iterator[LocalStack]:
    """Run a fresh stack in a directory that every user may enter, since a server started as root changes its user.

    Args:
        server_disk: a separate disk for the server's state; None: the disk of everything else.
        agents_share: lines of agent.toml that all agents have.
    """
    # Like Ctrl-C: ending a bench or test from outside must leave no server and no load behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    directory = Path(tempfile.mkdtemp(prefix="iotide-"))
    directory.chmod(0o755)
    try:
        disk = nullcontext() if server_disk is None else made_mount(server_disk, directory / "server")
        with disk, LocalStack(directory) as stack:
            stack.agents_share = agents_share
            yield stack
    finally:
        shutil.rmtree(directory)


def add_rig(
    stack: LocalStack,
    cluster: str,
    *,
    target: Path | None = None,
    spare: Path | None = None,
    server_url: str | None = None,
    environment: Mapping[str, str] | None = None,
    is_paced: bool = True,
) -> Rig:
    """Add a cluster with its node and target.

    Args:
        target: by default a directory on the disk that holds the stack.
        spare: another approved directory, which is no target.
        server_url: the server's URL for the agent, if not the stack's own.
        environment: more environment variables of the agent.
        is_paced: see `WatchedLoads`.
    """
    cluster_id = stack.add_cluster(cluster)
    directory = target or stack.directory / "targets" / cluster
    loads = WatchedLoads(stack.directory / "watched" / cluster, is_paced=is_paced)
    directories = [directory, *([spare] if spare else [])]
    environment = {**(environment or {}), **loads.environment}
    agent = stack.add_agent(cluster_id, NODE, directories, environment, launch=Launch(server_url))
    target_id = stack.add_target(cluster_id, TARGET, directory, [agent.node_id])
    return Rig(stack, cluster, cluster_id, agent, directory, target_id, loads)


def held_order(rig: Rig) -> tuple[int, int]:
    """Return id and fence of the order on the node's disk."""
    directory = next((rig.agent.directory / "state/orders").iterdir())
    order = json.loads((directory / "order.json").read_text())
    return int(order["order_id"]), int(order["fence"])
