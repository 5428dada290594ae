"""Opening of paths that only root and this user can redirect.

It needs only the standard library: the runner imports it, and the agent runs it as a program, in case a mount hangs.
"""

import errno
import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.runner.users import Ids, acting_as

_DIRECTORY: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""O_DIRECTORY makes the kernel mount an automounter's directory."""
_ANYTHING: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_MOST_LINKS: Final = 40


class OpenToOthersError(Exception):
    """Another user could exchange what a path leads to; the text ends with the remedy."""


def open_walled(path: str, *, links: bool = True, judges_last: bool = True) -> tuple[int, str]:
    """Open an absolute `path` by components from `/`, checking each directory.

    Return an O_PATH descriptor and the path without symbolic links, which are followed if `links`. `judges_last`
    includes a final directory. Raise OpenToOthersError, or OSError with the component as `filename` if one is missing
    or cannot be entered.
    """
    waiting = list(reversed(PurePosixPath(path).parts[1:]))
    links_left = _MOST_LINKS if links else 0
    descriptor, real = os.open("/", _DIRECTORY), PurePosixPath("/")
    try:
        _judge(str(real), os.fstat(descriptor))
        while waiting:
            part = waiting.pop()
            below_path = real.parent if part == ".." else real / part
            below = _open_part(part, descriptor, str(below_path), any_kind=links)
            with closing(below):
                found = os.fstat(below)
                if stat.S_ISLNK(found.st_mode):
                    _judge_link(str(below_path), found, os.fstat(descriptor))
                    _require(links_left > 0, errno.ELOOP, str(below_path))
                    links_left -= 1
                    target = PurePosixPath(os.readlink("", dir_fd=below))
                    waiting += reversed(target.parts[target.is_absolute() :])
                    if target.is_absolute():
                        _move(descriptor, os.open("/", _DIRECTORY))
                        real = PurePosixPath("/")
                    continue
                is_directory = stat.S_ISDIR(found.st_mode)
                _require(is_directory or not waiting, errno.ENOTDIR, str(below_path))
                if is_directory and (waiting or judges_last):
                    _judge(str(below_path), found)
                _move(descriptor, os.dup(below))
                real = below_path
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, str(real)


def why_open_to_others(path: str, found: os.stat_result) -> str | None:
    own = os.geteuid()
    if found.st_uid not in {0, own}:
        return (
            f"{path} belongs to user {found.st_uid}, who could exchange its content; "
            f"chown {own} {path}, or use a path outside it"
        )
    if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
        return (
            f"{path} has mode {stat.S_IMODE(found.st_mode):04o} (user {found.st_uid}, group {found.st_gid}), so other "
            f"users could exchange its content; chmod go-w {path} or chmod +t {path}, "
            "or use a path outside it"
        )
    return None


def why_changeable(path: str) -> str | None:
    """Return why other users could change or exchange a file, with the remedy, or None; raise OSError."""
    try:
        descriptor, real = open_walled(path)
    except OpenToOthersError as error:
        return str(error)
    with closing(descriptor):
        found = os.fstat(descriptor)
    if found.st_uid not in {0, os.geteuid()}:
        return f"{real} belongs to user {found.st_uid}, who could change it; chown root {real}"
    if found.st_mode & _OTHERS_WRITE and not stat.S_ISDIR(found.st_mode):
        return f"{real} has mode {stat.S_IMODE(found.st_mode):04o}, so other users could change it; chmod go-w {real}"
    return None


def program_of(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the path of the program that a command starts, or its first word if the program does not exist.

    Arguments that name a program are checked too, such as a script after its interpreter. Raise OpenToOthersError.
    """
    for directory in ("",) if "/" in argv[0] else os.get_exec_path(environment):
        program = os.path.abspath(os.path.join(directory, argv[0]))  # noqa: PTH100, PTH118 - no Path: start-up time
        if _is_program(program):
            for path in (program, *(word for word in argv[1:] if word.startswith("/") and _is_program(word))):
                reason = why_program_changeable(path)
                if reason is not None:
                    raise OpenToOthersError(reason)
            return program
    return argv[0]


def why_program_changeable(program: str) -> str | None:
    """Like `why_changeable`, except for the agent's interpreter, on which the agent itself depends."""
    own = os.path.realpath(program) == os.path.realpath(sys.executable)
    return None if own else why_changeable(program)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113 - no Path: start-up time


def _open_part(name: str, above: int, path: str, *, any_kind: bool) -> int:
    try:
        try:
            return os.open(name, _DIRECTORY, dir_fd=above)
        except NotADirectoryError:
            if not any_kind:
                raise
            return os.open(name, _ANYTHING, dir_fd=above)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _require(holds: bool, number: int, path: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise OSError(number, os.strerror(number), path)


def _judge(path: str, found: os.stat_result) -> None:
    reason = why_open_to_others(path, found)
    if reason is not None:
        raise OpenToOthersError(reason)


def _judge_link(path: str, found: os.stat_result, above: os.stat_result) -> None:
    """Refuse another user's link in a directory where others may create names, such as a sticky one."""
    if found.st_uid not in {0, os.geteuid()} and above.st_mode & _OTHERS_WRITE:
        reason = f"the symbolic link {path} belongs to user {found.st_uid}, who could redirect it; "
        raise OpenToOthersError(f"{reason}use the path that it leads to")


def _move(to: int, source: int) -> None:
    with closing(source):
        os.dup2(source, to, inheritable=False)


def print_reasons(ids: Ids, paths: list[str]) -> None:
    """Print a JSON list: why other users could redirect each path, or why the user `ids` cannot use it."""
    with acting_as(ids):
        print(json.dumps([_why(path, ids) for path in paths]))  # noqa: T201 - the answer of a program


def _why(path: str, ids: Ids) -> str | None:
    try:
        descriptor, real = open_walled(path)
    except OpenToOthersError as error:
        return str(error)
    except OSError as error:
        words = f"{error.filename}: {error.strerror} for user {ids[0]}" if ids else ""
        return f"{words}; create it and give that user access, or use another path" if ids else None
    with closing(descriptor):
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    if ids and not os.access(real, os.X_OK | (os.W_OK if is_directory else os.R_OK), effective_ids=True):
        use = "create directories in" if is_directory else "start"
        return f"user {ids[0]} may not {use} {real}; chown {ids[0]} {real}, or use another path"
    return None
