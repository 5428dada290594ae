"""Scratch sets as a node announces them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters.models import Node
from iotide_server.scratch import service as sets
from iotide_server.scratch.schemas import EnableInput
from iotide_wire.scratch_sets import MOUNT_ROOT, ScratchDisk, ScratchSet, ScratchState
from iotide_wire.units import GIB


def disk(number: int, **changes: Any) -> ScratchDisk:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "id": f"3c1f0a52-6f0e-4c2b-9f3a-{number:012x}",
        "wwn": f"naa.5000c500a1b2{number:04x}",
        "serial": f"ZC{number:04}",
        "model": "ST3000NM0033",
        "size_bytes": 3000 * GIB,
        "bay": str(number),
        "adopted_at": datetime(2026, 11, 19, 9, 0, tzinfo=UTC),
        "adopted_by": "root",
        "state": ScratchState.CLEAN,
    }
    return ScratchDisk.model_validate(fields | changes)


def scratch_set(name: str = "bays", *disks: ScratchDisk, **changes: Any) -> ScratchSet:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "name": name,
        "mount_path": f"{MOUNT_ROOT}/{name}",
        "state": ScratchState.CLEAN,
        "reason": "",
        "variant": None,
        "last_used_at": None,
        "disks": disks or (disk(1), disk(2)),
    }
    return ScratchSet.model_validate(fields | changes)


def enable_set(session: Session, node: Node, announced: ScratchSet, admin: Principal, now: datetime) -> None:
    """Announce the only set of a node, and enable it for people and API tokens."""
    sets.announce(session, node, (announced,), now)
    found = sets.set_named(session, node.cluster_id, node.name, announced.name)
    assert found is not None
    allowed = EnableInput(
        name=announced.name,
        disks_sha256=found.disks_sha256,
        target_name=f"{node.name}-{announced.name}",
        allows_tokens=True,
    )
    sets.enable(session, admin, found.id, allowed, now)
