"""Runs as LSF jobs, with fake LSF commands and all else real; `./dev test-slurm` uses a real Slurm."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_rig import BatchRig
from bring_up import wait_for
from local_stack import LocalStack
from rig import FIO_SMALL

STANDIN = Path(__file__).parents[1] / "standins/lsf.py"
DD = {"file_size_bytes": 1024**2, "block_size_bytes": 65_536}
LONG_LOAD = {**FIO_SMALL, "rw": "write", "runtime_seconds": 120}


@pytest.fixture(scope="module")
def jobs(stack: LocalStack) -> Path:
    """Return the fake's directory; while it contains a file `hold`, nothing starts."""
    directory = stack.directory / "lsf-jobs"
    directory.mkdir()
    return directory


@pytest.fixture(scope="module")
def lsf(stack: LocalStack, jobs: Path) -> Iterator[BatchRig]:
    commands = stack.directory / "lsf-bin"
    commands.mkdir()
    for name in ("bsub", "bjobs", "bhosts", "bkill"):
        (commands / name).write_text(f"#!{sys.executable}\n{STANDIN.read_text()}")
        (commands / name).chmod(0o755)
    environment = {
        "PATH": f"{commands}:/usr/local/bin:/usr/bin:/bin",
        "STANDIN_LSF": str(jobs),
        "STANDIN_LSF_HOSTS": "n1",
    }
    # All hosts have the same name here, so a path with `{node}` would match none of them.
    with BatchRig(stack, "lsf", ["n1"], environment, config_of="n1") as rig:
        yield rig


def test_a_campaign_of_jobs_ends_finished_with_results(lsf: BatchRig) -> None:
    campaign_id = lsf.submit("dd", DD, repeats=2)
    assert lsf.stack.wait_campaign(campaign_id)["state"] == "finished"
    for run in lsf.runs(campaign_id):
        job = run["attempts"][-1]["batch_job"]
        assert job["system"] == "lsf"
        assert {sample["metric"] for sample in run["samples"]} >= {"throughput", "duration"}
    assert all(start.is_alone for start in lsf.loads.starts())


def test_the_queue_s_own_reason_is_shown_and_a_cancel_kills_the_job(lsf: BatchRig, jobs: Path) -> None:
    (jobs / "hold").touch()
    try:
        before = len(lsf.loads.starts())
        run_id = lsf.submit_one("dd", DD)
        job = lsf.wait_job(run_id, "pending")
        assert lsf.run(run_id)["waiting_because"] == f"LSF job {job['job_id']} waits: New job is waiting for scheduling"
        lsf.stack.post(f"/runs/{run_id}/cancel", {})
        assert lsf.wait_ended(run_id)["state"] == "cancelled"
        wait_for("bkill", lambda: (jobs / job["job_id"] / "end").exists() or None)
    finally:
        (jobs / "hold").unlink()
    assert len(lsf.loads.starts()) == before


def test_cancelling_a_running_load_kills_its_job_and_leaves_nothing(lsf: BatchRig, jobs: Path) -> None:
    run_id = lsf.submit_one("fio", LONG_LOAD)
    lsf.wait_running(run_id)
    job = lsf.job(run_id)
    assert job is not None
    lsf.stack.post(f"/runs/{run_id}/cancel", {})
    assert lsf.wait_ended(run_id)["state"] == "cancelled"
    lsf.wait_clean()
    wait_for("the end of the job", lambda: (jobs / job["job_id"] / "end").exists() or None)
