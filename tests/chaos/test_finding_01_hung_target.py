"""Target that hangs during a run: only that run is affected, and runs on the node's healthy targets finish after it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from bring_up import wait_for
from local_stack import LocalStack
from made_mounts import FILE_SYSTEMS, made_mount
from rig import Rig

FROZEN_SECONDS: Final = float(os.environ.get("IOTIDE_FROZEN_SECONDS", "600"))
"""Time without an answer of the target; an NFS server may be down for a night, and each run waits in the same way."""
QUEUED: Final = 20
HEALTHY: Final = ("healthy-1", "healthy-2")
LIMIT_SECONDS: Final = 20.0
DD: Final = {"file_size_bytes": 8 * 1024**2, "block_size_bytes": 1024**2}
ENDLESS: Final = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 600}

pytestmark = [pytest.mark.faults, pytest.mark.timeout(FROZEN_SECONDS + 600)]


@contextmanager
def frozen_ext4(point: Path) -> Iterator[Callable[[str], None]]:
    """Mount a file system that `fsfreeze` makes hang like a dead NFS server; yield functions that freeze and thaw
    it.
    """

    def turn(word: str) -> None:
        subprocess.run(["fsfreeze", f"--{word}", str(point)], check=True)

    with made_mount(FILE_SYSTEMS["ext4"], point):
        yield turn
        # A helper that was killed while it hung releases the file system a moment after the thaw.
        wait_for("the unmounting", lambda: subprocess.run(["umount", point], check=False).returncode == 0 or None)


@contextmanager
def frozen_fuse(point: Path) -> Iterator[Callable[[str], None]]:
    """Mount a FUSE file system; yield functions that stop and continue its server."""
    source = point.with_name(f"{point.name}.source")
    for directory in (source, point):
        directory.mkdir(mode=0o700)
    server = subprocess.Popen(["bindfs", "-f", str(source), str(point)])

    def turn(word: str) -> None:
        server.send_signal(signal.SIGSTOP if word == "freeze" else signal.SIGCONT)

    try:
        wait_for("the file system", lambda: point.is_mount() or None)
        yield turn
    finally:
        server.send_signal(signal.SIGCONT)
        wait_for("the unmounting", lambda: subprocess.run(["umount", point], check=False).returncode == 0 or None)
        server.terminate()  # a copy of the mount in another namespace keeps it from ending automatically
        server.wait(20)


def add_node(stack: LocalStack, cluster: str, point: Path) -> int:
    """Add a node with a target on the mount and two healthy ones; return its id."""
    cluster_id = stack.add_cluster(cluster)
    directories = {"hung": point / "target"} | {name: stack.directory / cluster / name for name in HEALTHY}
    node_id = stack.add_agent(cluster_id, "node-1", list(directories.values())).node_id
    for name, directory in directories.items():
        stack.add_target(cluster_id, name, directory, [node_id])
    return node_id


def submit(stack: LocalStack, cluster: str, target: str, workload: str, options: object, **more: object) -> int:
    """Submit a campaign on one target; return its id."""
    plan = {
        "name": f"{workload}-{target}",
        "cluster": cluster,
        "nodes": ["node-1"],
        "targets": [target],
        "workloads": [{"workload": workload, "options": options}],
        "repeats": 1,
        **more,
    }
    campaign_id: int = stack.post("/campaigns", plan)["id"]
    return campaign_id


def runs(stack: LocalStack, *campaign_ids: int) -> list[dict[str, Any]]:
    return [run for one in campaign_ids for run in stack.get("/runs", campaign_id=one, limit=100)["items"]]


@pytest.mark.parametrize(("kind", "hung"), [("ext4", frozen_ext4), ("fuse", frozen_fuse)])
def test_only_the_run_on_the_hung_target_fails(rig: Rig, kind: str, hung: Callable[..., Any]) -> None:
    stack, cluster = rig.stack, f"frozen-{kind}"
    with hung(stack.directory / f"mount-{kind}") as turn:
        node_id = add_node(stack, cluster, stack.directory / f"mount-{kind}")
        first = submit(stack, cluster, "hung", "fio", ENDLESS, time_limit_seconds=LIMIT_SECONDS)
        wait_for("progress", lambda: runs(stack, first)[0]["progress"])
        turn("freeze")
        try:
            queued = [submit(stack, cluster, name, "dd", DD, repeats=QUEUED // 2) for name in HEALTHY]
            failed = wait_for("the end of the run", lambda: _ended(runs(stack, first)[0]), seconds=120)
            ends_at = time.monotonic() + FROZEN_SECONDS
            while time.monotonic() < ends_at:
                assert {run["state"] for run in runs(stack, *queued)} <= {"waiting", "active", "finished"}
                time.sleep(1)
            node = stack.get(f"/nodes/{node_id}")
            waiting = [run for run in runs(stack, *queued) if run["state"] == "waiting"]
            if kind == "ext4":
                # A signal ends requests that a stopped FUSE server has not read yet.
                _assert_stuck(stack, node, failed, len(waiting))
        finally:
            turn("unfreeze")
        for campaign_id in queued:
            assert stack.wait_campaign(campaign_id, seconds=300)["state"] == "finished"
        ended = runs(stack, *queued)
        assert [run["state"] for run in ended] == ["finished"] * QUEUED
        wait_for("the node", lambda: stack.get(f"/nodes/{node_id}")["state"] == "online" or None, seconds=60)
        stack.stop_agent(next(agent for agent in stack.agents if agent.node_id == node_id))


def _ended(run: dict[str, Any]) -> dict[str, Any] | None:
    return run if run["state"] == "failed" else None


def _assert_stuck(stack: LocalStack, node: dict[str, Any], failed: dict[str, Any], waiting_count: int) -> None:
    """Check that the node reports what holds it, and that its whole queue waits with the same message."""
    assert (failed["reason_code"], node["state"], waiting_count) == ("stuck", "stuck", QUEUED)
    (load,) = node["stuck"]
    assert (load["run_id"], load["targets"]) == (failed["id"], ["hung"])
    assert "in state D" in load["process"]
    queue = stack.get(f"/clusters/{node['cluster_id']}/queue", limit=QUEUED)["runs"]
    assert len(queue) == QUEUED
    assert all(load["process"] in run["waiting_because"] for run in queue)
    kinds = [item["kind"] for item in stack.get("/board")["attention"] if item["node_id"] == node["id"]]
    assert kinds == ["stuck_node"]
