"""Where one node of a run receives what another one sends; it travels in beats and their answers alone."""

from ipaddress import IPv4Address
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from iotide_wire.base import Message

LOOPBACK: Final = "127.0.0.1"
"""Reached by agents on the same machine alone."""
AUTOMATIC: Final = "auto"
"""In agent.toml: the address by which the node reaches its server."""
DATA_ADDRESS: Final = "data.address"
"""The fact by which a node says where it receives."""


def check_data_address(text: str) -> str:
    """The text, if a node can receive at that address.

    Raises:
        ValueError: it is no IPv4 address of one interface; the text says what to write.
    """
    remedy = f"write the IPv4 address of one interface, for instance 10.1.0.7, or {AUTOMATIC}"
    try:
        address = IPv4Address(text)
    except ValueError as error:
        raise ValueError(remedy) from error
    if address.is_unspecified or address.is_multicast or address.is_reserved:
        raise ValueError(f"{remedy}; nothing listens at all interfaces at once, and none at a group's address")
    return text


class Endpoint(Message):
    """Where a node of a run receives, and what proves that a sender is of the same run.

    Attributes:
        ports: UDP ports that the kernel chose, one for each step that receives, in their order.
        token: known to the nodes of this attempt and to the server alone; worthless once the attempt has ended.
    """

    address: Annotated[str, AfterValidator(check_data_address)]
    ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65_535)], ...], Field(min_length=1, max_length=64)]
    token: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
