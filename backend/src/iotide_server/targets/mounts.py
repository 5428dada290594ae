"""Which mount holds a path, and whether it is still the one that a target was made on; pure."""

from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from iotide_server.targets.errors import PathRefusedError
from iotide_wire.facts import MountFacts

_LONGEST_PATH = 4096


def clean_path(path: str) -> str:
    """The path in its one spelling.

    Raises:
        PathRefusedError: it is relative, the root, has `..` in it, or holds characters that no directory should.
    """
    if not path.startswith("/"):
        raise PathRefusedError(path, "not an absolute path", "begin it with /")
    if len(path) > _LONGEST_PATH or not path.isprintable():
        raise PathRefusedError(path, "too long, or has unprintable characters in it", "give the path of a directory")
    parts = PurePosixPath("/", path.lstrip("/"))
    if ".." in parts.parts:
        raise PathRefusedError(path, "has .. in it", "give the path of the directory itself")
    if parts == PurePosixPath("/"):
        raise PathRefusedError(path, "the root of the file system", "give a directory made for benchmarks")
    return str(parts)


def is_at_or_below(path: str, directory: str) -> bool:
    """Whether `path` is `directory` or inside it."""
    return PurePosixPath(path).is_relative_to(directory)


def is_approved(path: str, approved_directories: Collection[str]) -> bool:
    """Whether runs may write below `path`."""
    return any(is_at_or_below(path, directory) for directory in approved_directories)


def mount_of(path: str, mounts: Iterable[MountFacts]) -> MountFacts | None:
    """The mount that holds `path`: of those above it the deepest, and of several at one point the last announced.

    Of one mount's entries, that of an approved directory above `path` is taken: it alone knows the space.
    """
    above = [mount for mount in mounts if is_at_or_below(path, mount.mount_point)]

    def nearness(mount: MountFacts) -> tuple[int, int]:
        is_above = is_at_or_below(path, mount.path)
        return len(PurePosixPath(mount.mount_point).parts), len(PurePosixPath(mount.path).parts) if is_above else 0

    return max(reversed(above), key=nearness, default=None)


def guard_problem(frozen: tuple[str, str], now: MountFacts | None) -> str | None:
    """Why a target's mount is not the one that was frozen as (fstype, source); None when it is."""
    if now is None:
        return "nothing is mounted there any more; mount it again, or retire the target"
    if (now.fstype, now.source) == frozen:
        return None
    fstype, source = frozen
    return (
        f"{now.fstype} from {now.source} is mounted there, and the target was made on {fstype} from {source};"
        " mount that again, or accept the new mount on the target's page"
    )
