"""Forked child processes that access targets, so that a dead mount cannot hang the runner."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.workspace import TargetRefusedError

_KILL_SECONDS: Final = 2.0


class HandLimits(NamedTuple):
    """Limits of a child: total time, and time without being scheduled, as on a dead mount."""

    seconds: float
    still_seconds: float


Check = Callable[[], None]
"""Called whenever something happened; raises when the run must end."""


def go_on() -> None:
    """Check for work that must complete even in a cancelled run, such as removal."""


class HandHungError(Exception):
    code: Final = "target_hangs"


class HandFailedError(Exception):
    """Unexpected error of the child itself, not of the target or the order."""

    code: Final = "target_error"


TARGET_ERRORS: Final = (TargetRefusedError, HandHungError, HandFailedError)


class Hands:
    def __init__(self, loop: Loop, locks: Iterable[int] = ()) -> None:
        """Children close the `locks`: a child that hangs is not a load and does not occupy the node."""
        self._loop = loop
        self._locks = tuple(locks)

    def do(self, work: Callable[[], Any], limits: HandLimits, check: Check) -> Any:  # noqa: ANN401 - JSON
        """Run `work` in a forked child while the loop continues; return its result, a JSON value.

        Raise TargetRefusedError from `work`, HandHungError at a limit (the child is killed, or left in state D) and
        HandFailedError for anything else.
        """
        answer_read, answer_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            _work(work, answer_write, self._locks)
        os.close(answer_write)
        pidfd = os.pidfd_open(pid)
        self._loop.watch(pidfd, _nothing)
        try:
            self._wait(pid, pidfd, limits, check)
            return _answer(answer_read)
        finally:
            self._loop.ignore(pidfd)
            _end(pid, pidfd)
            os.close(answer_read)
            os.close(pidfd)

    def _wait(self, pid: int, pidfd: int, limits: HandLimits, check: Check) -> None:
        ends_at = processes.boottime() + limits.seconds
        still_until, seen = processes.boottime() + limits.still_seconds, processes.times_scheduled(pid)
        while not _has_ended(pidfd):
            check()
            if processes.boottime() >= still_until:
                now_seen = processes.times_scheduled(pid)
                if now_seen == seen:
                    raise HandHungError(f"no answer for {limits.still_seconds:g} s, {_why(pid)}")
                still_until, seen = processes.boottime() + limits.still_seconds, now_seen
            if processes.boottime() >= ends_at:
                raise HandHungError(f"not done within {limits.seconds:g} s, {_why(pid)}")
            self._loop.turn(min(ends_at, still_until))


def _nothing() -> None:
    pass


def _work(work: Callable[[], Any], answer: int, locks: Iterable[int]) -> None:
    status = 1
    try:
        for lock in locks:
            os.close(lock)
        processes.die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            reply = {"result": work()}
        except TargetRefusedError as error:
            reply = {"refused": {"code": error.code, "sentence": str(error)}}
        os.write(answer, json.dumps(reply).encode())
        status = 0
    except BaseException as error:  # noqa: BLE001 - a forked child must never run on as a second runner
        os.write(answer, json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
    os._exit(status)


def _answer(descriptor: int) -> Any:  # noqa: ANN401 - JSON
    os.set_blocking(descriptor, False)
    try:
        text = os.read(descriptor, 65_536)  # at most a pipe's capacity: the child could not have written more
    except BlockingIOError:
        text = b""
    reply = json.loads(text or b'{"failed": "the child ended without a word"}')
    if "refused" in reply:
        raise TargetRefusedError(reply["refused"]["code"], reply["refused"]["sentence"])
    if "failed" in reply:
        raise HandFailedError(reply["failed"])
    return reply["result"]


def _has_ended(pidfd: int) -> bool:
    return os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(pid: int, pidfd: int) -> None:
    """Kill the child and wait only a moment: in state D it may never end."""
    processes.send(signal.SIGKILL, [pid])
    until = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < until:
        if _has_ended(pidfd):
            os.waitpid(pid, 0)
            return
        time.sleep(0.01)


def _why(pid: int) -> str:
    stat = processes.stat_of(pid)
    return str(processes.stuck([stat])[0]) if stat else "the child is gone"
