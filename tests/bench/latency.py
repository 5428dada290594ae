"""Delay from the POST of a campaign to its load's first instant on an idle system, compared with a bare Celery task.

The load records its own start (`watched_loads`), and so does the bare task, by this machine's clock.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import bare_task
from bring_up import wait_for
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rig import Rig, add_rig, running_stack

ROUNDS: Final = 50
WARM_UP_ROUNDS: Final = 3
_LOAD: Final = {"file_size_bytes": 1024**2, "block_size_bytes": 1024**2, "operations": ["write"]}
_QUIET: Final = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING")


class BareWorker:
    """Separate worker for the simplest task, on iotide's broker."""

    def __init__(self, directory: Path, broker_url: str) -> None:
        bare_task.app.conf.broker_url = broker_url
        self._log = directory / "bare.log"
        self._log.touch()
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "celery",
            "-A",
            "bare_task",
            "worker",
            "-P",
            "solo",
            "-Q",
            bare_task.QUEUE,
        ]
        self._process = subprocess.Popen(
            [*command, *_QUIET],
            cwd=Path(__file__).parent,
            env={**os.environ, "CELERY_BROKER_URL": broker_url},
            stdout=subprocess.DEVNULL,
        )

    def seconds_to_start(self) -> float:
        """Send one task and return the delay until it ran."""
        known = len(self._starts())
        sent = time.time()
        bare_task.app.send_task(bare_task.TASK, args=[str(self._log)], queue=bare_task.QUEUE)
        return wait_for("the bare task", lambda: self._start_after(known), pause_seconds=0.005) - sent

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)

    def _starts(self) -> list[float]:
        return [float(line) for line in self._log.read_text().splitlines()]

    def _start_after(self, known: int) -> float | None:
        starts = self._starts()
        return starts[known] if len(starts) > known else None


def submit_to_start_seconds(rig: Rig) -> float:
    """Submit one short run; return the delay from the POST to the load's first instant, after the run has ended."""
    plan = rig.plan("dd", _LOAD, quiet="ignore")  # else each waits until its node was idle for 5 s
    submitted = time.time()
    campaign = rig.stack.post("/campaigns", plan)
    ended = rig.stack.wait_campaign(campaign["id"])
    if ended["state"] != "finished":
        raise SystemExit(f"latency: campaign {ended['name']} ended {ended['state']}; see the agent's log")
    return rig.loads.starts()[-1].epoch_seconds - submitted


def measure(rig: Rig, bare: BareWorker) -> tuple[list[float], list[float]]:
    """Measure both delays in turn, in seconds, without the first few."""
    ours: list[float] = []
    bares: list[float] = []
    for _ in track(range(WARM_UP_ROUNDS + ROUNDS), "submitting", console=Console(stderr=True), transient=True):
        ours.append(submit_to_start_seconds(rig))
        # Let the system become idle again, for a random time, so that its timers do not run in step with the bench.
        time.sleep(random.uniform(0.3, 1.3))  # noqa: S311 - no secret
        bares.append(bare.seconds_to_start())
        time.sleep(random.uniform(0.1, 0.4))  # noqa: S311 - no secret
    return ours[WARM_UP_ROUNDS:], bares[WARM_UP_ROUNDS:]


def report(ours: list[float], bares: list[float]) -> None:
    """Print the table and the last line."""
    table = Table(title="From the order to the first instant of work, in milliseconds")
    for heading in ("way", "n", "p50", "p95", "lowest", "highest"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for name, seconds in (("POST /campaigns to the load", ours), ("send of a bare Celery task to its start", bares)):
        milliseconds = [value * 1000 for value in seconds]
        numbers = (median(milliseconds), _p95(milliseconds), min(milliseconds), max(milliseconds))
        table.add_row(name, str(len(seconds)), *(f"{number:.1f}" for number in numbers))
    Console().print(table)
    p50_ms, p95_ms, celery_p50_ms = median(ours) * 1000, _p95(ours) * 1000, median(bares) * 1000
    print(f"latency: p50_ms={p50_ms:.1f} p95_ms={p95_ms:.1f} celery_p50_ms={celery_p50_ms:.1f}")


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def main() -> None:
    directory = Path(tempfile.mkdtemp(prefix="iotide-latency-", dir="/dev/shm"))
    try:
        with running_stack() as stack:
            rig = add_rig(stack, "latency", target=directory / "target", is_paced=False)
            bare = BareWorker(directory, stack.settings["IOTIDE_REDIS_URL"])
            try:
                report(*measure(rig, bare))
            finally:
                bare.stop()
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
