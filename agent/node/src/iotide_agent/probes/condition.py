"""Condition of the storage below a mount: rebuilds, scrubs, missing disks and error counters.

It changes on its own, unlike facts, so it is read before and after each run.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.probes import ceph
from iotide_agent.probes.base import Texts, gather, named_numbers, number, on_mount, text_of
from iotide_agent.probes.mounts import MOUNTINFO, Mount, holding, parse_mountinfo
from iotide_agent.probes.reader import CommandWant, DirectoryWant, FileWant, Reader, Unavailable, Want
from iotide_agent.probes.stack import Device, devices, link, links, needs_link

_BTRFS: Final = "/sys/fs/btrfs"
_IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
_AT_REST: Final = frozenset({"", "idle", "frozen", "none"})
_MAPPER_RAID: Final = re.compile(r"^(?:[^\n:]+: )?\d+ \d+ raid (\S+) \d+ (\S+) (\S+) (\S+)", re.MULTILINE)
_ZPOOL_STATE: Final = re.compile(r"^\s*state: (\S+)", re.MULTILINE)
_ZPOOL_SCAN: Final = re.compile(r"^\s*(?:scan|expand|remove): (.* in progress\b.*)", re.MULTILINE)
_ZPOOL_ROW: Final = re.compile(r"^\t *(\S+) +[A-Z]+ +(\d+) +(\d+) +(\d+)\b", re.MULTILINE)
_btrfs_scrub: Final = on_mount("btrfs-progs", "btrfs", "scrub", "status", "{0.mount_point}")


@dataclass(frozen=True, slots=True)
class Condition:
    troubles: tuple[str, ...]
    errors: Mapping[str, int]
    unread: tuple[str, ...] = ()


def look_below(directories: Iterable[str], reader: Reader) -> Condition:
    text = reader.read(MOUNTINFO)
    if isinstance(text, Unavailable):
        return Condition((), {}, (text.because,))
    mounts = parse_mountinfo(text)
    below = dict.fromkeys(mount for directory in directories if (mount := holding(mounts, directory)))
    return _joined([_condition(mount, gather(reader, lambda texts: _wants(mount, texts))) for mount in below])  # noqa: B023 - called at once


def _joined(found: Sequence[Condition]) -> Condition:
    troubles = dict.fromkeys(trouble for condition in found for trouble in condition.troubles)
    errors = {name: count for condition in found for name, count in condition.errors.items()}
    unread = dict.fromkeys(name for condition in found for name in condition.unread)
    return Condition(tuple(troubles), errors, tuple(unread))


def _wants(mount: Mount, texts: Texts) -> Iterator[Want]:
    if needs_link(mount):
        yield from links(mount)
    for device in devices(mount, texts):
        yield FileWant(f"{device.path}/uevent")
        if device.known:
            yield DirectoryWant(f"{device.base}/slaves")
            yield from _device_wants(device, texts)
    if mount.fstype in {"ext2", "ext3", "ext4"}:
        yield FileWant(f"/sys/fs/ext4/{_kernel_name(mount, texts)}/errors_count")
    elif mount.fstype == "btrfs":
        yield from _btrfs_wants(mount, texts)
    elif mount.fstype == "zfs":
        yield _zpool(mount)
    elif ceph.is_ceph(mount):
        yield ceph.STATUS


def _condition(mount: Mount, texts: Texts) -> Condition:
    troubles: list[str] = []
    errors: dict[str, int] = {}
    for device in devices(mount, texts):
        if device.known:
            troubles += _md_troubles(device, texts) + _mapper_troubles(device, texts)
            errors |= _md_errors(device, texts)
    if mount.fstype in {"ext2", "ext3", "ext4"}:
        name = _kernel_name(mount, texts)
        count = number(text_of(texts, FileWant(f"/sys/fs/ext4/{name}/errors_count")))
        errors |= {} if count is None else {f"{mount.fstype} errors_count of {name}": count}
    elif mount.fstype == "btrfs":
        troubles += _btrfs_troubles(mount, texts)
        errors |= _btrfs_errors(mount, texts)
    elif mount.fstype == "zfs":
        troubles += _zpool_troubles(mount, text_of(texts, _zpool(mount)))
        errors |= _zpool_errors(mount, text_of(texts, _zpool(mount)))
    elif ceph.is_ceph(mount):
        troubles += ceph.troubles(text_of(texts, ceph.STATUS))
    return Condition(tuple(troubles), errors, tuple(_unread(mount, texts)))


def _unread(mount: Mount, texts: Texts) -> Iterator[str]:
    commands = (text for want, text in texts.items() if isinstance(want, CommandWant))
    refused = [text.because for text in commands if isinstance(text, Unavailable)]
    yield from refused
    if ceph.is_ceph(mount):
        if not refused and not ceph.is_readable(text_of(texts, ceph.STATUS)):
            yield "ceph status printed nothing about its OSDs and placement groups"
    elif mount.fstype == "zfs":
        if not refused and not _ZPOOL_STATE.search(text_of(texts, _zpool(mount))):
            yield "zpool status printed no state"
    elif mount.fstype == "btrfs" and not _own_btrfs(mount, texts):
        yield f"{_BTRFS} has no directory for {mount.mount_point}"
    elif mount.fstype not in _IN_MEMORY and not any(device.known for device in devices(mount, texts)):
        yield f"the devices below {mount.mount_point} ({mount.fstype}) are not visible from this node"


def _kernel_name(mount: Mount, texts: Texts) -> str:
    uevent = named_numbers(text_of(texts, FileWant(f"/sys/dev/block/{mount.device}/uevent")))
    return uevent.get("DEVNAME", "").replace("/", "!")


def _name(device: Device, texts: Texts) -> str:
    return named_numbers(device.read_own("uevent", texts)).get("DEVNAME") or PurePosixPath(device.path).name


def _device_wants(device: Device, texts: Texts) -> Iterator[Want]:
    yield from (FileWant(f"{device.base}/md/{name}") for name in ("sync_action", "sync_completed", "degraded"))
    yield DirectoryWant(f"{device.base}/md")
    yield from (FileWant(f"{device.base}/md/{name}/errors") for name in _members(device, texts))
    yield from (FileWant(f"{device.base}/dm/{name}") for name in ("name", "uuid"))
    if _may_be_mapper_raid(device, texts):
        yield _status(device, texts)


def _members(device: Device, texts: Texts) -> list[str]:
    return [name for name in text_of(texts, DirectoryWant(f"{device.base}/md")).split() if name.startswith("dev-")]


def _md_troubles(device: Device, texts: Texts) -> list[str]:
    name, action = _name(device, texts), device.read("md/sync_action", texts)
    missing = number(device.read("md/degraded", texts)) or 0
    found = [f"{name}: {missing} of its disks missing"] if missing else []
    return found if action in _AT_REST else [*found, f"{name}: {action}, {device.read('md/sync_completed', texts)}"]


def _md_errors(device: Device, texts: Texts) -> dict[str, int]:
    name = _name(device, texts)
    counts = {member: number(device.read(f"md/{member}/errors", texts)) for member in _members(device, texts)}
    return {f"{name} {member} errors": count for member, count in counts.items() if count is not None}


def _may_be_mapper_raid(device: Device, texts: Texts) -> bool:
    """Only root can read the kind and state of a logical volume of several others."""
    return device.read("dm/uuid", texts).startswith("LVM-") and len(device.names_below(texts)) > 1


def _status(device: Device, texts: Texts) -> CommandWant:
    return CommandWant(("dmsetup", "status", device.read("dm/name", texts)), "dmsetup")


def _mapper_troubles(device: Device, texts: Texts) -> list[str]:
    """See the kernel's admin-guide/device-mapper/dm-raid: A in sync, a not yet, D failed, - missing."""
    if not _may_be_mapper_raid(device, texts):
        return []
    name = device.read("dm/name", texts)
    return [
        f"{name}: {level}, disks {health}, {action} {done}"
        for level, health, done, action in _MAPPER_RAID.findall(text_of(texts, _status(device, texts)))
        if action not in _AT_REST or set(health) != {"A"}
    ]


