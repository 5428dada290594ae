"""Hosts from namespaces: an address on a bridge, a host name, processes and /dev/shm of their own, and no ssh."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from bring_up import wait_for
from mpi.attempts import attempt_of

from iotide_agent.runner import processes

INTERFACE: Final = "eth0"
OUTSIDE: Final = "10.77.0.254"
"""Address of this machine on the bridge: that of the server, and of strangers."""
_BRIDGE: Final = "iotide-mpi"
_RELAY: Final = Path(__file__).parents[1] / "storm/relay.py"
_REMOTE_SHELLS: Final = ("ssh", "rsh")
_INIT: Final = """
hostname {name} && mount --make-rprivate / && mount -t tmpfs tmpfs /dev/shm &&
mount --bind {names} /etc/hosts || exit
for shell in {shells}; do mount --bind /dev/null "$shell" || exit; done
trap '' CHLD
echo ready
exec sleep infinity
"""
"""With SIGCHLD ignored, the kernel removes orphans that have ended."""


class Process(NamedTuple):
    """Living process of a host, by its number on this machine; `attempt` is that of a run, or empty."""

    pid: int
    name: str
    command: str
    attempt: str


class Host:
    """Network, mounts, name and processes of one host.

    Attributes:
        within: Command that runs another one there.
    """

    def __init__(self, number: int, names: Path) -> None:
        self.name, self.address = f"n{number}", f"10.77.0.{number}"
        self._space, self._link = f"{_BRIDGE}-{self.name}", f"iomp-{self.name}"
        _ip("netns", "add", self._space)
        _ip("link", "add", self._link, "type", "veth", "peer", "name", INTERFACE, "netns", self._space)
        _ip("link", "set", self._link, "master", _BRIDGE, "up")
        _ip("-n", self._space, "address", "add", f"{self.address}/24", "dev", INTERFACE)
        _ip("-n", self._space, "link", "set", INTERFACE, "up")
        _ip("-n", self._space, "link", "set", "lo", "up")
        shells = " ".join(filter(None, map(shutil.which, _REMOTE_SHELLS)))
        self._keeper = subprocess.Popen(
            [
                *("ip", "netns", "exec", self._space),
                *("unshare", "--uts", "--ipc", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"),
                *("sh", "-c", _INIT.format(name=self.name, names=names, shells=shells)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._keeper.stdout is None or self._keeper.stdout.readline() != "ready\n":
            raise RuntimeError(f"host {self.name} did not start")
        [self._init] = Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children").read_text().split()
        self._processes = Path(f"/proc/{self._init}/ns/pid").readlink()
        spaces = ("--net", "--uts", "--ipc", "--mount", "--pid")
        self.within: Sequence[str] = ("nsenter", "--target", self._init, *spaces, "--")
        self._relay: subprocess.Popen[bytes] | None = None

    def reach(self, ports: Sequence[int]) -> None:
        """Make these loopback ports of this machine available on the host's own."""
        pairs = [f"127.0.0.1:{port}={OUTSIDE}:{port}" for port in ports]
        self._relay = subprocess.Popen([*self.within, sys.executable, "-I", str(_RELAY), *pairs])
        probe = f"import socket\nfor port in {list(ports)}: socket.create_connection(('127.0.0.1', port), 2).close()"
        command = [*self.within, sys.executable, "-I", "-c", probe]

        def answers() -> bool | None:
            return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0 or None

        wait_for(f"the server's ports on {self.name}", answers, seconds=20)

    def cut(self) -> None:
        """From now on drop all packets; no end is notified."""
        _ip("link", "set", self._link, "down")

    def repair(self) -> None:
        _ip("link", "set", self._link, "up")

    def living(self) -> list[Process]:
        """Return all processes of the host except its first one."""
        found = []
        for pid in processes.all_pids():
            with suppress(OSError):
                if str(pid) == self._init or Path(f"/proc/{pid}/ns/pid").readlink() != self._processes:
                    continue
                stat = processes.stat_of(pid)
                if stat is None or stat.state in "ZX":
                    continue
                command = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
                found.append(Process(pid, stat.name, command, attempt_of(pid)))
        return found

    def end_all(self, *, except_relay: bool = True) -> None:
        """Kill everything that runs there."""
        kept = f" {_RELAY} " if except_relay else ""
        for process in self.living():
            if not kept or kept not in process.command:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)

    def close(self) -> None:
        self._keeper.kill()
        self._keeper.wait()
        if self._keeper.stdout is not None:
            self._keeper.stdout.close()
        if self._relay is not None:
            self._relay.wait()
        _remove(self._space, self._link)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _remove(space: str, link: str) -> None:
    for words in (("netns", "delete", space), ("link", "delete", link)):
        subprocess.run(["ip", *words], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def hosts(count: int, directory: Path, ports: Sequence[int]) -> Iterator[list[Host]]:
    """Make the hosts and a bridge between them, and remove both at the end.

    `ports` of this machine's loopback are on theirs, too, through the bridge.
    """
    names = directory / "hosts"
    lines = ["127.0.0.1 localhost", *(f"10.77.0.{number} n{number}" for number in range(1, count + 1))]
    names.write_text("\n".join(lines) + "\n")
    made: list[Host] = []
    relay: subprocess.Popen[bytes] | None = None
    for number in range(1, count + 1):
        _remove(f"{_BRIDGE}-n{number}", f"iomp-n{number}")  # of a killed test
    subprocess.run(["ip", "link", "delete", _BRIDGE], check=False, stderr=subprocess.DEVNULL)
    try:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("address", "add", f"{OUTSIDE}/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        pairs = [f"{OUTSIDE}:{port}=127.0.0.1:{port}" for port in ports]
        relay = subprocess.Popen([sys.executable, "-I", str(_RELAY), *pairs])
        for number in range(1, count + 1):
            made.append(Host(number, names))
            made[-1].reach(ports)
        yield made
    finally:
        for host in made:
            host.close()
        if relay is not None:
            relay.kill()
            relay.wait()
        subprocess.run(["ip", "link", "delete", _BRIDGE], check=False)
