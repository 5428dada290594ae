"""Which file system a directory really stands on, by the kernel's own mount id rather than by comparing paths."""

import re
from pathlib import Path
from typing import Final, NamedTuple

_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A line of /proc/self/mountinfo, octal escapes decoded.

    Attributes:
        mount_id: unique among the mounts of now; a remount elsewhere gets another one.
        options: per-mount options; super_options: those of the file system.
    """

    mount_id: int
    mount_point: str
    options: str
    fstype: str
    source: str
    super_options: str


def parse_mountinfo(text: str) -> list[Mount]:
    """All mounts of the text of a mountinfo file."""
    return [_parse_line(line) for line in text.splitlines() if line]


def mount_of(descriptor: int) -> Mount:
    """The mount that an open directory belongs to.

    Raises:
        OSError: its mount is no longer in this namespace (unmounted lazily).
    """
    mount_id = _mount_id(Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii"))
    for mount in parse_mountinfo(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")):
        if mount.mount_id == mount_id:
            return mount
    raise OSError(f"mount {mount_id} is not mounted any more")


def _mount_id(fdinfo: str) -> int:
    for line in fdinfo.splitlines():
        name, _, value = line.partition(":")
        if name == "mnt_id":
            return int(value)
    raise OSError("the kernel names no mount id")


def _parse_line(line: str) -> Mount:
    left, _, right = line.partition(" - ")
    mount_id, _parent, _device, _root, mount_point, options, *_optional = left.split(" ")
    fstype, source, super_options = [*right.split(" "), "", ""][:3]
    return Mount(int(mount_id), _decode(mount_point), options, fstype, _decode(source), super_options)


def _decode(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)
