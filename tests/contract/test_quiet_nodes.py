"""Nodes in real use by others: a real agent flags the other load, waits for its end or rejects the run, by policy.

Other load is a crowd of programs that compute without end, or a dd that writes without end. Limits are those of a
crowd, so that the rest of this machine, server and tests, counts as quiet. Each agent checks only one kind of load.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bring_up import wait_for
from local_stack import Launch, LocalStack

SHORT = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB", "operations": ["write"]}
LONG = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 8}
SECOND = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 1}
RUNS = int(os.environ.get("IOTIDE_BUSY_RUNS", "8"))
"""Of one second each, while half of the CPUs compute for another program."""
CROWD = 12
"""Programs for each CPU."""
TASKS_ALLOWED = 7
DISK_ALLOWED = 32 * 1024**2
"""Less than a dd alone writes to any disk, more than the server and other tests do."""
CPU_ALLOWED = 0.3
"""Server and tests use less while an agent samples its node; half of the CPUs are more."""
NOTHING_ELSE = """
psi_cpu_ratio = 1.0
psi_io_ratio = 1.0
network_bytes_per_second = 1e12
jobs = 1000
"""
pytestmark = pytest.mark.timeout(400)

SAMPLE_SECONDS = 6.0
"""After a load has ended, a sample without it is complete this much later."""


@pytest.fixture(scope="module")
def site(stack: LocalStack) -> LocalStack:
    """Return three nodes, each with a target: `tasks` counts processes, `disk` checks disk traffic, `cpu` CPU use.

    The first two share another target.
    """
    cluster_id = stack.add_cluster("quiet")
    both = stack.directory / "targets" / "quiet-both"
    nodes = []
    for name, limits in (
        ("tasks", f"cpu_ratio = 1.0\ntasks_per_processor = {TASKS_ALLOWED}\ndisk_bytes_per_second = 1e12"),
        ("disk", f"cpu_ratio = 1.0\ntasks_per_processor = 1000\ndisk_bytes_per_second = {DISK_ALLOWED}"),
        ("cpu", f"cpu_ratio = {CPU_ALLOWED}\ntasks_per_processor = 1000\ndisk_bytes_per_second = 1e12"),
    ):
        directory = stack.directory / "targets" / f"quiet-{name}"
        launch = Launch(configuration=f"[quiet]\n{limits}{NOTHING_ELSE}")
        agent = stack.add_agent(cluster_id, name, [directory, both], launch=launch)
        stack.add_target(cluster_id, f"of-{name}", directory, [agent.node_id])
        nodes.append(agent.node_id)
    stack.add_target(cluster_id, "of-both", both, nodes[:2])
    return stack


@contextmanager
def crowd(count: int = CROWD * (os.cpu_count() or 1)) -> Iterator[None]:
    """Start programs that use more than all CPUs, at a lower priority than server, agent and other tests."""
    script = "for number in $(seq $1); do while :; do :; done & done; wait"
    # A separate process group; its number is the first process's.
    process = subprocess.Popen(["chrt", "--idle", "0", "sh", "-c", script, "sh", str(count)], start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def writer(directory: Path) -> Iterator[None]:
    """Start a dd that writes 64 MiB through to the disk, again and again."""
    script = "while :; do dd if=/dev/zero of=$1 bs=1M count=64 conv=fdatasync status=none; done"
    process = subprocess.Popen(["sh", "-c", script, "sh", str(directory / "foreign")], start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        (directory / "foreign").unlink(missing_ok=True)


def submit(site: LocalStack, node: str, quiet: str, **more: object) -> int:
    """Submit a campaign of one short run, or of several; return the id of its first run."""
    plan = {
        "name": f"{quiet}-on-{node}",
        "cluster": "quiet",
        "nodes": [node],
        "targets": [f"of-{node}"],
        "workloads": [{"workload": "dd", "options": SHORT}],
        "repeats": 1,
        "quiet": quiet,
        **more,
    }
    campaign_id = site.post("/campaigns", plan)["id"]
    runs = site.get("/runs", campaign_id=campaign_id)["items"]
    return min(int(run["id"]) for run in runs)


def ended(site: LocalStack, run_id: int) -> dict[str, Any]:
    def found() -> dict[str, Any] | None:
        run: dict[str, Any] = site.get(f"/runs/{run_id}")
        return run if run["state"] in {"finished", "failed", "cancelled"} else None

    return wait_for(f"the end of run {run_id}", found, seconds=180)  # a run may wait two minutes for a quiet node


def phase(site: LocalStack, run_id: int, words: str) -> str:
    """Return the state of one of the run's nodes once it contains these words: a gang shows only its slowest node."""

    def found() -> str | None:
        attempts = site.get(f"/runs/{run_id}")["attempts"]
        said = (order["phase"] for attempt in attempts for order in attempt["orders"])
        return next((phase for phase in said if words in phase), None)

    return wait_for(f"{words} of run {run_id}", found, seconds=90)


