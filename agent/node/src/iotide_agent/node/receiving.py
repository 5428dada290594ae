"""Address on which this node receives data from other nodes of a run; only agent.toml sets it."""

import fcntl
import socket
import struct
from typing import Final
from urllib.parse import urlsplit

from iotide_agent.node.config import AgentConfig
from iotide_agent.node.identity import NotEnrolledError, load_identity
from iotide_wire.endpoint import AUTOMATIC

_SIOCGIFADDR: Final = 0x8915
_PORTS: Final = {"http": 80, "https": 443}


def data_address(config: AgentConfig) -> str | None:
    """Return None if this node does not have the address or does not know it yet."""
    address = _towards_server(config) if config.data_address == AUTOMATIC else config.data_address
    return address if address is not None and why_not_here(address) is None else None


def why_not_here(address: str) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError as error:
            return error.strerror
    return None


def interface_of(address: str) -> str | None:
    """Return the interface with this IPv4 address as its first one, netdevice(7), or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asked.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()))
            except OSError:
                continue  # it has no IPv4 address
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return None


def _towards_server(config: AgentConfig) -> str | None:
    """Return the address of a connected UDP socket; connecting sends nothing."""
    try:
        url = urlsplit(load_identity(config.state_directory).server_url)
    except NotEnrolledError:
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.connect((url.hostname or "", url.port or _PORTS.get(url.scheme, 443)))
        except OSError:
            return None
        address: str = trial.getsockname()[0]
        return address
