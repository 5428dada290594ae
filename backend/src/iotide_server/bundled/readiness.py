"""Readiness notification by systemd's protocol (sd_notify(3))."""

import contextlib
import os
import socket
from pathlib import Path

_VARIABLE = "NOTIFY_SOCKET"
_READY = b"READY=1"
_LONGEST_MESSAGE_BYTES = 1024


def announce_ready() -> None:
    """Notify `iotide-server up` or systemd that this process is ready."""
    address = os.environ.get(_VARIABLE)
    if not address:
        return
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as channel,
        contextlib.suppress(OSError),  # no receiver after a restart
    ):
        channel.sendto(_READY, f"\0{address[1:]}" if address.startswith("@") else address)


class ReadinessSocket:
    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(str(path))
        self.environment = {_VARIABLE: str(path)}

    def is_ready(self) -> bool:
        try:
            return _READY in self._socket.recv(_LONGEST_MESSAGE_BYTES)
        except BlockingIOError:
            return False

    def close(self) -> None:
        self._socket.close()
