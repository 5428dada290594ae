"""Schemas of scratch sets."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.scratch.models import KnownSet
from iotide_server.scratch.permission import changes
from iotide_server.targets.schemas import TargetName, TargetRef
from iotide_wire import scratch_sets
from iotide_wire.scratch_sets import ScratchState

SetName = Annotated[scratch_sets.SetName, Field(examples=["bays"])]
DisksDigest = Annotated[
    str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the identities of its disks, from the list of sets")
]
_LONGEST_NAME = 63


class Permission(StrEnum):
    """CHANGED: enabled, but its disks are no longer those that the admin saw, so nothing may use it."""

    ENABLED = "enabled"
    CHANGED = "changed"
    DISABLED = "disabled"


class EnableInput(Input):
    """Permission to erase the disks of a set again and again."""

    name: Annotated[SetName, Field(description="Name of the set, typed to confirm")]
    disks_sha256: DisksDigest
    target_name: Annotated[TargetName, Field(description="Target for runs on what is made on it")]
    allows_schedules: Annotated[bool, Field(description="Schedules may erase its disks, too")] = False
    allows_tokens: Annotated[bool, Field(description="API tokens may erase its disks, too")] = False


class ScratchDiskOutput(Output):
    """Disk that root of the node adopted; iotide may erase it."""

    id: Annotated[str, Field(description="Id of its adoption", examples=["3c1f0a52-6f0e-4c2b-9f3a-3d5c1e8a4b01"])]
    wwn: Annotated[str | None, Field(examples=["naa.5000c500a1b2c3d4"])]
    serial: Annotated[str | None, Field(examples=["ZC1A2B3C"])]
    model: Annotated[str, Field(examples=["ST3000NM0033"])]
    size_bytes: int
    bay: Annotated[str | None, Field(examples=["3"])]
    adopted_at: datetime
    adopted_by: Annotated[PersonShown, Field(description="User of the node", examples=["root"])]
    state: ScratchState


class EnabledOutput(Output):
    """Decision of the admin who enabled a set."""

    at: datetime
    by: PersonShown
    allows_schedules: bool
    allows_tokens: bool


class ScratchSetOutput(Output):
    """Named group of adopted disks of a node, as its agent last announced it."""

    id: int
    cluster_id: int
    node_id: int
    node_name: Annotated[str, Field(examples=["storage01"])]
    name: SetName
    mount_path: Annotated[str, Field(examples=["/srv/iotide-scratch/bays"])]
    state: ScratchState
    reason: Annotated[str, Field(description="Why it is neither clean nor in use; else empty")]
    variant: Annotated[str | None, Field(examples=["raid5 4x64K / xfs / aligned / noatime"])]
    last_used_at: datetime | None
    seen_at: Annotated[datetime, Field(description="When its agent last announced it")]
    disks: list[ScratchDiskOutput]
    disks_sha256: DisksDigest
    permission: Permission
    enabled: Annotated[EnabledOutput | None, Field(description="Also set if the disks have changed since")]
    changes: Annotated[list[str], Field(description="Changes of its disks since it was enabled")]
    failed_cleaning_run_id: Annotated[
        int | None,
        Field(description="Last run that cleaned it, if that failed or was cancelled; retry it to try again"),
    ]
    target: Annotated[TargetRef | None, Field(description="Null if it was never enabled or the target is retired")]
    suggested_target: TargetName

    @classmethod
    def of(
        cls, row: KnownSet, node_name: str, target_name: str | None, failed_cleaning: int | None
    ) -> "ScratchSetOutput":
        present = row.present
        permission = Permission.DISABLED if row.enabled_sha256 is None else Permission.CHANGED
        target = None if target_name is None or row.target_id is None else TargetRef(id=row.target_id, name=target_name)
        return cls.of_row(
            row,
            **{name: getattr(present, name) for name in ("mount_path", "state", "reason", "variant", "last_used_at")},
            node_name=node_name,
            disks=[ScratchDiskOutput.of_row(disk) for disk in present.disks],
            permission=Permission.ENABLED if row.is_enabled else permission,
            enabled=_enabled(row),
            changes=[] if row.is_enabled else changes(row.approved_disks, present.disks) if row.enabled_disks else [],
            failed_cleaning_run_id=failed_cleaning,
            target=target,
            suggested_target=target_name or f"{node_name}-{row.name}"[:_LONGEST_NAME],
        )


def _enabled(row: KnownSet) -> EnabledOutput | None:
    if row.enabled_at is None:
        return None
    return EnabledOutput(
        at=row.enabled_at,
        by=row.enabled_by,
        allows_schedules=row.allows_schedules,
        allows_tokens=row.allows_tokens,
    )
