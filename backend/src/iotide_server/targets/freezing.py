"""What a target is made on: the mount on each node as its agent announced it last, which every run must find."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.targets import repository
from iotide_server.targets.errors import FILE_SYSTEM_IS_TARGET, NO_PATH_APPROVED, NOTHING_MOUNTED, PATH_NOT_APPROVED
from iotide_server.targets.models import Target, TargetMount
from iotide_server.targets.mounts import Frozen, is_approved, mount_of, stranger_problem
from iotide_wire.facts import MountFacts


def freeze(
    guarded: Target, places: Sequence[tuple[Node, str]], now: datetime, others: Sequence[TargetMount] = ()
) -> list[TargetMount]:
    """Return the mounts as agents announced them last; raise NO_PATH_APPROVED, PATH_NOT_APPROVED or NOTHING_MOUNTED."""
    mounts = [_freeze_one(guarded, node, path, now) for node, path in places]
    if guarded.scope == "shared":
        frozen = {mount.node_id: mount.frozen for mount in (*others, *mounts)}
        for mount in mounts:
            mount.problem = stranger_problem(mount.node_id, frozen)
    return mounts


def _freeze_one(guarded: Target, node: Node, path: str, now: datetime) -> TargetMount:
    if not is_approved(path, node.approved_directories):
        if not node.approved_directories:
            raise NO_PATH_APPROVED(path=path, node=node.name)
        raise PATH_NOT_APPROVED(path=path, node=node.name, approved=node.approved_directories)
    found = mount_of(path, map(MountFacts.model_validate, node.mounts))
    if found is None:
        raise NOTHING_MOUNTED(path=path, node=node.name)
    mount = TargetMount(
        target_id=guarded.id,
        node_id=node.id,
        path=path,
        mount_options=found.mount_options,
        total_bytes=found.total_bytes,
        free_bytes=found.free_bytes,
        seen_at=now,
    )
    mount.freeze(Frozen.of(found))
    return mount


def refuse_twice(session: Session, guarded: Target, mounts: Sequence[TargetMount]) -> None:
    """Raise FILE_SYSTEM_IS_TARGET for the same directory of a shared file system as another living target."""
    # Both would be loaded besides each other as if they were two file systems.
    if guarded.scope != "shared":
        return
    places = repository.living_mounts(session, Target.cluster_id == guarded.cluster_id)
    for other, mount in ((other, mount) for other, mount in places if other is not guarded):
        for own in mounts:
            is_same = own.frozen.names & mount.frozen.names
            if is_same and other.scope == "shared" and own.directory is not None and own.directory == mount.directory:
                raise FILE_SYSTEM_IS_TARGET(name=other.name, path=own.path, target_id=other.id)
