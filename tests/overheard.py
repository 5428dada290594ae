"""A conversation of a real agent with the real server that has every kind of message in it, overheard by a proxy."""

from local_stack import LocalStack, wait_for
from recording_proxy import Exchange, recording_proxy
from rig import FIO_SMALL, NODE, Rig, add_rig

_LONG = {**FIO_SMALL, "rw": "write", "runtime_seconds": 30}


def conversation(stack: LocalStack) -> list[Exchange]:
    """Enrolment, then a run that finishes, one that is cancelled, one that fails and one only observed."""
    with recording_proxy(stack.url) as recording:
        rig = add_rig(stack, "overheard", server_url=recording.url)
        rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}))
        cancelled = rig.submit_one("fio", _LONG)
        rig.wait_running(cancelled)
        rig.stack.post(f"/runs/{cancelled}/cancel", {})
        rig.wait_ended(cancelled)
        rig.wait_ended(rig.submit_one("fio", _LONG, time_limit_seconds=2))
        _observe(rig)
        stack.stop_agent(rig.agent)
        return list(recording.exchanges)


def _observe(rig: Rig) -> None:
    """The node observes while another one loads."""
    stack, directory = rig.stack, rig.stack.directory / "targets" / "loaded"
    client = stack.add_agent(rig.cluster_id, "client", [directory])
    stack.add_target(rig.cluster_id, "loaded", directory, [client.node_id])
    options = {**FIO_SMALL, "runtime_seconds": 3}
    run_id = rig.submit_one("fio", options, nodes=["client"], targets=["loaded"], observers=[NODE])
    rig.wait_ended(run_id)
    wait_for("the observer's result", lambda: rig.run(run_id)["observations"] or None)
    stack.stop_agent(client)
