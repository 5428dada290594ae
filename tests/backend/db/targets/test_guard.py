from collections.abc import Sequence

import pytest
from factories.announced import NOW, hello, mount
from factories.clusters import make_cluster, make_node
from factories.people import ADMIN
from factories.raised import raised
from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session

from iotide_server.change_feed.models import Change
from iotide_server.clusters.models import Node
from iotide_server.targets import agents, service
from iotide_server.targets.errors import TARGET_NOT_FOUND
from iotide_server.targets.models import TargetMount
from iotide_server.targets.repository import TargetView
from iotide_server.targets.schemas import TargetInput
from iotide_wire.facts import MountFacts
from iotide_wire.units import GIB

NFS = mount("/mnt/nfs", "nfs4", "filer:/export")
ROOT = mount("/", "ext4", "/dev/sda1")


def node_on(session: Session, mounts: Sequence[MountFacts] = (ROOT, NFS)) -> Node:
    return make_node(session, make_cluster(session), said=hello(mounts=mounts, approved=["/mnt/nfs", "/scratch"]))


def wanted(node: Node, name: str, path: str, scope: str) -> TargetInput:
    given = {"cluster_id": node.cluster_id, "name": name, "path": path, "scope": scope, "nodes": [node.id]}
    return TargetInput.model_validate(given)


def nfs_target(session: Session, node: Node) -> TargetView:
    plan = wanted(node, "nfs", "/mnt/nfs/bench", "shared")
    return service.create_target(session, ADMIN, plan, NOW)


def guarded(session: Session) -> TargetMount:
    return session.scalars(select(TargetMount)).one()


def test_a_target_freezes_what_is_mounted(session: Session) -> None:
    node = node_on(session)
    view = nfs_target(session, node)
    frozen = guarded(session)
    assert (frozen.path, frozen.fstype, frozen.source) == ("/mnt/nfs/bench", "nfs4", "filer:/export")
    assert [found.node_name for found in view.mounts] == ["n1"]


def test_an_order_describes_the_mount_that_the_node_must_find(session: Session) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    (ordered,) = agents.order_targets(session, node.id, [target_id])
    assert (ordered.path, ordered.fstype, ordered.source, ordered.reserve_bytes) == (
        "/mnt/nfs/bench",
        "nfs4",
        "filer:/export",
        0,
    )
    with raised(TARGET_NOT_FOUND):
        agents.order_targets(session, node.id, [target_id + 1])


@pytest.mark.parametrize(
    ("mounts", "problem"),
    [
        ([ROOT], "ext4 from /dev/sda1 at / is mounted there"),
        ([ROOT, mount("/mnt/nfs", "nfs4", "filer:/other")], "nfs4 from filer:/other at /mnt/nfs is mounted there"),
        ([NFS, mount("/mnt/nfs/bench", "tmpfs", "tmpfs")], "tmpfs from tmpfs at /mnt/nfs/bench is mounted there"),
        ([ROOT, mount("/mnt", "nfs4", "filer:/export")], "at /mnt is mounted there"),
        ([], "nothing is mounted there"),
    ],
)
def test_another_mount_is_a_problem_and_is_not_adopted(
    session: Session, mounts: list[MountFacts], problem: str
) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    agents.refresh_mounts(session, node.id, mounts, NOW)
    assert problem in (guarded(session).problem or "")
    (ordered,) = agents.order_targets(session, node.id, [target_id])
    assert (ordered.fstype, ordered.source) == ("nfs4", "filer:/export")


def test_a_mount_that_is_lost_wakes_who_looks_for_series_without_data(session: Session) -> None:
    node = node_on(session)
    nfs_target(session, node)
    wanted = text("SELECT key FROM work WHERE kind = :kind")
    assert session.scalars(wanted, {"kind": agents.OVERSIGHT}).all() == []
    agents.refresh_mounts(session, node.id, [ROOT], NOW)
    assert session.scalars(wanted, {"kind": agents.OVERSIGHT}).all() == [node.cluster_id]


