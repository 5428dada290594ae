"""Creates, looks up or removes many empty files and prints how long that took; a process like any other load.

Usage: create_files.py create|touch|stat|delete DIRECTORY PREFIX DIRECTORIES COUNT

The files are spread over DIRECTORIES directories below DIRECTORY, which several processes with different prefixes may
share.

Prints one line of JSON on stdout when all is done, `done N` about once a second on stderr. Ends with status 1 and a
message at the first error. Needs the standard library alone, so it runs with `python -I -S`.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_REPORT_EVERY = 256


class Files(NamedTuple):
    """What one process works on.

    Attributes:
        directories: open, in the order in which the files go round them.
        paths: of these directories.
    """

    prefix: str
    file_count: int
    directories: tuple[int, ...]
    paths: tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Runs one operation; the exit status is 0, 1 for a failed operation, 2 for a wrong call."""
    match arguments:
        case [operation, directory, prefix, directories, count] if (
            operation in _OPERATIONS and directories.isdecimal() and count.isdecimal()
        ):
            pass
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    paths = tuple(f"{directory}/d{number}" for number in range(int(directories)))
    try:
        if operation in _MAKING:
            for path in paths:
                Path(path).mkdir(0o700, parents=True, exist_ok=True)
        opened = tuple(os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in paths)
        result = _OPERATIONS[operation](Files(prefix, int(count), opened, paths))
    except OSError as error:
        sys.stderr.write(f"create_files: {operation} in {directory}: {error.strerror} ({error.filename})\n")
        return 1
    sys.stdout.write(json.dumps({"operation": operation, "file_count": int(count), **result}) + "\n")
    return 0


def _create(files: Files) -> dict[str, float]:
    def create(name: str, directory: int) -> None:
        fd = files.directories[directory]
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=fd))

    return {"seconds": _timed(create, files), "directory_fsync_seconds": _timed_fsync(files)}


def _touch(files: Files) -> dict[str, float]:
    """As a shell loop does it: one process of the real touch for each file."""
    program = shutil.which("touch")
    if program is None:
        raise FileNotFoundError(2, "touch is not on PATH; install the package coreutils", "touch")

    def touch(name: str, directory: int) -> None:
        path = f"{files.paths[directory]}/{name}"
        child = os.posix_spawn(program, ("touch", path), os.environ)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise OSError(status, f"touch ended with status {os.waitstatus_to_exitcode(status)}", path)

    return {"seconds": _timed(touch, files), "directory_fsync_seconds": _timed_fsync(files)}


def _stat(files: Files) -> dict[str, float]:
    return {"seconds": _timed(lambda name, directory: os.stat(name, dir_fd=files.directories[directory]), files)}


def _delete(files: Files) -> dict[str, float]:
    return {"seconds": _timed(lambda name, directory: os.unlink(name, dir_fd=files.directories[directory]), files)}


def _timed(operate: Callable[[str, int], object], files: Files) -> float:
    """Seconds for `operate` on every file's name and the number of its directory."""
    started = time.monotonic()
    told = started
    for number in range(files.file_count):
        operate(f"{files.prefix}{number:08d}", number % len(files.directories))
        if number % _REPORT_EVERY == 0 and time.monotonic() - told >= 1:
            told = time.monotonic()
            sys.stderr.write(f"done {number + 1}\n")
    return time.monotonic() - started


def _timed_fsync(files: Files) -> float:
    started = time.monotonic()
    for directory in files.directories:
        os.fsync(directory)
    return time.monotonic() - started


_MAKING = frozenset({"create", "touch"})
_OPERATIONS: dict[str, Callable[[Files], dict[str, float]]] = {
    "create": _create,
    "touch": _touch,
    "stat": _stat,
    "delete": _delete,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
