"""A conversation of a real agent with the real server that has every kind of message in it, overheard by a proxy."""

from local_stack import LocalStack
from recording_proxy import Exchange, recording_proxy
from rig import FIO_SMALL, add_rig

_LONG = {**FIO_SMALL, "rw": "write", "runtime_seconds": 30}


def conversation(stack: LocalStack) -> list[Exchange]:
    """Enrolment, then a run that finishes, one that is cancelled and one that fails."""
    with recording_proxy(stack.url) as recording:
        rig = add_rig(stack, "overheard", server_url=recording.url)
        rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}))
        cancelled = rig.submit_one("fio", _LONG)
        rig.wait_running(cancelled)
        rig.stack.post(f"/runs/{cancelled}/cancel", {})
        rig.wait_ended(cancelled)
        rig.wait_ended(rig.submit_one("fio", _LONG, time_limit_seconds=2))
        stack.stop_agent(rig.agent)
        return list(recording.exchanges)
