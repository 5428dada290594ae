"""Cost of the agent on its node: CPU time, requests, processes and samples a second."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recording_proxy import Recording, recording_proxy
from rich.console import Console
from rich.table import Table
from rig import FIO_SMALL, Rig, add_rig, running_stack
from windows import Watchers, agent_cpu_seconds

IDLE_SECONDS: Final = 40
"""Of an agent without orders: several heartbeats, and the end of the work at its start."""
MOST_CORE_PERCENT: Final = 0.3
_MARGIN_SECONDS: Final = 2.0
"""Between the first reading of a run and its start, and between the last one and its end."""
_QUICK_HEARTBEATS_SECONDS: Final = 35.0
"""Of a run: heartbeats come each second in the first 30."""


@dataclass(frozen=True)
class Noise:
    """Measured cost.

    Attributes:
        core_percent: of one core, by all processes of the agent together, over the whole run.
        requests_per_10s: after the run's first 30 s.
        samples_hz: points of a curve for each second.
        idle_core_percent: as `core_percent`, while there is nothing to do.
    """

    core_percent: float
    requests_per_10s: float
    samples_hz: float
    processes: int
    idle_core_percent: float


def agent_noise(seconds: int = 120) -> bool:
    """Measure the agent's cost on the node, idle and during a load of this many seconds.

    The load is one fio that writes small blocks without pause, so that every counter moves each second. A proxy
    between agent and server counts the requests.
    """
    with running_stack() as stack, recording_proxy(stack.url) as recording:
        rig = add_rig(stack, "noise", server_url=recording.url, is_paced=False)
        noise = listen(rig, recording, seconds)
    _report(noise, seconds)
    return max(noise.core_percent, noise.idle_core_percent) <= MOST_CORE_PERCENT


def listen_idle(rig: Rig) -> float:
    """Return the agent's cost without an order, in percent of a core."""
    time.sleep(IDLE_SECONDS / 4)
    began, cpu_before = time.monotonic(), agent_cpu_seconds(rig.agent)
    time.sleep(IDLE_SECONDS)
    return 100 * (agent_cpu_seconds(rig.agent) - cpu_before) / (time.monotonic() - began)


def listen(rig: Rig, recording: Recording, seconds: int) -> Noise:
    """Measure the agent, first idle, then while the load runs once."""
    idle_core_percent = listen_idle(rig)
    run_id = rig.submit_one("fio", {**FIO_SMALL, "rw": "write", "runtime_seconds": seconds})
    rig.wait_running(run_id)
    began = time.monotonic()
    watchers = Watchers(rig.agent, rig.loads.starts()[-1].pid)
    cpu_before = watchers.cpu_seconds() + _children_seconds(rig.agent.process.pid)
    time.sleep(_QUICK_HEARTBEATS_SECONDS)
    quiet_began, asked_before = time.monotonic(), len(recording.exchanges)
    time.sleep(began + seconds - 2 * _MARGIN_SECONDS - time.monotonic())
    asked, quiet_seconds = len(recording.exchanges) - asked_before, time.monotonic() - quiet_began
    cpu_seconds = watchers.cpu_seconds() + _children_seconds(rig.agent.process.pid) - cpu_before
    watched_seconds = time.monotonic() - began
    rig.wait_ended(run_id)
    curves = rig.stack.get(f"/runs/{run_id}/curves", max_points=10_000)["items"]
    point_count = max(len(curve["values"]) for curve in curves)
    run = rig.run(run_id)
    load_seconds = sum(step["wall_seconds"] for step in run["attempts"][-1]["orders"][0]["steps"])
    return Noise(
        core_percent=100 * cpu_seconds / watched_seconds,
        requests_per_10s=10 * asked / quiet_seconds,
        samples_hz=point_count / load_seconds,
        processes=watchers.count,
        idle_core_percent=idle_core_percent,
    )


def _children_seconds(pid: int) -> float:
    """Return the CPU time of the process's ended children, in steps of a clock tick."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _report(noise: Noise, seconds: int) -> None:
    table = Table("what", "found", "at most", title=f"Cost of the agent during a load of {seconds} s")
    table.add_row("CPU, all its processes", f"{noise.core_percent:.2f} % of a core", f"{MOST_CORE_PERCENT} %")
    table.add_row("the same without a run", f"{noise.idle_core_percent:.2f} % of a core", f"{MOST_CORE_PERCENT} %")
    table.add_row("requests in 10 s, after the first 30 s", f"{noise.requests_per_10s:.1f}", "")
    table.add_row("points a second", f"{noise.samples_hz:.2f}", "")
    table.add_row("processes", str(noise.processes), "")
    Console().print(table)
    print(
        f"agent-noise: core_percent={noise.core_percent:.2f} requests_per_10s={noise.requests_per_10s:.1f}"
        f" samples_hz={noise.samples_hz:.2f} processes={noise.processes}"
    )
