"""Volumes on the virtual machine's three spare disks, each mounted for one scenario and removed after it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

from lab.nodes import system

# Another machine may well have disks of these names, with data on them.
if "init=/usr/sbin/lab-init" not in Path("/proc/cmdline").read_text().split():
    raise RuntimeError(
        "these scenarios overwrite /dev/vdc, /dev/vdd and /dev/vde; run ./dev test-lab, which has its own"
    )

DISKS: Final = ("/dev/vdc", "/dev/vdd", "/dev/vde")
MOUNT_POINT: Final = Path("/mnt/volume")

Volume = Callable[[], AbstractContextManager[str]]
"""Function that makes a block device and returns its path."""


@contextmanager
def disk() -> Iterator[str]:
    """Yield one plain disk."""
    yield DISKS[0]
    system("wipefs", "--all", "--quiet", DISKS[0])


@contextmanager
def lvm_stripe() -> Iterator[str]:
    """Yield a logical volume with 256 KiB on each of the three disks in turn."""
    system("vgcreate", "--yes", "lab", *DISKS)
    try:
        system("lvcreate", "--yes", "-n", "stripe", "-i", "3", "-I", "256", "-l", "100%FREE", "lab")
        yield "/dev/lab/stripe"
    finally:
        system("vgremove", "--force", "--force", "lab")
        system("wipefs", "--all", "--quiet", *DISKS)


def raid(level: int, chunk_kib: int) -> Volume:
    """Yield a software RAID over the three disks; assumed to be clean, so that no resync competes with a run."""

    @contextmanager
    def made() -> Iterator[str]:
        created = ("mdadm", "--create", "/dev/md0", "--run", "--metadata=1.2", f"--chunk={chunk_kib}")
        clean = ("--assume-clean",) if level else ()
        system(*created, f"--level={level}", "--raid-devices=3", *clean, *DISKS)
        try:
            yield "/dev/md0"
        finally:
            system("mdadm", "--stop", "/dev/md0")
            system("wipefs", "--all", "--quiet", *DISKS)

    return made


def is_mounted(mount_point: Path) -> bool:
    """Check the kernel's list: a stat of a dead mount itself would hang."""
    return str(mount_point) in Path("/proc/self/mounts").read_text().split()


@contextmanager
def mounted(volume: Volume, mkfs: Sequence[str], options: str = "defaults") -> Iterator[str]:
    """Mount a fresh file system on a volume at MOUNT_POINT; yield the device."""
    MOUNT_POINT.mkdir(exist_ok=True)
    with ExitStack() as stack:
        device = stack.enter_context(volume())
        system(*mkfs, device)
        system("mount", "-o", options, device, str(MOUNT_POINT))
        # A scenario may have unmounted it itself, to test the agent's reaction.
        stack.callback(lambda: is_mounted(MOUNT_POINT) and system("umount", str(MOUNT_POINT)))
        yield device
