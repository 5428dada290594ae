"""Accepted and present mounts of targets."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.kit.db import any_of
from iotide_server.targets import repository
from iotide_server.targets.backing import all_below
from iotide_server.targets.models import Target, TargetMount
from iotide_server.targets.mounts import Frozen, is_approved, mount_of
from iotide_wire.facts import MountFacts


@dataclass(frozen=True, slots=True)
class MountChange:
    target: Target
    node: Node
    was: TargetMount
    now: MountFacts | None
    is_backing: bool  # included only because they back requested targets

    @property
    def is_change(self) -> bool:
        return self.now is None or Frozen.of(self.now) != self.was.frozen

    @property
    def problem(self) -> str | None:
        """Return why it cannot be accepted. A different mount point means that the target is not mounted."""
        if self.now is None:
            return f"no file system holds {self.was.path}"
        if self.was.mount_point is not None and self.now.mount_point != self.was.mount_point:
            there = f"{self.now.fstype} from {self.now.source} at {self.now.mount_point}"
            return f"nothing is mounted at {self.was.mount_point}; {self.was.path} is on {there}"
        if not is_approved(self.was.path, self.node.approved_directories):
            return f"the agent does not allow runs to write below {self.was.path}"
        return None


def mount_changes(session: Session, places: AbstractSet[tuple[int, int]]) -> list[MountChange]:
    target_ids = {target_id for _, target_id in places}
    asked = [
        (target, node, mount)
        for target, node, mount in repository.mounts_with_nodes(session, Target.id == any_of(target_ids))
        if (node.id, target.id) in places
    ]
    below = repository.mounts_with_nodes(session, Target.id == any_of(all_below(session, target_ids)))
    return [
        MountChange(
            target,
            node,
            mount,
            now=mount_of(mount.path, map(MountFacts.model_validate, node.mounts)),
            is_backing=number >= len(asked),
        )
        for number, (target, node, mount) in enumerate(dict.fromkeys([*asked, *below]))
    ]


@dataclass(frozen=True, slots=True)
class LostPlace:
    since: datetime
    words: str


def lost_places(session: Session, cluster_id: int) -> Mapping[tuple[int, int], LostPlace]:
    return {
        (target.id, node.id): LostPlace(mount.seen_at, f"{mount.path} ({target.name}) is not mounted on {node.name}")
        for target, node, mount in repository.mounts_with_nodes(
            session, TargetMount.problem.is_not(None), Target.cluster_id == cluster_id
        )
    }
