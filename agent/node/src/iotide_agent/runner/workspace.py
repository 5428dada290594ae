"""A run's own directory on a target: created only below an approved one, marked, and removed by its mark."""

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
"""Minimum share of the need to keep free, if the target's reserve is smaller."""
SPARE_FILES_RATIO: Final = 0.05
"""Share of a file system's files that stay available to other users."""

_PARENT: Final = b', "parent": '
_MARKER_BYTES: Final = 32_768
"""JSON uses up to six bytes for a byte of a path."""
_READ_MARKER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_MARKER: Final = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO})
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
"""Errors of a mount with a lost server or device, or with damaged data; no wrong setting causes them."""


class TargetRefusedError(Exception):
    """The target is not as the order expects, or has changed; `code` is a stable reason code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def refused_by(error: OSError, code: str, reason: str, mount: MountLine | None = None) -> TargetRefusedError:
    """Return the refusal for a system error: `target_fails` if this node's mount is broken, otherwise `code`.

    A file system that refuses files on a writable mount became read-only after an error.
    """
    turned_read_only = error.errno == errno.EROFS and mount is not None and "ro" not in mount.options.split(",")
    if turned_read_only or error.errno in _ILL:
        return TargetRefusedError("target_fails", f"{reason}; restore its server or device, then remount it")
    return TargetRefusedError(code, reason)


class MadePlace(NamedTuple):
    target_id: int
    directory: str
    mount: MountLine
    total_bytes: int
    free_bytes: int
    direct_works: bool


def open_beneath(approved: Sequence[str], path: str) -> tuple[int, str]:
    """Open the directory `path` at or below an approved one, and return its path without symbolic links.

    An approved directory may be reached through symbolic links, because its admin wrote it; below it they are
    refused. In each directory from `/` on, only this user and root may rename entries: any other user could exchange
    a run's directory. Raise TargetRefusedError. `approved` has the directories as configured and as the agent
    resolved them.
    """
    if ".." in PurePosixPath(path).parts or "\0" in path:
        reason = f"{path!r} contains '..' or a zero byte; use the path of the directory itself"
        raise TargetRefusedError("directory_not_approved", reason)
    for root in approved:
        for base in (root, os.path.realpath(root)):
            if PurePosixPath(path).is_relative_to(base):
                descriptor, real = _open(root, links=True)
                os.close(descriptor)
                if real not in approved:
                    reason = f"{root} leads to {real} now, but not when the agent started; approve {real} itself"
                    raise TargetRefusedError("directory_not_approved", reason)
                below, real_path = _open(str(PurePosixPath(real, PurePosixPath(path).relative_to(base))), links=False)
                with closing(below):
                    return os.open(".", OPEN_DIRECTORY, dir_fd=below), real_path
    raise TargetRefusedError(
        "directory_not_approved",
        f"{path} is not below an approved directory of this node ({', '.join(approved) or 'none'}); "
        "add it to approved_directories in agent.toml",
    )


def _open(path: str, *, links: bool) -> tuple[int, str]:
    try:
        return open_walled(path, links=links)
    except OpenToOthersError as error:
        raise TargetRefusedError("directory_open_to_others", str(error)) from error
    except FileNotFoundError as error:
        sentence = f"{error.filename} does not exist; create it or mount the target"
        raise TargetRefusedError("target_missing", sentence) from error
    except NotADirectoryError as error:
        reason = f"{error.filename} is a symbolic link or not a directory; below an approved directory neither is"
        raise TargetRefusedError("directory_not_approved", f"{reason} entered") from error
    except PermissionError as error:
        reason = f"{error.filename} cannot be entered by user {os.geteuid()}; give it access to the directory above"
        raise TargetRefusedError("target_error", reason) from error
    except OSError as error:
        reason = f"{error.filename or path} cannot be entered: {error.strerror}"
        raise refused_by(error, "target_error", reason) from error


def make_place(card: Card, target: TargetCard) -> MadePlace:
    """Check mount and space of a target, create the run's marked directory on it and test O_DIRECT there.

    For a run that only reads, and on a target that the head of a gang makes, nothing is created or tested. Raise
    TargetRefusedError.
    """
    parent, path = open_beneath(card.approved, target.path)
    try:
        mount = check_mount(parent, target)
        total_bytes, free_bytes = _check_space(parent, target)
        _check_files(parent, target)
        if not target.writes:
            directory = f"{path}/{card.directory_name}" if target.shared else path
            return MadePlace(target.target_id, directory, mount, total_bytes, free_bytes, direct_works=True)
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

    An unmounted target is a plain directory below it, often of the root disk, sometimes with the same type and
    source.
    """
    mount = mount_of(descriptor)
    mount_point = mount.mount_point if target.mount_point is None else target.mount_point
    root = mount.root if target.root is None else target.root
    expected = mount._replace(fstype=target.fstype, source=target.source, mount_point=mount_point, root=root)
    if mount != expected:
        raise TargetRefusedError(
            "wrong_mount",
            f"{target.path} is on {_shown(mount)}, but the target is {_shown(expected)}; "
            "mount it, or accept on the target's page what is mounted now",
        )
    return mount


