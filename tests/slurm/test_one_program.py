"""Program over two nodes in a job of Slurm, started by the agents of the job."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_rig import SHARED, BatchRig
from bring_up import wait_for
from mpi.attempts import living_of
from slurm.real_slurm import RealSlurm

OPTIONS = {"tasks": 2, "transfer_size_bytes": 65_536, "transfers_per_block": 16, "file_per_process": False}
PLANNED_BYTES = 2 * 2 * 16 * 65_536


def submit(cluster: BatchRig) -> int:
    return cluster.submit_one("ior", OPTIONS, nodes=["n1", "n2"], nodes_at_once=True, targets=[SHARED])


@pytest.fixture
def base(cluster: BatchRig) -> Path:
    directory = cluster.stack.directory / "mpi"
    (directory / "environment").unlink(missing_ok=True)
    return directory


@pytest.fixture
def slow(base: Path) -> Iterator[None]:
    """Each task waits for a minute before it joins the others."""
    (base / "slow").touch()
    yield
    (base / "slow").unlink()


def test_the_nodes_of_a_job_run_one_program_without_slurm_s_variables(
    cluster: BatchRig, slurm: RealSlurm, base: Path
) -> None:
    run_id = submit(cluster)
    run = cluster.wait_ended(run_id)
    assert run["state"] == "finished", run["reason"]
    orders = {order["node_name"]: order for order in run["attempts"][-1]["orders"]}
    assert {node: order["step_role"] for node, order in orders.items()} == {"n1": "head", "n2": "member"}
    assert {sample["order_id"] for sample in run["samples"]} == {orders["n1"]["id"]}
    for operation in ("write", "read"):
        own = [sample for sample in run["samples"] if sample["labels"].get("operation") == operation]
        [rate] = [one["value"] for one in own if one["metric"] == "throughput" and "writer" not in one["labels"]]
        [seconds] = [
            one["value"] for one in own if one["metric"] == "duration" and one["labels"].get("part") == "total"
        ]
        assert rate * seconds == pytest.approx(PLANNED_BYTES)
    assert len([name for _, name in slurm.jobs() if name.startswith(f"iotide-{run_id}-")]) == 1
    lines = (base / "environment").read_text().splitlines()
    assert len([line for line in lines if line.startswith("launcher PATH=")]) == 2, "a launcher for each step"
    assert len([line for line in lines if line.startswith("task PATH=")]) == 8, "four tasks for each step"
    assert [line for line in lines if " SLURM" in line or " SRUN" in line] == []
    assert list(cluster.shared.iterdir()) == []


@pytest.mark.usefixtures("slow")
def test_scancel_of_a_job_in_the_middle_leaves_no_task_of_its_program(cluster: BatchRig, slurm: RealSlurm) -> None:
    run_id = submit(cluster)

    def started() -> bool | None:
        orders = [order for attempt in cluster.run(run_id)["attempts"] for order in attempt["orders"]]
        return True if orders and all(order["state"] == "running" for order in orders) else None

    wait_for("both nodes", started, seconds=60)
    wait_for("its tasks", lambda: True if "sleep" in living_of(run_id) else None, seconds=30, pause_seconds=0.5)
    slurm.ask("scancel", cluster.wait_job(run_id, "running")["job_id"])
    run = cluster.wait_ended(run_id)
    assert run["state"] in {"cancelled", "failed"}, run["reason"]
    assert not run["samples"]
    wait_for("the end of its tasks", lambda: True if not living_of(run_id) else None, seconds=30, pause_seconds=0.5)
    wait_for("an empty target", lambda: True if not any(cluster.shared.iterdir()) else None, seconds=30)
