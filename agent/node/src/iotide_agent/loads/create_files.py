"""Creates, looks up or removes many empty files and prints how long that took; a process like any other load.

Usage: create_files.py create|touch|stat|delete DIRECTORY COUNT

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

_REPORT_EVERY = 256


def main(arguments: list[str]) -> int:
    """Runs one operation; the exit status is 0, 1 for a failed operation, 2 for a wrong call."""
    if len(arguments) != 3 or arguments[0] not in _OPERATIONS or not arguments[2].isdecimal():  # noqa: PLR2004 - usage
        sys.stderr.write(__doc__ or "")
        return 2
    operation, directory, count = arguments[0], arguments[1], int(arguments[2])
    try:
        result = _OPERATIONS[operation](directory, count)
    except OSError as error:
        sys.stderr.write(f"create_files: {operation} in {directory}: {error.strerror} ({error.filename})\n")
        return 1
    sys.stdout.write(json.dumps({"operation": operation, "file_count": count, **result}) + "\n")
    return 0


def _create(directory: str, count: int) -> dict[str, float]:
    directory_fd = _make_directory(directory)

    def create(name: str) -> None:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=directory_fd))

    seconds = _timed(create, count)
    return {"seconds": seconds, "directory_fsync_seconds": _timed_fsync(directory_fd)}


def _touch(directory: str, count: int) -> dict[str, float]:
    """As a shell loop does it: one process of the real touch for each file."""
    program = shutil.which("touch")
    if program is None:
        raise FileNotFoundError(2, "touch is not on PATH; install the package coreutils", "touch")
    directory_fd = _make_directory(directory)

    def touch(name: str) -> None:
        path = f"{directory}/{name}"
        child = os.posix_spawn(program, ("touch", path), os.environ)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise OSError(status, f"touch ended with status {os.waitstatus_to_exitcode(status)}", path)

    seconds = _timed(touch, count)
    return {"seconds": seconds, "directory_fsync_seconds": _timed_fsync(directory_fd)}


def _stat(directory: str, count: int) -> dict[str, float]:
    directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    return {"seconds": _timed(lambda name: os.stat(name, dir_fd=directory_fd), count)}


def _delete(directory: str, count: int) -> dict[str, float]:
    directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    return {"seconds": _timed(lambda name: os.unlink(name, dir_fd=directory_fd), count)}


def _make_directory(directory: str) -> int:
    Path(directory).mkdir(0o700)
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY)


def _timed(operate: Callable[[str], object], count: int) -> float:
    """Seconds for `operate` on every file name."""
    started = time.monotonic()
    told = started
    for number in range(count):
        operate(f"f{number:08d}")
        if number % _REPORT_EVERY == 0 and time.monotonic() - told >= 1:
            told = time.monotonic()
            sys.stderr.write(f"done {number + 1}\n")
    return time.monotonic() - started


def _timed_fsync(directory_fd: int) -> float:
    started = time.monotonic()
    os.fsync(directory_fd)
    return time.monotonic() - started


_OPERATIONS: dict[str, Callable[[str, int], dict[str, float]]] = {
    "create": _create,
    "touch": _touch,
    "stat": _stat,
    "delete": _delete,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
