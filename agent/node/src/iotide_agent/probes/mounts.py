"""Mounts of this node from /proc/self/mountinfo, and the mount of a path."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.probes.reader import FileWant
from iotide_agent.runner.mounts import decode, effective_options

MOUNTINFO: Final = FileWant("/proc/self/mountinfo")
PSEUDO_FSTYPES: Final = frozenset(
    {
        "autofs",
        "binder",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fusectl",
        "hugetlbfs",
        "mqueue",
        "nsfs",
        "proc",
        "pstore",
        "rpc_pipefs",
        "securityfs",
        "selinuxfs",
        "sysfs",
        "tracefs",
    }
)
_FIELDS_BEFORE_TAGS: Final = 6
_FIELDS_AFTER_TAGS: Final = 3


class MountinfoError(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class Mount:
    """Mount of a `device`, `major:minor`, or of its directory `root`; major 0 is not a block device.

    `directory` is inspected, by default the mount point; layouts differ between directories.
    """

    mount_point: str
    fstype: str
    source: str
    device: str
    root: str
    options: tuple[str, ...]
    directory: str

    @property
    def source_name(self) -> str:
        return PurePosixPath(self.source).name

    def option(self, name: str) -> str:
        return next((value for key, _, value in (pair.partition("=") for pair in self.options) if key == name), "")


def parse_mountinfo(text: str) -> list[Mount]:
    """Later mounts cover earlier ones. Raise MountinfoError."""
    # The kernel escapes only blanks and newlines; splitlines() would also split at \r or \f in a name.
    return [_parse_line(line) for line in text.split("\n") if line]


def lasting_options(options: Iterable[str]) -> str:
    """Leave out a server's port, which changes with its restart."""
    return ",".join(option for option in options if not option.startswith("mountport="))


def holding(mounts: Sequence[Mount], path: str) -> Mount | None:
    above = {str(parent) for parent in (PurePosixPath(path), *PurePosixPath(path).parents)}
    candidates = [mount for mount in mounts if mount.mount_point in above]
    # The deepest mount point wins, then the latest mount.
    return max(reversed(candidates), key=lambda mount: len(PurePosixPath(mount.mount_point).parts), default=None)


def _parse_line(line: str) -> Mount:
    fields = line.split(" ")
    separator = fields.index("-", _FIELDS_BEFORE_TAGS) if "-" in fields[_FIELDS_BEFORE_TAGS:] else len(fields)
    if len(fields) - separator <= _FIELDS_AFTER_TAGS:
        raise MountinfoError(f"a line of mountinfo has too few fields: {line!r}")
    _, _, device, root, mount_point, mount_options = fields[:_FIELDS_BEFORE_TAGS]
    fstype, source, file_system_options = fields[separator + 1 : separator + 1 + _FIELDS_AFTER_TAGS]
    return Mount(
        mount_point=decode(mount_point),
        fstype=decode(fstype),
        source=decode(source),
        device=device,
        root=decode(root),
        options=effective_options(mount_options, file_system_options),
        directory=decode(mount_point),
    )
