"""The block devices below a mount: partition, RAID, logical volume and the disks at the bottom, from /sys."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, named_numbers, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, DirectoryWant, FileWant, Want
from iotide_wire.facts import Facts, FactValue

_SECTOR_BYTES: Final = 512
"""What /sys counts sizes in, whatever the device's own sector size is."""
_QUEUE_NUMBERS: Final = {
    "logical_block_size": ("logical_block_bytes", 1),
    "physical_block_size": ("physical_block_bytes", 1),
    "minimum_io_size": ("minimum_io_bytes", 1),
    "optimal_io_size": ("optimal_io_bytes", 1),
    "max_sectors_kb": ("max_io_bytes", 1024),
    "read_ahead_kb": ("read_ahead_bytes", 1024),
    "nr_requests": ("queue_depth", 1),
}
_MD_NUMBERS: Final = {
    "chunk_size": "chunk_bytes",
    "raid_disks": "disk_count",
    "layout": "layout",
    "degraded": "degraded_count",
}
_FILES: Final = (
    *(f"queue/{name}" for name in (*_QUEUE_NUMBERS, "rotational", "scheduler", "write_cache")),
    *(f"device/{name}" for name in ("model", "vendor", "rev", "firmware_rev")),
    *(f"md/{name}" for name in ("level", *_MD_NUMBERS)),
    *("dm/name", "dm/uuid", "loop/backing_file", "size"),
)


@dataclass(frozen=True, slots=True)
class _Device:
    """A block device in /sys.

    Attributes:
        path: its own directory.
        base: the directory with its queue; that of the whole disk where it is a partition.
        known: whether its uevent file was read, without which `base` is a guess.
    """

    path: str
    base: str
    is_partition: bool
    known: bool


class BlockProbe(Probe):
    """Whatever stands on a block device."""

    name: ClassVar[str] = "block"

    def matches(self, mount: Mount) -> bool:
        """File systems with a device number, and those like Btrfs that have none but name a device as their source."""
        return not mount.device.startswith("0:") or mount.source.startswith("/dev/")

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Everything of each device that is known by now, and of the devices below it."""
        if _needs_link(mount):
            yield _link(mount)
        for device in _stack(mount, texts):
            yield FileWant(f"{device.path}/uevent")
            if device.known:
                yield from (FileWant(f"{device.base}/{name}") for name in _FILES)
                yield FileWant(f"{device.path}/size")
                yield DirectoryWant(f"{device.base}/slaves")

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The top device in full, and of the disks at the bottom what distinguishes them."""
        stack = [device for device in _stack(mount, texts) if device.known]
        if not stack:
            return {"device.kind": f"unavailable, because /sys knows no block device {mount.device}"}
        top, disks = stack[0], [device for device in stack if not _names_below(device, texts)]
        facts: Facts = {"device.kind": _kind(top, texts)}
        facts |= _disk_facts(disks, texts)
        facts |= {f"device.{name}": value for name, value in _queue_facts(top, texts).items()}
        for device in stack:
            facts |= _stacking_facts(device, texts)
        return facts


def _needs_link(mount: Mount) -> bool:
    return mount.device.startswith("0:") and mount.source.startswith("/dev/")


def _link(mount: Mount) -> CommandWant:
    return CommandWant(("readlink", "--canonicalize", mount.source), "coreutils")


def _stack(mount: Mount, texts: Texts) -> Iterator[_Device]:
    """The device of the mount and those below it, as far as was read, each once."""
    if _needs_link(mount):
        real = text_of(texts, _link(mount))
        waiting = [f"/sys/class/block/{PurePosixPath(real).name}"] if real else []
    else:
        waiting = [f"/sys/dev/block/{mount.device}"]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        uevent = named_numbers(text_of(texts, FileWant(f"{path}/uevent")))
        is_partition = uevent.get("DEVTYPE") == "partition"
        device = _Device(path, f"{path}/.." if is_partition else path, is_partition, known=bool(uevent))
        yield device
        waiting += [f"/sys/class/block/{name}" for name in _names_below(device, texts)]


def _names_below(device: _Device, texts: Texts) -> list[str]:
    return text_of(texts, DirectoryWant(f"{device.base}/slaves")).split()


def _read(device: _Device, name: str, texts: Texts) -> str:
    return text_of(texts, FileWant(f"{device.base}/{name}"))


def _kind(device: _Device, texts: Texts) -> str:
    level, uuid = _read(device, "md/level", texts), _read(device, "dm/uuid", texts)
    if level:
        kind = f"md {level}"
    elif _read(device, "dm/name", texts):
        kind = f"dm {uuid.partition('-')[0].lower()}".strip()
    elif _read(device, "loop/backing_file", texts):
        kind = "loop"
    else:
        kind = "disk"
    return f"partition of {kind}" if device.is_partition else kind


def _queue_facts(device: _Device, texts: Texts) -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {}
    for name, (fact, factor) in _QUEUE_NUMBERS.items():
        number = _read(device, f"queue/{name}", texts)
        if number.isdecimal():
            facts[fact] = int(number) * factor
    sectors = text_of(texts, FileWant(f"{device.path}/size"))
    if sectors.isdecimal():
        facts["size_bytes"] = int(sectors) * _SECTOR_BYTES
    return facts | _cache_facts(device, texts)


def _cache_facts(device: _Device, texts: Texts) -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {}
    rotational = _read(device, "queue/rotational", texts)
    if rotational:
        facts["rotational"] = rotational == "1"
    # The scheduler in use stands in brackets among those that could be.
    _, bracket, rest = _read(device, "queue/scheduler", texts).partition("[")
    if bracket:
        facts["scheduler"] = rest.partition("]")[0]
    write_cache = _read(device, "queue/write_cache", texts)
    return facts | {"write_cache": write_cache} if write_cache else facts


def _stacking_facts(device: _Device, texts: Texts) -> Facts:
    facts: Facts = {}
    level = _read(device, "md/level", texts)
    if level:
        facts["md.level"] = level
        numbers = {fact: _read(device, f"md/{name}", texts) for name, fact in _MD_NUMBERS.items()}
        facts |= {f"md.{fact}": int(number) for fact, number in numbers.items() if number.isdecimal()}
    volume, backing_file = _read(device, "dm/name", texts), _read(device, "loop/backing_file", texts)
    if volume:
        facts["dm.name"] = volume
    if backing_file:
        facts["loop.backing_file"] = backing_file
    return facts


def _disk_facts(disks: list[_Device], texts: Texts) -> Facts:
    """What the disks have in common, or their different values side by side: disks may change their names."""
    each = [_one_disk(disk, texts) for disk in disks]
    facts: Facts = {"disk.count": len(disks)}
    for name in sorted({name for one in each for name in one}):
        values = sorted({one[name] for one in each if name in one}, key=str)
        facts[f"disk.{name}"] = values[0] if len(values) == 1 else ", ".join(str(value) for value in values)
    return facts


def _one_disk(disk: _Device, texts: Texts) -> dict[str, FactValue]:
    facts = _cache_facts(disk, texts)
    model = " ".join(f"{_read(disk, 'device/vendor', texts)} {_read(disk, 'device/model', texts)}".split())
    firmware = _read(disk, "device/firmware_rev", texts) or _read(disk, "device/rev", texts)
    sectors = _read(disk, "size", texts)
    facts |= {name: text for name, text in (("model", model), ("firmware", firmware)) if text}
    return facts | {"size_bytes": int(sectors) * _SECTOR_BYTES} if sectors.isdecimal() else facts
