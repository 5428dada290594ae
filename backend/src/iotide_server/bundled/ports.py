"""Checks before anything starts that the addresses to listen on are free."""

import errno
import socket

from iotide_server.bundled import StartError


def check_port(host: str, port: int, *, option: str) -> None:
    """Raise StartError where this process could not listen there; `option` is what changes the port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            # As servers do: connections of an earlier start that still linger do not count.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
    except OSError as error:
        raise _refusal(host, port, option, error) from error


def _refusal(host: str, port: int, option: str, error: OSError) -> StartError:
    if error.errno == errno.EADDRINUSE:
        return StartError(f"Port {port} on {host} is taken.", remedy=f"Stop what listens there, or use {option}.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return StartError(f"Port {port} may be opened by root only.", remedy=f"Use one above 1023 with {option}.")
    return StartError(
        f"{host} is not an address of this machine ({error.strerror}).",
        remedy="Name one of its addresses with --listen.",
    )
