"""Disks at the bottom of a stack: model, cache, transport, and RAID by a controller."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from iotide_agent.probes import controllers, network
from iotide_agent.probes.base import Texts, known, number, text_of, unavailable_fact
from iotide_agent.probes.reader import CommandWant, FileWant, Unavailable, Want
from iotide_agent.probes.stack import Device
from iotide_agent.probes.volumes import SECTOR_BYTES
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import KIB, MIB

FILES: Final = (
    *(f"queue/{name}" for name in ("rotational", "scheduler", "write_cache")),
    *(f"device/{name}" for name in ("model", "vendor", "rev", "firmware_rev", "transport", "raid_level", "wwid")),
    "size",
)
_TRANSPORTS: Final = (
    ("iscsi", re.compile(r"/session\d+/")),
    ("fibre channel", re.compile(r"/rport-")),
    ("usb", re.compile(r"/usb\d+/")),
    ("virtio", re.compile(r"/virtio\d+(/|$)")),
    ("sas", re.compile(r"/(end_device|expander)-")),
    ("sata", re.compile(r"/ata\d+/")),
    ("xen", re.compile(r"/vbd-\d+")),
)
"""By the path of a disk below /sys/devices; the first match counts."""
_HOST: Final = re.compile(r"/host(\d+)/")
_SESSION: Final = re.compile(r"/session(\d+)/")
_RAID_TOOLS: Final = tuple(
    CommandWant((tool, "/call/vall", "show", "all", "J"), "storcli of the controller's vendor, or Dell's perccli")
    for tool in ("storcli64", "perccli64")
)
"""One program under two vendors' names."""
_KIBI_SIZES: Final = {"KB": KIB, "MB": MIB}


def disk_wants(disk: Device, texts: Texts) -> Iterable[Want]:
    yield _real_path(disk)
    path = text_of(texts, _real_path(disk))
    host, session = _HOST.search(path), _SESSION.search(path)
    if host:
        yield _driver(host[1])
        driver = text_of(texts, _driver(host[1]))
        if driver == "megaraid_sas":
            yield from _RAID_TOOLS
            if all(isinstance(texts.get(tool), Unavailable) for tool in _RAID_TOOLS):
                yield from controllers.megacli_wants(texts)
        elif driver in controllers.TW_DRIVERS:
            yield from controllers.tw_wants(texts)
    if session:
        yield from (_session_target(session[1]), _session_address(session[1]))
        yield from network.wants(text_of(texts, _session_address(session[1])), texts)


def disk_facts(disks: list[Device], texts: Texts) -> Facts:
    """Return facts without the disks' names, which may change. Different values are joined."""
    each = [_one_disk(disk, texts) for disk in disks]
    facts: Facts = {"disk.count": len(disks)}
    for name in sorted({name for one in each for name in one}):
        values = sorted({one[name] for one in each if name in one}, key=str)
        facts[name] = values[0] if len(values) == 1 else ", ".join(str(value) for value in values)[:1000]
    return facts


def cache_facts(device: Device, texts: Texts) -> Facts:
    rotational = device.read("queue/rotational", texts)
    # The scheduler in use is in brackets.
    _, _, scheduler = device.read("queue/scheduler", texts).partition("[")
    return known(
        {
            "rotational": rotational == "1" if rotational else None,
            "scheduler": scheduler.partition("]")[0],
            "write_cache": device.read("queue/write_cache", texts),
        }
    )


def _one_disk(disk: Device, texts: Texts) -> Facts:
    sectors = number(disk.read("size", texts))
    found: dict[str, FactValue] = {
        **cache_facts(disk, texts),
        "model": " ".join(f"{disk.read('device/vendor', texts)} {disk.read('device/model', texts)}".split()),
        "firmware": disk.read("device/firmware_rev", texts) or disk.read("device/rev", texts),
        "size_bytes": None if sectors is None else sectors * SECTOR_BYTES,
        "transport": _transport(disk, texts),
    }
    return {f"disk.{name}": value for name, value in known(found).items()} | _attachment_facts(disk, texts)


