"""A shared file system on many nodes is one target, and may be backed by targets of storage nodes."""

from collections.abc import Sequence

import pytest
from factories.announced import NOW, hello, mount
from factories.clusters import make_cluster, make_node
from factories.people import ADMIN
from factories.raised import raised
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.targets import agents, backing, service
from iotide_server.targets.errors import BACKING_REFUSED, FILE_SYSTEM_IS_TARGET, STRANGER_MOUNTED
from iotide_server.targets.schemas import TargetInput
from iotide_wire.facts import MountFacts


def nfs(path: str, export: str = "/export", address: str = "10.0.0.1") -> MountFacts:
    facts = {"fs.identity": f"nfs:{address}:{export}", "fs.identity_scope": "shared"}
    return mount(path, "nfs4", f"nas1:{export}", **facts)


def raid(level: str = "raid5") -> MountFacts:
    return mount(
        "/export", "xfs", "/dev/md0", **{"fs.identity": "xfs:1", "fs.identity_scope": "node", "md.level": level}
    )


@pytest.fixture
def nodes(session: Session) -> list[Node]:
    """Two clients that mount an export at different paths, and its server."""
    cluster = make_cluster(session)
    said = {"n1": [nfs("/scratch")], "n2": [nfs("/work")], "nas1": [raid()]}
    return [
        make_node(session, cluster, name, said=hello(f"instance-{name}", mounts=mounts, approved=[mounts[0].path]))
        for name, mounts in said.items()
    ]


def make(session: Session, name: str, nodes: Sequence[Node], paths: Sequence[str], scope: str = "shared") -> int:
    given = {
        "cluster_id": nodes[0].cluster_id,
        "name": name,
        "path": paths[0],
        "scope": scope,
        "nodes": [nodes[0].id],
        "elsewhere": [{"node_id": node.id, "path": path} for node, path in zip(nodes, paths, strict=True)],
    }
    return service.create_target(session, ADMIN, TargetInput.model_validate(given), NOW).target.id


def test_an_existing_target_is_joined_and_not_made_again(session: Session, nodes: list[Node]) -> None:
    n1, n2, nas = nodes
    target_id = make(session, "scratch", [n1], ["/scratch"])
    with raised(FILE_SYSTEM_IS_TARGET) as refused:
        make(session, "work", [n2], ["/work"])
    assert "already is target scratch" in refused.value.message
    found, names = service.candidates(session, ADMIN, n1.cluster_id)
    joining = {one.joins: [(seen.node_id, seen.path) for seen in one.seen] for one in found}
    assert joining == {target_id: [(n2.id, "/work")], None: [(nas.id, "/export")]}
    assert names == {target_id: "scratch"}
    view = service.mount_on(session, ADMIN, target_id, {n1.id: None, n2.id: "/work"}, NOW)
    assert [(on.node_name, on.mount.path, on.mount.problem) for on in view.mounts] == [
        ("n1", "/scratch", None),
        ("n2", "/work", None),
    ]


def test_another_export_on_one_node_is_a_problem_of_that_mount(session: Session, nodes: list[Node]) -> None:
    n1, n2, _ = nodes
    n2.mounts = [nfs("/work", "/other").model_dump(mode="json")]
    target_id = make(session, "scratch", [n1, n2], ["/scratch", "/work"])
    first, second = service.target(session, ADMIN, target_id).mounts
    assert first.mount.problem is None
    assert "nfs:10.0.0.1:/other is mounted there, but nfs:10.0.0.1:/export on the" in (second.mount.problem or "")


def test_a_target_is_not_put_on_what_another_target_is_already(session: Session, nodes: list[Node]) -> None:
    n1, n2, _ = nodes
    make(session, "scratch", [n1], ["/scratch"])
    n2.mounts = [nfs("/work", "/other").model_dump(mode="json")]
    other_id = make(session, "other", [n2], ["/work"])
    n2.mounts = [nfs("/work").model_dump(mode="json")]
    with raised(FILE_SYSTEM_IS_TARGET, match="already is target scratch"):
        service.mount_on(session, ADMIN, other_id, {n2.id: None}, NOW)


def test_a_node_that_joins_does_not_have_the_changed_mounts_of_others_accepted(
    session: Session, nodes: list[Node]
) -> None:
    n1, n2, _ = nodes
    target_id = make(session, "scratch", [n1], ["/scratch"])
    below = mount("/", "ext4", "/dev/sda1", path="/scratch")
    n1.mounts = [below.model_dump(mode="json")]
    agents.refresh_mounts(session, n1.id, [below], NOW)
    view = service.mount_also_on(session, ADMIN, target_id, {n2.id: "/work"}, NOW)
    first, second = (on.mount for on in view.mounts)
    assert (first.source, second.source) == ("nas1:/export", "nas1:/export")
    assert "but the target was created on nfs4 from nas1:/export" in (first.problem or "")
    assert second.problem is None


def test_a_mount_that_differs_from_those_of_the_nodes_is_refused_at_once(session: Session, nodes: list[Node]) -> None:
    n1, n2, _ = nodes
    target_id = make(session, "scratch", [n1, n2], ["/scratch", "/work"])
    n2.mounts = [nfs("/work", "/other").model_dump(mode="json")]
    with raised(STRANGER_MOUNTED) as refused:
        service.accept_mounts(session, ADMIN, target_id, {n2.id}, NOW)
    assert refused.value.message.startswith("target scratch on node n2: nfs:10.0.0.1:/other is mounted there")
    assert "mount the other nodes' file system on n2, or remove the node" in (refused.value.remedy or "")


def test_facts_of_the_backing_target_are_stored_with_the_runs(session: Session, nodes: list[Node]) -> None:
    n1, n2, nas = nodes
    target_id = make(session, "scratch", [n1, n2], ["/scratch", "/work"])
    md0 = make(session, "nas1-md0", [nas], ["/export"], scope="node")
    view = service.target(session, ADMIN, target_id)
    mounts = [found.mount for found in view.mounts]
    assert [one.name for one in backing.suggested_backing(session, view.target, mounts)] == ["nas1-md0"]
    backing.set_backing(session, ADMIN, target_id, [md0])
    assert backing.suggested_backing(session, view.target, mounts) == []
    assert service.target(session, ADMIN, target_id).backed_by == [(md0, "nas1-md0")]
    before = backing.backing_facts(session, [target_id], {"tool.version": "1"})
    assert (before["tool.version"], before["backing.nas1_md0.md.level"]) == ("1", "raid5")
    nas.mounts = [raid("raid0").model_dump(mode="json")]
    assert backing.backing_facts(session, [target_id], {})["backing.nas1_md0.md.level"] == "raid0"
    backing.set_backing(session, ADMIN, target_id, [])
    assert backing.backing_facts(session, [target_id], {"tool.version": "1"}) == {"tool.version": "1"}


def test_no_target_backs_itself_directly_or_through_others(session: Session, nodes: list[Node]) -> None:
    n1, _, nas = nodes
    one = make(session, "scratch", [n1], ["/scratch"])
    two = make(session, "nas1-md0", [nas], ["/export"], scope="node")
    three = make(session, "again", [nas], ["/export"], scope="node")
    backing.set_backing(session, ADMIN, one, [two])
    backing.set_backing(session, ADMIN, two, [three])
    for target_id, backing_id in ((three, one), (two, one), (one, one)):
        with raised(BACKING_REFUSED) as refused:
            backing.set_backing(session, ADMIN, target_id, [backing_id])
        assert refused.value.remedy
