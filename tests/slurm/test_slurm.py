"""Runs as jobs of a real Slurm; only the loads' own log shows what ran."""

import os
import signal
import subprocess
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from batch_rig import BatchRig
from bring_up import wait_for
from local_stack import BIN
from rig import FIO_SMALL
from slurm.real_slurm import RealSlurm

DD = {"file_size_bytes": 1024**2, "block_size_bytes": 65_536}
LONG_LOAD = {**FIO_SMALL, "rw": "write", "runtime_seconds": 300}


def loads_of(cluster: BatchRig) -> list[int]:
    """Return the processes that name the target in their arguments."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            is_load = str(cluster.target / "iotide-run-") in file.read_text(errors="replace")
        except OSError:
            continue
        found += [int(file.parent.name)] * is_load
    return found


def kill_outright(cluster: BatchRig, job_id: str) -> None:
    """Send SIGKILL to each process of the job, the agent first, so that none of them can report anything."""
    mark = f"SLURM_JOB_ID={job_id}\0"
    own = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            is_its_own = mark in f"{file.read_text(errors='replace')}\0"
        except OSError:
            continue
        own += [int(file.parent.name)] * is_its_own
    for pid in [*sorted(own), *loads_of(cluster)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_gone(slurm: RealSlurm, job_id: str) -> str:
    """Wait for the job's end and return its final state."""

    def ended() -> str | None:
        state = slurm.job_state(job_id)
        return state if state not in {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"} else None

    return wait_for(f"the end of Slurm's job {job_id}", ended, seconds=60)


def block(slurm: RealSlurm, node: str) -> str:
    """Submit another user's job that occupies the whole node; return its number."""
    argv = ("--parsable", "--exclusive", f"--nodelist={node}", "--output=/dev/null", "--wrap=sleep 600")
    job_id = slurm.ask("sbatch", *argv).strip()
    wait_for("the other job", lambda: True if slurm.job_state(job_id) == "RUNNING" else None)
    return job_id


def submit_again(cluster: BatchRig, run: dict[str, Any], fence: str) -> str:
    """Submit the same job of a run a second time, like a gateway that lost its state; return its number."""
    script = str(files("iotide_agent") / "batch" / "slurm-job.sh")
    order = run["attempts"][-1]["orders"][0]
    config = str(cluster.base / "{node}" / "agent.toml")
    argv = (
        *("--parsable", "--exclusive", "--mem=0", f"--nodelist={order['node_name']}", "--nodes=1"),
        *(f"--output={cluster.base}/logs/again.log", "--job-name=again", script, "1"),
        *(str(BIN / "iotide-agent"), "batch-run", "--config", config, fence, f"{order['node_name']}={order['id']}"),
    )
    environment = dict(cluster.environment)
    done = subprocess.run(["sbatch", *argv], env=environment, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def fence_of(slurm: RealSlurm, job_id: str) -> str:
    """Return the fence in the name of one of our jobs."""
    return dict(slurm.jobs())[job_id].rpartition("-")[2]


def test_a_campaign_of_single_nodes_ends_finished_with_results(cluster: BatchRig, slurm: RealSlurm) -> None:
    before = len(cluster.loads.starts())
    campaign_id = cluster.submit("dd", DD, nodes=["n1", "n2"], repeats=2)
    assert cluster.stack.wait_campaign(campaign_id, seconds=180)["state"] == "finished"
    runs = cluster.runs(campaign_id)
    assert len(runs) == 4
    names = dict(slurm.jobs())
    for run in runs:
        job = run["attempts"][-1]["batch_job"]
        assert names[job["job_id"]].startswith(f"iotide-{run['id']}-")
        assert {sample["metric"] for sample in run["samples"]} >= {"throughput", "duration"}
        assert (job["system"], run["attempts_made"]) == ("slurm", 1)
    assert len(cluster.loads.starts()) == before + 8
    states = {wait_gone(slurm, run["attempts"][-1]["batch_job"]["job_id"]) for run in runs}
    assert states == {"COMPLETED"}


def test_a_gang_of_two_nodes_is_one_job_and_starts_together(cluster: BatchRig, slurm: RealSlurm) -> None:
    run_id = cluster.submit_one("dd", DD, nodes=["n1", "n2"], nodes_at_once=True)
    run = cluster.wait_ended(run_id)
    assert run["state"] == "finished", run["reason"]
    attempt = run["attempts"][-1]
    assert [order["node_name"] for order in attempt["orders"]] == ["n1", "n2"]
    assert attempt["start_skew_seconds"] < 1.0
    assert len([name for _, name in slurm.jobs() if name.startswith(f"iotide-{run_id}-")]) == 1


def test_cancelling_a_running_run_cancels_its_job_and_the_load_is_gone(cluster: BatchRig, slurm: RealSlurm) -> None:
    run_id = cluster.submit_one("fio", LONG_LOAD)
    cluster.wait_running(run_id)
    job_id = cluster.wait_job(run_id, "running")["job_id"]
    cluster.stack.post(f"/runs/{run_id}/cancel", {})
    assert cluster.wait_ended(run_id)["state"] == "cancelled"
    cluster.wait_clean()
    assert wait_gone(slurm, job_id) == "CANCELLED"


def test_cancelling_a_gang_that_runs_ends_the_loads_of_both_nodes(cluster: BatchRig, slurm: RealSlurm) -> None:
    run_id = cluster.submit_one("fio", LONG_LOAD, nodes=["n1", "n2"], nodes_at_once=True)
    cluster.wait_running(run_id)
    job_id = cluster.wait_job(run_id, "running")["job_id"]
    cluster.stack.post(f"/runs/{run_id}/cancel", {})
    assert cluster.wait_ended(run_id)["state"] == "cancelled"
    cluster.wait_clean()
    assert wait_gone(slurm, job_id) == "CANCELLED"


def test_a_job_that_waits_shows_slurm_s_reason_and_goes_with_its_run(cluster: BatchRig, slurm: RealSlurm) -> None:
    before = len(cluster.loads.starts())
    other = block(slurm, "n1")
    try:
        run_id = cluster.submit_one("dd", DD)
        job_id = cluster.wait_job(run_id, "pending")["job_id"]
        expected = (f"Slurm job {job_id} waits: Resources", f"Slurm job {job_id} waits: Priority")
        wait_for("the reason", lambda: True if cluster.run(run_id)["waiting_because"] in expected else None, seconds=30)
        cluster.stack.post(f"/runs/{run_id}/cancel", {})
        assert cluster.wait_ended(run_id)["state"] == "cancelled"
        assert wait_gone(slurm, job_id) == "CANCELLED"
    finally:
        slurm.ask("scancel", other)
        wait_gone(slurm, other)
    assert len(cluster.loads.starts()) == before


def test_a_requeued_job_does_not_run_its_load_twice(cluster: BatchRig, slurm: RealSlurm) -> None:
    before = len(cluster.loads.starts())
    run_id = cluster.submit_one("fio", LONG_LOAD)
    cluster.wait_running(run_id)
    job_id = cluster.wait_job(run_id, "running")["job_id"]
    refused = slurm.ask("scontrol", "requeue", job_id, check=False)
    assert "disabled" in refused or "not" in refused.lower(), "sbatch --no-requeue forbids it"
    assert slurm.job_state(job_id) == "RUNNING"
    slurm.ask("scontrol", "update", f"JobId={job_id}", "Requeue=1")
    slurm.ask("scontrol", "requeue", job_id)
    run = cluster.wait_ended(run_id)
    assert (run["state"], run["reason_code"], run["attempts_made"]) == ("cancelled", "batch_ended", 1)
    cluster.wait_clean()
    wait_gone(slurm, job_id)
    assert len(cluster.loads.starts()) == before + 1


def test_a_job_that_is_killed_outright_and_requeued_runs_its_load_once(cluster: BatchRig, slurm: RealSlurm) -> None:
    before = len(cluster.loads.starts())
    run_id = cluster.submit_one("fio", LONG_LOAD, attempts_allowed=1)
    cluster.wait_running(run_id)
    job_id = cluster.wait_job(run_id, "running")["job_id"]
    slurm.ask("scontrol", "update", f"JobId={job_id}", "Requeue=1")
    cluster.stop_gateway()
    try:
        kill_outright(cluster, job_id)
        assert wait_gone(slurm, job_id) == "FAILED"
        slurm.ask("scontrol", "requeue", job_id)
        run = cluster.wait_ended(run_id, seconds=240)  # Slurm starts it again after two minutes
    finally:
        cluster.start_gateway_alone()
    assert run["state"] == "failed"
    assert run["reason"]
    wait_for("no load", lambda: None if cluster.loads.is_any_running() else True)
    assert len(cluster.loads.starts()) == before + 1


def test_the_same_order_submitted_twice_runs_once(cluster: BatchRig, slurm: RealSlurm) -> None:
    before = len(cluster.loads.starts())
    run_id = cluster.submit_one("fio", {**LONG_LOAD, "runtime_seconds": 8})
    cluster.wait_running(run_id)
    job_id = cluster.wait_job(run_id, "running")["job_id"]
    again = submit_again(cluster, cluster.run(run_id), fence_of(slurm, job_id))
    run = cluster.wait_ended(run_id)
    assert (run["state"], run["attempts_made"]) == ("finished", 1)
    assert wait_gone(slurm, again) == "COMPLETED"
    assert "so it does not run" in (cluster.base / "logs/again.log").read_text()
    assert len(cluster.loads.starts()) == before + 1


def test_a_gateway_that_dies_after_it_submitted_submits_nothing_again(cluster: BatchRig, slurm: RealSlurm) -> None:
    other = block(slurm, "n1")
    try:
        run_id = cluster.submit_one("dd", DD)
        cluster.wait_job(run_id, "pending")
        assert cluster.gateway is not None
        cluster.gateway.send_signal(signal.SIGKILL)
        cluster.gateway.wait()
        cluster.start_gateway_alone()
    finally:
        slurm.ask("scancel", other)
    assert cluster.wait_ended(run_id)["state"] == "finished"
    assert len([name for _, name in slurm.jobs() if name.startswith(f"iotide-{run_id}-")]) == 1


def test_scancel_by_an_administrator_ends_a_running_run_with_the_reason(cluster: BatchRig, slurm: RealSlurm) -> None:
    run_id = cluster.submit_one("fio", LONG_LOAD)
    cluster.wait_running(run_id)
    slurm.ask("scancel", cluster.wait_job(run_id, "running")["job_id"])
    run = cluster.wait_ended(run_id)
    assert (run["state"], run["reason_code"]) == ("cancelled", "batch_ended")
    cluster.wait_clean()


def test_scancel_of_a_waiting_job_ends_its_run_with_the_reason(cluster: BatchRig, slurm: RealSlurm) -> None:
    other = block(slurm, "n1")
    try:
        run_id = cluster.submit_one("dd", DD)
        job_id = cluster.wait_job(run_id, "pending")["job_id"]
        slurm.ask("scancel", job_id)
        run = cluster.wait_ended(run_id)
    finally:
        slurm.ask("scancel", other)
        wait_gone(slurm, other)
    assert (run["state"], run["reason_code"]) == ("cancelled", "batch_cancelled")
    assert f"Slurm job {job_id} was cancelled" in run["reason"]


def test_killing_all_processes_of_a_job_ends_its_run_once_its_node_is_silent(
    cluster: BatchRig, slurm: RealSlurm
) -> None:
    run_id = cluster.submit_one("fio", LONG_LOAD, attempts_allowed=1)
    cluster.wait_running(run_id)
    job_id = cluster.wait_job(run_id, "running")["job_id"]
    kill_outright(cluster, job_id)
    assert wait_gone(slurm, job_id) == "FAILED"
    run = cluster.wait_ended(run_id, seconds=120)
    assert (run["state"], run["reason_code"]) == ("failed", "batch_ended")
    assert f"Slurm job {job_id} failed" in run["reason"]
    assert loads_of(cluster) == []


def test_a_run_shows_that_its_partition_does_not_exist(cluster: BatchRig) -> None:
    config = cluster.base / "login/agent.toml"
    text = config.read_text()
    cluster.stop_gateway()
    try:
        config.write_text(f'{text}submit_arguments = ["--partition=nowhere"]\n')
        cluster.start_gateway_alone()
        run_id = cluster.submit_one("dd", DD)

        def refused() -> str | None:
            words: str = cluster.run(run_id)["waiting_because"] or ""
            return words if "invalid partition" in words else None

        assert "Slurm refused the job" in wait_for("Slurm's words", refused, seconds=60)
        cluster.stack.post(f"/runs/{run_id}/cancel", {})
    finally:
        cluster.stop_gateway()
        config.write_text(text)
        cluster.start_gateway()


def test_without_its_gateway_a_run_shows_that_nothing_submits_it(cluster: BatchRig) -> None:
    cluster.stop_gateway()
    try:

        def said() -> str | None:
            words: str = cluster.run(run_id)["waiting_because"] or ""
            return words if "Gateway login has been silent since" in words else None

        run_id = cluster.submit_one("dd", DD)
        wait_for("the reason", said, seconds=60)
    finally:
        cluster.start_gateway()
    assert cluster.wait_ended(run_id)["state"] == "finished"