def _shown(mount: MountLine) -> str:
    bound = "" if mount.root == "/" else f", its directory {mount.root},"
    return f"{mount.fstype} from {mount.source!r}{bound} at {mount.mount_point}"


def verify(path: str, expected: os.stat_result) -> None:
    try:
        found = Path(path).stat(follow_symlinks=False)
    except OSError as error:
        raise TargetRefusedError("wrong_mount", f"{path} disappeared during the run: {error.strerror}") from error
    if (found.st_dev, found.st_ino) != (expected.st_dev, expected.st_ino):
        raise TargetRefusedError("wrong_mount", f"{path} no longer leads to the run's directory")


def refuses_files(path: str, expected: os.stat_result) -> bool:
    """Return true if a trial file in this run's directory is refused as read-only; false for another directory."""
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
    """Its location differs in a copy."""
    return _of_order(order_id, fence, agent) + _PARENT + json.dumps(parent).encode() + b"}"


def _of_order(order_id: int, fence: int, agent: str) -> bytes:
    named = {"agent": agent} if agent else {}
    return json.dumps({"made_by": "iotide-agent", "order_id": order_id, "fence": fence} | named).encode()[:-1]


def read_marker(name: str, parent: int) -> bytes | None:
    """Return the mark of the directory `name` in the open directory `parent`, or None.

    Only a plain file is a mark: opening a FIFO would wait for its writer.
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
    try:
        return read_marker(card.directory_name, parent) == _mark(card, path)
    except FileNotFoundError:
        return False


def has_mark_of(parent: int, name: str, order_id: int, fence: int) -> bool:
    """Check for a mark of that attempt, whatever its agent and path; raise FileNotFoundError without a directory."""
    marker = read_marker(name, parent)
    return marker is not None and marker.startswith(_of_order(order_id, fence, "") + b", ")


def remove_marked(parent: int, card: Card) -> bool:
    """Remove the run's directory in the open directory `parent`; return false if it does not exist.

    Raise TargetRefusedError if it is not empty and has no mark of this order, or if something is mounted inside. That
    mount stays, and everything else is removed.
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
            reason = f"{', '.join(foreign)}: another file system is mounted there and was kept; unmount it"
            raise TargetRefusedError("foreign_mount", reason)
        os.unlink(MARKER, dir_fd=directory)
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError:
            # something still writes here; the mark must identify the directory next time
            _write_marker(directory, marker)
            raise
    return True


def _mark(card: Card, parent: str) -> bytes:
    return mark(card.order_id, card.fence, card.agent, parent)


def _is_of(card: Card, marker: bytes) -> bool:
    """Compare with the card's order; marks of older agents have no agent name, and a quota may truncate a mark."""
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
            "must remain; free some space or reduce the run's sizes",
        )
    return space.f_blocks * space.f_frsize, free_bytes


def _check_files(parent: int, target: TargetCard) -> None:
    """Skip file systems that create inodes on demand: they report none at all."""
    space = os.statvfs(parent)
    spare_files = max(int(target.files_needed * SPARE_RATIO), int(space.f_files * SPARE_FILES_RATIO))
    if target.writes and target.files_needed and space.f_files and space.f_favail < target.files_needed + spare_files:
        raise TargetRefusedError(
            "no_files",
            f"{target.path} has room for {space.f_favail} more files; the run creates {target.files_needed} and room "
            f"for {spare_files} must remain; remove some files or reduce the run's files",
        )


def _make_marked(parent: int, path: str, card: Card, mount: MountLine) -> None:
    name = card.directory_name
    if remove_marked(parent, card):  # left by a killed runner of the same order before its load began
        sys.stderr.write(f"removed order_id={card.order_id} path={path}/{name}\n")
    try:
        os.mkdir(name, mode=0o700, dir_fd=parent)
        with opened_below(name, parent) as directory:
            _write_marker(directory, _mark(card, path))
    except OSError as error:
        reason = f"{path}/{name} cannot be created: {error.strerror} for user {os.geteuid()}"
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
            "directory_not_marked", f"{name} has no mark of this order and is not empty; it was kept"
        ) from error
