"""Finds in /sys what the kernel built on arenas, and takes it apart from the top. Names of others are never used."""

import re
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from iotide_agent.scratch import mapper, nfs
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk, check_node, until
from iotide_agent.scratch.hooks import run_hook
from iotide_agent.scratch.namespaces import ProcessMount, mounts
from iotide_agent.scratch.openers import worded
from iotide_agent.scratch.refusals import CommandFailedError, DirtyError, ScratchRefusedError, joined
from iotide_agent.scratch.sysfs import Sysfs
from iotide_agent.scratch.uses import btrfs_siblings, holders_of, is_claimed, mounts_of, users_of_mount

_EXPORTS: Final = Path("/var/lib/nfs/etab")
_EXPORT: Final = re.compile(r"(?P<path>\S+)\s+(?P<client>[^\s(]+)\(")
_UNMOUNTING: Final = str(Path(__file__).with_name("unmounting.py"))
_ANY: Final = (0, 1, 2)
_MOST_OF_A_PATH: Final = 100
_REMOVE_SECONDS: Final = 20.0


class Stack:
    """The devices and mounts above some arenas.

    Raise ScratchRefusedError, and touch nothing, if one of the devices has a part that is not among the arenas.
    """

    def __init__(
        self,
        disks: Collection[Disk],
        sysfs: Sysfs,
        commands: Commands,
        patience_seconds: float,
        before_unmount: Sequence[str] = (),
    ) -> None:
        """Take the site's command that runs while the mount is still there."""
        self._before_unmount = before_unmount
        self._sysfs = sysfs
        self._commands = commands
        self._patience_seconds = patience_seconds
        self._arenas = {disk.arena for disk in disks}
        self.devices = self._found()

    def take_apart(self) -> None:
        """Stop exports, unmount, and remove each device after wiping its inside; raise DirtyError if one stays."""
        for device in self.devices:
            if self._sysfs.text(device, "dm/suspended") == "1":
                # A reader of a suspended device hangs and survives SIGKILL.
                self._commands.run(("dmsetup", "resume", *self._sysfs.numbers(device)), ok=_ANY)
        self.unmount()
        for device in sorted(self.devices, key=self._sysfs.depth, reverse=True):
            self._remove(device)
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove what a killed dmsetup or lvcreate left; no arena shows it. Under the lock iotide creates none."""
        for number in mapper.unfinished(self._commands):
            remove = ("dmsetup", "remove", "--retry", *mapper.named(number))
            self._commands.run(remove, ok=_ANY)
        left = mapper.unfinished(self._commands)
        if left:
            raise DirtyError(f"dm-{left[0]}, which has no table, cannot be removed")

    def _found(self) -> list[str]:
        found: list[str] = []
        for arena in sorted(self._arenas):
            found += [device for device in self._sysfs.above(arena) if device not in found]
        for device in found:
            foreign = self._sysfs.leaves(device) - self._arenas
            if foreign:
                raise ScratchRefusedError(
                    f"{device} is also on {', '.join(sorted(foreign))}, which is not to be wiped here"
                )
        # Btrfs holds its members without a device above them.
        others = btrfs_siblings({*found, *self._arenas}) - {*found, *self._arenas}
        if others:
            raise ScratchRefusedError(
                f"a Btrfs here is also on {', '.join(sorted(others))}, which is not to be wiped here"
            )
        return found

    def unmount(self) -> None:
        """Unmount in every namespace, after the site's command and the end of exports.

        Raise DirtyError with the command's words, or the processes that prevent it.
        """
        names = {*self.devices, *self._arenas}
        if mounts_of(self._sysfs, names):
            try:
                run_hook("before_unmount", self._before_unmount, self._commands)
            except CommandFailedError as error:
                raise DirtyError(str(error)) from error

        if not until(lambda: self._is_unmounted(names), self._patience_seconds, pause_seconds=1.0):
            raise DirtyError(joined([*map(_stays_mounted, mounts_of(self._sysfs, names))]))

    def _is_unmounted(self, names: Collection[str]) -> bool:
        """Try once to unmount everywhere; return whether it succeeded."""
        for mount in self._own_mounts(names):
            _end_exports(mount, self._commands)
            _unmount_one(mount, self._commands)
        for mount in self._own_mounts(names):
            nfs.release(mount)
        # Most other namespaces have followed the node's own. A user can have thousands that do not.
        end = time.monotonic() + self._patience_seconds
        for mount in mounts_of(self._sysfs, names):
            if not mount.is_own and time.monotonic() < end:
                with suppress(CommandFailedError):
                    _unmount_one(mount, self._commands)
        return not mounts_of(self._sysfs, names)

    def _own_mounts(self, names: Collection[str]) -> list[ProcessMount]:
        return [mount for mount in mounts_of(self._sysfs, names) if mount.is_own]

    def _remove(self, device: str) -> None:
        path = f"/dev/{device}"
        check_node(self._sysfs, device)
        if self._sysfs.size_bytes(device) and not is_claimed(path):
            # The parts do not show what lies inside; the next array of equal geometry would.
            self._commands.run(("wipefs", "--all", "--quiet", path), ok=_ANY)
        is_md = self._sysfs.has(device, "md")
        remove = ("dmsetup", "remove", "--retry", *self._sysfs.numbers(device))
        argv = ("mdadm", "--stop", path) if is_md else remove

        def is_gone() -> bool:
            if self._exists(device, is_md=is_md):
                self._commands.run(argv, ok=_ANY)
            return not self._exists(device, is_md=is_md)

        if not until(is_gone, _REMOVE_SECONDS, pause_seconds=0.25):
            raise DirtyError(f"{device} cannot be removed: {holders_of(self._sysfs, (device,))}")

    def _exists(self, device: str, *, is_md: bool) -> bool:
        if not is_md:
            return self._sysfs.has(device, "dm")
        return self._sysfs.has(device, "md") and self._sysfs.text(device, "md/array_state") not in {"clear", ""}


def unmount_dead(sysfs: Sysfs, point: str, commands: Commands) -> list[str]:
    """Unmount what disks that are gone left at a mount point of this node; return why something stays there."""
    for mount in _dead(sysfs, point):
        _end_exports(mount, commands)
        _unmount_one(mount, commands)
    return [f"its disk is gone, and {_stays_mounted(mount)}" for mount in _dead(sysfs, point)]


def _dead(sysfs: Sysfs, point: str) -> list[ProcessMount]:
    own = [mount for mount in mounts() if mount.is_own and mount.path == point]
    return [mount for mount in own[::-1] if not mount.number.startswith("0:") and not sysfs.has_number(mount.number)]


def _end_exports(mount: ProcessMount, commands: Commands) -> None:
    for client in exports_of(mount.path):
        commands.run(("exportfs", "-u", exported(client, mount.path)), ok=_ANY)


def _unmount_one(mount: ProcessMount, commands: Commands) -> None:
    # Never lazily: the mount would leave every list, with the device still busy.
    words = (str(mount.pid), str(mount.id), mount.path)
    commands.run((sys.executable, "-I", "-S", _UNMOUNTING, *words), ok=_ANY)


def _stays_mounted(mount: ProcessMount) -> str:
    if mount.is_own:
        return f"{mount.path} stays mounted: {users_of_mount(mount)}"
    # A user can choose a path so long that nothing of the process would be left.
    path = mount.path if len(mount.path) <= _MOST_OF_A_PATH else f"{mount.path[:_MOST_OF_A_PATH]}..."
    return f"{path} stays mounted in the mount namespace of {worded([mount.pid])}"


def wait_unclaimed(disk: Disk, sysfs: Sysfs, patience_seconds: float) -> None:
    """Wait until the kernel grants the arena; raise DirtyError with the processes that have it open."""
    if not until(lambda: not is_claimed(disk.arena_path), patience_seconds):
        raise DirtyError(f"{disk.device}: the arena stays in use: {holders_of(sysfs, (disk.arena,))}")


def exported(address: str, point: str) -> str:
    """Return how exportfs names the export of a directory to a client."""
    return f"[{address}]:{point}" if ":" in address else f"{address}:{point}"


def exports_of(point: str) -> list[str]:
    """Return the NFS clients that a directory is exported to."""
    try:
        text = _EXPORTS.read_text()
    except OSError:
        return []
    return [export["client"] for export in _EXPORT.finditer(text) if export["path"] == point]
