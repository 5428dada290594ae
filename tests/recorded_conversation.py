"""A conversation of a real agent and the real server with every kind of message, recorded by a proxy."""

from bring_up import wait_for
from local_stack import LocalStack
from recording_proxy import Exchange, recording_proxy
from rig import FIO_SMALL, NODE, Rig, add_rig
from submitting import TARGET

_LONG = {**FIO_SMALL, "rw": "write", "runtime_seconds": 30}
_STREAM = {"duration_seconds": 1, "rate_bytes_per_second": "64 Mbit/s", "file_size_bytes": "32 MiB"}


def conversation(stack: LocalStack) -> list[Exchange]:
    """Enrol, rotate secrets, finish, cancel and fail runs, observe one, and run two streams."""
    with recording_proxy(stack.url) as recording:
        rig = add_rig(stack, "recorded", server_url=recording.url)
        rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}))
        _exchange_secrets(rig)
        cancelled = rig.submit_one("fio", _LONG)
        rig.wait_running(cancelled)
        rig.stack.post(f"/runs/{cancelled}/cancel", {})
        rig.wait_ended(cancelled)
        rig.wait_ended(rig.submit_one("fio", _LONG, time_limit_seconds=2))
        directory = stack.directory / "targets" / "loaded"
        client = stack.add_agent(rig.cluster_id, "client", [directory])
        stack.add_target(rig.cluster_id, "loaded", directory, [client.node_id])
        _observe(rig)
        _send_and_receive(rig)
        stack.stop_agent(client)
        stack.stop_agent(rig.agent)
        return list(recording.exchanges)


def _exchange_secrets(rig: Rig) -> None:
    """Rotate the node's token and its password for Redis."""
    node = f"/nodes/{rig.agent.node_id}"
    rig.stack.post(f"{node}/rotate", {})
    wait_for("the exchange", lambda: rig.stack.get(node)["rotation_wanted_at"] is None)


def _observe(rig: Rig) -> None:
    """Let the node observe while another one loads."""
    options = {**FIO_SMALL, "runtime_seconds": 3}
    run_id = rig.submit_one("fio", options, nodes=["client"], targets=["loaded"], observers=[NODE])
    rig.wait_ended(run_id)
    wait_for("the observer's result", lambda: rig.run(run_id)["observations"] or None)


def _send_and_receive(rig: Rig) -> None:
    """Let the node send to another one, and that one to it."""
    for sender, receiver, target in ((NODE, "client", "loaded"), ("client", NODE, TARGET)):
        choice = {"workload": "stream", "options": _STREAM, "roles": {"sender": sender, "receiver": receiver}}
        run_id = rig.submit_one("stream", {}, nodes=[NODE, "client"], targets=[target], workloads=[choice])
        rig.wait_ended(run_id)
