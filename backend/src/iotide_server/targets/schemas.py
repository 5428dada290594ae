"""Schemas of targets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from iotide_server.clusters.drains.schemas import DrainOutput
from iotide_server.kit.web import Input, Output
from iotide_server.targets import backing, discovery
from iotide_server.targets.repository import StuckWriterOutput, TargetView
from iotide_wire.base import Name
from iotide_wire.facts import MountFacts

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


ConfirmsSuspects = Annotated[
    bool,
    Field(description="If the newest points of a configuration suggest a change, run it three more times at once"),
]


class NodePath(Input):
    """Path of a target on one node."""

    node_id: Annotated[int, Field(ge=1, le=2**63 - 1, examples=[3])]
    path: Annotated[str, Field(min_length=1, max_length=4096, examples=["/scratch/bench"])]


Elsewhere = Annotated[
    list[NodePath],
    Field(max_length=10_000, description="Nodes with a different path; they need not be among `nodes`"),
]


class TargetInput(Input):
    """New target; its path is below a directory that the agent of each node approves."""

    cluster_id: Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])]
    name: TargetName
    path: Annotated[str, Field(min_length=1, max_length=4096, examples=["/mnt/nfs0/bench"])]
    scope: Scope
    nodes: NodeIds
    elsewhere: Elsewhere = Field(default_factory=list)
    reserve_bytes: ReserveBytes = None


class TargetPatch(Input):
    """Fields of a target to change; omitted fields stay.

    With `nodes`, the target is on exactly these and those of `elsewhere`, and their present mounts are accepted. With
    `elsewhere` alone, these nodes are added and the others stay as they are.
    """

    name: TargetName | None = None
    reserve_bytes: ReserveBytes = None
    confirms_suspects: ConfirmsSuspects | None = None
    nodes: NodeIds | None = None
    elsewhere: Elsewhere = Field(default_factory=list)

    def places(self) -> dict[int, str | None]:
        return dict.fromkeys(self.nodes or []) | {place.node_id: place.path for place in self.elsewhere}


class BackingInput(Input):
    """New backing of a target."""

    targets: Annotated[
        list[Annotated[int, Field(ge=1, le=2**63 - 1)]],
        Field(max_length=100, description="Targets of storage nodes", examples=[[7]]),
    ]


class TargetRef(Output):
    """Reference to a target."""

    id: int
    name: TargetName


class TargetMountOutput(Output):
    """Target on one node; every run must find this file system type and source."""

    node_id: int
    node_name: Annotated[str, Field(examples=["node07"])]
    path: Annotated[str, Field(examples=["/mnt/nfs0/bench"])]
    fstype: Annotated[str, Field(examples=["nfs4"])]
    source: Annotated[str, Field(examples=["filer:/export/home"])]
    identity: Annotated[str | None, Field(description="The file system's own name", examples=["xfs:5f1d-0c2e"])]
    mount_options: str
    total_bytes: int | None
    free_bytes: int | None
    seen_at: datetime
    problem: Annotated[str | None, Field(description="Why runs on it would be rejected; null: no problem")]


class TargetOutput(Output):
    """File system or directory under test."""

    id: int
    cluster_id: int
    name: TargetName
    path: str
    scope: Scope
    reserve_bytes: ReserveBytes
    confirms_suspects: ConfirmsSuspects
    retired_at: datetime | None
    mounts: list[TargetMountOutput]
    backed_by: Annotated[list[TargetRef], Field(description="Targets of storage nodes that back it")]
    drain: Annotated[
        DrainOutput | None, Field(description="Drain of the target itself; its nodes or cluster may be drained as well")
    ]
    stuck: Annotated[
        list[StuckWriterOutput], Field(description="Unkillable loads; no new run loads it until they are gone")
    ]

    @classmethod
    def of(cls, view: TargetView) -> "TargetOutput":
        return cls.of_row(
            view.target,
            mounts=[TargetMountOutput.of_row(found.mount, node_name=found.node_name) for found in view.mounts],
            backed_by=[TargetRef(id=backing_id, name=name) for backing_id, name in view.backed_by],
            drain=view.drain,
            stuck=view.stuck,
        )


class CandidatePlace(Output):
    """Directory on a node that its agent approves for runs."""

    node_id: int
    node_name: Annotated[str, Field(examples=["node07"])]
    path: Annotated[str, Field(examples=["/mnt/nfs0"])]
    source: Annotated[str, Field(examples=["filer:/export/home"])]
    total_bytes: int | None
    free_bytes: int | None


class Candidate(Output):
    """File system, or equal directories of many nodes, that can become a target or join one."""

    scope: Scope
    fstype: Annotated[str, Field(examples=["nfs4"])]
    identity: Annotated[str | None, Field(description="The file system's own name, if all places have the same")]
    places: list[CandidatePlace]
    joins: Annotated[TargetRef | None, Field(description="Existing target of the same file system on other nodes")]
    suggested_name: TargetName

    @classmethod
    def of(cls, found: discovery.FoundCandidate, names: Mapping[int, str]) -> "Candidate":
        identities = {seen.mount.facts.get("fs.identity") for seen in found.seen}
        identity = identities.pop() if len(identities) == 1 else None
        return cls(
            scope="shared" if found.scope == "shared" else "node",
            fstype=found.seen[0].mount.fstype,
            identity=None if identity is None else str(identity),
            places=[
                CandidatePlace.of_row(seen.mount, node_id=seen.node_id, node_name=seen.node_name, path=seen.path)
                for seen in found.seen
            ],
            joins=None if found.joins is None else TargetRef(id=found.joins, name=names[found.joins]),
            suggested_name=found.suggested_name,
        )


class TargetPlace(Output):
    """Target on a node, as its agent last announced it."""

    target: TargetRef
    node_id: int
    node_name: Annotated[str, Field(examples=["node07"])]
    path: str
    mount: Annotated[MountFacts | None, Field(description="Null if nothing is mounted")]

    @classmethod
    def of(cls, place: backing.NodeTarget) -> "TargetPlace":
        return cls.of_row(place, node_id=place.node.id, node_name=place.node.name)


class TargetFacts(Output):
    """Facts of a target, as agents last announced them."""

    places: list[TargetPlace]
    backing: Annotated[list[TargetPlace], Field(description="Places of the targets that back it")]
    suggested_backing: Annotated[
        list[TargetRef], Field(description="Suggested backing: targets of the node that exports the file system")
    ]
