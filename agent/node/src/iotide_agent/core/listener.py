"""Celery worker that receives wake-ups: a child of the agent that may be replaced at any time."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from iotide_agent.runner.loop import Loop

_STOP_SECONDS: Final = 5.0


class Listener:
    def __init__(
        self, state_directory: Path, broker_address: str | None, loop: Loop, on_end: Callable[[], None]
    ) -> None:
        """`broker_address` overrides the server's; `on_end` is called when a worker ends on its own."""
        self._state_directory = state_directory
        self._broker_address = broker_address
        self._loop = loop
        self._on_end = on_end
        self._child: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    def start(self) -> None:
        self.stop()
        argv = [sys.executable, "-m", "iotide_agent.core.worker", str(self._state_directory), str(os.getpid())]
        argv += [self._broker_address] if self._broker_address else []
        self._child = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        self._pidfd = os.pidfd_open(self._child.pid)
        self._loop.watch(self._pidfd, self._take_end)

    def stop(self) -> None:
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
        self._on_end()

    def _forget(self) -> None:
        self._loop.ignore(self._pidfd)
        os.close(self._pidfd)