def _btrfs_wants(mount: Mount, texts: Texts) -> Iterator[Want]:
    yield DirectoryWant(_BTRFS)
    yield from (DirectoryWant(f"{directory}/devices") for directory in _btrfs_directories(texts))
    yield _btrfs_scrub(mount)
    own = _own_btrfs(mount, texts)
    if own:
        yield from (FileWant(f"{own}/exclusive_operation"), DirectoryWant(f"{own}/devinfo"))
        for number_ in text_of(texts, DirectoryWant(f"{own}/devinfo")).split():
            yield from (FileWant(f"{own}/devinfo/{number_}/{name}") for name in ("missing", "error_stats"))


def _btrfs_directories(texts: Texts) -> list[str]:
    return [f"{_BTRFS}/{name}" for name in text_of(texts, DirectoryWant(_BTRFS)).split() if name.count("-") == 4]  # noqa: PLR2004 - a UUID


def _own_btrfs(mount: Mount, texts: Texts) -> str:
    device = PurePosixPath(text_of(texts, link(mount))).name
    of_device = (
        directory
        for directory in _btrfs_directories(texts)
        if device in text_of(texts, DirectoryWant(f"{directory}/devices")).split()
    )
    return next(of_device, "")


def _btrfs_troubles(mount: Mount, texts: Texts) -> list[str]:
    own = _own_btrfs(mount, texts)
    operation = text_of(texts, FileWant(f"{own}/exclusive_operation"))
    found = [] if operation in _AT_REST else [f"btrfs of {mount.mount_point}: {operation}"]
    members = text_of(texts, DirectoryWant(f"{own}/devinfo")).split()
    gone = [member for member in members if text_of(texts, FileWant(f"{own}/devinfo/{member}/missing")) == "1"]
    found += [f"btrfs of {mount.mount_point}: device {member} missing" for member in gone]
    if re.search(r"^Status: +running", text_of(texts, _btrfs_scrub(mount)), re.MULTILINE):
        found.append(f"btrfs of {mount.mount_point}: scrub")
    return found


