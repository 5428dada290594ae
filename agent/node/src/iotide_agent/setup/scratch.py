"""Units and udev rule of the root program for scratch disks, and the list of devices that its unit may open."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import iotide_wire
from iotide_agent.runner.walls import why_changeable
from iotide_agent.scratch import PROGRAM
from iotide_agent.scratch.mapper import DRIVER, NUMBERS, block_majors
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.setup.texts import SCRATCH_RULES, SCRATCH_SERVICE_UNIT, SCRATCH_SOCKET_UNIT, shipped_unit
from iotide_wire.setup.changes import Changes, SetupError, succeeds
from iotide_wire.setup.services import UNITS, start_unit, systemd_runs

RULES: Final = Path("/etc/udev/rules.d") / SCRATCH_RULES
DISKS: Final = UNITS / f"{SCRATCH_SERVICE_UNIT}.d/10-disks.conf"
_PROGRAM_OF_UNIT: Final = "/opt/iotide-agent/bin/python3 -I -S /opt/iotide-agent/lib/iotide_agent/scratch/__main__.py"
_LINKS: Final = Path("/dev/disk/by-id")
_PREFERRED: Final = ("wwn-", "nvme-eui.", "nvme-uuid.", "nvme-nvme.")
_OF_CONTENT: Final = re.compile(r"(lvm-pv|md|dm)-").match
"""Names that udev takes from the content of a disk."""
_DRIVERS: Final = {"md": "md_mod", DRIVER: "dm_mod"}
"""Name in /proc/devices of each driver whose fixed numbers are allowed, with its module."""


def install_scratch(changes: Changes) -> bool:
    """Write units and rule, without enabling anything; return whether one differed.

    Raise SetupError if root uses the program already, and another user could change this installation's.
    """
    if DISKS.exists():
        check_code()
    service = shipped_unit(SCRATCH_SERVICE_UNIT).replace(_PROGRAM_OF_UNIT, f"{sys.executable} -I -S {PROGRAM}")
    written = [
        changes.write(UNITS / SCRATCH_SERVICE_UNIT, service),
        changes.write(UNITS / SCRATCH_SOCKET_UNIT, shipped_unit(SCRATCH_SOCKET_UNIT)),
        changes.write(RULES, shipped_unit(SCRATCH_RULES)),
    ]
    return any(written)


def check_code() -> None:
    """Raise SetupError if another user could change what root would run."""
    for path in _loaded():
        reason = why_changeable(str(path))
        if reason is not None:
            raise SetupError(f"root would run {path}: {reason}")


def _loaded() -> Iterator[Path]:
    """Yield the files and directories that the program can load: interpreter, modules and their compiled forms."""
    python = Path(sys.executable)
    yield python
    yield from python.parent.parent.glob("pyvenv.cfg")  # names the directory of the standard library
    yield Path(os.__file__)
    for package in (PROGRAM.parent.parent, Path(iotide_wire.__path__[0])):
        yield from package.rglob("*")


def allow_disks(names: Sequence[str], changes: Changes) -> None:
    """Allow the unit these disks of the kernel, by links that survive a restart of the node.

    Enable the socket, or disable it without any disk. Raise ScratchRefusedError for a disk without a link.
    """
    if not names:
        if DISKS.exists():
            changes.make(f"remove {DISKS}", DISKS.unlink)
        if systemd_runs() and succeeds("systemctl", "is-enabled", "--quiet", SCRATCH_SOCKET_UNIT):
            changes.run("systemctl", "disable", "--now", SCRATCH_SOCKET_UNIT)
        return
    differs = changes.write(DISKS, drop_in([link_of(name) for name in names], _majors(changes)))
    start_unit(changes, SCRATCH_SOCKET_UNIT, is_changed=install_scratch(changes) or differs)


def drop_in(links: Sequence[str], majors: Sequence[int]) -> str:
    """Return the devices of the unit: disks with both partitions, and our numbers of md and the device mapper."""
    lines = ["# Written by `iotide-agent scratch adopt` and `release`.", "[Service]"]
    lines += [f"DeviceAllow={link}{part} rw" for link in links for part in ("", "-part1", "-part2")]
    lines += [f"DeviceAllow=/dev/block/{major}:{number} rwm" for major in majors for number in NUMBERS]
    return "\n".join(lines) + "\n"


def link_of(name: str, links: Path = _LINKS) -> str:
    """Return udev's best link to a disk; raise ScratchRefusedError without one."""
    try:
        found = [link for link in sorted(links.iterdir()) if link.resolve().name == name and not _OF_CONTENT(link.name)]
    except OSError:
        found = []
    if not found:
        raise ScratchRefusedError(f"udev has no link to {name} below {links}, so the unit could not be limited to it")
    return str(min(found, key=lambda link: not link.name.startswith(_PREFERRED)))


def _majors(changes: Changes) -> list[int]:
    for module in _DRIVERS.values():
        if not changes.is_dry:
            succeeds("modprobe", "--quiet", module)
    return [major for driver, major in block_majors().items() if driver in _DRIVERS]
