"""Hosts from network namespaces: an address on a bridge, a host name and a /dev/shm of their own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from agent.mpi.gang_rig import NODE, PACKAGES

INTERFACE: Final = "eth0"
_BRIDGE: Final = "iotide-mpi"
_READY: Final = 'hostname {name} && mount --make-rprivate / && mount -t tmpfs tmpfs /dev/shm && exec "$@"'


class Host(NamedTuple):
    """One namespace."""

    name: str
    address: str

    def start(self, directory: Path, **wanted: object) -> subprocess.Popen[str]:
        """Start a head or a member there."""
        directory.mkdir(parents=True)
        (directory / "wanted.json").write_text(json.dumps(wanted))
        return subprocess.Popen(
            [
                *("ip", "netns", "exec", f"{_BRIDGE}-{self.name}", "unshare", "--uts", "--mount"),
                *("sh", "-c", _READY.format(name=self.name), "sh"),
                *(sys.executable, "-I", "-S", str(NODE), str(directory / "wanted.json"), *PACKAGES),
            ],
            stdout=subprocess.PIPE,
            stderr=(directory / "log").open("w"),
            text=True,
        )


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """Make the hosts and a bridge between them, and remove both at the end."""
    found = [Host(f"n{number}", f"10.77.0.{number}") for number in range(1, count + 1)]
    try:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("link", "set", _BRIDGE, "up")
        for host in found:
            space, outside = f"{_BRIDGE}-{host.name}", f"iomp-{host.name}"
            _ip("netns", "add", space)
            _ip("link", "add", outside, "type", "veth", "peer", "name", INTERFACE, "netns", space)
            _ip("link", "set", outside, "master", _BRIDGE, "up")
            _ip("-n", space, "address", "add", f"{host.address}/24", "dev", INTERFACE)
            _ip("-n", space, "link", "set", INTERFACE, "up")
            _ip("-n", space, "link", "set", "lo", "up")
        yield found
    finally:
        for host in found:
            subprocess.run(["ip", "netns", "delete", f"{_BRIDGE}-{host.name}"], check=False)
            subprocess.run(["ip", "link", "delete", f"iomp-{host.name}"], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "delete", _BRIDGE], check=False)
