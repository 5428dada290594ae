"""Guards of the node: it checks locally what the server assumes about it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from bring_up import wait_for
from made_mounts import as_root
from rig import NODE, Rig, add_rig, unmount
from submitting import TARGET

LOAD = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}


@pytest.fixture(scope="module")
def mounted(rig: Rig) -> Iterator[Rig]:
    """Return a rig with its target on a separate file system."""
    mount_point = rig.stack.directory / "mount-point"
    mount_point.mkdir()
    subprocess.run(as_root("mount", "-t", "tmpfs", "-o", "size=64m,mode=1777", "iotide-test", mount_point), check=True)
    try:
        yield add_rig(rig.stack, "mounted", target=mount_point / "target")
    finally:
        while os.path.ismount(mount_point):
            subprocess.run(as_root("umount", "--lazy", mount_point), check=True)


def declined(rig: Rig, run_id: int) -> dict[str, Any] | None:
    run = rig.run(run_id)
    return run if run["attempts"] and run["attempts"][0]["state"] == "declined" else None


def test_a_target_without_its_file_system_is_declined_and_the_directory_below_not_touched(mounted: Rig) -> None:
    unmount(mounted.target.parent)
    mounted.target.mkdir()  # as after a reboot without the mount: a plain directory on the root disk
    run_id = mounted.submit_one("dd", LOAD, attempts_allowed=10)
    run = wait_for("a declined attempt", lambda: declined(mounted, run_id))
    reason = run["attempts"][0]["reason"]
    assert run["state"] in {"waiting", "active"}, "the next attempt waits or has begun"
    assert "tmpfs" in reason
    assert str(mounted.target) in reason
    assert mounted.loads.starts() == []
    assert mounted.leftovers() == []
    mounted.stack.post(f"/runs/{run_id}/cancel", {})


def test_a_node_without_the_tool_reports_it_and_a_campaign_is_rejected(rig: Rig) -> None:
    tools = rig.stack.directory / "few-tools"
    tools.mkdir()
    dd = shutil.which("dd")
    assert dd
    (tools / "dd").symlink_to(dd)
    directory = rig.stack.directory / "targets/few-tools"
    cluster_id = rig.stack.add_cluster("few-tools")
    agent = rig.stack.add_agent(cluster_id, NODE, [directory], {"PATH": str(tools)})
    rig.stack.add_target(cluster_id, TARGET, directory, [agent.node_id])
    announced = {one["name"]: one for one in rig.stack.get(f"/nodes/{agent.node_id}")["workloads"]}
    assert announced["dd"]["available"]
    assert not announced["fio"]["available"]
    assert "fio" in announced["fio"]["unavailable_because"]
    response = rig.stack.api.post("/campaigns", json={**rig.plan("fio", {}), "cluster": "few-tools"})
    error = response.json()["error"]
    assert 400 <= response.status_code < 500
    assert "fio" in error["message"] + str(error["value"])
    assert error["remedy"]


def test_a_symbolic_link_inside_an_approved_directory_leads_nowhere(rig: Rig) -> None:
    outside = rig.stack.directory / "outside"
    outside.mkdir()
    real = rig.target / "real"
    real.mkdir()
    target_id = rig.stack.add_target(rig.cluster_id, "swapped", real, [rig.agent.node_id])
    real.rmdir()
    real.symlink_to(outside)
    try:
        plan = {**rig.plan("dd", LOAD), "targets": ["swapped"]}
        run_id = rig.runs(rig.stack.post("/campaigns", plan)["id"])[0]["id"]
        run = wait_for("a declined attempt", lambda: declined(rig, run_id))
        assert str(real) in run["attempts"][0]["reason"]
        assert list(outside.iterdir()) == []
        rig.stack.post(f"/runs/{run_id}/cancel", {})
    finally:
        real.unlink()
        rig.stack.api.delete(f"/targets/{target_id}")


@pytest.mark.parametrize("path", ["/etc", "{target}/../outside", "{target}-beside", "relative/path"])
def test_a_target_outside_the_approved_directories_is_refused(rig: Rig, path: str) -> None:
    where = path.format(target=rig.target)
    body = {"cluster_id": rig.cluster_id, "name": "elsewhere", "path": where, "scope": "node"}
    response = rig.stack.api.post("/targets", json={**body, "nodes": [rig.agent.node_id], "reserve_bytes": None})
    error = response.json()["error"]
    assert 400 <= response.status_code < 500
    assert where in str(error["value"])
    assert error["field"]
    assert error["remedy"]


def test_a_target_that_has_filled_up_is_declined_with_numbers(mounted: Rig) -> None:
    mount_point = mounted.target.parent  # unmounted by the test above
    shutil.rmtree(mounted.target)
    subprocess.run(as_root("mount", "-t", "tmpfs", "-o", "size=64m,mode=1777", "iotide-test", mount_point), check=True)
    mounted.target.mkdir()
    (mount_point / "ballast").write_bytes(bytes(60 * 1024**2))
    run_id = mounted.submit_one("dd", {"file_size_bytes": "16 MiB", "block_size_bytes": "1 MiB"})
    run = wait_for("a declined attempt", lambda: declined(mounted, run_id))
    reason = run["attempts"][0]["reason"]
    assert f"needs {16 * 1024**2}" in reason
    assert f"{4 * 1024**2} bytes free" in reason
    assert mounted.leftovers() == []
    mounted.stack.post(f"/runs/{run_id}/cancel", {})
