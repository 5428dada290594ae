"""Which mount holds a path, and whether it is still the one that a target was made on; pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from iotide_server.targets.errors import PATH_REFUSED
from iotide_wire.facts import MountFacts

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
"""File systems that are the node's memory: no size and no O_DIRECT takes their numbers out of it."""
_LONGEST_PATH = 4096


def clean_path(path: str) -> str:
    """Return the path in its one spelling; raise PATH_REFUSED for what no directory for benchmarks has."""
    if not path.startswith("/"):
        raise PATH_REFUSED(path=path, problem="not an absolute path", remedy="begin it with /")
    if len(path) > _LONGEST_PATH or not path.isprintable():
        raise PATH_REFUSED(
            path=path, problem="too long, or has unprintable characters in it", remedy="give the path of a directory"
        )
    parts = PurePosixPath("/", path.lstrip("/"))
    if ".." in parts.parts:
        raise PATH_REFUSED(path=path, problem="has .. in it", remedy="give the path of the directory itself")
    if parts == PurePosixPath("/"):
        raise PATH_REFUSED(
            path=path, problem="the root of the file system", remedy="give a directory made for benchmarks"
        )
    return str(parts)


def is_at_or_below(path: str, directory: str) -> bool:
    """Whether `path` is `directory` or inside it."""
    return PurePosixPath(path).is_relative_to(directory)


def is_approved(path: str, approved_directories: Collection[str]) -> bool:
    """Whether runs may write below `path`."""
    return any(is_at_or_below(path, directory) for directory in approved_directories)


def mount_of(path: str, mounts: Iterable[MountFacts]) -> MountFacts | None:
    """Return the mount that holds `path`: the deepest above it, of several at one point the last announced."""
    # Of one mount's entries, that of an approved directory above `path` is taken: it alone knows the space.
    above = [mount for mount in mounts if is_at_or_below(path, mount.mount_point)]

    def nearness(mount: MountFacts) -> tuple[int, int]:
        is_above = is_at_or_below(path, mount.path)
        return len(PurePosixPath(mount.mount_point).parts), len(PurePosixPath(mount.path).parts) if is_above else 0

    return max(reversed(above), key=nearness, default=None)


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a mount must be; None where nobody said."""

    fstype: str
    source: str
    mount_point: str | None = None
    root: str | None = None
    identity: str | None = None

    @classmethod
    def of(cls, mount: MountFacts) -> "Frozen":
        """The mount as an agent announced it."""
        root, identity = mount.facts.get("mount.root", "/"), mount.facts.get("fs.identity")
        return cls(mount.fstype, mount.source, mount.mount_point, str(root), str(identity) if identity else None)

    @property
    def own_identity(self) -> str | None:
        """Return what mkfs named the file system, where the source is a device, or a dataset of a pool."""
        # A source that names a server and what it exports tells enough, while the name that goes with it may change:
        # with the server's address, or because the tool that knows a better one has no answer.
        is_local = self.fstype == "zfs" or (self.source.startswith("/dev/") and self.fstype != "gpfs")
        return self.identity if is_local else None

    @property
    def names(self) -> frozenset[tuple[str, ...]]:
        """Return the names of the file system; two mounts are of the same one if they share a name."""
        # A server and what it exports name it too, also where its address is another one each time it is asked for.
        found: set[tuple[str, ...]] = {("identity", self.identity)} if self.identity else set()
        if self.identity is None or self.names_server:
            found.add(("source", self.fstype.removesuffix("4"), self.source))
        return frozenset(found)

    @property
    def names_server(self) -> bool:
        """Whether the source is a server and what it exports."""
        return self.source.startswith("//") or ":/" in self.source

    def directory(self, path: str) -> str | None:
        """Which directory of the file system a path on the mount is; None where nobody said."""
        if self.mount_point is None or self.root is None or not is_at_or_below(path, self.mount_point):
            return None
        return str(PurePosixPath(self.root, PurePosixPath(path).relative_to(self.mount_point)))

    def filled(self, now: "Frozen") -> "Frozen":
        """With what was not known yet and is now."""
        return replace(
            self,
            mount_point=self.mount_point if self.mount_point is not None else now.mount_point,
            root=self.root if self.root is not None else now.root,
            identity=self.identity if self.identity is not None else now.identity,
        )


def stranger_problem(node_id: int, mounts: Mapping[int, Frozen]) -> str | None:
    """Say why a node's mount is not the file system that most other nodes of a shared target have; None: it is."""
    counted = Counter(name for mount in mounts.values() for name in mount.names)
    first = min(mounts, key=lambda other: (-max(counted[name] for name in mounts[other].names), other))
    own, meant = mounts[node_id], mounts[first]
    if own.names & meant.names or None in {own.identity, meant.identity}:
        return None
    return (
        f"{own.identity} is mounted there, and on other nodes of this shared target {meant.identity};"
        " take the node off the target, and make one of scope node where each node has a file system of its own"
    )


def guard_problem(frozen: Frozen, now: MountFacts | None) -> str | None:
    """Why a target's mount is not the one that was frozen; None when it is, as far as both are known."""
    if now is None:
        return "nothing is mounted there any more; mount it again, or retire the target"
    found = Frozen.of(now)
    meant = frozen.filled(found)
    remedy = "mount that again, or accept the new mount on the target's page"
    if _mounted(found) != _mounted(meant):
        return f"{_mounted(found)} is mounted there, and the target was made on {_mounted(meant)}; {remedy}"
    if None not in {found.identity, meant.own_identity} and found.identity != meant.own_identity:
        return (
            f"{found.identity} from {found.source} is mounted there, and the target was made on {meant.identity};"
            f" {remedy}"
        )
    return None


def _mounted(mount: Frozen) -> str:
    directory = "" if mount.root in {"/", None} else f", its directory {mount.root},"
    return f"{mount.fstype} from {mount.source}{directory} at {mount.mount_point}"


def memory_words(target: str, fstype: str) -> str:
    """Say what the numbers of such a target are."""
    return f"target {target} is memory ({fstype}): its numbers are memory numbers"
