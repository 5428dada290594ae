"""Targets that nodes lost, by what their agents announce."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.targets import repository


@dataclass(frozen=True, slots=True)
class LostPlace:
    """A target on a node that is not mounted there as it was.

    Attributes:
        since: when it was right last.
    """

    since: datetime
    words: str


def lost_places(session: Session, cluster_id: int) -> Mapping[tuple[int, int], LostPlace]:
    """By target and node, the mounts of a cluster that are lost."""
    return {
        (target.id, node.id): LostPlace(mount.seen_at, f"{mount.path} ({target.name}) is not mounted on {node.name}")
        for target, node, mount in repository.mounts_with_problems(session, cluster_id)
    }
