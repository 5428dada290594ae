"""Whole agent with real processes, Redis, Celery and HTTP; each part may die."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from agent.agent_rig import AgentRig

from iotide_agent.runner.workspace import MARKER
from iotide_agent.workloads.dd import DdWorkload
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.messages import OrderState, Outcome

DD = {"file_size_bytes": 8 * 1024**2, "block_size_bytes": 1024**2}
FIO = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2}
ENDLESS = FIO | {"runtime_seconds": 600}


def test_an_offer_becomes_a_result_and_nothing_is_left(agent: AgentRig) -> None:
    order_id = agent.offer("dd", DD)
    result = agent.gateway.result(order_id)
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert {sample.metric for sample in result.samples} == {"throughput", "duration"}
    assert [step.name for step in result.steps] == ["write", "read"]
    assert result.steps[0].argv[0] == "dd"
    record = agent.gateway.orders[order_id]
    assert {artefact.name for artefact in result.artefacts} == set(record.artefacts)
    assert "000-write.stderr" in record.artefacts
    ended = json.loads(record.artefacts["runner.json"])
    assert ended["removed"] == [f"{agent.target}/iotide-run-{record.order.run_id}-1-{order_id}"]
    assert result.environment["workload.revision"] == DdWorkload.revision
    agent.until_order_gone(order_id)
    assert list(agent.target.iterdir()) == []
    assert list((agent.state / "spool/offers").iterdir()) == []


def test_progress_and_curves_are_reported_while_the_load_runs(agent: AgentRig) -> None:
    order_id = agent.offer("fio", FIO | {"runtime_seconds": 3})
    record = agent.gateway.orders[order_id]
    agent.gateway.until(lambda: any(heartbeat.progress for heartbeat in record.heartbeats))
    result = agent.gateway.result(order_id)
    assert result.outcome is Outcome.FINISHED
    states = [heartbeat.state for heartbeat in record.heartbeats]
    assert states == sorted(states, key=list(OrderState).index)
    reported = [heartbeat.progress for heartbeat in record.heartbeats if heartbeat.progress is not None]
    assert reported == sorted(reported)
    written = next(curve for curve in result.curves if curve.counter == "write_bytes_per_second")
    assert len(written.values) >= 3
    assert max(written.values) > 0
    sampler = next(curve for curve in result.curves if curve.counter == "sampler_cpu_ratio")
    assert max(sampler.values) < 0.1


def test_an_observing_order_continues_until_the_server_reports_the_end_of_the_loads(
    agent: AgentRig,
) -> None:
    load_id = agent.offer("fio", FIO | {"runtime_seconds": 3})
    agent.gateway.until_running(load_id)
    observer_id = agent.offer_to_observe()
    agent.gateway.until_running(observer_id)
    assert agent.gateway.result(load_id).outcome is Outcome.FINISHED
    record = agent.gateway.orders[observer_id]
    assert record.results == []
    assert {heartbeat.state for heartbeat in record.heartbeats} <= {OrderState.READY, OrderState.RUNNING}

    record.is_cancelled = True
    agent.wake(observer_id)
    result = agent.gateway.result(observer_id)
    assert (result.outcome, result.reason_code) == (Outcome.FINISHED, "loads_ended")
    assert (result.samples, result.steps, result.artefacts) == ((), (), ())
    assert result.environment["memory.total_bytes"]
    assert "cpu_user_ratio" in {curve.counter for curve in result.curves}
    assert "write_bytes_per_second" not in {curve.counter for curve in result.curves}
    agent.until_order_gone(observer_id)


def test_an_observing_runner_outlives_its_agent_and_is_adopted(own_agent: AgentRig) -> None:
    order_id = own_agent.offer_to_observe()
    own_agent.gateway.until_running(order_id)
    (runner,) = own_agent.runner_pids()
    own_agent.kill()
    own_agent.start()
    assert own_agent.runner_pids() == [runner]
    own_agent.gateway.orders[order_id].is_cancelled = True
    assert own_agent.gateway.result(order_id).outcome is Outcome.FINISHED


def test_forged_and_repeated_wake_ups_have_no_effect(agent: AgentRig) -> None:
    order_id = agent.order("dd", DD)
    agent.wake(order_id, fence=666)
    agent.wake(order_id + 1000, fence=1)
    agent.wake(order_id)
    agent.wake(order_id)
    agent.gateway.result(order_id)
    agent.until_order_gone(order_id)
    agent.wake(order_id)
    agent.gateway.until(lambda: list((agent.state / "spool/offers").iterdir()) == [])
    assert len(agent.gateway.orders[order_id].results) == 1


def test_cancel_ends_the_load_within_three_seconds_and_removes_its_files(agent: AgentRig) -> None:
    order_id = agent.offer("fio", ENDLESS)
    agent.gateway.until_running(order_id)
    agent.gateway.orders[order_id].is_cancelled = True
    cancelled_at = time.monotonic()
    agent.wake(order_id)  # the server's wake-up
    agent.gateway.until(lambda: agent.load_pids() == [])
    assert time.monotonic() - cancelled_at < 3.0
    assert agent.gateway.result(order_id).outcome is Outcome.CANCELLED
    assert list(agent.target.iterdir()) == []


def test_an_order_that_the_server_no_longer_knows_is_stopped_and_forgotten(agent: AgentRig) -> None:
    order_id = agent.offer("fio", ENDLESS)
    agent.gateway.until_running(order_id)
    agent.gateway.orders[order_id].is_unknown = True
    agent.until_order_gone(order_id)
    assert agent.load_pids() == []
    assert list(agent.target.iterdir()) == []
    assert agent.gateway.orders[order_id].results == []


def test_a_held_node_declines(agent: AgentRig) -> None:
    with (agent.state / "node.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        order_id = agent.offer("dd", DD)
        result = agent.gateway.result(order_id)
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "node_busy_locally")
    assert str(os.getpid()) in str(result.reason)


def test_two_shared_orders_run_side_by_side(agent: AgentRig) -> None:
    first = agent.offer("fio", FIO | {"runtime_seconds": 3}, node_mode="shared")
    agent.gateway.until_running(first)
    second = agent.offer("dd", DD, node_mode="shared")
    assert agent.gateway.result(second).outcome is Outcome.FINISHED
    assert agent.gateway.orders[first].results == []
    assert agent.gateway.result(first).outcome is Outcome.FINISHED


def test_a_directory_outside_the_approved_ones_is_declined(agent: AgentRig, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (agent.target / "link").symlink_to(tmp_path / "elsewhere")
    for path in (str(tmp_path / "elsewhere"), str(agent.target / "link"), f"{agent.target}/../elsewhere"):
        order_id = agent.order("dd", DD)
        record = agent.gateway.orders[order_id]
        target = record.order.targets[0].model_copy(update={"path": path})
        record.order = record.order.model_copy(update={"targets": (target,)})
        agent.wake(order_id)
        result = agent.gateway.result(order_id)
        assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "directory_not_approved")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_time_limit_is_the_reason_of_a_run_that_takes_longer(agent: AgentRig) -> None:
    order_id = agent.offer("fio", FIO | {"runtime_seconds": 60}, time_limit_seconds=1.0)
    result = agent.gateway.result(order_id)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "time_limit")
    assert str(result.reason).startswith("the time limit of 1 s was reached")
    assert str(result.reason).endswith("; raise the limit or reduce the size")
    assert {flag.code for flag in result.flags if flag.effect is FlagEffect.REJECTED} <= {FlagCode.CUT}


def test_options_that_do_not_fit_fail_with_the_option_named(agent: AgentRig) -> None:
    result = agent.gateway.result(agent.offer("dd", {"file_size_bytes": -1}))
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "invalid_options")
    assert "file_size_bytes = -1" in str(result.reason)


def test_a_killed_agent_adopts_its_load_at_the_next_start(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", FIO | {"runtime_seconds": 5})
    loads = own_agent.until_loading(order_id)
    own_agent.kill()
    assert set(loads) & set(own_agent.load_pids())  # fio starts several processes, and some end at once
    own_agent.start()
    hello = own_agent.gateway.hellos[-1]
    assert hello.previous_instance == own_agent.gateway.hellos[0].agent_instance
    assert [held.order_id for held in hello.holds] == [order_id]
    result = own_agent.gateway.result(order_id)
    assert result.outcome is Outcome.FINISHED
    assert list(own_agent.target.iterdir()) == []


def test_a_run_that_ends_without_an_agent_is_reported_by_the_next(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", FIO | {"runtime_seconds": 1})
    own_agent.gateway.until_running(order_id)
    own_agent.kill()
    own_agent.gateway.until((own_agent.state / f"orders/{order_id}/exit.json").exists)
    own_agent.start()
    assert own_agent.gateway.result(order_id).outcome is Outcome.FINISHED


def test_the_load_of_a_killed_runner_is_ended_and_reported(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", ENDLESS)
    own_agent.gateway.until_running(order_id)
    for pid in own_agent.runner_pids():
        os.kill(pid, signal.SIGKILL)
    result = own_agent.gateway.result(order_id)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "runner_died")
    assert own_agent.load_pids() == []
    assert list(own_agent.target.iterdir()) == []


def test_agent_and_runner_killed_together_leave_neither_load_nor_files(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", ENDLESS)
    own_agent.gateway.until_running(order_id)
    own_agent.kill()
    for pid in own_agent.runner_pids():
        os.kill(pid, signal.SIGKILL)
    own_agent.start()
    assert own_agent.gateway.result(order_id).reason_code == "runner_died"
    assert own_agent.load_pids() == []
    assert list(own_agent.target.iterdir()) == []


def test_a_result_is_kept_while_the_server_is_away(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", FIO | {"runtime_seconds": 1})
    own_agent.gateway.until_running(order_id)
    own_agent.gateway.is_away = True
    result_file = own_agent.state / f"orders/{order_id}/result.json"
    own_agent.gateway.until(result_file.exists)
    own_agent.kill()
    own_agent.gateway.is_away = False
    own_agent.start()
    result = own_agent.gateway.result(order_id)
    assert result.outcome is Outcome.FINISHED
    own_agent.until_order_gone(order_id)


def test_a_reboot_shows_as_orders_missing_from_the_hello(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", ENDLESS)
    own_agent.gateway.until_running(order_id)
    own_agent.kill()
    for pid in (*own_agent.runner_pids(), *own_agent.load_pids()):
        os.kill(pid, signal.SIGKILL)
    phase_file = own_agent.state / f"orders/{order_id}/phase.json"
    phase_file.write_text(json.dumps(json.loads(phase_file.read_text()) | {"boot_id": "of-another-boot"}))
    assert list(own_agent.target.iterdir()) != []
    own_agent.start()
    assert own_agent.gateway.hellos[-1].holds == ()
    own_agent.gateway.until(lambda: list(own_agent.target.iterdir()) == [])
    own_agent.gateway.until(lambda: list((own_agent.state / "leftovers").iterdir()) == [])


def test_an_agent_without_its_former_state_removes_only_its_own_orphans(
    own_agent: AgentRig,
) -> None:
    order_id = own_agent.offer("fio", ENDLESS)
    own_agent.gateway.until_running(order_id)
    [place] = own_agent.target.iterdir()
    mark = (place / MARKER).read_text()
    other = own_agent.target / "iotide-run-9-1-9"
    other.mkdir(mode=0o700)
    (other / MARKER).write_text(mark.replace("node-1@", "node-2@"))
    own_agent.kill()
    for pid in (*own_agent.runner_pids(), *own_agent.load_pids()):
        os.kill(pid, signal.SIGKILL)
    own_agent.gateway.until(lambda: own_agent.worker_pids() == own_agent.load_pids() == [])
    shutil.rmtree(own_agent.state)
    own_agent.enroll()
    with subprocess.Popen(["sleep", "infinity"], cwd=place) as user:
        own_agent.start()
        own_agent.gateway.until(lambda: f"orphan_in_use order_id={order_id} paths={place}" in own_agent.log())
        own_agent.kill()
        user.kill()
    assert place.exists()
    own_agent.start()
    own_agent.gateway.until(lambda: list(own_agent.target.iterdir()) == [other])
    own_agent.gateway.until(lambda: f"removed order_id={order_id} paths={place}" in own_agent.log())
    assert [file.name for file in other.iterdir()] == [MARKER]


def test_a_killed_worker_is_replaced(own_agent: AgentRig) -> None:
    [worker] = own_agent.gateway.until(own_agent.worker_pids)
    os.kill(worker, signal.SIGKILL)
    order_id = own_agent.offer("dd", DD)
    assert own_agent.gateway.result(order_id).outcome is Outcome.FINISHED
    assert worker not in own_agent.worker_pids()


def test_the_worker_dies_with_its_agent(own_agent: AgentRig) -> None:
    own_agent.gateway.until(own_agent.worker_pids)
    own_agent.kill()
    own_agent.gateway.until(lambda: own_agent.worker_pids() == [])


def test_a_second_agent_on_the_same_state_is_refused(own_agent: AgentRig) -> None:
    second = own_agent.command("run")
    assert second.returncode == 97
    assert own_agent.process is not None
    assert f"pid {own_agent.process.pid}" in second.stderr


def test_a_superseded_agent_ends_its_load_and_itself(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", ENDLESS)
    own_agent.gateway.until_running(order_id)
    own_agent.gateway.refuse_heartbeat = "agent_superseded"
    assert own_agent.process is not None
    assert own_agent.process.wait(20) == 97
    assert own_agent.load_pids() == []
    assert list(own_agent.target.iterdir()) == []


def test_sigterm_leaves_the_load_and_sigint_ends_it(own_agent: AgentRig) -> None:
    order_id = own_agent.offer("fio", ENDLESS)
    own_agent.until_loading(order_id)
    assert own_agent.process is not None
    own_agent.process.terminate()
    assert own_agent.process.wait(20) == 0
    assert own_agent.load_pids() != []
    own_agent.start()
    own_agent.process.send_signal(signal.SIGINT)
    assert own_agent.process.wait(20) == 0
    assert own_agent.load_pids() == []
    assert list(own_agent.target.iterdir()) == []
