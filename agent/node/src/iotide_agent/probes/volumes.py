"""Volumes of several disks: md, and device mapper with LVM, multipath and encryption."""

import re
from collections.abc import Iterable
from typing import Final

from iotide_agent.probes.base import Texts, known, number, text_of
from iotide_agent.probes.reader import CommandWant, Want
from iotide_agent.probes.stack import Device
from iotide_wire.facts import Facts, FactValue

SECTOR_BYTES: Final = 512
"""Unit of /sys and device mapper, whatever the device's sector size."""
_MD_NUMBERS: Final = {
    "chunk_size": "md.chunk_bytes",
    "raid_disks": "md.disk_count",
    "layout": "md.layout",
    "degraded": "md.degraded_count",
    "stripe_cache_size": "md.stripe_cache_pages",
}
FILES: Final = ("md/level", "md/bitmap/location", *(f"md/{name}" for name in _MD_NUMBERS), "dm/name", "dm/uuid")
_MAKERS: Final = {"LVM": "lvm", "mpath": "multipath", "CRYPT": "crypt"}
_ROW: Final = re.compile(r"^(?:[^\n:]+: )?\d+ (\d+) (\S+) ?(.*)$", re.MULTILINE)
_SELECTOR: Final = re.compile(r"\b(round-robin|queue-length|(?:historical-)?service-time|io-affinity)\b")
_STRIPED: Final = re.compile(r"^(\d+) (\d+)((?: \S+ \d+)+)", re.ASCII)
_LINEAR: Final = re.compile(r"^\S+ (\d+)$", re.ASCII)
_ON_DEVICES: Final = frozenset({"linear", "striped"})
_DEVICE: Final = re.compile(r"(?<!\S)\d+:\d+(?= )", re.ASCII)
_RAID: Final = re.compile(r"^(raid\S+) \d+ (\d+)", re.ASCII)


def kind_of(device: Device, texts: Texts) -> str:
    """Return e.g. `md raid5`, `dm lvm`, `loop` or `partition of disk`."""
    level, uuid = device.read("md/level", texts), device.read("dm/uuid", texts)
    if level:
        kind = f"md {level}"
    elif device.read("dm/name", texts):
        kind = f"dm {uuid.partition('-')[0].lower()}".strip()
    elif device.read("loop/backing_file", texts):
        kind = "loop"
    else:
        kind = "disk"
    return f"partition of {kind}" if device.is_partition else kind


def volume_wants(device: Device, texts: Texts) -> Iterable[Want]:
    """The table needs root."""
    name = device.read("dm/name", texts)
    if name:
        yield _table(name)


def volume_facts(device: Device, texts: Texts) -> Facts:
    backing_file = device.read("loop/backing_file", texts)
    return _md_facts(device, texts) | _mapper_facts(device, texts) | known({"loop.backing_file": backing_file})


def _md_facts(device: Device, texts: Texts) -> Facts:
    level = device.read("md/level", texts)
    if not level:
        return {}
    found: dict[str, FactValue] = {"md.level": level}
    numbers = {fact: number(device.read(f"md/{name}", texts)) for name, fact in _MD_NUMBERS.items()}
    data_disks = _data_disks(level, numbers["md.disk_count"] or 0, numbers["md.layout"] or 0)
    bitmap = device.read("md/bitmap/location", texts)
    found |= numbers
    found["md.bitmap"] = bitmap != "none" if bitmap else None
    found["md.stripe_width_bytes"] = data_disks * (numbers["md.chunk_bytes"] or 0) or None
    return known(found)


def _data_disks(level: str, disks: int, layout: int) -> int:
    """RAID 10 has its near and far copies in the layout's low bytes."""
    match level:
        case "raid0":
            return disks
        case "raid4" | "raid5":
            return max(disks - 1, 0)
        case "raid6":
            return max(disks - 2, 0)
        case "raid10":
            return disks // max((layout & 0xFF) * ((layout >> 8) & 0xFF), 1)
        case _:
            return 0


def _table(name: str) -> CommandWant:
    return CommandWant(("dmsetup", "table", name), "dmsetup")


def _mapper_facts(device: Device, texts: Texts) -> Facts:
    name = device.read("dm/name", texts)
    if not name:
        return {}
    prefix = _MAKERS.get(device.read("dm/uuid", texts).partition("-")[0], "dm")
    rows = _ROW.findall(text_of(texts, _table(name)))
    found: dict[str, FactValue] = {"name": name, "target": ", ".join(dict.fromkeys(target for _, target, _ in rows))}
    if rows:
        found |= _segments_facts(rows)
    if prefix == "multipath":
        found["path_count"] = len(device.names_below(texts))
    return {f"{prefix}.{fact}": value for fact, value in known(found).items()}


def _segments_facts(rows: list[tuple[str, str, str]]) -> dict[str, FactValue]:
    """Return the first segment's offset, and other facts of all segments. Different values are joined.

    A volume that was extended has a segment for each extension, on the same devices or on others.
    """
    each = [_segment_facts(target, arguments) for _, target, arguments in rows]
    on_devices = [arguments for _, target, arguments in rows if target in _ON_DEVICES]
    devices = {device for arguments in on_devices for device in _DEVICE.findall(arguments)}
    sizes = [(number(sectors) or 0) * SECTOR_BYTES for sectors, _, _ in rows]
    found: dict[str, FactValue] = {
        "segment_count": len(rows) if len(rows) > 1 else None,
        "segment_bytes": _joined(sizes) if len(rows) > 1 else None,
        "device_count": len(devices) if len(devices) > 1 else None,
    }
    for name in dict.fromkeys(name for one in each for name in one):
        values = list(dict.fromkeys(one[name] for one in each if name in one))
        found[name] = values[0] if len(values) == 1 or name == "offset_bytes" else _joined(values)
    return found


def _joined(values: Iterable[FactValue]) -> str:
    return ", ".join(map(str, values))[:500]


def _segment_facts(target: str, arguments: str) -> dict[str, FactValue]:
    """See the kernel's admin-guide/device-mapper. Legs of a stripe with different offsets have a list of them."""
    match target:
        case "striped" if found := _STRIPED.match(arguments):
            count, chunk_bytes = number(found[1]) or 0, (number(found[2]) or 0) * SECTOR_BYTES
            width = {"stripe_count": count, "chunk_bytes": chunk_bytes, "stripe_width_bytes": count * chunk_bytes}
            offsets = dict.fromkeys((number(sectors) or 0) * SECTOR_BYTES for sectors in found[3].split()[1::2])
            return {**width, "offset_bytes": next(iter(offsets)) if len(offsets) == 1 else _joined(offsets)}
        case "linear" if found := _LINEAR.match(arguments):
            return {"offset_bytes": (number(found[1]) or 0) * SECTOR_BYTES}
        case "raid" if found := _RAID.match(arguments):
            return {"raid_level": found[1], "chunk_bytes": (number(found[2]) or 0) * SECTOR_BYTES}
        case "multipath" if selector := _SELECTOR.search(arguments):
            return {"path_selector": selector[1]}
        case _:
            return {}
