"""Block devices below a mount: partition, RAID, logical volume, disks, and their alignment."""

from collections.abc import Iterable
from itertools import groupby
from typing import ClassVar, Final

from iotide_agent.probes import disks, volumes
from iotide_agent.probes.base import Probe, Texts, known, number
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import DirectoryWant, FileWant, Want
from iotide_agent.probes.stack import Device, devices, disks_of, links, needs_link
from iotide_wire.facts import Facts, FactValue

_QUEUE_NUMBERS: Final = {
    "logical_block_size": ("logical_block_bytes", 1),
    "physical_block_size": ("physical_block_bytes", 1),
    "minimum_io_size": ("minimum_io_bytes", 1),
    "optimal_io_size": ("optimal_io_bytes", 1),
    "max_sectors_kb": ("max_io_bytes", 1024),
    "read_ahead_kb": ("read_ahead_bytes", 1024),
    "nr_requests": ("queue_depth", 1),
}
_FILES: Final = (*(f"queue/{name}" for name in _QUEUE_NUMBERS), *disks.FILES, *volumes.FILES, "loop/backing_file")
_OWN_FILES: Final = ("size", "start", "alignment_offset")


class BlockProbe(Probe):
    name: ClassVar[str] = "block"

    def matches(self, mount: Mount) -> bool:
        """Match a device number or, as for Btrfs, a device as source."""
        return mount.fstype != "gpfs" and (not mount.device.startswith("0:") or mount.source.startswith("/dev/"))

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        if needs_link(mount):
            yield from links(mount)
        for device in devices(mount, texts):
            yield FileWant(f"{device.path}/uevent")
            if device.known:
                yield from (FileWant(f"{device.base}/{name}") for name in _FILES)
                yield from (FileWant(f"{device.path}/{name}") for name in _OWN_FILES)
                yield DirectoryWant(f"{device.base}/slaves")
                yield from volumes.volume_wants(device, texts)
                if DirectoryWant(f"{device.base}/slaves") in texts and not device.names_below(texts):
                    yield from disks.disk_wants(device, texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        stack = [device for device in devices(mount, texts) if device.known]
        if not stack:
            return {"device.kind": f"unavailable, because /sys knows no block device {mount.device}"}
        kinds = [volumes.kind_of(device, texts) for device in stack]
        facts: Facts = {"device.kind": kinds[0], "device.stack": _counted(kinds)}
        facts |= disks.disk_facts(disks_of(stack, texts), texts)
        facts |= {f"device.{name}": value for name, value in _queue_facts(stack[0], texts).items()}
        facts |= _partition_facts([device for device in stack if device.is_partition], texts)
        for device in reversed(stack):
            facts |= volumes.volume_facts(device, texts)
        return facts


def stripe_fit(facts: Facts) -> Facts:
    """Compare the file system's stripe geometry with the stripes below it; empty if either is unknown.

    The kernel reports the chunk as minimum I/O size, a whole stripe without parity as optimal. mkfs.xfs drops its
    geometry on small volumes, and mkfs.ext4 takes none from hardware RAID.
    """
    chunk, width = facts.get("device.minimum_io_bytes"), facts.get("device.optimal_io_bytes")
    block = facts.get("device.physical_block_bytes")
    for name in ("xfs", "ext"):
        made_for = facts.get(f"{name}.stripe_unit_bytes"), facts.get(f"{name}.stripe_width_bytes")
        if (
            isinstance(made_for[0], int)
            and isinstance(chunk, int)
            and isinstance(block, int)
            and width
            and chunk > block
        ):
            return {"fs.stripe_fits_device": made_for == (chunk, width)}
    return {}


def _counted(kinds: list[str]) -> str:
    """Return e.g. `dm lvm / md raid5 / 3 x disk`."""
    groups = [(kind, len(list(same))) for kind, same in groupby(kinds)]
    return " / ".join(kind if count == 1 else f"{count} x {kind}" for kind, count in groups)[:500]


def _queue_facts(device: Device, texts: Texts) -> Facts:
    found: dict[str, FactValue] = {}
    for name, (fact, factor) in _QUEUE_NUMBERS.items():
        value = number(device.read(f"queue/{name}", texts))
        found[fact] = None if value is None else value * factor
    sectors = number(device.read_own("size", texts))
    found["size_bytes"] = None if sectors is None else sectors * volumes.SECTOR_BYTES
    return known(found) | disks.cache_facts(device, texts)


def _partition_facts(partitions: list[Device], texts: Texts) -> Facts:
    starts: list[int] = []
    are_aligned = True
    for partition in partitions:
        sectors = number(partition.read_own("start", texts))
        if sectors is None:
            return {}
        sizes = (number(partition.read(f"queue/{name}_size", texts)) for name in ("physical_block", "minimum_io"))
        starts.append(sectors * volumes.SECTOR_BYTES)
        # On a disk that emulates 512 bytes, the first physical block may be shifted.
        is_shifted = partition.read_own("alignment_offset", texts) not in {"", "0"}
        are_aligned &= not is_shifted and starts[-1] % max(1, *(size or 1 for size in sizes)) == 0
    if not starts:
        return {}
    distinct = sorted(set(starts))
    start = distinct[0] if len(distinct) == 1 else ", ".join(map(str, distinct))[:500]
    return {"partition.start_bytes": start, "partition.aligned": are_aligned}
