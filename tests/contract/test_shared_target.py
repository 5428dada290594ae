"""One file system at different paths on two agents: one target, and each node must use that file system."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bring_up import wait_for
from local_stack import LocalStack
from made_mounts import as_root
from rig import Rig, unmount

LOAD = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}


def image(file: Path) -> Path:
    file.touch()
    os.truncate(file, 16 * 1024**2)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-E", f"root_owner={os.geteuid()}:{os.getegid()}", file], check=True)
    return file


@pytest.fixture
def places(tmp_path: Path) -> Iterator[list[Path]]:
    """Return a file system's mount point and its second mount point on another node."""
    mounted = [tmp_path / "scratch", tmp_path / "work"]
    for place in mounted:
        place.mkdir()
    subprocess.run(as_root("mount", "-o", "loop", image(tmp_path / "image"), mounted[0]), check=True)
    subprocess.run(as_root("mount", "--bind", mounted[0], mounted[1]), check=True)
    yield mounted
    for place in mounted:
        while os.path.ismount(place):
            subprocess.run(as_root("umount", "--lazy", place), check=True)


def declined(stack: LocalStack, run_id: int) -> dict[str, Any] | None:
    attempts = stack.get(f"/runs/{run_id}")["attempts"]
    return attempts[0] if attempts and attempts[0]["state"] == "declined" else None


def test_it_is_one_target_at_both_paths_and_a_node_with_another_one_is_refused(rig: Rig, places: list[Path]) -> None:
    stack = rig.stack
    cluster_id = stack.add_cluster("two-nodes")
    nodes = [stack.add_agent(cluster_id, name, [place]).node_id for name, place in zip("ab", places, strict=True)]
    elsewhere = [{"node_id": nodes[1], "path": str(places[1])}]
    body = {"cluster_id": cluster_id, "name": "one", "path": str(places[0]), "scope": "shared", "nodes": nodes[:1]}
    target = stack.post("/targets", {**body, "elsewhere": elsewhere})
    first, second = target["mounts"]
    assert first["identity"] == second["identity"]
    assert first["identity"].startswith("ext4:")
    assert (first["problem"], second["problem"]) == (None, None)
    refused = stack.api.post("/targets", json={**body, "name": "again"})
    assert refused.json()["error"]["code"] == "file_system_is_target"

    plan = {**rig.plan("dd", LOAD), "cluster": "two-nodes", "nodes": ["a", "b"], "targets": ["one"]}
    assert stack.wait_campaign(stack.post("/campaigns", plan)["id"])["state"] == "finished"

    unmount(places[1])
    subprocess.run(as_root("mount", "-o", "loop", image(places[1].parent / "other"), places[1]), check=True)
    again = stack.post("/campaigns", {**plan, "name": "again", "nodes": ["b"]})
    run_id = rig.runs(again["id"])[0]["id"]
    attempt = wait_for("a declined attempt", lambda: declined(stack, run_id))
    assert str(places[1]) in attempt["reason"]
    assert "but the target is" in attempt["reason"]
    assert [path.name for path in places[1].iterdir()] == ["lost+found"]
    stack.post(f"/runs/{run_id}/cancel", {})
