"""The Celery worker as the supervisor's child, which listens for wake-ups and may be replaced at any time."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from iotide_agent.runner.loop import Loop

_STOP_SECONDS: Final = 5.0


class Listener:
    """At most one worker process."""

    def __init__(
        self, state_directory: Path, broker_address: str | None, loop: Loop, tell_end: Callable[[], None]
    ) -> None:
        """`broker_address` overrides the server's; `tell_end` is called when a worker ended by itself."""
        self._state_directory = state_directory
        self._broker_address = broker_address
        self._loop = loop
        self._tell_end = tell_end
        self._child: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    def start(self) -> None:
        """Starts a worker in the place of the one that runs, if any."""
        self.stop()
        argv = [sys.executable, "-m", "iotide_agent.core.worker", str(self._state_directory), str(os.getpid())]
        argv += [self._broker_address] if self._broker_address else []
        self._child = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        self._pidfd = os.pidfd_open(self._child.pid)
        self._loop.watch(self._pidfd, self._take_end)

    def stop(self) -> None:
        """Ends the worker; it does nothing that would be worth waiting for long."""
        if self._child is None:
            return
        self._forget()
        self._child.terminate()
        try:
            self._child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = None

    def _take_end(self) -> None:
        self._forget()
        if self._child is not None:
            self._child.wait()
            self._child = None
        self._tell_end()

    def _forget(self) -> None:
        self._loop.ignore(self._pidfd)
        os.close(self._pidfd)
