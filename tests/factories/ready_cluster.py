"""A cluster ready for campaigns: its nodes said hello and announced the real workloads, with a target on each."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final

from factories.announcing import announce, announce_like
from sqlalchemy.orm import Session

from iotide_agent.probes.reader import CommandWant, Reader, Unavailable, Want
from iotide_agent.workloads.registry import announcements
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.models import Cluster, Node
from iotide_server.targets.models import Target, TargetMount
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.messages import HelloRequest
from iotide_wire.units import GIB
from iotide_wire.versions import WIRE_VERSION

_RELEASES: Final = {"dd": "dd (coreutils) 9.1", "fio": "fio-3.33"}


class ToolsInstalled(Reader):
    """Answers every version command, except those of the named tools."""

    def __init__(self, *absent: str) -> None:
        self.absent = absent

    def read(self, want: Want) -> str | Unavailable:
        if isinstance(want, CommandWant) and want.argv[0] in self.absent:
            return Unavailable(f"{want.argv[0]} is not installed; install it")
        return _RELEASES.get(want.argv[0], "1.0") if isinstance(want, CommandWant) else "1.0"


@cache
def announced(absent_tools: tuple[str, ...]) -> list[WorkloadAnnouncement]:
    """Return all workloads as a node announces them; shared by all tests."""
    return announcements(ToolsInstalled(*absent_tools), {})


@dataclass
class ReadyCluster:
    """Online nodes `n1` and up, and the target `scratch` (8 GiB free) on all of them; flushed, not committed."""

    session: Session
    now: datetime
    node_count: int = 1
    absent_tools: tuple[str, ...] = ()
    name: str = "blade"
    cluster: Cluster = field(init=False)
    nodes: list[Node] = field(init=False, default_factory=list)
    target: Target = field(init=False)

    def __post_init__(self) -> None:
        self.cluster = Cluster(name=self.name)
        self.session.add(self.cluster)
        self.session.flush()
        for number in range(1, self.node_count + 1):
            self.nodes.append(self.add_node(f"n{number}"))
        self.target = self.add_target("scratch")

    def add_node(self, name: str) -> Node:
        node = Node(
            cluster_id=self.cluster.id,
            name=name,
            role="compute",
            token_sha256=f"{self.name}-{name}",
            redis_password_sha256="0" * 64,
        )
        self.session.add(node)
        self.session.flush()
        agents.hello(self.session, node.id, self.hello(name), self.now)
        if self.nodes:
            announce_like(self.session, node, self.nodes[0])
        else:
            announce(self.session, node, announced(self.absent_tools), self.absent_tools)
        return node

    def hello(self, name: str, *, boot: str = "boot-1234") -> HelloRequest:
        return HelloRequest(
            agent_instance=f"instance-{name}",
            previous_instance=None,
            boot_id=boot,
            agent_version="1",
            wire_version=WIRE_VERSION,
            sent_at=self.now,
            facts={"memory.total_bytes": 16 * GIB},
            mounts=(),
            approved_directories=("/scratch",),
            workloads=(),
            holds=(),
        )

    def add_target(self, name: str, scope: str = "node") -> Target:
        target = Target(cluster_id=self.cluster.id, name=name, path=f"/{name}", scope=scope)
        self.session.add(target)
        self.session.flush()
        for node in self.nodes:
            mount = TargetMount(
                target_id=target.id,
                node_id=node.id,
                path=target.path,
                fstype="ext4",
                source="/dev/sdb1",
                mount_options="rw",
                total_bytes=10 * GIB,
                free_bytes=8 * GIB,
                seen_at=self.now,
            )
            self.session.add(mount)
        self.session.flush()
        return target

    def plan(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any field of a plan
        """Return a plan of one dd on every node."""
        return {
            "name": "nightly",
            "cluster": self.name,
            "nodes": [node.name for node in self.nodes],
            "targets": ["scratch"],
            "workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}],
            "repeats": 2,
            **changes,
        }
