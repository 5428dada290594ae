from collections.abc import Sequence

import pytest
from factories.announced import GIB, NOW, hello, mount
from factories.clusters import make_cluster, make_node
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal, PrincipalKind
from iotide_server.clusters.models import Node
from iotide_server.live.models import Change
from iotide_server.targets import service
from iotide_server.targets.errors import TargetNotFoundError
from iotide_server.targets.models import TargetMount
from iotide_server.targets.service import TargetPlan, TargetView
from iotide_wire.facts import MountFacts

ADMIN = Principal(PrincipalKind.USER, None, "ada", grants={None: Role.ADMIN})
NFS = mount("/mnt/nfs", "nfs4", "filer:/export")
ROOT = mount("/", "ext4", "/dev/sda1")


def node_on(session: Session, mounts: Sequence[MountFacts] = (ROOT, NFS)) -> Node:
    return make_node(session, make_cluster(session), said=hello(mounts=mounts, approved=["/mnt/nfs", "/scratch"]))


def nfs_target(session: Session, node: Node) -> TargetView:
    plan = TargetPlan(node.cluster_id, "nfs", "/mnt/nfs/bench", "shared", [node.id], None)
    return service.create_target(session, ADMIN, plan, NOW)


def guarded(session: Session) -> TargetMount:
    return session.scalars(select(TargetMount)).one()


def test_a_target_freezes_what_is_mounted(session: Session) -> None:
    node = node_on(session)
    view = nfs_target(session, node)
    frozen = guarded(session)
    assert (frozen.path, frozen.fstype, frozen.source) == ("/mnt/nfs/bench", "nfs4", "filer:/export")
    assert [found.node_name for found in view.mounts] == ["n1"]


def test_an_order_says_what_the_node_must_find(session: Session) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    (told,) = service.order_targets(session, node.id, [target_id])
    assert (told.path, told.fstype, told.source, told.reserve_bytes) == ("/mnt/nfs/bench", "nfs4", "filer:/export", 0)
    with pytest.raises(TargetNotFoundError):
        service.order_targets(session, node.id, [target_id + 1])


@pytest.mark.parametrize(
    ("mounts", "problem"),
    [
        ([ROOT], "ext4 from /dev/sda1 is mounted there"),
        ([ROOT, mount("/mnt/nfs", "nfs4", "filer:/other")], "nfs4 from filer:/other is mounted there"),
        ([NFS, mount("/mnt/nfs/bench", "tmpfs", "tmpfs")], "tmpfs from tmpfs is mounted there"),
        ([], "nothing is mounted there"),
    ],
)
def test_another_mount_is_a_problem_and_is_not_adopted(
    session: Session, mounts: list[MountFacts], problem: str
) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    service.refresh_mounts(session, node.id, mounts, NOW)
    assert problem in (guarded(session).problem or "")
    (told,) = service.order_targets(session, node.id, [target_id])
    assert (told.fstype, told.source) == ("nfs4", "filer:/export")


def test_the_problem_goes_when_the_mount_is_back(session: Session) -> None:
    node = node_on(session)
    nfs_target(session, node)
    service.refresh_mounts(session, node.id, [ROOT], NOW)
    service.refresh_mounts(session, node.id, [ROOT, NFS.model_copy(update={"free_bytes": GIB})], NOW)
    assert guarded(session).problem is None
    assert guarded(session).free_bytes == GIB


def test_only_a_change_is_news(session: Session) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    session.execute(delete(Change))
    for mounts in ([ROOT, NFS], [ROOT], [ROOT], [ROOT, NFS]):
        service.refresh_mounts(session, node.id, mounts, NOW)
    session.flush()
    assert session.scalars(select(Change.subject_id)).all() == [target_id, target_id]


def test_a_person_may_accept_the_new_mount(session: Session) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    moved = mount("/mnt/nfs", "nfs4", "filer2:/export")
    node.mounts = [mounted.model_dump(mode="json") for mounted in (ROOT, moved)]
    service.refresh_mounts(session, node.id, [ROOT, moved], NOW)
    service.mount_on(session, ADMIN, target_id, [node.id], NOW)
    assert guarded(session).source == "filer2:/export"
    assert guarded(session).problem is None


def test_a_retired_target_is_not_looked_at(session: Session) -> None:
    node = node_on(session)
    service.retire_target(session, ADMIN, nfs_target(session, node).target.id, NOW)
    service.refresh_mounts(session, node.id, [ROOT], NOW)
    assert guarded(session).problem is None
