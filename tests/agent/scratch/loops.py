"""Disks of a test: loop devices over files of the test's own directory, which the program itself refuses."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from iotide_agent.scratch.adopting import Root
from iotide_agent.scratch.commands import ENVIRONMENT, Commands
from iotide_agent.scratch.disk import Disk, until
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.lock import held_lock
from iotide_agent.scratch.operations import perform
from iotide_agent.scratch.requests import parse_request
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.sysfs import DiskIdentity, Sysfs
from iotide_agent.scratch.uses import is_claimed, lasting_openers, mounts_of
from iotide_wire.units import MIB

MACHINE: Final = "0123456789abcdef0123456789abcdef"
SERIAL: Final = "SN-{}"


class LoopSysfs(Sysfs):
    """The kernel's view, narrowed to given loop devices: no other disk of this machine exists for the code.

    The program builds its own `Sysfs`, and no option or setting can make it use this class.
    """

    def __init__(self, serials: dict[str, str]) -> None:
        self.serials = serials

    def disks(self) -> list[str]:
        return sorted(self.serials)

    def identity(self, name: str) -> DiskIdentity:
        return DiskIdentity("", self.serials.get(name, ""), "loop of a test", self.size_bytes(name))

    def why_unfit(self, name: str) -> str | None:
        return None if name in self.serials else "it is not of this test"

    def read_partitions(self, name: str, descriptor: int) -> None:
        """Have the kernel take the partitions from the table by partx, since it may read no GPT on its own."""
        del descriptor
        forget_partitions(name)
        if run("wipefs", "--no-act", "--parsable", f"/dev/{name}"):
            run("partx", "--add", f"/dev/{name}")


class Loops:
    """Loop devices of one test, with the site that uses them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.sysfs = LoopSysfs({})
        self.config = directory / "scratch.toml"
        self.site = Site(
            sysfs=self.sysfs,
            config_file=self.config,
            state=directory / "state",
            mounts=directory / "mounts",
            machine_id=MACHINE,
            owner=(65534, 65534),
            patience_seconds=1.0,
        )

    def add(self, size_bytes: int = 64 * MIB) -> str:
        """Make one more disk, and return its name in scratch.toml."""
        serial = SERIAL.format(len(self.sysfs.serials))
        image = self._directory / f"{serial}.image"
        with image.open("wb") as empty:
            empty.truncate(size_bytes)
        path = run("losetup", "--find", "--show", str(image)).strip()
        self.sysfs.serials[path.removeprefix("/dev/")] = serial
        return f"serial-{serial}"

    def list_in(self, name: str, devices: Sequence[str], more: str = "") -> None:
        quoted = ", ".join(f'"{device}"' for device in devices)
        self.config.write_text(f"[sets.{name}]\ndevices = [{quoted}]\n{more}")

    def path(self, device: str) -> str:
        return f"/dev/{self.name(device)}"

    def name(self, device: str) -> str:
        (name,) = [name for name, serial in self.sysfs.serials.items() if f"serial-{serial}" == device]
        return name

    def arena(self, device: str) -> str:
        return f"{self.path(device)}p1"

    def image(self, device: str) -> Path:
        return self._directory / f"{device.removeprefix('serial-')}.image"

    def content(self, device: str) -> str:
        """Return the digest of everything on a disk, after the kernel has written it."""
        run("blockdev", "--flushbufs", self.path(device))
        with Path(self.path(device)).open("rb") as disk:
            os.fsync(disk.fileno())
        return sha256(self.image(device).read_bytes()).hexdigest()

    @contextmanager
    def root(self, typed: Sequence[str] = (), journal: Journal | None = None) -> Iterator[Root]:
        """Yield root's commands; `typed` answers its questions."""
        answers = list(typed)
        with self.commands(journal) as commands:
            yield Root(self.site, commands, lambda _question: answers.pop(0), "tester")

    @contextmanager
    def commands(self, journal: Journal | None = None) -> Iterator[Commands]:
        with held_lock(self.site.lock_file, 2.0) as lock:
            yield Commands(journal or Journal(sys.stderr), lock)

    def adopt(self, *devices: str) -> None:
        for device in devices:
            with self.root([device.removeprefix("serial-")]) as root:
                root.adopt(device)

    def disk(self, device: str) -> Disk:
        return Disk(self.sysfs, device, locks=False)

    def state(self, device: str) -> str:
        disk = self.disk(device)
        try:
            return str(disk.state().condition)
        finally:
            disk.close()

    def leftovers(self) -> list[str]:
        """Return what is left on or above arenas that must be empty and clean."""
        found = []
        for device in (f"serial-{serial}" for serial in self.sysfs.serials.values()):
            arena = self.arena(device).removeprefix("/dev/")
            found += [f"{arena}: {holder}" for holder in self.sysfs.names(arena, "holders")]
            found += [f"{arena}: claimed"] if is_claimed(f"/dev/{arena}") else []
            found += [
                f"{arena}: {line}" for line in run("wipefs", "--no-act", "--parsable", f"/dev/{arena}").splitlines()
            ]
            found += [f"{arena}: {self.state(device)}"] if self.state(device) != "clean" else []
        return found

    def detach(self) -> None:
        """Detach every disk, with what a failed test left on it; raise AssertionError that names those that stay."""
        left = [name for name in self.sysfs.serials if not until(partial(self._is_detached, name), 20.0)]
        assert left == [], [(name, lasting_openers(self.sysfs, [name, *Sysfs().partitions(name)])) for name in left]

    def _is_detached(self, name: str) -> bool:
        """Try once: a mount namespace that ends keeps its copies of mounts for a moment."""
        # Detached, the device may be that of another test by now.
        if not Sysfs().text(name, "loop/backing_file").startswith(f"{self._directory}/"):
            return True
        for mount in mounts_of(self.sysfs, [name, *Sysfs().partitions(name)]):
            run("umount", mount.path, check=False)
        run("swapoff", f"/dev/{name}", check=False)
        if Sysfs().partitions(name):
            run("partx", "--delete", f"/dev/{name}", check=False)
        if not Sysfs().partitions(name):
            run("losetup", "--detach", f"/dev/{name}", check=False)
        return not Sysfs().text(name, "loop/backing_file").startswith(f"{self._directory}/")


@contextmanager
def made_loops(directory: Path) -> Iterator[Loops]:
    loops = Loops(directory)
    try:
        yield loops
    finally:
        loops.detach()


def forget_partitions(name: str) -> None:
    # Without its file a loop device keeps them.
    if Sysfs().partitions(name):
        run("partx", "--delete", f"/dev/{name}")


def run(*command: str, check: bool = True) -> str:
    environment = ENVIRONMENT | {"PATH": f"/usr/sbin:/sbin:{os.environ['PATH']}"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0 or not check, f"{command}: {done.stderr}"
    return done.stdout


def performed(loops: Loops, verb: str, *, journal: Journal | None = None, **words: object) -> dict[str, Any]:
    """Perform a request on set `bays` as the program's worker does, and return its record."""
    packet = json.dumps({"verb": verb, "set": "bays", **words}).encode()
    return perform(loops.site, parse_request(packet), packet, journal or Journal(sys.stderr))
