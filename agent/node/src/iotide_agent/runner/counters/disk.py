"""The block devices that the targets' file systems are made on, else all disks: /sys/dev/block/MAJOR:MINOR/stat.

Of a stack of devices it is the uppermost, as the file system sees it: the md or dm device itself, or a partition. Where
nothing is a target, as on a node that is only observed, it is each disk with hardware below it: a partition, an md or
dm device would count the same bytes again. The fields are those of https://docs.kernel.org/admin-guide/iostats.html.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, TargetMount, growth

_SECTOR_BYTES: Final = 512
"""The kernel counts so, whatever the sectors of the disk are."""
_MILLISECONDS: Final = 1000


class _Device(NamedTuple):
    read_bytes: int
    written_bytes: int
    busy_milliseconds: int


class Disks(Source[list[_Device]]):
    """Of all targets, each device once; without a target, of the whole node."""

    def __init__(self, sys: Path, targets: Sequence[TargetMount]) -> None:
        """Find the devices; raise OSError where no target stands on one of this node, or it has no disk."""
        found = [device for target in targets for device in _devices(sys, target)] if targets else _disks(sys)
        directories = {device.resolve(): None for device in found}
        if not directories:
            raise FileNotFoundError("no target stands on a block device" if targets else "this node has no disk")
        self.files = tuple(OpenFile(directory / "stat") for directory in directories)

    def read(self) -> list[_Device]:
        readings = []
        for file in self.files:
            fields = file.read(512).split()
            readings.append(_Device(int(fields[2]) * _SECTOR_BYTES, int(fields[6]) * _SECTOR_BYTES, int(fields[9])))
        return readings

    def rates(self, before: Sequence[_Device], after: Sequence[_Device], span: Span) -> Mapping[str, float]:
        """Bytes of all devices together, and how busy the busiest was: the share of time in which it had work."""
        grown = [_Device(*growth(old, new)) for old, new in zip(before, after, strict=True)]
        busiest = max(device.busy_milliseconds for device in grown)
        return {
            "disk_read_bytes_per_second": sum(device.read_bytes for device in grown) / span.seconds,
            "disk_write_bytes_per_second": sum(device.written_bytes for device in grown) / span.seconds,
            "disk_busy_ratio": min(1.0, busiest / _MILLISECONDS / span.seconds),
        }


def _devices(sys: Path, target: TargetMount) -> Iterator[Path]:
    """The directories of a target's devices in /sys: one, or all members of a btrfs, whose own number is anonymous."""
    own = _directory(sys, target.device)
    if own.exists():
        yield own
    elif target.source.startswith("/dev/"):
        try:
            named = _directory(sys, Path(target.source).stat().st_rdev)
        except OSError:
            return  # the source is only a name, as a file system in user space may give itself
        if named.exists():
            yield named
            for entry in (sys / "fs/btrfs").glob(f"*/devices/{named.resolve().name}"):
                yield from entry.parent.iterdir()


def _disks(sys: Path) -> list[Path]:
    return [disk for disk in sorted((sys / "block").glob("*")) if (disk / "device").exists() and not _is_hidden(disk)]


def _is_hidden(disk: Path) -> bool:
    """Whether it is one path to an NVMe namespace, whose disk counts what goes over all of them."""
    try:
        return (disk / "hidden").read_bytes().strip() == b"1"
    except OSError:
        return False  # Linux before 4.15


def _directory(sys: Path, device: int) -> Path:
    return sys / "dev/block" / f"{os.major(device)}:{os.minor(device)}"
