"""Baseline of the latency bench: a Celery task that only records its start time.

Its worker has the settings of iotide's own; the broker's address comes from CELERY_BROKER_URL.
"""

import time
from pathlib import Path

from celery import Celery

QUEUE = "bench.bare"
TASK = "bench.write_start"

app = Celery("bare")
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    worker_disable_prefetch=True,
    worker_enable_remote_control=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
)


def write_start(log: str) -> None:
    """Append the current time, in seconds since the epoch."""
    started = time.time()
    with Path(log).open("a") as file:
        file.write(f"{started}\n")


app.task(name=TASK)(write_start)
