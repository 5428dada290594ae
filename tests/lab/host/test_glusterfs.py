"""GlusterFS through FUSE on this machine: two bricks, one volume, in namespaces that take all of it with them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from lab.nodes import JOBS, Node, assert_declined, assert_measured, system

ADDRESS: Final = "10.77.1.1"
"""Bricks on a loopback address would be rejected."""
_OWN: Final = ("/var/lib/glusterd", "/var/log/glusterfs", "/run")


@pytest.fixture
def mount_point(tmp_path: Path) -> Iterator[Path]:
    """Mount a distributed volume and return its mount point."""
    assert os.getpid() == 1, (
        "this covers /run and takes an address; run ./dev test-lab, which gives it its own namespaces"
    )
    system("ip", "link", "set", "lo", "up")
    system("ip", "address", "add", f"{ADDRESS}/24", "dev", "lo")
    for directory in _OWN:
        system("mount", "-t", "tmpfs", "tmpfs", directory)
    Path("/run/gluster").mkdir()
    system("glusterd")
    bricks = [tmp_path / "brick-1", tmp_path / "brick-2"]
    system("gluster", "--mode=script", "volume", "create", "lab", *(f"{ADDRESS}:{brick}" for brick in bricks), "force")
    system("gluster", "--mode=script", "volume", "set", "lab", "performance.write-behind", "off")
    system("gluster", "--mode=script", "volume", "start", "lab")
    mount_point = tmp_path / "volume"
    mount_point.mkdir()
    system("mount", "-t", "glusterfs", f"{ADDRESS}:/lab", str(mount_point))
    mount_point.chmod(0o755)
    yield mount_point
    # The daemons end with the namespace of their processes, in which pytest is the first one's child.
    if mount_point.is_mount():
        system("umount", str(mount_point))


def test_facts_run_and_guard(mount_point: Path, make_node: Callable[..., Node]) -> None:
    node = make_node(mount_point)
    before = node.files()
    answer = node.run()
    facts = answer.mount.facts
    assert (answer.mount.fstype, answer.mount.source) == ("fuse.glusterfs", f"{ADDRESS}:/lab")
    assert (facts["gluster.volume"], facts["gluster.type"]) == ("lab", "Distribute")
    assert (facts["gluster.brick_count"], facts["gluster.distribute_count"]) == (2, 2)
    assert "performance.write-behind=off" in str(facts["gluster.options"]).split(",")
    assert (facts["network.server"], facts["fs.identity_scope"]) == (ADDRESS, "shared")
    assert str(facts["fs.identity"]).startswith("gluster:")
    assert_measured(answer)
    assert node.files() == before
    node.unmount()
    assert_declined(node.run(JOBS[:1], target=answer.target), "wrong_mount")
    assert node.files() == []
