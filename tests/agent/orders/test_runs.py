"""Orders of a node: recovered from the state on disk, and never lost through a plug-in's error."""

import errno
import json
import logging
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from agent.made_orders import DD_OPTIONS, make_order
from agent.order_rig import target_card
from agent.runs_node import Node
from pydantic import BaseModel, model_validator

from iotide_agent.core.protocol import Event, LoadStarted, Prepared, Recovered, ResultReady, RunnerEnded, Stage
from iotide_agent.orders.declined import DeclinedError
from iotide_agent.orders.parsing import Verdict
from iotide_agent.probes.condition import Condition
from iotide_agent.runner import processes
from iotide_agent.runner.card import read_card
from iotide_agent.runner.mounts import mount_of
from iotide_agent.runner.workspace import make_place
from iotide_agent.workloads.base import Before, PlanRefusedError
from iotide_agent.workloads.dd import DdWorkload
from iotide_wire.messages import OrderRole, OrderTarget, Outcome
from iotide_wire.plan import CachePolicy


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[str]:
    """Return a block device of 2 MiB."""
    image = tmp_path / "image"
    image.touch()
    os.truncate(image, 2 * 1024**2)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True)
    device = made.stdout.strip()
    yield device
    subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("torn", ["", "\0\0\0\0", '{"phase": "runn', "[1]"])
def test_a_damaged_phase_file_counts_as_a_power_cut_and_the_removal_of_its_files_is_logged(
    node: Node, caplog: pytest.LogCaptureFixture, torn: str
) -> None:
    caplog.set_level(logging.INFO)
    node.begun().phase.write_text(torn)
    assert node.runs.recover() == []
    node.until(lambda: node.spool.leftovers() == [])
    assert list(node.target.iterdir()) == []
    assert caplog.messages.count(f"removed order_id=1 paths={node.target}/iotide-run-101-1") == 1


def test_an_order_that_cannot_be_recovered_is_ended_and_the_others_are_held(node: Node) -> None:
    node.begun(1).phase.write_text(json.dumps({"boot_id": processes.boot_id()}))
    done = node.begun(2)
    done.result.write_text("{}")
    assert node.runs.recover() == [Recovered(1, 10, Stage.RUNNING), Recovered(2, 20, Stage.UPLOADING)]
    node.until(lambda: RunnerEnded(1) in node.events)
    assert node.runs.collect(1) == ResultReady(1)
    result = node.spool.result(1)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "runner_died")


@pytest.mark.parametrize("plan", ["", "{}", '{"places": [], "steps": []}'])
def test_a_plan_that_cannot_be_read_costs_the_numbers_and_neither_load_nor_raw_output(node: Node, plan: str) -> None:
    files = node.begun()
    files.plan.write_text(plan)
    files.output.mkdir()
    (files.output / "000-write.stdout").write_text("raw")
    files.exit.write_text(json.dumps({"steps": [{"name": "write"}], "outcome": "finished", "leftovers": []}))
    assert node.runs.recover() == [Recovered(1, 10, Stage.RUNNING)]
    node.runs.collect(1)
    result = node.spool.result(1)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "agent_fault")
    assert [artefact.name for artefact in result.artefacts] == [
        "000-write.stdout",
        "runner.json",
        *(["plan.json"] if plan else []),
    ]
    assert (files.artefacts / "000-write.stdout").read_text() == "raw"


def test_an_order_without_its_runners_last_word_is_set_aside_and_not_forgotten(node: Node) -> None:
    files = node.begun()
    files.result.write_text("{}")
    node.runs.recover()
    node.runs.forget(1)
    assert [directory.name for directory in node.spool.leftovers()] == ["1"]


def test_orphans_are_not_removed_during_a_measurement(node: Node) -> None:
    node.begun()
    node.spool.set_aside(1)
    measuring = node.spool.lock_node("exclusive")
    node.runs.clean_leftovers()
    assert not (node.spool.aside(1) / "runner.log").exists()
    os.close(measuring)
    node.runs.clean_leftovers()
    node.until(lambda: node.spool.leftovers() == [])
    assert list(node.target.iterdir()) == []


