"""Six further disks in use by others. Not one byte of them may change, whatever the root program is asked."""

import os
import sys
from collections.abc import Mapping
from hashlib import sha256
from mmap import mmap
from pathlib import Path
from typing import Final

from scratch.inside.rig import SITE, name_of, path_of, run

from iotide_wire.units import MIB

BLANK: Final = "serial-CANARY-BLANK"
"""The only one that scratch.toml does not list."""
REASONS: Final = {
    "serial-CANARY-MOUNTED": "mounted at /mnt/canary",
    "serial-CANARY-SIGNED": "holds ext4",
    "serial-CANARY-GROUP": "is held by dm-",
    "serial-CANARY-TABLE": "is held by dm-",
    "serial-CANARY-SWAP": "swap at /dev/",
    BLANK: "is in no set of",
}
"""Words of an adoption's refusal by disk."""
LISTED: Final = {device.rpartition("-")[2].lower(): [device] for device in REASONS if device != BLANK}
"""Sets by name, one disk each, as an administrator may list them by mistake."""
_GROUP: Final = "iotide_theirs"
_MOUNT: Final = Path("/mnt/canary")
_EXT4: Final = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0")


def make() -> None:
    """Put on each disk what it holds."""
    for kind in ("MOUNTED", "SIGNED"):
        run(*_EXT4, path_of(f"serial-CANARY-{kind}"))
    group = path_of("serial-CANARY-GROUP")
    run("lvm", "pvcreate", "-y", group)
    run("lvm", "vgcreate", _GROUP, group)
    run("lvm", "lvcreate", "-y", "-Wn", "-an", "-Zn", "-n", "theirs", "-l", "100%FREE", _GROUP)
    run("mkswap", path_of("serial-CANARY-SWAP"))


def use() -> None:
    """Take each disk into use; after each boot."""
    Path("/proc/sys/vm/swappiness").write_text("0")
    _MOUNT.mkdir(parents=True, exist_ok=True)
    run("mount", "--types", "ext4", path_of("serial-CANARY-MOUNTED"), str(_MOUNT))
    (_MOUNT / "theirs").write_bytes(bytes(range(256)) * 4096)
    run("lvm", "vgchange", "-ay", _GROUP)
    table = name_of("serial-CANARY-TABLE")
    sectors = SITE.sysfs.size_bytes(table) // 512
    run("dmsetup", "create", "theirs", "--table", f"0 {sectors} linear /dev/{table} 0")
    run("swapon", path_of("serial-CANARY-SWAP"))
    run("udevadm", "settle")
    # Writes metadata from the journal to its place. Else a power cut shows an older state there, until it is replayed.
    run("fsfreeze", "--freeze", str(_MOUNT))
    run("fsfreeze", "--unfreeze", str(_MOUNT))


def digests() -> dict[str, str]:
    """Return the digest of each whole disk as it is on the device, past the page cache."""
    return {device: _digest(path_of(device)) for device in REASONS}


def changed(first: Mapping[str, str], now: Mapping[str, str]) -> dict[str, int]:
    """Return the disks with another digest than first."""
    return {device: 1 for device in first if now[device] != first[device]}


def _digest(path: str) -> str:
    digest = sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap(-1, MIB) as aligned:
        while count := os.readv(descriptor, [aligned]):
            digest.update(aligned[:count])
    os.close(descriptor)
    return digest.hexdigest()


def written_bytes() -> dict[str, int]:
    """Return the kernel's counts of bytes written to each disk since it appeared."""
    return {device: SITE.sysfs.written_bytes(name_of(device)) for device in REASONS}


def total(counts: Mapping[str, int]) -> int:
    """Return the sum of changed bytes, and print each disk that has some."""
    for device, count in counts.items():
        if count:
            sys.stdout.write(f"changed: {device} by {count} bytes\n")
    return sum(counts.values())


class Watch:
    """Canaries in use, compared with their first state."""

    def __init__(self) -> None:
        self.digests = digests()
        self._written = written_bytes()

    def changed_bytes(self, *, reads: bool) -> int:
        """Return the bytes written; if it `reads`, 1 for a disk with another digest but no counted write."""
        now = written_bytes()
        written = {device: now[device] - self._written[device] for device in now}
        differing = changed(self.digests, digests()) if reads else {}
        return total({device: count or differing.get(device, 0) for device, count in written.items()})

    def report(self) -> None:
        sys.stdout.write(f"\ncanaries: {self.changed_bytes(reads=True)} bytes changed\n")
        sys.stdout.flush()
