"""Reasons for the end of a run, and termination of its processes."""

import os
import signal
from collections.abc import Sequence
from typing import Final

from iotide_agent.runner import processes
from iotide_agent.runner.load import Load
from iotide_agent.runner.loop import Loop

GRACE_SECONDS: Final = 10.0
"""Grace before KILL: fio, dd and bonnie++ write results and remove files in this time."""
CANCEL_GRACE_SECONDS: Final = 2.0
_FIRST_NAP_SECONDS: Final = 0.002
_LONGEST_NAP_SECONDS: Final = 0.1


class RunEndedError(Exception):
    def __init__(self, outcome: str, code: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.code = code


def end_loads(loop: Loop, loads: Sequence[Load], grace_seconds: float, patience_seconds: float) -> int:
    """End the loads: each process group by its own signal, KILL after the grace, then processes that left their group.

    Return the number of the latter. Raise RunEndedError with those that outlived KILL for `patience_seconds`.
    """
    running = [load for load in loads if not load.reap()]
    for load in running:
        processes.send_group(signal.Signals(load.step.stop_signal), load.pid)
    until = processes.boottime() + grace_seconds
    while not all(load.reap() for load in loads) and processes.boottime() < until:
        loop.turn(until)
    for load in loads:
        if not load.reap():
            processes.send_group(signal.SIGKILL, load.pid)
    return _sweep(loop, loads, patience_seconds)


def _sweep(loop: Loop, loads: Sequence[Load], patience_seconds: float) -> int:
    own = {load.pid for load in loads}
    escaped: set[int] = set()
    until = processes.boottime() + patience_seconds
    nap_seconds = _FIRST_NAP_SECONDS
    while left := _living_descendants(own):
        if processes.boottime() >= until:
            names = "; ".join(str(found) for found in processes.stuck(left))
            # The server reads the names after "still holding the node: ".
            raise RunEndedError("failed", "stuck", f"cannot be killed, still holding the node: {names}")
        escaped |= {stat.pid for stat in left} - own
        processes.send(signal.SIGKILL, [stat.pid for stat in left])
        loop.turn(processes.boottime() + nap_seconds)
        nap_seconds = min(2 * nap_seconds, _LONGEST_NAP_SECONDS)
    for load in loads:
        load.reap()
    return len(escaped)


def _living_descendants(own: set[int]) -> list[processes.Stat]:
    living = []
    for stat in processes.descendants(os.getpid()):
        if stat.state not in "ZX":
            living.append(stat)
        elif stat.parent == os.getpid() and stat.pid not in own:
            os.waitpid(stat.pid, os.WNOHANG)  # an adopted orphan; a load itself is reaped with its resource usage
    return living
