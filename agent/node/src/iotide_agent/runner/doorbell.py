"""Wakes a process that sleeps in poll: a ring says "look at your files", never what is in them."""

import os
from pathlib import Path

from iotide_agent.runner.files import closing


class Doorbell:
    """A named pipe, as a socket's path must not be longer than 108 bytes; rings that nobody heard yet count as one."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # Opened for both directions, so that it never reports the end of a ringer.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        """The descriptor to poll for input."""
        return self._descriptor

    def quiet(self) -> None:
        """Takes all rings so far."""
        try:
            while os.read(self._descriptor, 4096):
                pass
        except BlockingIOError:
            return

    def ring_self(self) -> None:
        """Rings from inside the process, safe in a signal handler and in any thread."""
        _write(self._descriptor)


def ring(path: Path) -> bool:
    """Rings the bell at `path`; False where nobody listens, whose files then wait for its next start."""
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
        return  # full of rings already: it will be heard