def test_the_problem_goes_when_the_mount_is_back(session: Session) -> None:
    node = node_on(session)
    nfs_target(session, node)
    agents.refresh_mounts(session, node.id, [ROOT], NOW)
    agents.refresh_mounts(session, node.id, [ROOT, NFS.model_copy(update={"free_bytes": GIB})], NOW)
    assert guarded(session).problem is None
    assert guarded(session).free_bytes == GIB


def test_only_a_change_is_published(session: Session) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    session.execute(delete(Change))
    for mounts in ([ROOT, NFS], [ROOT], [ROOT], [ROOT, NFS]):
        agents.refresh_mounts(session, node.id, mounts, NOW)
    session.flush()
    assert session.scalars(select(Change.subject_id)).all() == [target_id, target_id]


def test_a_person_may_accept_the_new_mount(session: Session) -> None:
    node = node_on(session)
    target_id = nfs_target(session, node).target.id
    moved = mount("/mnt/nfs", "nfs4", "filer2:/export")
    node.mounts = [mounted.model_dump(mode="json") for mounted in (ROOT, moved)]
    agents.refresh_mounts(session, node.id, [ROOT, moved], NOW)
    service.mount_on(session, ADMIN, target_id, {node.id: None}, NOW)
    assert guarded(session).source == "filer2:/export"
    assert guarded(session).problem is None


def test_a_retired_target_is_not_looked_at(session: Session) -> None:
    node = node_on(session)
    service.retire_target(session, ADMIN, nfs_target(session, node).target.id, NOW)
    agents.refresh_mounts(session, node.id, [ROOT], NOW)
    assert guarded(session).problem is None


def test_a_device_with_another_file_system_is_a_problem_and_a_server_at_another_address_is_none(
    session: Session,
) -> None:
    disk = mount("/scratch", "xfs", "/dev/sdb1", **{"fs.identity": "xfs:1"})
    served = mount("/mnt/nfs", "nfs4", "filer:/export", **{"fs.identity": "nfs:10.0.0.1:/export"})
    node = node_on(session, [ROOT, disk, served])
    plans = [("disk", "/scratch", "node"), ("nfs", "/mnt/nfs", "shared")]
    for name, path, scope in plans:
        service.create_target(session, ADMIN, wanted(node, name, path, scope), NOW)
    formatted = disk.model_copy(update={"facts": {"fs.identity": "xfs:2"}})
    moved = served.model_copy(update={"facts": {"fs.identity": "nfs:10.0.0.2:/export"}})
    agents.refresh_mounts(session, node.id, [ROOT, formatted, moved], NOW)
    by_path = {found.path: found for found in session.scalars(select(TargetMount))}
    assert "xfs:2 from /dev/sdb1 is mounted there, but the target was created on xfs:1" in (
        by_path["/scratch"].problem or ""
    )
    assert by_path["/mnt/nfs"].problem is None


def test_an_order_names_the_mount_point_and_the_file_system_of_a_device(session: Session) -> None:
    bound = mount("/scratch", "xfs", "/dev/sdb1", **{"fs.identity": "xfs:1", "mount.root": "/bench"})
    node = node_on(session, [ROOT, bound])
    plan = wanted(node, "disk", "/scratch/a", "node")
    target_id = service.create_target(session, ADMIN, plan, NOW).target.id
    (ordered,) = agents.order_targets(session, node.id, [target_id])
    assert (ordered.mount_point, ordered.root, ordered.identity) == ("/scratch", "/bench", "xfs:1")


def test_missing_facts_of_an_old_target_are_learnt_from_the_next_report(session: Session) -> None:
    node = node_on(session)
    nfs_target(session, node)
    guarded(session).mount_point = guarded(session).root = None
    agents.refresh_mounts(session, node.id, [ROOT, NFS], NOW)
    assert (guarded(session).mount_point, guarded(session).root) == ("/mnt/nfs", "/")
