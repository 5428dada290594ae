"""How a part that listens on no port says that it is ready: systemd's notification protocol (sd_notify(3))."""

import contextlib
import os
import socket
from pathlib import Path

_VARIABLE = "NOTIFY_SOCKET"
_READY = b"READY=1"
_LONGEST_MESSAGE_BYTES = 1024


def announce_ready() -> None:
    """Tell whoever started this process, `iotide-server up` or systemd, that it does its work now."""
    address = os.environ.get(_VARIABLE)
    if not address:
        return
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as channel,
        contextlib.suppress(OSError),  # after a restart nobody waits for it any more
    ):
        channel.sendto(_READY, f"\0{address[1:]}" if address.startswith("@") else address)


class ReadinessSocket:
    """Where one part announces itself; made before the part is started."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(str(path))
        self.environment = {_VARIABLE: str(path)}

    def is_ready(self) -> bool:
        """Whether the part has announced itself since the last time this was true."""
        try:
            return _READY in self._socket.recv(_LONGEST_MESSAGE_BYTES)
        except BlockingIOError:
            return False

    def close(self) -> None:
        self._socket.close()
