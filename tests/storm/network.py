"""Network namespace for one agent, with a link to this machine that can be cut; root only."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_RELAY: Final = Path(__file__).with_name("relay.py")
_HERE, _THERE = "10.213.77.1", "10.213.77.2"
_LINK: Final = "iotide-storm"  # at most 15 characters
_READY_SECONDS: Final = 10.0


@dataclass(frozen=True)
class CutNetwork:
    """Namespace in which the server's ports are available on loopback, through a link."""

    name: str

    @property
    def within(self) -> Sequence[str]:
        """Return the command that runs another in it."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """From now on drop all packets; no end is notified."""
        _ip("link", "set", _LINK, "down")

    def repair(self) -> None:
        """Forward packets again."""
        _ip("link", "set", _LINK, "up")


@contextmanager
def cut_network(ports: Sequence[int]) -> Iterator[CutNetwork]:
    """Return a namespace with these loopback ports of this machine."""
    network = CutNetwork("iotide-storm")
    relays: list[subprocess.Popen[bytes]] = []
    _remove_leftover(network.name)
    _ip("netns", "add", network.name)
    try:
        _ip("link", "add", _LINK, "type", "veth", "peer", "name", "eth0", "netns", network.name)
        _ip("addr", "add", f"{_HERE}/30", "dev", _LINK)
        _ip("link", "set", _LINK, "up")
        _ip("-n", network.name, "addr", "add", f"{_THERE}/30", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", network.name, "link", "set", device, "up")
        inner = [f"127.0.0.1:{port}={_HERE}:{port}" for port in ports]
        outer = [f"{_HERE}:{port}=127.0.0.1:{port}" for port in ports]
        relays = [
            subprocess.Popen([sys.executable, "-I", str(_RELAY), *outer]),
            subprocess.Popen([*network.within, sys.executable, "-I", str(_RELAY), *inner]),
        ]
        _wait_listening(network, ports)
        yield network
    finally:
        for relay in relays:
            relay.kill()
            relay.wait()
        _ip("netns", "delete", network.name)


def _wait_listening(network: CutNetwork, ports: Sequence[int]) -> None:
    probe = f"import socket\nfor port in {list(ports)}: socket.create_connection(('127.0.0.1', port), 2).close()"
    command = [*network.within, sys.executable, "-I", "-c", probe]
    deadline = time.monotonic() + _READY_SECONDS
    while subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the relays into {network.name} do not answer within {_READY_SECONDS:g} s")
        time.sleep(0.1)


def _remove_leftover(name: str) -> None:
    """Remove the namespace of a killed storm. If processes still run in it, it belongs to another storm, and the
    name is rejected.
    """
    inside = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
    if inside.returncode == 0 and not inside.stdout.split():
        _ip("netns", "delete", name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
