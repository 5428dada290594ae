"""Creates, looks up or removes many empty files and prints how long that took; a process like any other load.

Usage: create_files.py create|touch|stat|delete MEETING PROCESSES DIRECTORY PREFIX DIRECTORIES COUNT

The files are spread over DIRECTORIES directories below DIRECTORY, which several processes with different prefixes may
share. Each of them begins its files only when PROCESSES of them have come so far, which they tell in the file MEETING.

Prints one line of JSON on stdout when all is done; `done N SECONDS` on stderr about once a second and whenever it ends,
also by an error or by SIGINT. Ends with status 1 and a message at the first error, with status 130 by SIGINT. Needs the
standard library alone, so it runs with `python -I -S`.
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
    """What one of several processes works on, which find each other by the file `meeting`.

    `descriptor` is of `directory`, the only one that stays open: there may be more directories in it than descriptors.
    """

    meeting: str
    processes: int
    directory: str
    descriptor: int
    directories: int
    prefix: str
    file_count: int


def main(arguments: list[str]) -> int:
    """Runs one operation; the exit status is 0, 1 for a failed one, 2 for a wrong call, 130 for an interrupted one."""
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
    """As a shell loop does it: one process of the real touch for each file."""
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
    """Begin, on CLOCK_MONOTONIC, and seconds of `operate` on the path of every file, from `directory` on."""
    _meet(files)
    done = 0
    started = told = time.monotonic()
    try:
        while done < files.file_count:
            operate(f"d{done % files.directories}/{files.prefix}{done:08d}")
            done += 1
            if done % _REPORT_EVERY == 0 and time.monotonic() - told >= 1:
                told = time.monotonic()
                _tell(done, told - started)
    finally:
        seconds = time.monotonic() - started
        _tell(done, seconds)
    return {"started_seconds": started, "seconds": seconds}


def _meet(files: CreatedFiles) -> None:
    """Waits for the other processes, so that none is done before the last was even started."""
    meeting = os.open(files.meeting, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.write(meeting, b".")
    while os.fstat(meeting).st_size < files.processes:
        time.sleep(_LOOK_SECONDS)
    os.close(meeting)


def _tell(done: int, seconds: float) -> None:
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
