"""The run's own directory on a target: made only below an approved one, marked, and removed by that mark."""

import errno
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.direct import try_direct
from iotide_agent.runner.emptying import OPEN_DIRECTORY, empty_directory, opened_below
from iotide_agent.runner.files import closing
from iotide_agent.runner.mounts import MountLine, mount_id_of, mount_of
from iotide_agent.runner.walls import OpenToOthersError, open_walled

MARKER: Final = ".iotide-marker"
SPARE_RATIO: Final = 0.1
"""Space that must remain above the need, as a share of the need, where the target's reserve asks for less."""
SPARE_FILES_RATIO: Final = 0.05
"""Of all files that a file system can hold, so many may still be made by others whatever a run makes."""

_PARENT: Final = b', "parent": '
_MARKER_BYTES: Final = 32_768
"""More than any mark has: JSON writes a byte of a path in up to six."""
_READ_MARKER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_MARKER: Final = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO})
"""There is none, it is a symbolic link, or a socket."""
_ILL: Final = frozenset(
    {
        errno.EIO,
        errno.ESTALE,
        errno.ENOTCONN,
        errno.ESHUTDOWN,
        errno.ETIMEDOUT,
        errno.EREMOTEIO,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.ECONNABORTED,
        errno.ENODEV,
        errno.ENXIO,
        errno.EUCLEAN,
        errno.EBADMSG,
    }
)
"""Errors of a mount that has lost its server or device, or whose data are damaged; no wrong setting leads to them."""


class TargetRefusedError(Exception):
    """The target is not as the order says, or no longer as it was; `code` is a stable reason code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def refused_by(error: OSError, code: str, reason: str, mount: MountLine | None = None) -> TargetRefusedError:
    """Return the refusal for an error of the system: `target_fails` where this node's mount is ill, else `code`.

    A mount that is not mounted read-only and refuses files turned read-only by itself.
    """
    turned_read_only = error.errno == errno.EROFS and mount is not None and "ro" not in mount.options.split(",")
    if turned_read_only or error.errno in _ILL:
        return TargetRefusedError("target_fails", f"{reason}; restore its server or device, then remount it")
    return TargetRefusedError(code, reason)


class MadePlace(NamedTuple):
    """The run's directory on one target, without symbolic links, and whether O_DIRECT goes past the cache there."""

    target_id: int
    directory: str
    mount: MountLine
    total_bytes: int
    free_bytes: int
    direct_works: bool


def open_beneath(approved: Sequence[str], path: str) -> tuple[int, str]:
    """Open the directory `path`, which lies at or below an approved one, and return its path without symbolic links.

    The approved directory itself may be reached through symbolic links, as its administrator wrote it; below it a
    symbolic link is refused, so no link placed there leads out. Each directory from `/` on must be such that only this
    user and root can rename what lies in it, or a run's directory could be exchanged for another. Raise
    TargetRefusedError for a path outside, behind a symbolic link, open to others, or absent. `approved` has directories
    as configured, and as they were without symbolic links when the agent looked at them.
    """
    if ".." in PurePosixPath(path).parts or "\0" in path:
        reason = f"{path!r} holds '..' or a zero byte; name the directory itself"
        raise TargetRefusedError("directory_not_approved", reason)
    for root in approved:
        for base in (root, os.path.realpath(root)):
            if PurePosixPath(path).is_relative_to(base):
                descriptor, real = _open(root, links=True)
                os.close(descriptor)
                if real not in approved:
                    reason = f"{root} leads to {real} now, but did not when the agent looked; approve {real} itself"
                    raise TargetRefusedError("directory_not_approved", reason)
                below, real_path = _open(str(PurePosixPath(real, PurePosixPath(path).relative_to(base))), links=False)
                with closing(below):
                    return os.open(".", OPEN_DIRECTORY, dir_fd=below), real_path
    raise TargetRefusedError(
        "directory_not_approved",
        f"{path} is not below an approved directory of this node ({', '.join(approved) or 'none is approved'}); "
        "add it to approved_directories in agent.toml",
    )


