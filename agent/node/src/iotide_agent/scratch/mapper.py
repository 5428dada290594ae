"""Devices of the device mapper with our minor numbers. /sys shows one only after its first table is loaded."""

import re
from pathlib import Path
from typing import Final

from iotide_agent.scratch.commands import Commands, is_installed

PREFIX: Final = "iotide"
"""Names of our arrays and volumes begin with it."""
NUMBERS: Final = range(900, 916)
"""Minor numbers of our arrays and volumes. The unit of the root program allows only these."""
DRIVER: Final = "device-mapper"
"""As /proc/devices names it."""
_DEVICES: Final = Path("/proc/devices")
_LIST: Final = ("dmsetup", "info", "--columns", "--noheadings", "--separator", " ", "-o", "minor,tables_loaded,name")
_ROW: Final = re.compile(r"^\s*(?P<minor>\d+) (?P<tables>\w+) (?P<name>\S+)\s*$", re.MULTILINE)
_WITHOUT_LIVE: Final = frozenset({"None", "Inactive"})


def tables(commands: Commands) -> dict[int, str]:
    """Return which tables our devices have by minor number: `None`, `Inactive`, `Live` or `Both`, see dmsetup(8).

    Raise CommandFailedError.
    """
    return {number: row["tables"] for number, row in _rows(commands).items()}


def unfinished(commands: Commands) -> list[int]:
    """Return the minor numbers of our devices that never had a live table.

    Devices of others may have these numbers, too, on a node with very many. Their names are not ours.
    """
    rows = _rows(commands).items()
    return [number for number, row in rows if row["tables"] in _WITHOUT_LIVE and row["name"].startswith(PREFIX)]


def _rows(commands: Commands) -> dict[int, re.Match[str]]:
    if DRIVER not in block_majors() or not is_installed("dmsetup"):
        return {}
    rows = _ROW.finditer(commands.run(_LIST))
    return {number: row for row in rows if (number := int(row["minor"])) in NUMBERS}


def named(number: int) -> tuple[str, ...]:
    """Return the arguments of dmsetup for a device by number."""
    return ("--major", str(block_majors()[DRIVER]), "--minor", str(number))


def block_majors() -> dict[str, int]:
    """Return the major numbers of block devices by the name of their driver, such as `device-mapper`."""
    _, _, block = _DEVICES.read_text(encoding="ascii").partition("Block devices:")
    rows = (line.split() for line in block.splitlines() if line.strip())
    return {driver: int(major) for major, driver in rows}
