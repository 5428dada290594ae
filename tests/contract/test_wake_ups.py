"""Wake-ups carry no work and no authority: lost, duplicated, late or forged ones change nothing."""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from celery import Celery
from redis import Redis
from rig import FIO_SMALL, Rig, held_order

LOAD = {**FIO_SMALL, "rw": "write", "runtime_seconds": 3}
VISIBILITY_SECONDS = 5
IMPATIENT_WORKER = f"""
import sys
from pathlib import Path
from iotide_agent import worker
from iotide_agent.node.identity import load_identity
from iotide_agent.core.spool import Spool

state = Path(sys.argv[1])
identity = load_identity(state)
app = worker.celery_app(identity, Spool(state))
hasty = {{"visibility_timeout": {VISIBILITY_SECONDS}, "unacked_restore_interval": 1, "unacked_restore_throttle": 1}}
app.conf.broker_transport_options = app.conf.broker_transport_options | hasty
app.worker_main(["--quiet", "worker", f"--queues={{identity.broker.queue}}", "--hostname=hasty@%h", *worker._FLAGS])
"""
"""Second worker of the node. Of several on a queue, the shortest visibility timeout applies to all messages."""


def wake(rig: Rig, order_id: int, fence: int) -> None:
    """Send what the scheduler sends, with the right to write to every queue."""
    with Celery(broker=rig.stack.settings["IOTIDE_REDIS_URL"]) as app:
        queue = f"node.{rig.agent.node_id}"
        app.send_task("iotide.wake", args=[order_id, fence], queue=queue, ignore_result=True)


def test_the_same_wake_up_again_and_again_runs_the_load_once(rig: Rig) -> None:
    before = len(rig.loads.starts())
    run_id = rig.submit_one("fio", LOAD)
    rig.wait_running(run_id)
    order_id, fence = held_order(rig)
    for _ in range(5):
        wake(rig, order_id, fence)
    run = rig.wait_ended(run_id)
    for _ in range(5):
        wake(rig, order_id, fence)
    later = rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": 4096, "block_size_bytes": 4096}))
    starts = rig.loads.starts()[before:]
    assert (run["state"], run["attempts_made"], later["state"]) == ("finished", 1, "finished")
    assert [start.arguments[0] for start in starts] == ["fio", "dd", "dd"]
    assert all(start.is_alone for start in starts)


@contextmanager
def impatient_worker(rig: Rig) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", IMPATIENT_WORKER, str(rig.agent.directory / "state")])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_a_run_that_lasts_longer_than_the_visibility_timeout_starts_once(rig: Rig) -> None:
    before = len(rig.loads.starts())
    with impatient_worker(rig), Redis.from_url(rig.stack.settings["IOTIDE_REDIS_ADMIN_URL"]) as redis:
        run_id = rig.submit_one("fio", {**LOAD, "runtime_seconds": 3 * VISIBILITY_SECONDS})
        rig.wait_running(run_id)
        assert not redis.exists(f"unacked.{rig.agent.node_id}")
        run = rig.wait_ended(run_id)
    assert (run["state"], run["attempts_made"]) == ("finished", 1)
    assert len(rig.loads.starts()) == before + 1


def test_a_forged_wake_up_starts_nothing(rig: Rig) -> None:
    before = len(rig.loads.starts())
    wake(rig, 10**9, secrets.randbelow(2**62) + 1)
    wake(rig, -1, 0)
    run = rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": 4096, "block_size_bytes": 4096}))
    assert run["state"] == "finished"
    assert len(rig.loads.starts()) == before + 2
