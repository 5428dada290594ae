"""Functions of mounts; pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from iotide_server.targets.errors import PATH_REFUSED
from iotide_wire.facts import MountFacts

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
"""File systems in memory: neither file sizes nor O_DIRECT avoid measuring memory."""
_LONGEST_PATH = 4096


def clean_path(path: str) -> str:
    """Return the normalised path. Raise PATH_REFUSED if it is unsuitable for benchmarks."""
    if not path.startswith("/"):
        raise PATH_REFUSED(path=path, problem="not an absolute path", remedy="begin it with /")
    if len(path) > _LONGEST_PATH or not path.isprintable():
        raise PATH_REFUSED(
            path=path, problem="too long or with unprintable characters", remedy="give the path of a directory"
        )
    parts = PurePosixPath("/", path.lstrip("/"))
    if ".." in parts.parts:
        raise PATH_REFUSED(path=path, problem="contains ..", remedy="give the path of the directory itself")
    if parts == PurePosixPath("/"):
        raise PATH_REFUSED(
            path=path, problem="the root of the file system", remedy="give a directory made for benchmarks"
        )
    return str(parts)


def is_at_or_below(path: str, directory: str) -> bool:
    return PurePosixPath(path).is_relative_to(directory)


def is_approved(path: str, approved_directories: Collection[str]) -> bool:
    return any(is_at_or_below(path, directory) for directory in approved_directories)


def mount_of(path: str, mounts: Iterable[MountFacts]) -> MountFacts | None:
    """Return the deepest mount above `path`; of several at one point, the last announced."""
    # Among entries of one mount, prefer an approved directory above `path`, which alone has the space.
    above = [mount for mount in mounts if is_at_or_below(path, mount.mount_point)]

    def nearness(mount: MountFacts) -> tuple[int, int]:
        is_above = is_at_or_below(path, mount.path)
        return len(PurePosixPath(mount.mount_point).parts), len(PurePosixPath(mount.path).parts) if is_above else 0

    return max(reversed(above), key=nearness, default=None)


@dataclass(frozen=True, slots=True)
class Frozen:
    fstype: str
    source: str
    mount_point: str | None = None
    root: str | None = None
    identity: str | None = None

    @classmethod
    def of(cls, mount: MountFacts) -> "Frozen":
        root, identity = mount.facts.get("mount.root", "/"), mount.facts.get("fs.identity")
        return cls(mount.fstype, mount.source, mount.mount_point, str(root), str(identity) if identity else None)

    @property
    def own_identity(self) -> str | None:
        """Return the file system's identity if the source is a device or a dataset of a pool."""
        # A server with its export is specific enough. Its identity may change with the server's address, or if the
        # tool that knows a better one fails.
        is_local = self.fstype == "zfs" or (self.source.startswith("/dev/") and self.fstype != "gpfs")
        return self.identity if is_local else None

    @property
    def names(self) -> frozenset[tuple[str, ...]]:
        """Return the names of the file system. Two mounts of the same one share a name."""
        # A server with its export is a name too, although its address may differ with each lookup.
        found: set[tuple[str, ...]] = {("identity", self.identity)} if self.identity else set()
        if self.identity is None or self.names_server:
            found.add(("source", self.fstype.removesuffix("4"), self.source))
        return frozenset(found)

    @property
    def names_server(self) -> bool:
        return self.source.startswith("//") or ":/" in self.source

    def directory(self, path: str) -> str | None:
        if self.mount_point is None or self.root is None or not is_at_or_below(path, self.mount_point):
            return None
        return str(PurePosixPath(self.root, PurePosixPath(path).relative_to(self.mount_point)))

    def filled(self, now: "Frozen") -> "Frozen":
        return replace(
            self,
            mount_point=self.mount_point if self.mount_point is not None else now.mount_point,
            root=self.root if self.root is not None else now.root,
            identity=self.identity if self.identity is not None else now.identity,
        )


def stranger_problem(node_id: int, mounts: Mapping[int, Frozen]) -> str | None:
    """Return the problem of a mount that is not the file system of most nodes of a shared target."""
    counted = Counter(name for mount in mounts.values() for name in mount.names)
    first = min(mounts, key=lambda other: (-max(counted[name] for name in mounts[other].names), other))
    own, meant = mounts[node_id], mounts[first]
    if own.names & meant.names or None in {own.identity, meant.identity}:
        return None
    return (
        f"{own.identity} is mounted there, but {meant.identity} on the other nodes of this shared target;"
        " remove the node from the target; use scope node if each node has its own file system"
    )


def guard_problem(frozen: Frozen, now: MountFacts | None) -> str | None:
    """Return the problem of a mount that is known to differ from the frozen one."""
    if now is None:
        return "nothing is mounted there; mount it again, or retire the target"
    found = Frozen.of(now)
    meant = frozen.filled(found)
    remedy = "mount that again, or accept the new mount on the target's page"
    if _mounted(found) != _mounted(meant):
        return f"{_mounted(found)} is mounted there, but the target was created on {_mounted(meant)}; {remedy}"
    if None not in {found.identity, meant.own_identity} and found.identity != meant.own_identity:
        return (
            f"{found.identity} from {found.source} is mounted there, but the target was created on {meant.identity};"
            f" {remedy}"
        )
    return None


def _mounted(mount: Frozen) -> str:
    directory = "" if mount.root in {"/", None} else f", its directory {mount.root},"
    return f"{mount.fstype} from {mount.source}{directory} at {mount.mount_point}"


def memory_words(target: str, fstype: str) -> str:
    return f"target {target} is in memory ({fstype}): runs measure the memory"
