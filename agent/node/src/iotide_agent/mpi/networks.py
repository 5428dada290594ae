"""IPv4 networks in which the head of a run must be."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network


def check_network(text: str) -> str:
    """Return the network; raise ValueError with the remedy."""
    try:
        return str(IPv4Network(text))
    except ValueError as error:
        raise ValueError(f"write an IPv4 network, for instance 10.1.0.0/24 ({error})") from error


def is_within(address: str, networks: Iterable[str]) -> bool:
    return any(IPv4Address(address) in IPv4Network(network) for network in networks)
