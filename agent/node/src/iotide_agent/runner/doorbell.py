"""Doorbells wake a process that sleeps in poll; they carry no data, only "check your files"."""

import os
from pathlib import Path

from iotide_agent.runner.files import closing


class Doorbell:
    """Named pipe, because a socket's path is limited to 108 bytes. Pending rings count as one."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # In both directions, so that poll never reports a writer's end.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        return self._descriptor

    def quiet(self) -> None:
        try:
            while os.read(self._descriptor, 4096):
                pass
        except BlockingIOError:
            return

    def ring_self(self) -> None:
        """Callable from a signal handler and any thread."""
        _write(self._descriptor)


def ring(path: Path) -> bool:
    """Return false if no process listens. The files then wait for its next start."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with closing(descriptor):
        _write(descriptor)
    return True


def _write(descriptor: int) -> None:
    try:
        os.write(descriptor, b"!")
    except BlockingIOError:
        return
