"""Block devices as the kernel describes them in /sys. Names lead to other names here, never to a decision."""

import fcntl
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_wire.visible import visible

_SYS: Final = Path("/sys")
_DISK: Final = re.compile(r"sd[a-z]+|vd[a-z]+|xvd[a-z]+|nvme\d+n\d+")
"""List of what can be adopted: names of the kernel's drivers of disks."""
_BLKRRPART: Final = 0x125F
_UNKNOWN: Final = re.compile(r"[^A-Za-z0-9._-]")
_NAA: Final = "naa."
_NVME: Final = ("eui.", "nvme.", "uuid.")
_SLOT: Final = "enclosure_device:"
_PAGE_80_HEADER_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class DiskIdentity:
    """Attributes that distinguish a disk from all others. Missing ones are empty."""

    wwn: str
    serial: str
    model: str
    size_bytes: int

    @property
    def device(self) -> str:
        """Name of the disk in scratch.toml, such as `wwn-0x5000c500a1b2c3d4`; empty without WWN and serial."""
        if self.wwn.startswith(_NAA):
            return f"wwn-0x{self.wwn[len(_NAA) :]}"
        if self.wwn:
            return _UNKNOWN.sub("_", f"nvme-{self.wwn}")
        return _UNKNOWN.sub("_", f"serial-{self.serial}") if self.serial else ""


class Sysfs:
    """Reads /sys. Missing attributes are empty, missing directories have no names."""

    def disks(self) -> list[str]:
        """Return the disks with a node in /dev: a path of a native NVMe multipath disk has none."""
        return [name for name in _names(_SYS / "block") if self.text(name, "hidden") != "1"]

    def text(self, name: str, attribute: str) -> str:
        return self._bytes(name, attribute).decode(errors="replace").strip()

    def names(self, name: str, directory: str) -> list[str]:
        """Return the entries of a directory of a device, such as `holders`."""
        return _names(_SYS / "class/block" / name / directory)

    def has(self, name: str, entry: str = "") -> bool:
        return (_SYS / "class/block" / name / entry).exists()

    def has_number(self, number: str) -> bool:
        """Return whether a block device with this number, major:minor, is there."""
        return (_SYS / "dev/block" / number).exists()

    def partitions(self, name: str) -> list[str]:
        return [entry for entry in self.names(name, "") if self.has(name, f"{entry}/partition")]

    def partition(self, name: str, number: int) -> str | None:
        found = [part for part in self.partitions(name) if self.text(part, "partition") == str(number)]
        return found[0] if len(found) == 1 else None

    def size_bytes(self, name: str) -> int:
        return 512 * int(self.text(name, "size") or 0)

    def written_bytes(self, name: str) -> int:
        """Return the bytes written to a device since it appeared."""
        fields = self.text(name, "stat").split()
        return 512 * int(fields[6]) if len(fields) > 6 else 0  # noqa: PLR2004 - kernel's stat: sectors written

    def identity(self, name: str) -> DiskIdentity:
        wwn = self.text(name, "wwid") or self.text(name, "device/wwid")
        is_usable = wwn.startswith((_NAA, *_NVME)) and wwn.partition(".")[2].strip("0-")
        serial = self.text(name, "serial") or self.text(name, "device/serial") or self._page_80(name)
        # A terminal must not obey what a disk says about itself.
        wwn, serial, model = map(visible, (wwn if is_usable else "", serial, self.text(name, "device/model")))
        return DiskIdentity(wwn, serial, model, self.size_bytes(name))

    def bay(self, name: str) -> str:
        """Return the slot of its enclosure that holds a disk, as the kernel's ses driver names it; empty if unknown."""
        _, _, found = next((link for link in self.names(name, "device") if link.startswith(_SLOT)), "").partition(":")
        return found.strip()

    def why_unfit(self, name: str) -> str | None:
        """Return why a device cannot be adopted, whatever it holds; None for a disk of its own."""
        if not _DISK.fullmatch(name) or any(self.has(name, kind) for kind in ("dm", "md", "loop")):
            return "it is not a disk of its own, such as a loop, dm, md or network device"
        above = [holder for holder in self.names(name, "holders") if self.text(holder, "dm/uuid")[:6] == "mpath-"]
        if above or self.text(name, "hidden") == "1":
            return f"it is a path of a multipath disk {''.join(above)}".rstrip()
        for attribute, word in (("removable", "removable"), ("ro", "read-only")):
            if self.text(name, attribute) == "1":
                return f"it is {word}"
        identity = self.identity(name)
        if not identity.device:
            return "it has neither a WWN nor a serial number"
        return None if identity.size_bytes else "it has no size"

    def read_partitions(self, name: str, descriptor: int) -> None:
        """Have the kernel read the partition table of an open disk again; raise OSError."""
        del name
        fcntl.ioctl(descriptor, _BLKRRPART)

    def numbers(self, name: str) -> list[str]:
        """Return the arguments that name a device of the device mapper by number, not by a name that others chose."""
        major, _, minor = self.text(name, "dev").partition(":")
        return ["--major", major, "--minor", minor]

    def passages(self, name: str) -> list[str]:
        """Return the numbers of character devices that pass commands to a disk: SCSI generic, NVMe generic."""
        directory = _SYS / "class/block" / name / "device/scsi_generic"
        files = [directory / sg / "dev" for sg in _names(directory)]
        if name.startswith("nvme"):
            files.append(_SYS / "class/nvme-generic" / f"ng{name.removeprefix('nvme')}" / "dev")
        return [file.read_text(encoding="ascii").strip() for file in files if file.exists()]

    def above(self, name: str) -> list[str]:
        """Return what the kernel built on a device or its partitions, the topmost first."""
        found: list[str] = []
        for holder in self.names(name, "holders"):
            found += [device for device in (*self.above(holder), holder) if device not in found]
        return found

    def leaves(self, name: str) -> set[str]:
        """Return the lowest devices below one."""
        slaves = self.names(name, "slaves")
        return set().union(*(self.leaves(slave) for slave in slaves)) if slaves else {name}

    def depth(self, name: str) -> int:
        return 1 + max((self.depth(slave) for slave in self.names(name, "slaves")), default=0)

    def _page_80(self, name: str) -> str:
        page = self._bytes(name, "device/vpd_pg80")
        return page[_PAGE_80_HEADER_BYTES:].strip(b"\0 ").decode("ascii", errors="replace")

    def _bytes(self, name: str, attribute: str) -> bytes:
        try:
            return (_SYS / "class/block" / name / attribute).read_bytes()
        except OSError:
            return b""


def _names(directory: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return []
