"""Stream between two nodes: two real agents, a sender without any target, and a receiver that records."""

import os
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from bring_up import wait_for
from local_stack import Agent, LocalStack

from iotide_agent.cli.api import Api
from iotide_agent.cli.reparse import read_run_again
from iotide_agent.loads import stream_wire

MEGABIT = 125_000
RATE = 256 * MEGABIT
SMALL = {"rate_bytes_per_second": RATE, "file_size_bytes": "32 MiB", "kept_files": 2, "socket_buffer_bytes": "4 MiB"}
ENDED = {"finished", "failed", "cancelled"}


@dataclass(frozen=True)
class Observatory:
    """A sending dish and a recorder, the only one with the target; both on this machine."""

    stack: LocalStack
    dish: Agent
    recorder: Agent
    target: Path

    def submit(self, seconds: float, **options: object) -> int:
        """Submit a campaign of one run from the dish to the recorder; return the run's id."""
        choice = {
            "workload": "stream",
            "options": {**SMALL, "duration_seconds": seconds, **options},
            "roles": {"sender": "dish", "receiver": "recorder"},
        }
        plan = {
            "name": "observed",
            "cluster": "observatory",
            "nodes": ["dish", "recorder"],
            "targets": ["disk"],
            "workloads": [choice],
            "repeats": 1,
            "attempts_allowed": 1,
        }
        campaign = self.stack.post("/campaigns", plan)
        (item,) = self.stack.get("/runs", campaign_id=campaign["id"])["items"]
        return int(item["id"])

    def run(self, run_id: int) -> dict[str, Any]:
        found: dict[str, Any] = self.stack.get(f"/runs/{run_id}")
        return found

    def wait_ended(self, run_id: int) -> dict[str, Any]:
        return wait_for("the end", lambda: run if (run := self.run(run_id))["state"] in ENDED else None, seconds=60)

    def wait_receiving(self, run_id: int) -> list[int]:
        """Wait until data is being recorded; return the processes of both ends, the receiver first."""

        def processes() -> list[int] | None:
            run = self.run(run_id)
            assert run["state"] not in ENDED, run["reason"]
            found = [self.pids_of(script) for script in ("stream_receive.py", "stream_send.py")]
            is_recording = any(self.target.rglob("stream-*.data"))
            return [pids[0] for pids in found] if all(found) and is_recording else None

        return wait_for("the stream", processes, seconds=60)

    def pids_of(self, script: str) -> list[int]:
        """Return the processes that run a load's script for the agents of this server."""
        own = str(self.stack.directory)
        return [
            pid
            for pid, called in commands().items()
            if any(word.endswith(f"/loads/{script}") for word in called) and any(own in word for word in called)
        ]

    def wait_clean(self) -> None:
        """Wait until no files or processes of any run are left."""

        def is_clean() -> bool | None:
            is_left = any(self.target.iterdir()) or self.pids_of("stream_receive.py") or self.pids_of("stream_send.py")
            return None if is_left else True

        wait_for("the clean-up", is_clean, seconds=60)


def commands() -> dict[int, list[str]]:
    """Return the command lines of all processes of this machine."""
    found = {}
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            found[int(command.parent.name)] = command.read_text(errors="replace").split("\0")
    return found


