"""Make the dirty disks of a set clean after any death of the program or the node, by marks and /sys only."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from iotide_agent.scratch import arenas
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.refusals import CommandFailedError, DirtyError, ScratchRefusedError
from iotide_agent.scratch.requests import ScratchRequest
from iotide_agent.scratch.sets import DiskSet
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.stack import unmount_dead
from iotide_agent.scratch.wiping import Wiper


class Recovery:
    """Wipes and recoveries of one set."""

    def __init__(self, site: Site, commands: Commands, found: DiskSet) -> None:
        self._site = site
        self._commands = commands
        self._set = found

    def wipe(self, request: ScratchRequest) -> dict[str, Any]:
        """Wipe what an order made; a clean set stays as it is. Raise ScratchRefusedError or DirtyError."""
        with ExitStack() as stack:
            disks, reasons = self._open(stack)
            arenas.check_newest(disks, request)
            self._clean([disk for disk in disks if not disk.state().is_clean])
            return {"reasons": reasons}

    def recover(self, request: ScratchRequest) -> dict[str, Any]:
        """Wipe the dirty disks, of the named order only if there is one. Return disks left alone, and why.

        Raise DirtyError with all reasons if a disk stays dirty.
        """
        with ExitStack() as stack:
            disks, reasons = self._open(stack)
            dirty = [disk for disk in disks if not disk.state().is_clean]
            if request.order:
                arenas.check_newest(dirty, request)
            reasons += unmount_dead(self._site.sysfs, str(self._site.mounts / self._set.name), self._commands)
            reasons += self._foreign([disk for disk in disks if disk.state().is_clean])
            try:
                self._clean(dirty)
            except (ScratchRefusedError, DirtyError, CommandFailedError) as error:
                raise DirtyError("; ".join([str(error), *reasons])) from error
            return {"wiped": [disk.device for disk in dirty], "reasons": reasons}

    def _open(self, stack: ExitStack) -> tuple[list[Disk], list[str]]:
        """Return the disks whose mark holds, and why the others are left alone."""
        disks, reasons = [], []
        for device in self._set.devices:
            try:
                disk = Disk(self._site.sysfs, device)
                stack.callback(disk.close)
                disk.check_ready(self._site)
                disks.append(disk)
            except (ScratchRefusedError, OSError) as error:
                reasons.append(f"left alone: {error}")
        return disks, reasons

    def _foreign(self, disks: Sequence[Disk]) -> list[str]:
        found = (arenas.why_foreign(self._site, disk, self._commands) for disk in disks)
        return [f"left alone: {reason}" for reason in found if reason is not None]

    def _clean(self, disks: Sequence[Disk]) -> None:
        wiper = Wiper(self._site, self._commands)
        wiper.clean(disks, discards=self._set.discard, before_unmount=self._set.before_unmount)
