"""Make the layout and file system of an order on the disks of a set."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.files import closing
from iotide_agent.scratch import arenas
from iotide_agent.scratch.commands import LONG_SECONDS, Commands
from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.file_systems import mkfs
from iotide_agent.scratch.geometry import read_back
from iotide_agent.scratch.layouts import Builder
from iotide_agent.scratch.mapper import PREFIX
from iotide_agent.scratch.mark import MarkCondition
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import Making, ScratchRequest
from iotide_agent.scratch.sets import DiskSet
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.wiping import Wiper, forget_btrfs
from iotide_wire.geometry import capacity_bytes, least_filesystem_bytes
from iotide_wire.scratch_vocabulary import Filesystem

_ID_CHARACTERS: Final = 8


class Maker:
    """Performs a make. The marks are dirty from before its first destructive command until a wipe."""

    def __init__(self, site: Site, commands: Commands, found: DiskSet, records: Records) -> None:
        self._site = site
        self._commands = commands
        self._set = found
        self._records = records

    def make(self, request: ScratchRequest, packet: bytes) -> dict[str, Any]:
        """Return the answer: `geometry` by device, and `mount`, the future mount point.

        The same order and fence again return the first answer, or continue a make that was killed.
        Raise ScratchRefusedError, DirtyError or CommandFailedError.
        """
        making = _making_of(request)
        devices = arenas.first_devices(self._set, making.layout.disks)
        with arenas.opened(self._site, devices) as disks:
            arenas.check_newest(disks, request)
            conditions = {disk.state().condition for disk in disks}
            if conditions == {MarkCondition.MADE} and all(arenas.is_of(disk.state(), request) for disk in disks):
                return self._first_answer(request)
            self._clean_own(disks, request)
            self._check_usable(disks, making)
            arenas.mark_all(disks, MarkCondition.DIRTY, request, self._commands)
            answer = self._build(disks, request)
            self._records.write_made(packet, answer)
            arenas.mark_all(disks, MarkCondition.MADE, request, self._commands)
            return answer

    def _first_answer(self, request: ScratchRequest) -> dict[str, Any]:
        made, answer = self._records.made()
        if made != request:
            raise ScratchRefusedError(f"order {request.order} has made another layout already")
        return answer

    def _clean_own(self, disks: Sequence[Disk], request: ScratchRequest) -> None:
        dirty = [disk for disk in disks if not disk.state().is_clean]
        for disk in dirty:
            state = disk.state()
            if not arenas.is_of(state, request):
                raise ScratchRefusedError(f"{disk.device}: dirty by order {state.order}; recover the set first")
        if dirty:
            wiper = Wiper(self._site, self._commands)
            wiper.clean(dirty, discards=self._set.discard, before_unmount=self._set.before_unmount)

    def _check_usable(self, disks: Sequence[Disk], making: Making) -> None:
        limit_bytes = self._set.max_bytes_per_day
        if limit_bytes is not None and self._records.written_bytes() >= limit_bytes:
            raise ScratchRefusedError(
                f"set {self._set.name} has written {self._records.written_bytes()} bytes within 24 hours; "
                f"max_bytes_per_day is {limit_bytes}"
            )
        smallest_bytes = min(self._site.sysfs.size_bytes(disk.arena) for disk in disks)
        size_bytes = capacity_bytes(making.layout, smallest_bytes) * making.size_percent // 100
        least_bytes = least_filesystem_bytes(making.type, making.align)
        if size_bytes < least_bytes:
            raise ScratchRefusedError(f"{making.type} needs {least_bytes} bytes, but would get {size_bytes}")
        for disk in disks:
            reason = arenas.why_foreign(self._site, disk, self._commands)
            if reason is not None:
                raise ScratchRefusedError(reason)

    def _build(self, disks: Sequence[Disk], request: ScratchRequest) -> dict[str, Any]:
        making, sysfs = _making_of(request), self._site.sysfs

        def check() -> None:
            for disk in disks:
                disk.check_ready(self._site)
                state = disk.state()
                if state.condition is not MarkCondition.DIRTY or not arenas.is_of(state, request):
                    raise ScratchRefusedError(f"{disk.device}: its mark changed during the make")

        if making.discard:
            for disk in disks:
                check()
                self._commands.run(("blkdiscard", disk.arena_path), limit_seconds=LONG_SECONDS)
        # Not the set's name: mdadm takes 32 characters, and a group of others may have any name that people choose.
        name = f"{PREFIX}-{disks[0].adoption(self._site).id[:_ID_CHARACTERS]}"
        paths = Builder(sysfs, self._commands, making, name, check).build(disks)
        check()
        smallest = min(sysfs.size_bytes(Path(path).name) for path in paths)
        self._commands.run(mkfs(making, paths, smallest), limit_seconds=LONG_SECONDS)
        if making.type is Filesystem.BTRFS:
            forget_btrfs(disks, self._commands)
        for path in paths:
            _write_back(path)
        top = Path(paths[0]).name
        return {
            "mount": str(self._site.mounts / self._set.name),
            "devices": [{"device": disk.device, "serial": disk.identity.serial} for disk in disks],
            "geometry": read_back(sysfs, self._commands, making.type, top),
        }


def _making_of(request: ScratchRequest) -> Making:
    if request.making is None:
        raise ScratchRefusedError("request: a make needs layout and fs")
    return request.making


def _write_back(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    with closing(descriptor):
        os.fsync(descriptor)
