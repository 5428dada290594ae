"""A hand: a forked child that touches the target for the runner, so that a dead mount hangs it and not the runner."""

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
    """How long a hand may take in all, and how long without being scheduled once, as on a dead mount."""

    seconds: float
    still_seconds: float


Check = Callable[[], None]
"""Raises when the run must end; asked whenever something happened."""


def go_on() -> None:
    """The check of what must be done to its end, such as removal: a cancelled run leaves nothing behind either."""


class HandHungError(Exception):
    """The hand did not come back: its target does not answer."""

    code: Final = "target_hangs"


class HandFailedError(Exception):
    """The hand met an error that is neither the target's nor the order's."""

    code: Final = "target_error"


TARGET_ERRORS: Final = (TargetRefusedError, HandHungError, HandFailedError)
"""What a hand raises; `code` says why a run ends by it."""


class Hands:
    """Lends hands to one run."""

    def __init__(self, loop: Loop, locks: Iterable[int] = ()) -> None:
        """A hand keeps none of the `locks`: one that hangs is no load and holds no node."""
        self._loop = loop
        self._locks = tuple(locks)

    def do(self, work: Callable[[], Any], limits: HandLimits, check: Check) -> Any:  # noqa: ANN401 - JSON
        """Return what `work` returns, a JSON value, done in a forked child while the loop goes on turning.

        Raise TargetRefusedError as `work` does, HandHungError for no answer within the limits (the child is killed, or
        left where it sleeps in the kernel), HandFailedError for anything else.
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
    """The loop's turn is all that the end of a hand has to cause."""


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
        text = os.read(descriptor, 65_536)  # a pipe's capacity: the hand could not have written more
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
    """Kills and reaps the child, but waits only a moment: in D state it would be for ever."""
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
