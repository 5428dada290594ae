"""Which file system a directory really stands on, by the kernel's own mount id rather than by comparing paths."""

import re
from pathlib import Path
from typing import Final, NamedTuple

_ESCAPE: Final = re.compile(rb"\\([0-3][0-7]{2})")


class MountLine(NamedTuple):
    """A line of /proc/self/mountinfo, octal escapes decoded.

    `mount_id` is unique among the mounts of now and those that something still holds open. `root` is the directory of
    the file system that is mounted: another than / is a bind mount or a subvolume.
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
        """Whether nothing can be written through it: this mount alone, the file system, or ext4 after an error."""
        return not {*self.options.split(","), *self.super_options.split(",")}.isdisjoint({"ro", "emergency_ro"})


def parse_mountinfo(text: str) -> list[MountLine]:
    """All mounts of a mountinfo text, where a mount's name may hold each line break of Unicode but the newline."""
    return [_parse_line(line) for line in text.split("\n") if line]


def mount_of(descriptor: int) -> MountLine:
    """Return the mount of an open directory; raise OSError where it was unmounted lazily."""
    mount_id = mount_id_of(descriptor)
    for mount in read_mounts():
        if mount.mount_id == mount_id:
            return mount
    raise OSError(f"mount {mount_id} is not mounted any more")


def read_mounts() -> list[MountLine]:
    """All mounts of this process's namespace."""
    return parse_mountinfo(Path("/proc/self/mountinfo").read_bytes().decode(errors="replace"))


def mount_id_of(descriptor: int) -> int:
    """Return the id of an open directory's mount, also of one unmounted lazily; raise OSError."""
    for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "mnt_id":
            return int(value)
    raise OSError("the kernel names no mount id")


def _parse_line(line: str) -> MountLine:
    left, _, right = line.partition(" - ")
    mount_id, _parent, _device, root, mount_point, options, *_optional = left.split(" ")
    fstype, source, super_options = [*right.split(" "), "", ""][:3]
    return MountLine(int(mount_id), decode(root), decode(mount_point), options, fstype, decode(source), super_options)


def effective_options(options: str, super_options: str) -> tuple[str, ...]:
    """Per-mount and per-file-system options of a mountinfo line, sorted, each once."""
    return tuple(sorted({*options.split(","), *decode(super_options).split(",")}))


def decode(field: str) -> str:
    r"""The field with the kernel's octal escapes undone: `mfs\043host` is `mfs#host`, `\040` a space.

    What is no UTF-8 becomes U+FFFD: agent and server compare names by their text, so each must get the same one.
    """
    raw = _ESCAPE.sub(lambda match: bytes((int(match[1], 8),)), field.encode(errors="replace"))
    return raw.decode(errors="replace")