def test_a_plan_has_the_present_mount_options_and_not_those_of_the_inventory(node: Node) -> None:
    files = node.begun()
    descriptor = os.open(node.target, os.O_RDONLY)
    mount = mount_of(descriptor)._asdict() | {"options": "rw,nodiratime", "super_options": "rw,seen=now"}
    os.close(descriptor)
    place = {
        "target_id": 1,
        "directory": str(node.target),
        "mount": mount,
        "direct_works": True,
        "total_bytes": 2,
        "free_bytes": 1,
    }
    files.phase.write_text(json.dumps({"places": [place]}))
    [planned] = node.executor.plan(make_order()).places
    assert planned.facts["mount.options"] == "nodiratime,rw,seen=now"


def test_a_run_is_prepared_only_once_the_condition_of_its_storage_is_noted(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = threading.Event()

    def look_slowly(*_: object) -> Condition:
        may_answer.wait(20.0)
        return Condition((), {"errors": 1})

    monkeypatch.setattr("iotide_agent.orders.witness.look_below", look_slowly)
    node.until_ready()
    node.runs.look()
    assert node.events == []
    may_answer.set()
    node.until(lambda: node.events == [Prepared(1)])
    noted = json.loads(node.spool.files(1).condition.read_bytes())
    assert noted == {"troubles": [], "errors": {"errors": 1}, "unread": []}
    node.runs.cancel(1, Verdict(Outcome.CANCELLED, "cancelled", "the test is over"))
    node.until(lambda: RunnerEnded(1) in node.events)


def test_a_run_can_be_cancelled_though_the_agents_disk_is_full(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    node.until_ready()
    monkeypatch.setattr("iotide_agent.orders.executor.write_cancel", full)
    node.runs.cancel(1, Verdict(Outcome.CANCELLED, "cancelled", "cancelled by the user"))
    node.until(lambda: RunnerEnded(1) in node.events)
    assert list(node.target.iterdir()) == []


def test_several_orders_observe_at_once_on_a_node_that_a_load_holds(node: Node) -> None:
    loading = node.spool.lock_node("exclusive")
    for order_id in (1, 2):
        order = make_order(order_id, role=OrderRole.OBSERVE, targets=())
        node.spool.keep_order(order)
        node.runs.begin(order)
    node.until(lambda: set(_looked(node)) == {LoadStarted(1), LoadStarted(2)})
    os.close(loading)
    for order_id in (1, 2):
        node.runs.cancel(order_id, Verdict(Outcome.CANCELLED, "cancelled", "cancelled by the server"))
    node.until(lambda: {RunnerEnded(1), RunnerEnded(2)} <= set(node.events))
    node.runs.collect(1)
    result = node.spool.result(1)
    assert (result.outcome, result.reason_code) == (Outcome.FINISHED, "loads_ended")
    assert result.environment == node.executor.inventory.facts
    node.runs.forget(1)
    assert node.spool.leftovers() == []


def _looked(node: Node) -> list[Event]:
    node.runs.look()
    return node.events


class _Raising(BaseModel):
    @model_validator(mode="before")
    @classmethod
    def check(cls, _: object) -> object:
        raise RuntimeError("a plug-in's own fault")


@pytest.mark.parametrize(
    ("policy", "before_read"),
    [
        (CachePolicy.DROP, Before.DROP),
        (CachePolicy.REMOUNT, Before.REMOUNT),
        (CachePolicy.LARGER_THAN_MEMORY, Before.LARGER_THAN_MEMORY),
        (CachePolicy.NONE, Before.SYNC),
    ],
)
def test_the_campaigns_cache_policy_says_what_is_done_before_a_read_and_nothing_else(
    node: Node, policy: CachePolicy, before_read: Before
) -> None:
    order = make_order(1, options=DD_OPTIONS | {"operations": ["write", "read"]}, cache=policy)
    files = node.begun()
    made = make_place(read_card(files.directory), target_card(node.target))
    files.phase.write_text(json.dumps({"places": [made._asdict() | {"mount": made.mount._asdict()}]}))
    steps = [step for group in node.executor.plan(order).groups for step in group]
    assert [(step.name, step.before) for step in steps] == [("write", Before.SYNC), ("read", before_read)]


def test_a_node_without_a_remount_command_declines_and_names_the_setting(node: Node) -> None:
    announced = node.executor.inventory.workloads["dd"]
    target = OrderTarget(target_id=1, name="t", path=str(node.target), fstype="ext4", source="/dev/x", reserve_bytes=0)
    order = make_order(1, cache=CachePolicy.REMOUNT, targets=(target,), schema_sha256=announced.schema_sha256)
    with pytest.raises(DeclinedError, match=r"no command for it; add one to \[remount_command\]") as refused:
        node.executor.begin(order, 0)
    assert (refused.value.verdict.outcome, refused.value.verdict.code) == (Outcome.DECLINED, "remount_not_allowed")


@pytest.mark.parametrize("faulty", ["options_type", "bytes_needed"])
def test_a_plug_in_that_raises_at_the_start_fails_its_run_alone(
    node: Node, monkeypatch: pytest.MonkeyPatch, faulty: str
) -> None:
    monkeypatch.setattr(DdWorkload, faulty, _Raising)
    order = make_order(schema_sha256=node.executor.inventory.workloads["dd"].schema_sha256)
    node.spool.keep_order(order)
    node.runs.begin(order)
    assert node.events == [ResultReady(1)]
    assert node.spool.result(1).outcome is Outcome.FAILED


def test_a_plan_that_the_administrator_does_not_allow_fails_its_run_with_the_remedy(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise PlanRefusedError("path: runs may not read /dev/sda on this node; its administrator can add it")

    monkeypatch.setattr(DdWorkload, "plan", refuse)
    node.begun().phase.write_text('{"places": []}')
    with pytest.raises(DeclinedError, match="its administrator can add it") as declined:
        node.executor.plan(make_order())
    assert (declined.value.verdict.code, declined.value.verdict.outcome) == ("plan_refused", Outcome.FAILED)


def test_contradicting_options_fail_the_run_with_the_reason_alone(node: Node) -> None:
    with pytest.raises(DeclinedError, match=r"^options: operations = .*include write") as declined:
        node.executor.work(make_order(options=DD_OPTIONS | {"operations": ["read"]}))
    assert declined.value.verdict.code == "invalid_options"


def test_another_file_system_on_the_same_device_is_declined_before_anything_is_written(
    node: Node, loop_device: str
) -> None:
    target = OrderTarget(
        target_id=1, name="t", path=str(node.target), fstype="ext2", source=loop_device, reserve_bytes=0
    )
    schema_sha256 = node.executor.inventory.workloads["dd"].schema_sha256
    identities: list[str] = []
    for _ in range(2):
        subprocess.run(["mkfs.ext2", "-q", "-F", "-E", "root_owner=0:0", loop_device], check=True)
        subprocess.run(["mount", loop_device, str(node.target)], check=True)
        known = target.model_copy(update={"identity": identities[0] if identities else None})
        order = make_order(schema_sha256=schema_sha256, targets=(known,))
        node.executor.look_at_targets(order)
        found = node.executor.inventory.mount_above(str(node.target))
        assert found is not None
        identities.append(str(found.facts["fs.identity"]))
        subprocess.run(["umount", str(node.target)], check=True)
    with pytest.raises(DeclinedError) as declined:
        node.executor.begin(order, 0)
    assert declined.value.verdict.code == "wrong_mount"
    assert all(identity in str(declined.value) for identity in identities)
