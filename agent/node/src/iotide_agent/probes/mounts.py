"""What /proc/self/mountinfo says: every mount of this node, and which of them holds a path."""

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
"""File systems without files that anybody would measure."""
_FIELDS_BEFORE_TAGS: Final = 6
_FIELDS_AFTER_TAGS: Final = 3


class MountinfoError(ValueError):
    """A line of mountinfo is not as proc(5) says; the text shows it."""


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount of a `device`, `major:minor`, or of the directory `root` on it; major 0 is no block device of its own.

    `options` are those of the mount and of the file system, sorted, each once; `directory` is what is looked at, since
    layouts differ by directory, the mount point by itself.
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
        """The source without the directories above it, such as /dev."""
        return PurePosixPath(self.source).name

    def option(self, name: str) -> str:
        """Value of `name=value` among the options; empty where there is none."""
        return next((value for key, _, value in (pair.partition("=") for pair in self.options) if key == name), "")


def parse_mountinfo(text: str) -> list[Mount]:
    """Return the mounts in the file's order, of which later ones cover earlier ones; raise MountinfoError."""
    # The kernel escapes blanks and newlines only; splitlines() would also cut at \r or \f in the name of a directory.
    return [_parse_line(line) for line in text.split("\n") if line]


def lasting_options(options: Iterable[str]) -> str:
    """Those that stay until somebody mounts it otherwise, joined by commas: a server that restarts has another port."""
    return ",".join(option for option in options if not option.startswith("mountport="))


def holding(mounts: Sequence[Mount], path: str) -> Mount | None:
    """The mount on which an absolute path without symbolic links stands."""
    above = {str(parent) for parent in (PurePosixPath(path), *PurePosixPath(path).parents)}
    candidates = [mount for mount in mounts if mount.mount_point in above]
    # The deepest mount point wins, and among equals the last one mounted.
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
