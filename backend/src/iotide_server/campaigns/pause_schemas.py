"""API schemas of pauses between stages."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.campaigns import stages
from iotide_server.kit.web import Input, Output
from iotide_server.targets.changes import MountChange
from iotide_server.targets.mounts import Frozen
from iotide_wire.facts import MountFacts


class MountState(Output):
    fstype: str
    source: str
    mount_point: str | None
    identity: str | None
    mount_options: str

    @classmethod
    def of(cls, mount: MountFacts) -> "MountState":
        return cls.of_row(Frozen.of(mount), mount_options=mount.mount_options)


class PausedMount(Output):
    """Target on a node: `was` as accepted, `now` as last reported."""

    target: str
    node: str
    path: str
    was: MountState
    now: MountState | None
    is_change: bool
    is_backing: Annotated[bool, Field(description="Not loaded there by the stage; it backs a target")]
    problem: Annotated[str | None, Field(description="Why it cannot be accepted")]
    told_at: Annotated[datetime | None, Field(description="When the node reported it")]

    @classmethod
    def of(cls, on: MountChange) -> "PausedMount":
        return cls.of_row(
            on,
            target=on.target.name,
            node=on.node.name,
            path=on.was.path,
            now=None if on.now is None else MountState.of(on.now),
            told_at=on.node.told_at,
        )


class PauseOutput(Output):
    """Pause of a campaign.

    After changing the servers: ask the nodes for their mounts, wait until `waiting_for` is empty, check `mounts`,
    confirm with `found_sha256`.
    """

    campaign_id: int
    ordinal: int
    variant: str
    pause: str | None
    paused_at: datetime | None
    looked_at: Annotated[datetime | None, Field(description="When the nodes were last asked")]
    waiting_for: Annotated[list[str], Field(description="Nodes that have not answered since")]
    found_sha256: str
    mounts: list[PausedMount]

    @classmethod
    def of(cls, pause: stages.Pause) -> "PauseOutput":
        return cls.of_row(
            pause.stage,
            waiting_for=pause.silent_nodes,
            found_sha256=pause.found_sha256,
            mounts=[PausedMount.of(on) for on in pause.mounts],
        )


class Confirmation(Input):
    found_sha256: Annotated[
        str,
        Field(pattern=r"^[0-9a-f]{64}$", description="As shown with the pause; other mounts are refused"),
    ]
