"""Programs and modules of the kernel that this node lacks, so that plans are checked before they are submitted."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from iotide_agent.scratch.commands import is_installed
from iotide_wire.scratch_vocabulary import EXT, MODULE, PROGRAMS, Filesystem

_MODULES: Final = Path("/lib/modules", os.uname().release)
_MOUNTABLE: Final = Path("/proc/filesystems")
_LISTED: Final = ("modules.dep", "modules.builtin")


def lacking(modules: Path = _MODULES, mountable: Path = _MOUNTABLE) -> list[str]:
    """Return what makes and mounts need and this node lacks."""
    return [*(program for program in PROGRAMS if not is_installed(program)), *_modules(modules, mountable)]


def _modules(modules: Path, mountable: Path) -> Iterator[str]:
    """Yield modules that the running kernel neither has nor can load; none if it has no lists of modules."""
    try:
        known = "".join((modules / name).read_text() for name in _LISTED)
        loaded = mountable.read_text().split()
    except OSError:
        return
    for filesystem in Filesystem:
        # One module serves ext2, ext3 and ext4; every kernel of a distribution has it.
        module = MODULE.format(filesystem)
        if filesystem not in EXT and filesystem not in loaded and f"/{module}" not in known:
            yield module
