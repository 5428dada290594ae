"""Ports that the services listen on, and the processes that already use them."""

import errno
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_server.bundled import StartError

API_PORT: Final = 8470
MOST_PORT: Final = 65533
"""Redis uses the next two ports."""

PROC: Final = Path("/proc")
_LISTENS: Final = "0A"
_TABLES: Final = (PROC / "net/tcp", PROC / "net/tcp6")


@dataclass(frozen=True)
class PortUser:
    """Process that listens on a port."""

    pid: int
    name: str


def check_port(host: str, port: int, *, option: str) -> None:
    """Raise StartError if this process cannot listen there; `option` changes the port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            # Ignore lingering connections of an earlier start.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
    except OSError as error:
        raise _refusal(host, port, option, error) from error


def port_users(port: int) -> Iterator[PortUser]:
    """Yield the processes that listen on this port of any address, as far as this user may see them."""
    inodes = {inode for table in _TABLES for inode in _listening(table, port)}
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for process in PROC.glob("[0-9]*"):
        with suppress(OSError):  # it ended, or belongs to another user
            if wanted and any(str(link.readlink()) in wanted for link in (process / "fd").iterdir()):
                yield PortUser(int(process.name), (process / "comm").read_text().strip())


def unit_of(pid: int) -> str | None:
    """Return the systemd service that a process belongs to."""
    with suppress(OSError):
        for line in (PROC / str(pid) / "cgroup").read_text().splitlines():
            name = next((part for part in reversed(line.split("/")) if part.endswith(".service")), None)
            if name is not None and not name.startswith("user@"):
                return name
    return None


def _listening(table: Path, port: int) -> Iterator[str]:
    with suppress(OSError):  # no IPv6
        for line in table.read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                yield words[9]


def _refusal(host: str, port: int, option: str, error: OSError) -> StartError:
    if error.errno == errno.EADDRINUSE:
        users = ", ".join(f"{user.name} (process {user.pid})" for user in port_users(port))
        return StartError(
            f"Port {port} on {host} is already in use{f' by {users}' if users else ''}.",
            remedy=f"Stop the program that uses it, or choose another port with {option}.",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return StartError(f"Only root can open port {port}.", remedy=f"Choose a port above 1023 with {option}.")
    return StartError(
        f"{host} is not an address of this machine ({error.strerror}).",
        remedy="Give one of its addresses with --listen.",
    )
