"""Creates, looks up or removes many empty files and prints how long that took.

Usage: create_files.py create|touch|stat|delete MEETING PROCESSES DIRECTORY PREFIX DIRECTORIES COUNT

Spreads the files over DIRECTORIES directories below DIRECTORY, and waits in the file MEETING until PROCESSES are
ready. Prints one line of JSON on stdout at the end, and `done N SECONDS` on stderr about once a second and at any
end. Exits with 1 at the first error, with 130 on SIGINT. Runs with `python -I -S`.
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
_LOOK_SECONDS = 0.005


class CreatedFiles(NamedTuple):
    """Only `directory` stays open: it may hold more directories than there are descriptors."""

    meeting: str
    processes: int
    directory: str
    descriptor: int
    directories: int
    prefix: str
    file_count: int


def main(arguments: list[str]) -> int:
    match arguments:
        case [operation, meeting, processes, directory, prefix, directories, count] if (
            operation in _OPERATIONS and processes.isdecimal() and directories.isdecimal() and count.isdecimal()
        ):
            pass
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    try:
        if operation in _MAKING:
            for number in range(int(directories)):
                Path(f"{directory}/d{number}").mkdir(0o700, parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        files = CreatedFiles(meeting, int(processes), directory, descriptor, int(directories), prefix, int(count))
        result = _OPERATIONS[operation](files)
    except OSError as error:
        sys.stderr.write(f"create_files: {operation} in {directory}: {error.strerror} ({error.filename})\n")
        return 1
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(json.dumps({"operation": operation, "file_count": int(count), **result}) + "\n")
    return 0


def _create(files: CreatedFiles) -> dict[str, float]:
    def create(path: str) -> None:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=files.descriptor))

    return _timed(create, files) | {"directory_fsync_seconds": _timed_fsync(files)}


def _touch(files: CreatedFiles) -> dict[str, float]:
    program = shutil.which("touch")
    if program is None:
        raise FileNotFoundError(2, "touch is not on PATH; install the package coreutils", "touch")

    def touch(path: str) -> None:
        child = os.posix_spawn(program, ("touch", f"{files.directory}/{path}"), os.environ)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise OSError(status, f"touch ended with status {os.waitstatus_to_exitcode(status)}", path)

    return _timed(touch, files) | {"directory_fsync_seconds": _timed_fsync(files)}


def _stat(files: CreatedFiles) -> dict[str, float]:
    return _timed(lambda path: os.stat(path, dir_fd=files.descriptor), files)


def _delete(files: CreatedFiles) -> dict[str, float]:
    return _timed(lambda path: os.unlink(path, dir_fd=files.descriptor), files)


def _timed(operate: Callable[[str], object], files: CreatedFiles) -> dict[str, float]:
    """Return start (CLOCK_MONOTONIC) and duration of `operate` on every file."""
    _meet(files)
    done = 0
    started = reported_at = time.monotonic()
    try:
        while done < files.file_count:
            operate(f"d{done % files.directories}/{files.prefix}{done:08d}")
            done += 1
            if done % _REPORT_EVERY == 0 and time.monotonic() - reported_at >= 1:
                reported_at = time.monotonic()
                _report(done, reported_at - started)
    finally:
        seconds = time.monotonic() - started
        _report(done, seconds)
    return {"started_seconds": started, "seconds": seconds}


def _meet(files: CreatedFiles) -> None:
    """Wait for the other processes, so that none finishes before the last one starts."""
    meeting = os.open(files.meeting, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.write(meeting, b".")
    while os.fstat(meeting).st_size < files.processes:
        time.sleep(_LOOK_SECONDS)
    os.close(meeting)


def _report(done: int, seconds: float) -> None:
    sys.stderr.write(f"done {done} {seconds:.6f}\n")


def _timed_fsync(files: CreatedFiles) -> float:
    seconds = 0.0
    for number in range(files.directories):
        directory = os.open(f"d{number}", os.O_RDONLY | os.O_DIRECTORY, dir_fd=files.descriptor)
        started = time.monotonic()
        os.fsync(directory)
        seconds += time.monotonic() - started
        os.close(directory)
    return seconds


_MAKING = frozenset({"create", "touch"})
_OPERATIONS: dict[str, Callable[[CreatedFiles], dict[str, float]]] = {
    "create": _create,
    "touch": _touch,
    "stat": _stat,
    "delete": _delete,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
