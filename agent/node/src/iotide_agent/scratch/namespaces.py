"""Mounts of all processes, found in /proc."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.mounts import decode

PROC: Final = Path("/proc")


class ProcessMount(NamedTuple):
    """A mount in the namespace of process `pid`. `id` is the kernel's, `number` that of the device, major:minor."""

    pid: int
    id: int
    number: str
    path: str
    fstype: str
    source: str
    is_own: bool


def pids() -> list[int]:
    return sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())


def mounts() -> list[ProcessMount]:
    """Return each mount of every namespace once, in the order in which they were mounted."""
    found: dict[int, ProcessMount] = {}
    own, seen = _link("self", "ns/mnt"), set()
    # A process sees only mounts below its own root directory. Those of the namespace's root have the whole path.
    for root, namespace, pid in sorted((_link(pid, "root"), _link(pid, "ns/mnt"), pid) for pid in pids()):
        if namespace and (root, namespace) not in seen:
            seen.add((root, namespace))
            for mount in _mounts_of(pid, is_own=namespace == own):
                found.setdefault(mount.id, mount)
    return list(found.values())


def _mounts_of(pid: int, *, is_own: bool) -> Iterator[ProcessMount]:
    try:
        text = (PROC / str(pid) / "mountinfo").read_bytes().decode(errors="surrogateescape")
    except OSError:
        return
    for line in filter(None, text.split("\n")):
        left, _, right = line.partition(" - ")
        mount_id, _parent, number, _root, path, *_ = left.split(" ")
        fstype, source, *_ = right.split(" ")
        yield ProcessMount(pid, int(mount_id), number, decode(path), fstype, decode(source), is_own)


def _link(pid: int | str, name: str) -> str:
    """Return a link of a process; empty once it has ended."""
    with suppress(OSError):
        return os.readlink(PROC / str(pid) / name)  # noqa: PTH115 - a text, also if it is no path
    return ""
