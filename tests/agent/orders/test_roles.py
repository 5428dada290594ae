"""Node with one role of a run: its directories, its endpoint, and the exchange with the other node."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.made_orders import make_order
from agent.order_rig import target_card
from agent.runs_node import Node

from iotide_agent.core.protocol import Prepared, ReportedOrder, RunnerEnded, SendHeartbeat, Stage
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.plan import read_endpoint, read_plan
from iotide_agent.runner.card import read_card
from iotide_agent.runner.life import LATE_START_SECONDS
from iotide_server.scheduling.watch import BARRIER_TIMEOUT
from iotide_wire.endpoint import Endpoint
from iotide_wire.measured import StepRole
from iotide_wire.messages import OrderTarget, Outcome

STREAM = {"rate_bytes_per_second": 8_000_000, "duration_seconds": 1.0, "verify": True}
ELSEWHERE = Endpoint(address="127.0.0.1", ports=(20_000,), token="ab" * 16)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path)
    yield made
    made.close()


def begin(node: Node, role: StepRole, **options: object) -> None:
    """Begin an order for one role of a stream."""
    workload = node.executor.inventory.workloads["stream"]
    card = target_card(node.target)
    target = OrderTarget(target_id=1, name="t", path=card.path, fstype=card.fstype, source=card.source, reserve_bytes=0)
    order = make_order(
        workload="stream",
        workload_revision=workload.revision,
        schema_sha256=workload.schema_sha256,
        options=workload.option_defaults | STREAM | options,
        targets=() if role is StepRole.SENDER else (target,),
        step_role=role,
    )
    node.spool.keep_order(order)
    node.runs.begin(order)


def prepare(node: Node, role: StepRole, **options: object) -> None:
    """Begin such an order, and wait until it is prepared."""
    begin(node, role, **options)

    def is_prepared() -> bool:
        node.runs.look()
        return Prepared(1) in node.events

    node.until(is_prepared)


def endpoint_of_heartbeat(node: Node, stage: Stage) -> Endpoint | None:
    (said,) = node.runs.heartbeat_of(SendHeartbeat(1, (ReportedOrder(1, stage),)))
    return said.endpoint


def test_a_receiver_reports_its_address_as_long_as_it_is_ready(node: Node) -> None:
    prepare(node, StepRole.RECEIVER, ramp_rates=3)
    endpoint = endpoint_of_heartbeat(node, Stage.READY)
    assert endpoint is not None
    assert (endpoint.address, len(endpoint.ports)) == ("127.0.0.1", 3)
    assert endpoint == endpoint_of_heartbeat(node, Stage.READY) == read_endpoint(node.spool.files(1))
    assert endpoint_of_heartbeat(node, Stage.RELEASED) is endpoint_of_heartbeat(node, Stage.PREPARING) is None
    plan = read_plan(node.spool.files(1))
    assert plan is not None
    assert [step.socket for group in plan.groups for step in group if step.name.startswith("receive")] == [0, 1, 2]
    [place] = plan.places
    assert (place.step_role, place.facts["data.address"]) == (StepRole.RECEIVER, "127.0.0.1")


def test_the_token_is_readable_only_by_the_agents_own_user(node: Node) -> None:
    prepare(node, StepRole.RECEIVER)
    files = node.spool.files(1)
    endpoint = read_endpoint(files)
    assert endpoint is not None
    assert files.endpoint.stat().st_mode & 0o077 == 0
    named = [file for file in files.directory.rglob("*") if file.is_file() and endpoint.token in file.read_text()]
    assert named == [files.endpoint]


def test_two_runs_have_two_tokens(node: Node, tmp_path: Path) -> None:
    prepare(node, StepRole.RECEIVER)
    (tmp_path / "other").mkdir()
    other = Node(tmp_path / "other")
    prepare(other, StepRole.RECEIVER)
    tokens = {endpoint.token for one in (node, other) if (endpoint := read_endpoint(one.spool.files(1)))}
    other.close()
    assert len(tokens) == 2


def test_a_sender_touches_no_target_and_listens_nowhere(node: Node) -> None:
    prepare(node, StepRole.SENDER)
    files = node.spool.files(1)
    assert (read_card(files.directory).sockets, endpoint_of_heartbeat(node, Stage.READY)) == (0, None)
    assert list(node.target.iterdir()) == []
    plan = read_plan(files)
    assert plan is not None
    assert [step.name for group in plan.groups for step in group] == ["send"]
    [place] = plan.places
    assert (place.target_id, place.target_count) == (None, 0)
    assert place.facts["cpu.count"] == node.executor.inventory.facts["cpu.count"]


def test_a_sender_uses_the_address_of_the_start_signal_and_fails_with_a_message_without_receiver(node: Node) -> None:
    prepare(node, StepRole.SENDER)
    node.runs.release(1, None, ELSEWHERE)
    assert read_endpoint(node.spool.files(1)) == ELSEWHERE
    node.until(lambda: (node.spool.files(1).directory / "phase.json").read_text().find('"loads": [{') > 0)
    node.runs.cancel(1, Verdict(Outcome.CANCELLED, "cancelled", "by the test"))
    node.until(lambda: RunnerEnded(1) in node.events)
    node.runs.collect(1)
    result = node.spool.result(1)
    assert (result.outcome, [step.role for step in result.steps]) == (Outcome.CANCELLED, [StepRole.SENDER])
    assert result.steps[0].target_id is None
    assert "kernel.release" in result.environment


def test_a_node_with_a_foreign_data_address_declines_to_receive(tmp_path: Path) -> None:
    elsewhere = Node(tmp_path, data_address="192.0.2.7")
    begin(elsewhere, StepRole.RECEIVER)
    result = elsewhere.spool.result(1)
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "no_data_address")
    assert "data_address = '192.0.2.7'" in str(result.reason)


def test_a_client_of_scratch_disks_mounts_by_its_own_command_as_the_agents_user(tmp_path: Path) -> None:
    seen, command = tmp_path / "seen", tmp_path / "remount"
    command.write_text(f"#!/bin/sh\nid -u >{seen}\n")
    command.chmod(0o755)
    client = Node(tmp_path, run_as="nobody", remount_command={"/mnt": [str(command)]})
    workload = client.executor.inventory.workloads["scratch"]
    options = {"set": "bays", "verb": "mount", "paths": ["/mnt/bays"]}
    order = make_order(
        workload="scratch",
        schema_sha256=workload.schema_sha256,
        options=workload.option_defaults | options,
        targets=(),
        step_role=StepRole.MAKER,
    )
    client.spool.keep_order(order)
    client.runs.begin(order)

    def is_prepared() -> bool:
        client.runs.look()
        return Prepared(1) in client.events

    client.until(is_prepared)
    client.runs.release(1, None, None)
    client.until(lambda: RunnerEnded(1) in client.events)
    client.runs.collect(1)
    result = client.spool.result(1)
    assert (result.outcome, [step.name for step in result.steps]) == (Outcome.FINISHED, ["mount-1"])
    assert seen.read_text() == f"{os.geteuid()}\n"
    client.close()


def test_a_node_of_a_gang_waits_for_the_start_as_long_as_it_may_still_come(node: Node) -> None:
    # The network fails for longer than the run may last, and is back in time for the start.
    begin(node, StepRole.RECEIVER)
    (order,) = node.spool.orders()
    wait_seconds = read_card(node.spool.files(order.order_id).directory).others_wait_seconds
    assert wait_seconds >= BARRIER_TIMEOUT.total_seconds() + LATE_START_SECONDS
