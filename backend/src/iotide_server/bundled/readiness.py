"""Readiness notification by systemd's protocol (sd_notify(3))."""

import contextlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_VARIABLE = "NOTIFY_SOCKET"
_READY = "READY=1"
_LONGEST_MESSAGE_BYTES = 1024


def announce_ready() -> None:
    """Notify `iotide-server up` or systemd that this process is ready."""
    ServiceManager(os.environ.get(_VARIABLE)).announce_ready()


@dataclass(frozen=True)
class ServiceManager:
    """Starter of this process: systemd if `address` is set, otherwise a user, who gets no notification."""

    address: str | None

    @classmethod
    def take(cls) -> Self:
        """Return the one of this process, whose children shall not notify it."""
        return cls(os.environ.pop(_VARIABLE, None) or None)

    def announce_ready(self) -> None:
        self._send(_READY)

    def announce_stop(self) -> None:
        self._send("STOPPING=1")

    def show(self, status: str) -> None:
        """Show a line in `systemctl status`."""
        self._send(f"STATUS={status}")

    def _send(self, message: str) -> None:
        if self.address is None:
            return
        # An address that begins with @ is in the abstract namespace.
        address = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as channel,
            contextlib.suppress(OSError),  # no receiver after a restart
        ):
            channel.sendto(message.encode(), address)


class ReadinessSocket:
    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(str(path))
        self.environment = {_VARIABLE: str(path)}

    def is_ready(self) -> bool:
        try:
            return _READY.encode() in self._socket.recv(_LONGEST_MESSAGE_BYTES)
        except BlockingIOError:
            return False

    def close(self) -> None:
        self._socket.close()
