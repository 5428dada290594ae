"""Mount of a directory, by the kernel's mount id, not by its path."""

import re
from pathlib import Path
from typing import Final, NamedTuple

_ESCAPE: Final = re.compile(rb"\\([0-3][0-7]{2})")


class MountLine(NamedTuple):
    """Line of /proc/self/mountinfo, octal escapes decoded.

    `mount_id` is unique among current mounts and those still held open. `root` is not / for a bind mount or a
    subvolume.
    """

    mount_id: int
    root: str
    mount_point: str
    options: str
    fstype: str
    source: str
    super_options: str

    @property
    def is_read_only(self) -> bool:
        """True for a read-only mount or file system, also after an ext4 error."""
        return not {*self.options.split(","), *self.super_options.split(",")}.isdisjoint({"ro", "emergency_ro"})


def parse_mountinfo(text: str) -> list[MountLine]:
    """Names may contain any Unicode line break except newline."""
    return [_parse_line(line) for line in text.split("\n") if line]


def mount_of(descriptor: int) -> MountLine:
    """Raise OSError after a lazy unmount."""
    mount_id = mount_id_of(descriptor)
    for mount in read_mounts():
        if mount.mount_id == mount_id:
            return mount
    raise OSError(f"mount {mount_id} is no longer mounted")


def read_mounts() -> list[MountLine]:
    return parse_mountinfo(Path("/proc/self/mountinfo").read_bytes().decode(errors="replace"))


def mount_id_of(descriptor: int) -> int:
    """Return the mount id of an open directory, also after a lazy unmount; raise OSError."""
    for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "mnt_id":
            return int(value)
    raise OSError("the kernel reports no mount id")


def _parse_line(line: str) -> MountLine:
    left, _, right = line.partition(" - ")
    mount_id, _parent, _device, root, mount_point, options, *_optional = left.split(" ")
    fstype, source, super_options = [*right.split(" "), "", ""][:3]
    return MountLine(int(mount_id), decode(root), decode(mount_point), options, fstype, decode(source), super_options)


def effective_options(options: str, super_options: str) -> tuple[str, ...]:
    return tuple(sorted({*options.split(","), *decode(super_options).split(",")}))


def decode(field: str) -> str:
    r"""Decode the kernel's octal escapes: `mfs\043host` becomes `mfs#host`, `\040` a space.

    Invalid UTF-8 becomes U+FFFD, so that agent and server compare the same text.
    """
    raw = _ESCAPE.sub(lambda match: bytes((int(match[1], 8),)), field.encode(errors="replace"))
    return raw.decode(errors="replace")
