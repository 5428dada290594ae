"""Agent inside a batch job, as its own process against the gateway double."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from agent.agent_rig import COMMAND, AgentRig

from iotide_server.bundled.redis import PrivateRedis
from iotide_wire.messages import Outcome

DD = {"file_size_bytes": 8 * 1024**2, "block_size_bytes": 1024**2}
ENDLESS = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 600}


@pytest.fixture
def node(tmp_path: Path, redis_server: PrivateRedis) -> Iterator[AgentRig]:
    """Return an enrolled node without a running agent."""
    with AgentRig(tmp_path, redis_server) as rig:
        yield rig


def job(node: AgentRig, order_id: int) -> tuple[str, ...]:
    """Return the arguments that the job's command passes to the agent."""
    fence = node.gateway.orders[order_id].order.fence
    return ("batch-run", str(fence), f"other={order_id + 1000}", f"node-1={order_id}")


def started(node: AgentRig, order_id: int) -> subprocess.Popen[bytes]:
    """Return a job that runs its load."""
    with (node.base / "agent.log").open("ab") as log:
        argv = [str(COMMAND), *job(node, order_id), "--config", str(node.config)]
        node.process = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
    node.gateway.until_running(order_id)
    return node.process


def test_a_job_runs_its_node_s_order_and_ends_once_the_server_has_the_result(node: AgentRig) -> None:
    order_id = node.order("dd", DD)
    done = node.command(*job(node, order_id))
    assert done.returncode == 0, done.stderr
    assert "the server has its result" in done.stdout
    (result,) = node.gateway.orders[order_id].results
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert list(node.target.iterdir()) == []
    assert node.worker_pids() == []


def test_a_second_start_of_the_job_runs_nothing_and_is_no_failure(node: AgentRig) -> None:
    order_id = node.order("dd", DD)
    node.command(*job(node, order_id))
    again = node.command(*job(node, order_id))
    assert again.returncode == 0, again.stderr
    assert "so it does not run" in again.stdout
    assert len(node.gateway.orders[order_id].results) == 1


def test_a_job_that_the_batch_system_ends_leaves_no_load_and_says_why(node: AgentRig) -> None:
    order_id = node.order("fio", ENDLESS)
    process = started(node, order_id)
    for pid in [*node.load_pids(), *node.runner_pids(), process.pid]:
        with suppress(ProcessLookupError):  # fio ends its workers after it receives its own signal
            os.kill(pid, signal.SIGTERM)  # slurmstepd also signals each process of the job
    assert process.wait(30) == 0
    (result,) = node.gateway.orders[order_id].results
    assert (result.outcome, result.reason_code) == (Outcome.CANCELLED, "batch_ended")
    assert node.load_pids() == []
    assert list(node.target.iterdir()) == []


def test_a_job_that_was_killed_and_starts_again_says_that_its_load_is_gone_and_runs_nothing(node: AgentRig) -> None:
    order_id = node.order("fio", ENDLESS)
    process = started(node, order_id)
    for pid in [process.pid, *node.runner_pids(), *node.load_pids()]:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    again = node.command(*job(node, order_id))
    assert again.returncode == 0, again.stderr
    assert "so it does not run" in again.stdout
    (result,) = node.gateway.orders[order_id].results
    assert result.outcome is Outcome.FAILED
    assert list(node.target.iterdir()) == []


def test_a_node_announces_itself_without_an_agent_that_stays(node: AgentRig) -> None:
    done = node.command("announce")
    assert done.returncode == 0, done.stderr
    (hello,) = node.gateway.hellos
    assert "dd" in {workload.name for workload in hello.workloads}
    assert hello.holds == ()


def test_a_job_of_other_nodes_is_refused_with_the_remedy(node: AgentRig) -> None:
    done = node.command("batch-run", "99", "n7=1", "n8=2")
    assert done.returncode == 2
    assert 'no order is for this node, "node-1"' in done.stderr


def test_the_path_of_a_configuration_contains_the_name_of_its_node(node: AgentRig) -> None:
    argv = [str(COMMAND), "announce", "--config", str(node.base / "{node}.toml")]
    environment = {**os.environ, "SLURMD_NODENAME": "agent"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_gateway_without_a_batch_system_says_what_to_write(node: AgentRig) -> None:
    done = node.command("gateway")
    assert done.returncode == 2
    assert 'system = "slurm" or "lsf" or "pbs" or "flux"' in done.stderr
