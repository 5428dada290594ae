"""At which of its addresses this node receives what other nodes of a run send: agent.toml says, and nothing else."""

import socket
from typing import Final
from urllib.parse import urlsplit

from iotide_agent.node.config import AgentConfig
from iotide_agent.node.identity import NotEnrolledError, load_identity
from iotide_wire.endpoint import AUTOMATIC

_PORTS: Final = {"http": 80, "https": 443}


def data_address(config: AgentConfig) -> str | None:
    """The address at which runs may listen; None where this node does not have it, or does not know it yet."""
    address = _towards_server(config) if config.data_address == AUTOMATIC else config.data_address
    return address if address is not None and why_not_here(address) is None else None


def why_not_here(address: str) -> str | None:
    """Why nothing can listen at an address; None where it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError as error:
            return error.strerror
    return None


def _towards_server(config: AgentConfig) -> str | None:
    """The address from which this node speaks to its server; a connected UDP socket knows it and sends nothing."""
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