def before(run: dict[str, Any]) -> dict[str, Any]:
    """Return the other load on the node before the run's last attempt."""
    (order,) = run["attempts"][-1]["orders"]
    measured: dict[str, Any] = order["foreign_load"]["before"]
    return measured


def foreign_flags(run: dict[str, Any]) -> list[str]:
    return [flag["measured"] for flag in run["flags"] if flag["code"] == "FOREIGN_LOAD"]


def test_a_run_reports_that_it_waits_for_the_crowds_end_and_then_starts_automatically(site: LocalStack) -> None:
    with crowd():
        time.sleep(SAMPLE_SECONDS)
        run_id = submit(site, "tasks", "wait", quiet_wait="2 min")
        said = phase(site, run_id, "waiting for an idle node: load ")
        assert f"of at most {TASKS_ALLOWED} per CPU; " in said
        assert said.endswith(" s of 120 s")
        assert site.get(f"/runs/{run_id}")["started_at"] is None
    run = ended(site, run_id)
    assert (run["state"], foreign_flags(run)) == ("finished", [])
    assert len(run["attempts"]) == 1
    measured = before(run)
    assert (measured["excess"], measured["waited_seconds"] > 1) == ("", True)
    assert measured["running_tasks"] <= TASKS_ALLOWED * measured["processors"]


def test_a_run_that_waited_in_vain_is_declined_and_its_node_is_free(site: LocalStack) -> None:
    with crowd():
        time.sleep(SAMPLE_SECONDS)
        run_id = submit(site, "tasks", "wait", quiet_wait="2 s")
        declined = wait_for("the decline", lambda: _declined(site, run_id), seconds=40)
        assert declined["attempts"][0]["state"] == "declined"
        assert declined["attempts"][0]["reason"].startswith("the node is not idle after ")
        assert before(declined)["excess"].startswith("load ")
        site.post(f"/runs/{run_id}/cancel", {})
    assert ended(site, run_id)["state"] == "cancelled"


def test_a_crowd_is_refused_at_once_flagged_or_ignored_as_the_campaign_says_and_measured_always(
    site: LocalStack,
) -> None:
    with crowd():
        time.sleep(SAMPLE_SECONDS)
        refused = ended(site, submit(site, "tasks", "refuse"))
        time.sleep(SAMPLE_SECONDS)
        flagged = ended(site, submit(site, "tasks", "flag"))
        time.sleep(SAMPLE_SECONDS)
        ignored = ended(site, submit(site, "tasks", "ignore"))
    assert (refused["state"], refused["reason_code"], len(refused["attempts"])) == ("failed", "node_busy", 1)
    assert refused["reason"].startswith("the node is not idle: load ")
    assert f"of at most {TASKS_ALLOWED} per CPU" in refused["reason"]
    assert "[quiet] of the node's agent.toml" in refused["reason"]
    assert refused["attempts"][0]["orders"][0]["steps"] == []
    assert (flagged["state"], ignored["state"]) == ("finished", "finished")
    assert any(words.startswith("just before the run: load ") for words in foreign_flags(flagged))
    assert foreign_flags(ignored) == []
    for run in (refused, flagged, ignored):
        assert before(run)["running_tasks"] > TASKS_ALLOWED * before(run)["processors"]


