"""Endpoint at which a node of a run receives from another, sent in heartbeats only."""

from ipaddress import IPv4Address
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from iotide_wire.base import Message, Name

LOOPBACK: Final = "127.0.0.1"
"""For agents on the same machine only."""
AUTOMATIC: Final = "auto"
"""In agent.toml: the node's own address on its connection to the server."""
DATA_ADDRESS: Final = "data.address"


def check_data_address(text: str) -> str:
    """Return the address if it is the IPv4 address of one interface; raise ValueError with the remedy."""
    remedy = f"write the IPv4 address of one interface, for instance 10.1.0.7, or {AUTOMATIC}"
    try:
        address = IPv4Address(text)
    except ValueError as error:
        raise ValueError(remedy) from error
    if address.is_unspecified or address.is_multicast or address.is_reserved:
        raise ValueError(f"{remedy}; an address of all interfaces or of a group does not work")
    return text


def is_data_address(address: object) -> bool:
    try:
        return isinstance(address, str) and bool(check_data_address(address))
    except ValueError:
        return False


DataAddress = Annotated[str, AfterValidator(check_data_address)]


class Endpoint(Message):
    """Addresses on which a node of a run receives.

    Attributes:
        ports: UDP ports, one for each receiving step, in order; of a member, the TCP port of its start channel.
        token: proof of a sender or a head, known only to the nodes of this attempt and the server.
    """

    address: DataAddress
    ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65_535)], ...], Field(min_length=1, max_length=64)]
    token: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class NamedEndpoint(Message):
    """Endpoint of a member, for the head of its gang."""

    node: Name
    endpoint: Endpoint