def orders_of(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {order["step_role"]: order for order in run["attempts"][-1]["orders"]}


def samples_of(stack: LocalStack, run_id: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = stack.get("/samples", run_id=run_id, limit=200)["items"]
    return items


@pytest.fixture(scope="module")
def observatory(stack: LocalStack) -> Observatory:
    cluster_id = stack.add_cluster("observatory")
    target = stack.directory / "targets" / "observatory"
    dish = stack.add_agent(cluster_id, "dish", [stack.directory / "targets" / "dish"])
    recorder = stack.add_agent(cluster_id, "recorder", [target])
    stack.add_target(cluster_id, "disk", target, [recorder.node_id])
    return Observatory(stack, dish, recorder, target)


def test_one_node_sends_another_records_and_each_reports_its_own_end(observatory: Observatory) -> None:
    run_id = observatory.submit(2, verify=True, files="split")
    run = observatory.wait_ended(run_id)
    assert (run["state"], run["validity"], run["reason"]) == ("finished", "valid", None)
    orders = orders_of(run)
    assert {role: order["node_name"] for role, order in orders.items()} == {"sender": "dish", "receiver": "recorder"}
    steps = {role: [step["name"] for step in order["steps"]] for role, order in orders.items()}
    assert steps == {"sender": ["send"], "receiver": ["receive", "verify"]}
    samples = samples_of(observatory.stack, run_id)
    by_order = {
        role: {
            (sample["metric"], sample["labels"].get("operation")): sample["value"]
            for sample in samples
            if sample["order_id"] == order["id"] and "cause" not in sample["labels"]
        }
        for role, order in orders.items()
    }
    assert by_order["sender"].keys() == {("throughput", "send"), ("datagrams_sent", None), ("sender_lag", None)}
    received = by_order["receiver"]
    assert (
        received["datagrams_received", None] + received["datagrams_lost", None]
        == (by_order["sender"]["datagrams_sent", None])
    )
    assert received["throughput", "verify"] > 0
    assert {sample["labels"]["sender"] for sample in samples} == {"dish"}
    curves = observatory.stack.get(f"/runs/{run_id}/curves", counter="stream_sent_bytes_per_second")["items"]
    assert {curve["order_id"] for curve in curves} == {orders["sender"]["id"]}
    with Api(observatory.stack.url, observatory.stack.token, None) as api:
        read_again = read_run_again(api, run_id)
    assert (read_again.refused_because, read_again.changes) == ("", False)
    assert read_again.number_count == len(samples)
    observatory.wait_clean()


def test_the_port_is_open_on_loopback_alone_while_the_run_lasts_and_refuses_strangers(observatory: Observatory) -> None:
    run_id = observatory.submit(5)
    observatory.wait_receiving(run_id)
    address, port = listened_at(observatory.pids_of("stream_receive.py")[0])
    assert address == "127.0.0.1"
    hello = stream_wire.HEADER.pack(stream_wire.prefix(stream_wire.HELLO, bytes(8)), 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.settimeout(0.2)
        for _ in range(20):
            stranger.sendto(hello, (address, port))
        with pytest.raises((TimeoutError, ConnectionRefusedError)):
            stranger.recv(100)
    run = observatory.wait_ended(run_id)
    assert run["state"] == "finished"
    lost = [one for one in samples_of(observatory.stack, run_id) if one["metric"] == "datagrams_received"]
    assert lost[0]["value"] > 0
    observatory.wait_clean()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        trial.bind((address, port))


def listened_at(pid: int) -> tuple[str, int]:
    """Return the addresses of a process's UDP sockets."""
    inodes = {
        link.readlink().name.removeprefix("socket:[").removesuffix("]")
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if str(link.readlink()).startswith("socket:")
    }
    for line in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[9] in inodes:
            address, port = fields[1].split(":")
            return socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)
    raise AssertionError(f"process {pid} listens nowhere")


def test_a_cancel_in_the_middle_ends_both_ends_and_leaves_nothing(observatory: Observatory) -> None:
    run_id = observatory.submit(120)
    observatory.wait_receiving(run_id)
    observatory.stack.post(f"/runs/{run_id}/cancel", {})
    run = observatory.wait_ended(run_id)
    assert run["state"] == "cancelled"
    assert {order["outcome"] for order in orders_of(run).values()} == {"cancelled"}
    observatory.wait_clean()


@pytest.mark.parametrize("killed", ["receiver", "sender"])
def test_when_one_end_is_killed_the_other_ends_too_and_the_run_says_why(observatory: Observatory, killed: str) -> None:
    run_id = observatory.submit(120)
    receiver, sender = observatory.wait_receiving(run_id)
    os.kill(receiver if killed == "receiver" else sender, signal.SIGKILL)
    run = observatory.wait_ended(run_id)
    assert run["state"] == "failed"
    assert orders_of(run)[killed]["outcome"] == "failed"
    assert "signal 9" in run["reason"] or "the receiver went away" in run["reason"]
    observatory.wait_clean()


def test_the_token_is_nowhere_that_others_read(observatory: Observatory) -> None:
    run_id = observatory.submit(4)
    observatory.wait_receiving(run_id)
    (endpoint,) = observatory.recorder.directory.glob("state/orders/*/endpoint.json")
    stack = observatory.stack
    token = endpoint.read_text().partition('"token":"')[2][:32]
    assert len(token) == 32
    seen = [stack.api.get(f"/runs/{run_id}", headers={"Authorization": f"Bearer {stack.token}"}).text]
    seen += [" ".join(arguments) for arguments in commands().values()]
    seen += [agent.log for agent in (observatory.dish, observatory.recorder)]
    assert not any(token in text for text in seen)
    observatory.wait_ended(run_id)
    observatory.wait_clean()
    for agent in (observatory.dish, observatory.recorder):
        wait_for("its end", partial(_has_forgotten, agent))


def _has_forgotten(agent: Agent) -> bool | None:
    return None if list(agent.directory.glob("state/orders/*/endpoint.json")) else True


def test_a_ramp_goes_on_for_both_ends_while_the_receiver_reads_back_between_the_rates(observatory: Observatory) -> None:
    run_id = observatory.submit(1, ramp_rates=3, ramp_step_bytes_per_second=8 * MEGABIT, verify=True)
    run = observatory.wait_ended(run_id)
    assert run["state"] == "finished"
    orders = orders_of(run)
    assert [step["name"] for step in orders["sender"]["steps"]] == ["send-1", "send-2", "send-3"]
    assert len(orders["receiver"]["steps"]) == 6
    (lossless,) = [one for one in samples_of(observatory.stack, run_id) if one["metric"] == "lossless_rate"]
    assert lossless["order_id"] == orders["receiver"]["id"]
    observatory.wait_clean()