def _open(path: str, *, links: bool) -> tuple[int, str]:
    try:
        return open_walled(path, links=links)
    except OpenToOthersError as error:
        raise TargetRefusedError("directory_open_to_others", str(error)) from error
    except FileNotFoundError as error:
        sentence = f"{error.filename} does not exist; make it or mount the target"
        raise TargetRefusedError("target_missing", sentence) from error
    except NotADirectoryError as error:
        reason = f"{error.filename} is a symbolic link or no directory; below an approved directory only real ones are"
        raise TargetRefusedError("directory_not_approved", f"{reason} entered") from error
    except PermissionError as error:
        reason = f"{error.filename} cannot be entered by user {os.geteuid()}: let that user pass the directory above it"
        raise TargetRefusedError("target_error", reason) from error
    except OSError as error:
        reason = f"{error.filename or path} cannot be entered: {error.strerror}"
        raise refused_by(error, "target_error", reason) from error


def make_place(card: Card, target: TargetCard) -> MadePlace:
    """Check mount and space of a target, make the run's marked directory on it and try O_DIRECT there.

    Where the run only reads, nothing is made or tried: what refuses O_DIRECT says so when it is opened. Raise
    TargetRefusedError with what was found and expected, and in numbers what is lacking.
    """
    parent, path = open_beneath(card.approved, target.path)
    try:
        mount = check_mount(parent, target)
        total_bytes, free_bytes = _check_space(parent, target)
        _check_files(parent, target)
        if not target.writes:
            return MadePlace(target.target_id, path, mount, total_bytes, free_bytes, direct_works=True)
        _make_marked(parent, path, card, mount)
        directory = f"{path}/{card.directory_name}"
        with opened_below(card.directory_name, parent) as made:
            direct_works = try_direct(made)
        return MadePlace(target.target_id, directory, mount, total_bytes, free_bytes, direct_works)
    except OSError as error:
        reason = f"{path} cannot be used: {error.strerror or error}"
        raise refused_by(error, "target_error", reason) from error
    finally:
        os.close(parent)


def check_mount(descriptor: int, target: TargetCard) -> MountLine:
    """Return the mount of an open directory; raise TargetRefusedError unless it is the target's.

    An unmounted target is a plain directory of whatever lies below it, often of the root disk, and at times of a file
    system with the same type and source.
    """
    mount = mount_of(descriptor)
    mount_point = mount.mount_point if target.mount_point is None else target.mount_point
    root = mount.root if target.root is None else target.root
    expected = mount._replace(fstype=target.fstype, source=target.source, mount_point=mount_point, root=root)
    if mount != expected:
        raise TargetRefusedError(
            "wrong_mount",
            f"{target.path} stands on {_shown(mount)}, but the target is {_shown(expected)}; "
            "mount it, or accept on the target's page what is mounted now",
        )
    return mount


def _shown(mount: MountLine) -> str:
    bound = "" if mount.root == "/" else f", its directory {mount.root},"
    return f"{mount.fstype} from {mount.source!r}{bound} at {mount.mount_point}"


def verify(path: str, expected: os.stat_result) -> None:
    """Check that `path` still leads to the directory that was made; raise TargetRefusedError."""
    try:
        found = Path(path).stat(follow_symlinks=False)
    except OSError as error:
        raise TargetRefusedError("wrong_mount", f"{path} disappeared during the run: {error.strerror}") from error
    if (found.st_dev, found.st_ino) != (expected.st_dev, expected.st_ino):
        raise TargetRefusedError("wrong_mount", f"{path} leads to another directory than when the run began")


def refuses_files(path: str, expected: os.stat_result) -> bool:
    """Whether the file system says, of a trial in this directory of ours, that it is read-only.

    Nothing is tried where the path leads elsewhere than to the directory that was made.
    """
    name = ".iotide-write-trial"
    try:
        directory = os.open(path, OPEN_DIRECTORY)
    except OSError:
        return False
    with closing(directory):
        if not os.path.samestat(os.fstat(directory), expected):
            return False
        try:
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=directory))
            os.unlink(name, dir_fd=directory)
        except OSError as error:
            return error.errno == errno.EROFS
    return False


def mark(order_id: int, fence: int, agent: str, parent: str) -> bytes:
    """What a run's directory says of its order, of the agent that made it and of where: a copy lies elsewhere."""
    return _of_order(order_id, fence, agent) + _PARENT + json.dumps(parent).encode() + b"}"


def _of_order(order_id: int, fence: int, agent: str) -> bytes:
    named = {"agent": agent} if agent else {}
    return json.dumps({"made_by": "iotide-agent", "order_id": order_id, "fence": fence} | named).encode()[:-1]


