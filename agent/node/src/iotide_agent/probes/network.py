"""Network below a mount: interface to the server and speed of its link."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from iotide_agent.probes.base import Texts, known, number, text_of, unavailable_fact
from iotide_agent.probes.reader import CommandWant, DirectoryWant, FileWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

_INTERFACE: Final = re.compile(r"\bdev (\S+)")
_RATE: Final = re.compile(r"^(\d{1,6}(?:\.\d+)?) Gb/sec", re.ASCII)
_LINKS: Final = {"1": "ethernet", "32": "infiniband", "772": "loopback"}
"""ARPHRD_* of <linux/if_arp.h>, as in /sys/class/net/*/type; IPoIB is 32."""
_FILES: Final = ("type", "mtu", "speed", "mode", "dev_port", "bonding/mode", "bonding/slaves")


def wants(server: str, texts: Texts) -> Iterable[Want]:
    if not server:
        return
    if not _is_address(server):
        yield _resolve(server)
    address = address_of(server, texts)
    if not address:
        return
    yield _route(address)
    interface = _interface(address, texts)
    if interface:
        yield from (_file(interface, name) for name in _FILES)
        yield _infiniband(interface)
        yield from (FileWant(path) for path in _rate_files(interface, texts))


def facts(server: str, texts: Texts) -> Facts:
    if not server:
        return {}
    address = address_of(server, texts)
    if not address:
        return {"network.server": server, "network.interface": f"unavailable, because {server} has no known address"}
    interface = _interface(address, texts)
    if not interface:
        route = texts.get(_route(address))
        reason = route if isinstance(route, Unavailable) else Unavailable(f"no route leads to {address}")
        return {"network.server": server, "network.interface": unavailable_fact(reason)}
    kind = text_of(texts, _file(interface, "type"))
    slaves = text_of(texts, _file(interface, "bonding/slaves")).split()
    found: dict[str, FactValue] = {
        "network.server": server,
        "network.interface": interface,
        "network.link": _LINKS.get(kind, f"type {kind}") if kind else None,
        "network.link_bits_per_second": _bits_per_second(interface, texts),
        "network.mtu_bytes": number(text_of(texts, _file(interface, "mtu"))),
        "network.ipoib_mode": text_of(texts, _file(interface, "mode")),
        "network.bond_mode": text_of(texts, _file(interface, "bonding/mode")).partition(" ")[0],
        "network.bond_link_count": len(slaves) or None,
    }
    return known(found)


def address_of(server: str, texts: Texts) -> str:
    """Return the server's address, of several always the same one; "" until its name is resolved."""
    if _is_address(server):
        return server
    addresses = {line.split()[0] for line in text_of(texts, _resolve(server)).splitlines() if line.split()}
    return min(filter(_is_address, addresses), default="")


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _resolve(server: str) -> CommandWant:
    return CommandWant(("getent", "ahosts", server), "libc-bin")


def _route(address: str) -> CommandWant:
    return CommandWant(("ip", "route", "get", address), "iproute2")


def _interface(address: str, texts: Texts) -> str:
    found = _INTERFACE.search(text_of(texts, _route(address)))
    return found[1] if found and "/" not in found[1] else ""


def _file(interface: str, name: str) -> FileWant:
    return FileWant(f"/sys/class/net/{interface}/{name}")


def _infiniband(interface: str) -> DirectoryWant:
    return DirectoryWant(f"/sys/class/net/{interface}/device/infiniband")


def _rate_files(interface: str, texts: Texts) -> list[str]:
    """For IPoIB the adapter's port has the speed; dev_port counts ports from 0."""
    port = number(text_of(texts, _file(interface, "dev_port")))
    if port is None or text_of(texts, _file(interface, "type")) != "32":
        return []
    base = _infiniband(interface).path
    return [f"{base}/{adapter}/ports/{port + 1}/rate" for adapter in text_of(texts, _infiniband(interface)).split()]


def _bits_per_second(interface: str, texts: Texts) -> int | None:
    for path in _rate_files(interface, texts):
        rate = _RATE.match(text_of(texts, FileWant(path)))
        if rate:
            return round(float(rate[1]) * 1e9)
    # -1 or unreadable without a link or a known speed.
    megabits = number(text_of(texts, _file(interface, "speed")))
    return megabits * 10**6 if megabits else None
