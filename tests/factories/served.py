"""Applications on a real socket with the server's own protocol, and clients with small receive buffers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

import uvicorn
from bring_up import wait_for
from starlette.types import ASGIApp

from iotide_server.kit.connections import BoundedProtocol

ADDRESS: Final = "127.0.0.1"
WAIT_SECONDS: Final = 20.0


@contextmanager
def serving(
    app: ASGIApp,
    protocol: type[BoundedProtocol],
    *,
    lifespan: Literal["on", "off"] = "off",
    chain: Path | None = None,
    key: Path | None = None,
) -> Iterator[uvicorn.Server]:
    """Serve until the block ends; with a certificate by TLS."""
    with socket.create_server((ADDRESS, 0)) as listener:
        config = uvicorn.Config(
            app,
            http=protocol,
            lifespan=lifespan,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
            ssl_certfile=chain,
            ssl_keyfile=key,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_for("the server", lambda: server.started or None)
            yield server
        finally:
            server.force_exit = lifespan == "off"  # a forced end would keep the application from closing what it opened
            server.should_exit = True
            thread.join(WAIT_SECONDS)


def port_of(server: uvicorn.Server) -> int:
    """Return the server's port."""
    return int(server.servers[0].sockets[0].getsockname()[1])


def connected(port: int, address: str = ADDRESS) -> socket.socket:
    """Return a client at the address with a small receive buffer."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.bind((address, 0))
    line.settimeout(WAIT_SECONDS)
    line.connect((ADDRESS, port))
    return line


def all_of(line: socket.socket) -> bytes:
    """Return all data until the connection ends."""
    pieces = []
    with suppress(ConnectionResetError):
        while piece := line.recv(1024**2):
            pieces.append(piece)
    return b"".join(pieces)