def read_marker(name: str, parent: int) -> bytes | None:
    """The mark of the directory `name` below the open directory `parent`, or None where it bears none.

    What is no plain file of that name is no mark; to open a FIFO as one would wait for who writes to it.
    """
    with opened_below(name, parent) as directory:
        try:
            marker = os.open(MARKER, _READ_MARKER, dir_fd=directory)
        except OSError as error:
            if error.errno in _NO_MARKER:
                return None
            raise
        with closing(marker):
            is_plain = stat.S_ISREG(os.fstat(marker).st_mode)
            return os.read(marker, _MARKER_BYTES) if is_plain else None


def has_marked(parent: int, path: str, card: Card) -> bool:
    """Whether the run's directory, made at `path`, lies below the open directory `parent`."""
    try:
        return read_marker(card.directory_name, parent) == _mark(card, path)
    except FileNotFoundError:
        return False


def remove_marked(parent: int, card: Card) -> bool:
    """Remove the run's directory below the open directory `parent`; return false where there was none.

    Raise TargetRefusedError where it bears no mark of this order and is not empty, so it may be somebody else's; or
    where something is mounted in it, which is left alone while all the rest is removed.
    """
    name = card.directory_name
    try:
        marker = read_marker(name, parent)
    except FileNotFoundError:
        return False
    if marker is None or not _is_of(card, marker):
        _remove_unmarked(name, parent)
        return True
    with opened_below(name, parent) as directory:
        foreign = empty_directory(directory, mount_id_of(parent), name, keep=MARKER)
        if foreign:
            reason = f"{', '.join(foreign)}: another mount lies there, which was left alone; unmount it"
            raise TargetRefusedError("foreign_mount", reason)
        os.unlink(MARKER, dir_fd=directory)
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError:
            _write_marker(directory, marker)  # something still writes here; it must be known as ours the next time
            raise
    return True


def _mark(card: Card, parent: str) -> bytes:
    return mark(card.order_id, card.fence, card.agent, parent)


def _is_of(card: Card, marker: bytes) -> bool:
    """Whether a mark is of the card's order, wherever it was made; of before marks said so it says nothing of that.

    A quota may cut the mark short or leave it empty, though not make such a file of this name.
    """
    own = _of_order(card.order_id, card.fence, card.agent)
    return (own + _PARENT).startswith(marker) or marker.startswith((own + _PARENT, own + b"}"))


def _check_space(parent: int, target: TargetCard) -> tuple[int, int]:
    space = os.statvfs(parent)
    free_bytes = space.f_bavail * space.f_frsize
    spare_bytes = max(int(target.bytes_needed * SPARE_RATIO), target.reserve_bytes)
    if target.writes and free_bytes < target.bytes_needed + spare_bytes:
        raise TargetRefusedError(
            "no_space",
            f"{target.path} has {free_bytes} bytes free; the run needs {target.bytes_needed} and {spare_bytes} "
            "must remain; free some space or ask for less",
        )
    return space.f_blocks * space.f_frsize, free_bytes


def _check_files(parent: int, target: TargetCard) -> None:
    """A file system that makes room for files as they come says that it has none at all, and is left out."""
    space = os.statvfs(parent)
    spare_files = max(int(target.files_needed * SPARE_RATIO), int(space.f_files * SPARE_FILES_RATIO))
    if target.writes and target.files_needed and space.f_files and space.f_favail < target.files_needed + spare_files:
        raise TargetRefusedError(
            "no_files",
            f"{target.path} has room for {space.f_favail} more files; the run makes {target.files_needed} and room for "
            f"{spare_files} must remain; remove some files or ask for less",
        )


def _make_marked(parent: int, path: str, card: Card, mount: MountLine) -> None:
    name = card.directory_name
    if remove_marked(parent, card):  # left by a runner of this same order that was killed before its load began
        sys.stderr.write(f"removed order_id={card.order_id} path={path}/{name}\n")
    try:
        os.mkdir(name, mode=0o700, dir_fd=parent)
        with opened_below(name, parent) as directory:
            _write_marker(directory, _mark(card, path))
    except OSError as error:
        reason = f"{path}/{name} cannot be made: {error.strerror} for user {os.geteuid()}"
        raise refused_by(error, "not_writable", reason, mount) from error


def _write_marker(directory: int, text: bytes) -> None:
    marker = os.open(MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=directory)
    with closing(marker):
        if os.write(marker, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _remove_unmarked(name: str, parent: int) -> None:
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError as error:
        raise TargetRefusedError(
            "directory_not_marked", f"{name} bears no mark of this order and is not empty; it was left alone"
        ) from error
