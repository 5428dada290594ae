"""Traffic of the node's interfaces and utilisation of the busiest link: /proc/net/dev, /sys/class/net.

Only interfaces with hardware count, because bonds, VLANs and bridges would count the same bytes again; in a
container, all except `lo`. RDMA bypasses the interfaces.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, growth

_LOOPBACK: Final = b"lo"
_INFINIBAND: Final = "32"
"""ARPHRD_INFINIBAND of <linux/if_arp.h>, as in /sys/class/net/*/type: IPoIB."""
_BITS: Final = 8


class Carried(NamedTuple):
    received_bytes: int
    sent_bytes: int


class _Interface(NamedTuple):
    is_counted: bool
    bytes_per_second: float | None


class Network(Source[dict[bytes, Carried]]):
    def __init__(self, proc: Path, sys: Path) -> None:
        self.files = (OpenFile(proc / "net/dev"),)
        self._directory = sys / "class/net"
        self._needs_hardware = any(self._has_hardware(name) for name, _ in self._lines())
        self._interfaces: dict[bytes, _Interface] = {}

    def read(self) -> dict[bytes, Carried]:
        found = {}
        for name, figures in self._lines():
            interface = self._interfaces.get(name) or self._meet(name)
            if interface.is_counted:
                fields = figures.split(None, 9)
                found[name] = Carried(int(fields[0]), int(fields[8]))
        return found

    def rates(self, before: dict[bytes, Carried], after: dict[bytes, Carried], span: Span) -> Mapping[str, float]:
        """Return the bytes of interfaces present in both readings, and the utilisation of the busiest link."""
        grown = {name: Carried(*growth(before[name], after[name])) for name in before.keys() & after.keys()}
        rates = {
            "net_receive_bytes_per_second": sum(carried.received_bytes for carried in grown.values()) / span.seconds,
            "net_send_bytes_per_second": sum(carried.sent_bytes for carried in grown.values()) / span.seconds,
        }
        speeds = ((carried, self._interfaces[name].bytes_per_second) for name, carried in grown.items())
        fullness = [max(carried) / span.seconds / speed for carried, speed in speeds if speed]
        return rates | {"net_link_ratio": max(fullness)} if fullness else rates

    def _lines(self) -> Iterator[tuple[bytes, bytes]]:
        (file,) = self.files
        for line in b"".join(file.pieces()).splitlines()[2:]:
            name, _, figures = line.partition(b":")
            yield name.strip(), figures

    def _meet(self, name: bytes) -> _Interface:
        """Inspect an interface only once: a driver may take long to report its speed."""
        is_counted = self._has_hardware(name) if self._needs_hardware else name != _LOOPBACK
        interface = _Interface(is_counted, self._speed(name) if is_counted else None)
        self._interfaces[name] = interface
        return interface

    def _has_hardware(self, name: bytes) -> bool:
        return (self._directory / os.fsdecode(name) / "device").exists()

    def _speed(self, name: bytes) -> float | None:
        directory = self._directory / os.fsdecode(name)
        try:
            if _text(directory / "type") == _INFINIBAND:
                # For IPoIB the adapter's port has the speed, "40 Gb/sec (4X QDR)"; dev_port counts ports from 0.
                port = int(_text(directory / "dev_port")) + 1
                (rate,) = (directory / "device/infiniband").glob(f"*/ports/{port}/rate")
                return float(_text(rate).split()[0]) * 1e9 / _BITS
            megabits = int(_text(directory / "speed"))
        except (OSError, ValueError, LookupError):
            return None
        return megabits * 1e6 / _BITS if megabits > 0 else None


def _text(file: Path) -> str:
    return file.read_text(encoding="ascii").strip()