def _transport(disk: Device, texts: Texts) -> str | None:
    fabric = disk.read("device/transport", texts)
    if fabric:
        return f"nvme {fabric}"
    path = text_of(texts, _real_path(disk))
    return next((name for name, pattern in _TRANSPORTS if pattern.search(path)), None)


def _attachment_facts(disk: Device, texts: Texts) -> Facts:
    path = text_of(texts, _real_path(disk))
    host, session = _HOST.search(path), _SESSION.search(path)
    facts: Facts = {}
    if host:
        facts |= known({"disk.driver": text_of(texts, _driver(host[1]))}) | _raid_facts(disk, path, texts)
    if session:
        facts |= known({"iscsi.target": text_of(texts, _session_target(session[1]))})
        facts |= network.facts(text_of(texts, _session_address(session[1])), texts)
    return facts


def _raid_facts(disk: Device, path: str, texts: Texts) -> Facts:
    """Return the driver's level (hpsa, smartpqi), or that of the controller's volume behind the disk."""
    level = disk.read("device/raid_level", texts)
    if level and level != "N/A":
        return {"raid.level": level}
    driver = text_of(texts, _driver(host[1])) if (host := _HOST.search(path)) else ""
    if driver in controllers.TW_DRIVERS:
        return controllers.tw_facts(path, texts)
    answers = [texts[tool] for tool in _RAID_TOOLS if tool in texts]
    if not answers:
        return {}
    answer = next((text for text in answers if not isinstance(text, Unavailable)), answers[0])
    if isinstance(answer, Unavailable):
        older = controllers.megacli_facts(path, texts)
        unavailable = str(older.get("raid.level", "")).startswith("unavailable")
        return {"raid.level": unavailable_fact(answer)} if unavailable else older
    name = disk.read("device/wwid", texts).removeprefix("naa.").lower()
    return next((_drive_facts(drive, row) for drive, row in _drives(answer) if name and _name(drive) == name), {})


def _drives(answer: str) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    try:
        controllers = json.loads(answer)["Controllers"]
        data = [controller.get("Response Data", {}) for controller in controllers]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    for response in data:
        for key, properties in response.items() if isinstance(response, dict) else ():
            index = re.match(r"VD(\d+) Properties$", key)
            if index and isinstance(properties, dict):
                rows = [value for name, value in response.items() if name.endswith(f"/v{index[1]}")]
                row = rows[0][0] if rows and isinstance(rows[0], list) and rows[0] else {}
                yield properties, row if isinstance(row, dict) else {}


def _name(drive: dict[str, Any]) -> str:
    return str(drive.get("SCSI NAA Id", "")).lower()


def _drive_facts(drive: dict[str, Any], row: dict[str, Any]) -> Facts:
    digits, _, unit = str(drive.get("Strip Size", "")).partition(" ")
    strip = number(digits)
    per_span, spans = (number(str(drive.get(name))) for name in ("Number of Drives Per Span", "Span Depth"))
    return known(
        {
            "raid.level": str(row.get("TYPE", ""))[:100],
            "raid.strip_bytes": strip * _KIBI_SIZES[unit] if strip and unit in _KIBI_SIZES else None,
            "raid.disk_count": per_span * spans if per_span and spans else None,
            # storcli codes: R or NR read ahead; WB, WT or AWB write cache; D or C direct or cached.
            "raid.cache": str(row.get("Cache", ""))[:100],
            "raid.disk_cache": str(drive.get("Disk Cache Policy", ""))[:100],
        }
    )


def _real_path(disk: Device) -> CommandWant:
    return CommandWant(("readlink", "--canonicalize", f"{disk.base}/device"), "coreutils")


def _driver(host: str) -> FileWant:
    return FileWant(f"/sys/class/scsi_host/host{host}/proc_name")


def _session_target(session: str) -> FileWant:
    return FileWant(f"/sys/class/iscsi_session/session{session}/targetname")


def _session_address(session: str) -> FileWant:
    return FileWant(f"/sys/class/iscsi_connection/connection{session}:0/persistent_address")
