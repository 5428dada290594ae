"""Mount what an order made, export it by NFS, and undo both."""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.files import closing
from iotide_agent.runner.mounts import mount_id_of
from iotide_agent.runner.walls import why_changeable
from iotide_agent.scratch import arenas
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk, check_node
from iotide_agent.scratch.file_systems import mount_options
from iotide_agent.scratch.hooks import run_hook
from iotide_agent.scratch.mark import MarkCondition
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import Making, ScratchRequest
from iotide_agent.scratch.sets import DiskSet, ScratchConfig
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.stack import Stack, exported, exports_of
from iotide_agent.scratch.uses import mounts_of

_PRIVATE: Final = 0o700
_PASSABLE: Final = 0o755
_EXPORT_OPTIONS: Final = "rw,sync,secure,no_subtree_check,sec=sys,all_squash"
"""Every user of a client is the agent's user on the export: the ids of the nodes may differ, and root is no exception.
"""


class Mounter:
    """Mounts of one set. Only a file system that the helper made in the same order is ever mounted."""

    def __init__(self, site: Site, commands: Commands, found: DiskSet, records: Records) -> None:
        self._site = site
        self._commands = commands
        self._set = found
        self._records = records

    @property
    def point(self) -> str:
        return str(self._site.mounts / self._set.name)

    def mount(self, request: ScratchRequest) -> dict[str, Any]:
        """Mount, give the root directory to the agent's user, and run the site's command.

        Return mount point and mount id. Raise ScratchRefusedError or CommandFailedError.
        """
        with arenas.opened(self._site, self._devices(request)) as disks:
            making = self._check_made(disks, request)
            names = self._tops(disks)
            for name in names:
                check_node(self._site.sysfs, name)
            options = mount_options(making, dict(request.options), [f"/dev/{name}" for name in names])
            if not self._mount_ids(disks):
                _make_passable(self._site.mounts.parent, self._site.mounts)
                # Root's until it is mounted, so that no run can write to the directory below.
                self._site.mounts.joinpath(self._set.name).mkdir(mode=_PRIVATE, exist_ok=True)
                reason = why_changeable(self.point)
                if reason is not None:
                    raise ScratchRefusedError(f"nothing is mounted at {self.point}: {reason}")
                command = ("mount", "--types", making.type, "--options", options, f"/dev/{names[0]}", self.point)
                self._commands.run(command)
            mount_id = self._hand_over(self._mount_ids(disks))
            run_hook("after_mount", self._set.after_mount, self._commands)
            return {"mount": self.point, "mount_id": mount_id}

    def unmount(self, request: ScratchRequest) -> dict[str, Any]:
        """Unmount everywhere; raise DirtyError with the processes that prevent it."""
        with arenas.opened(self._site, self._devices(request)) as disks:
            self._check_made(disks, request)
            self._stack(disks).unmount()
            return {}

    def export(self, request: ScratchRequest, config: ScratchConfig) -> dict[str, Any]:
        """Export the mount to exactly these nodes, by their addresses of scratch.toml. Return the export's options."""
        unknown = sorted(set(request.clients) - set(config.clients))
        if unknown:
            raise ScratchRefusedError(f"scratch.toml has no address of {', '.join(unknown)} in [clients]")
        with arenas.opened(self._site, self._devices(request)) as disks:
            self._check_made(disks, request)
            if not self._mount_ids(disks):
                raise ScratchRefusedError(f"set {self._set.name} is not mounted")
            identity, (user_id, group_id) = disks[0].adoption(self._site).id, self._site.owner_ids()
            options = f"{_EXPORT_OPTIONS},anonuid={user_id},anongid={group_id},fsid={identity}"
            addresses = {node: config.clients[node] for node in request.clients}
            self._unexport(set(exports_of(self.point)) - set(addresses.values()))
            for address in addresses.values():
                self._commands.run(("exportfs", "-o", options, exported(address, self.point)))
        return {"export": self.point, "options": options, "clients": addresses}

    def unexport(self, request: ScratchRequest) -> dict[str, Any]:
        with arenas.opened(self._site, self._devices(request)) as disks:
            self._check_made(disks, request)
            self._unexport(exports_of(self.point))
        return {}

    def _unexport(self, addresses: Iterable[str]) -> None:
        for address in sorted(addresses):
            self._commands.run(("exportfs", "-u", exported(address, self.point)))

    def _devices(self, request: ScratchRequest) -> Sequence[str]:
        made, _ = self._records.made()
        if made.making is None or (made.order, made.fence) != (request.order, request.fence):
            raise ScratchRefusedError(f"set {self._set.name} was made last by order {made.order}, not {request.order}")
        return arenas.first_devices(self._set, made.making.layout.disks)

    def _check_made(self, disks: Sequence[Disk], request: ScratchRequest) -> Making:
        for disk in disks:
            state = disk.state()
            if state.condition is not MarkCondition.MADE or not arenas.is_of(state, request):
                raise ScratchRefusedError(f"{disk.device}: {state.condition} by order {state.order}; make it first")
        made, _ = self._records.made()
        if made.making is None:
            raise ScratchRefusedError("the record of the make names no layout")
        return made.making

    def _stack(self, disks: Sequence[Disk]) -> Stack:
        site = self._site
        return Stack(disks, site.sysfs, self._commands, site.patience_seconds, self._set.before_unmount)

    def _tops(self, disks: Sequence[Disk]) -> list[str]:
        devices = self._stack(disks).devices
        depth = self._site.sysfs.depth
        return [max(devices, key=depth)] if devices else [disk.arena for disk in disks]

    def _mount_ids(self, disks: Sequence[Disk]) -> list[int]:
        """Return the ids of this node's mounts of the set at its mount point."""
        names = {*self._stack(disks).devices, *(disk.arena for disk in disks)}
        mounts = mounts_of(self._site.sysfs, names)
        return [mount.id for mount in mounts if mount.is_own and mount.path == self.point]

    def _hand_over(self, own: Collection[int]) -> int:
        descriptor = os.open(self.point, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with closing(descriptor):
            if mount_id_of(descriptor) not in own:
                raise ScratchRefusedError(f"{self.point}: another file system is mounted over it")
            os.fchown(descriptor, *self._site.owner_ids())
            os.fchmod(descriptor, _PRIVATE)
            return mount_id_of(descriptor)


def _make_passable(*directories: Path) -> None:
    """Create missing directories that all users may pass, whatever the umask."""
    for directory in directories:
        if not directory.is_dir():
            directory.mkdir(mode=_PRIVATE)
            directory.chmod(_PASSABLE)