def test_other_load_during_a_run_is_measured_even_if_the_campaign_ignores_it(site: LocalStack) -> None:
    with crowd():
        run = ended(site, submit(site, "tasks", "ignore", workloads=[{"workload": "fio", "options": LONG}]))
    (order,) = run["attempts"][-1]["orders"]
    during = order["foreign_load"]["during"]
    assert (run["state"], foreign_flags(run)) == ("finished", [])
    assert during["seconds"] >= 5
    assert during["psi_cpu_ratio"] > 0.1
    # If the target's file system is a program, no kernel counter shows whose CPU time it was.
    assert during["cpu_ratio"] is None or during["cpu_ratio"] > 0.1


def test_each_of_many_short_runs_reports_other_load_or_that_it_was_not_measured(
    site: LocalStack,
) -> None:
    with crowd((os.cpu_count() or 1) // 2):
        first_id = submit(site, "cpu", "flag", workloads=[{"workload": "fio", "options": SECOND}], repeats=RUNS)
        runs = [ended(site, first_id + number) for number in range(RUNS)]
    codes = [{flag["code"] for flag in run["flags"]} & {"FOREIGN_LOAD", "LOAD_NOT_MEASURED"} for run in runs]
    assert [len(found) for found in codes] == [1] * RUNS, codes
    # A node that is idle for a second now and then has a sample, so hardly any run lacks one.
    assert codes.count({"FOREIGN_LOAD"}) >= RUNS / 2
    assert all(before(run)["seconds"] >= 5 for run, found in zip(runs, codes, strict=True) if "FOREIGN_LOAD" in found)


def test_a_dd_of_another_user_is_seen_on_the_disk(site: LocalStack) -> None:
    if not any((disk / "device").exists() for disk in Path("/sys/block").iterdir()):
        pytest.fail("no disk with hardware below it is seen here; give the container /sys of the machine")
    with writer(site.directory):
        time.sleep(SAMPLE_SECONDS)
        refused = ended(site, submit(site, "disk", "refuse"))
    assert (refused["state"], refused["reason_code"]) == ("failed", "node_busy")
    assert refused["reason"].startswith("the node is not idle: disks ")
    assert before(refused)["disk_bytes_per_second"] > DISK_ALLOWED
    run = ended(site, submit(site, "disk", "wait", quiet_wait="2 min"))
    assert (run["state"], before(run)["excess"]) == ("finished", "")


def test_a_gang_starts_together_once_its_last_node_is_quiet_and_is_freed_whole_where_that_refuses(
    site: LocalStack,
) -> None:
    gang = {"nodes": ["tasks", "disk"], "nodes_at_once": True, "targets": ["of-both"]}
    with writer(site.directory):
        time.sleep(SAMPLE_SECONDS)
        refused = ended(site, submit(site, "disk", "refuse", **gang))
        time.sleep(SAMPLE_SECONDS)
        run_id = submit(site, "disk", "wait", quiet_wait="2 min", **gang)
        phase(site, run_id, "waiting for an idle node: disks ")
    outcomes = {order["node_name"]: order["outcome"] for order in refused["attempts"][0]["orders"]}
    assert (refused["state"], refused["reason_code"], outcomes["disk"]) == ("failed", "node_busy", "failed")
    assert outcomes["tasks"] in {"cancelled", "withdrawn", "failed"}, "failed where other tests made it busy, too"
    run = ended(site, run_id)
    (attempt,) = run["attempts"]
    assert (run["state"], attempt["go_at"] is not None) == ("finished", True)
    assert {order["outcome"] for order in attempt["orders"]} == {"finished"}


def _declined(site: LocalStack, run_id: int) -> dict[str, Any] | None:
    run: dict[str, Any] = site.get(f"/runs/{run_id}")
    return run if run["state"] == "waiting" and run["attempts"] and run["attempts"][0]["reason"] else None