def _btrfs_errors(mount: Mount, texts: Texts) -> dict[str, int]:
    own = _own_btrfs(mount, texts)
    errors: dict[str, int] = {}
    for member in text_of(texts, DirectoryWant(f"{own}/devinfo")).split():
        stats = text_of(texts, FileWant(f"{own}/devinfo/{member}/error_stats"))
        counted = re.findall(r"^(\w+) (\d{1,18})$", stats, re.MULTILINE)
        errors |= {f"btrfs of {mount.mount_point}: device {member} {name}": int(count) for name, count in counted}
    return errors


def _zpool(mount: Mount) -> CommandWant:
    return CommandWant(("zpool", "status", "-p", mount.source.partition("/")[0]), "zfsutils-linux")


def _zpool_troubles(mount: Mount, status: str) -> list[str]:
    pool, state = mount.source.partition("/")[0], _ZPOOL_STATE.search(status)
    found = [f"zfs pool {pool}: {state[1]}"] if state and state[1] != "ONLINE" else []
    return found + [f"zfs pool {pool}: {words.strip()}"[:200] for words in _ZPOOL_SCAN.findall(status)]


def _zpool_errors(mount: Mount, status: str) -> dict[str, int]:
    pool = mount.source.partition("/")[0]
    return {f"zfs pool {pool}: device {name}": sum(map(int, counts)) for name, *counts in _ZPOOL_ROW.findall(status)}
