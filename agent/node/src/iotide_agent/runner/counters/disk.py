"""Counters of the targets' block devices, or of all disks: /sys/dev/block/MAJOR:MINOR/stat.

The uppermost device of a stack counts. Without targets it is each disk with hardware, because partitions, md and dm
devices would count the same bytes again. Fields: https://docs.kernel.org/admin-guide/iostats.html.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, TargetMount, growth

_SECTOR_BYTES: Final = 512
"""The kernel's unit, whatever the disk's sector size."""
_MILLISECONDS: Final = 1000


class _Device(NamedTuple):
    read_bytes: int
    written_bytes: int
    busy_milliseconds: int


class Disks(Source[list[_Device]]):
    def __init__(self, sys: Path, targets: Sequence[TargetMount]) -> None:
        """Find the devices; raise OSError if no target is on a local device, or the node has no disk."""
        found = [device for target in targets for device in _devices(sys, target)] if targets else _disks(sys)
        directories = {device.resolve(): None for device in found}
        if not directories:
            raise FileNotFoundError("no target is on a block device" if targets else "this node has no disk")
        self.files = tuple(OpenFile(directory / "stat") for directory in directories)

    def read(self) -> list[_Device]:
        readings = []
        for file in self.files:
            fields = file.read(512).split()
            readings.append(_Device(int(fields[2]) * _SECTOR_BYTES, int(fields[6]) * _SECTOR_BYTES, int(fields[9])))
        return readings

    def rates(self, before: Sequence[_Device], after: Sequence[_Device], span: Span) -> Mapping[str, float]:
        grown = [_Device(*growth(old, new)) for old, new in zip(before, after, strict=True)]
        busiest = max(device.busy_milliseconds for device in grown)
        return {
            "disk_read_bytes_per_second": sum(device.read_bytes for device in grown) / span.seconds,
            "disk_write_bytes_per_second": sum(device.written_bytes for device in grown) / span.seconds,
            "disk_busy_ratio": min(1.0, busiest / _MILLISECONDS / span.seconds),
        }


def _devices(sys: Path, target: TargetMount) -> Iterator[Path]:
    """Return a target's devices in /sys: one, or all members of a btrfs, whose own device number is anonymous."""
    own = _directory(sys, target.device)
    if own.exists():
        yield own
    elif target.source.startswith("/dev/"):
        try:
            named = _directory(sys, Path(target.source).stat().st_rdev)
        except OSError:
            return  # only a name, as with file systems in user space
        if named.exists():
            yield named
            for entry in (sys / "fs/btrfs").glob(f"*/devices/{named.resolve().name}"):
                yield from entry.parent.iterdir()


def _disks(sys: Path) -> list[Path]:
    return [disk for disk in sorted((sys / "block").glob("*")) if (disk / "device").exists() and not _is_hidden(disk)]


def _is_hidden(disk: Path) -> bool:
    """Check for one path to a multipath NVMe namespace; its disk counts the bytes of all paths."""
    try:
        return (disk / "hidden").read_bytes().strip() == b"1"
    except OSError:
        return False


def _directory(sys: Path, device: int) -> Path:
    return sys / "dev/block" / f"{os.major(device)}:{os.minor(device)}"
