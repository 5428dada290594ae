"""Parses listen addresses and raises the limit of open files."""

import resource
from typing import Final, NamedTuple

_PORTS: Final = range(1, 65_534)


class Address(NamedTuple):
    host: str
    port: int


def parse_listen(text: str) -> Address:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) not in _PORTS:
        raise ValueError(f"write ADDRESS:PORT with a port up to {_PORTS[-1]}, for instance 127.0.0.1:9470")
    return Address(host, int(port))


def check_listen(text: str) -> str:
    parse_listen(text)
    return text


def open_as_many_files_as_allowed() -> None:
    """Raise the soft limit, often 1,024, to the hard limit, because each node keeps a connection."""
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
