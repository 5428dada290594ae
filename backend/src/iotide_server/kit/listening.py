"""Reads addresses to listen on, as an administrator writes them, and raises the limit of open files."""

import resource
from typing import Final, NamedTuple

_PORTS: Final = range(1, 65_534)


class Address(NamedTuple):
    """A host's name or address, and a port."""

    host: str
    port: int


def parse_listen(text: str) -> Address:
    """Return the two parts; raise ValueError with what to write instead."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) not in _PORTS:
        raise ValueError(f"write ADDRESS:PORT with a port up to {_PORTS[-1]}, for instance 127.0.0.1:9470")
    return Address(host, int(port))


def check_listen(text: str) -> str:
    """Return the text, or raise what `parse_listen` raises."""
    parse_listen(text)
    return text


def open_as_many_files_as_allowed() -> None:
    """Raise the soft limit, often 1,024, to the hard one: for what keeps a connection for each node."""
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
