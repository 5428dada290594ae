"""What the API takes and gives for targets."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from iotide_server.kit.web import Input, Output
from iotide_server.targets import service
from iotide_wire.base import Name

TargetName = Annotated[Name, Field(examples=["nfs-home"])]
Scope = Annotated[
    Literal["node", "shared"],
    Field(
        description="`node`: private to each node; `shared`: one file system behind many mounts", examples=["shared"]
    ),
]
NodeIds = Annotated[
    list[Annotated[int, Field(ge=1, le=2**63 - 1)]],
    Field(min_length=1, max_length=10_000, description="Nodes that have it mounted", examples=[[1, 2]]),
]
ReserveBytes = Annotated[
    int | None,
    Field(ge=0, le=2**63 - 1, description="Space that runs leave free; null: a tenth of what a run needs"),
]


class TargetInput(Input):
    """A new target; its path is the same on every node and below a directory that each agent approves."""

    cluster_id: Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])]
    name: TargetName
    path: Annotated[str, Field(min_length=1, max_length=4096, examples=["/mnt/nfs0/bench"])]
    scope: Scope
    nodes: NodeIds
    reserve_bytes: ReserveBytes = None

    def plan(self) -> service.TargetPlan:
        """As the service takes it."""
        return service.TargetPlan(
            cluster_id=self.cluster_id,
            name=self.name,
            path=self.path,
            scope=self.scope,
            node_ids=list(dict.fromkeys(self.nodes)),
            reserve_bytes=self.reserve_bytes,
        )


class TargetPatch(Input):
    """The fields of a target to change; what is left out stays.

    With `nodes`, the target is on exactly these from now on, and what is mounted on each is accepted as it is.
    """

    name: TargetName | None = None
    reserve_bytes: ReserveBytes = None
    nodes: NodeIds | None = None


class TargetMount(Output):
    """A target on one node; every run must find this fstype and this source."""

    node_id: int
    node_name: Annotated[str, Field(examples=["node07"])]
    path: Annotated[str, Field(examples=["/mnt/nfs0/bench"])]
    fstype: Annotated[str, Field(examples=["nfs4"])]
    source: Annotated[str, Field(examples=["filer:/export/home"])]
    mount_options: str
    total_bytes: int | None
    free_bytes: int | None
    seen_at: datetime
    problem: Annotated[str | None, Field(description="Why runs on it would be refused")]


class Target(Output):
    """A file system or directory under test."""

    id: int
    cluster_id: int
    name: TargetName
    path: str
    scope: Scope
    reserve_bytes: ReserveBytes
    retired_at: datetime | None
    mounts: list[TargetMount]

    @classmethod
    def of(cls, view: service.TargetView) -> "Target":
        """As the API shows the view."""
        target = view.target
        return cls(
            id=target.id,
            cluster_id=target.cluster_id,
            name=target.name,
            path=target.path,
            scope="shared" if target.scope == "shared" else "node",
            reserve_bytes=target.reserve_bytes,
            retired_at=target.retired_at,
            mounts=[
                TargetMount(
                    node_id=found.mount.node_id,
                    node_name=found.node_name,
                    path=found.mount.path,
                    fstype=found.mount.fstype,
                    source=found.mount.source,
                    mount_options=found.mount.mount_options,
                    total_bytes=found.mount.total_bytes,
                    free_bytes=found.mount.free_bytes,
                    seen_at=found.mount.seen_at,
                    problem=found.mount.problem,
                )
                for found in view.mounts
            ],
        )
