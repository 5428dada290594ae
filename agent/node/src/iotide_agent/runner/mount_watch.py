"""Kernel notification of mount changes, so that a run needs no polling during a measurement."""

import os
import select
from collections.abc import Sequence
from pathlib import PurePosixPath

from iotide_agent.runner.loop import Loop
from iotide_agent.runner.mounts import MountLine, read_mounts


class MountWatch:
    """Watch of the mounts at, above and below the run's directories; other mounts may change."""

    def __init__(self, loop: Loop, directories: Sequence[str]) -> None:
        """The paths must be absolute, without symbolic links."""
        self._directories = [PurePosixPath(directory) for directory in directories]
        mountinfo = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._seen = self._concerning()
        self._has_changed = False
        loop.watch(mountinfo, self._on_change, select.POLLPRI)

    def take_change(self) -> bool:
        changed, self._has_changed = self._has_changed, False
        return changed

    def _on_change(self) -> None:
        found = self._concerning()
        self._has_changed |= found != self._seen
        self._seen = found

    def _concerning(self) -> list[MountLine]:
        return [mount for mount in read_mounts() if any(_concerns(mount, one) for one in self._directories)]


def _concerns(mount: MountLine, directory: PurePosixPath) -> bool:
    return directory.is_relative_to(mount.mount_point) or PurePosixPath(mount.mount_point).is_relative_to(directory)
