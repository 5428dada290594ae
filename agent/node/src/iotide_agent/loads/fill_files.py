"""Runs a command repeatedly, each time on a new file, until the file system is as full as allowed.

Usage: fill_files.py DIRECTORY FILES FILE_BYTES USED_PERCENT FREE_BYTES COMMAND...

Makes DIRECTORY if it does not exist, and removes the files of an earlier call. COMMAND gets `of=FILE` as an additional
argument. It ends after FILES files, or before a file that would leave more than USED_PERCENT used or fewer than
FREE_BYTES free. Prints one line of JSON per file, and one with the reason for the end. Exits with 1 at the command's
first failure. Runs with `python -I -S`.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

_PREFIX: Final = "fill-"


class FillLimits(NamedTuple):
    files: int
    file_bytes: int
    used_percent: float
    free_bytes: int


def main(arguments: list[str]) -> int:
    try:
        directory, files, file_bytes, used_percent, free_bytes, *command = arguments
        limits = FillLimits(int(files), int(file_bytes), float(used_percent), int(free_bytes))
    except ValueError:
        command = []
    if not command:
        sys.stderr.write(__doc__ or "")
        return 2
    return _fill(directory, command, limits)


def _fill(directory: str, command: list[str], limits: FillLimits) -> int:
    Path(directory).mkdir(mode=0o700, exist_ok=True)
    for earlier in Path(directory).glob(f"{_PREFIX}*"):
        earlier.unlink()
    for number in range(1, limits.files + 1):
        used, free, total = _space(directory)
        is_full = (used + limits.file_bytes) * 100 > limits.used_percent * total
        if is_full or free - limits.file_bytes < limits.free_bytes:
            return _end("share" if is_full else "reserve", number - 1, directory)
        started = time.monotonic()
        done = subprocess.run(
            [*command, f"of={directory}/{_PREFIX}{number:06d}"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            close_fds=False,  # keeps the run's locks, which identify a hanging process
        )
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            sys.stderr.write(f"fill_files: file {number} ended with status {done.returncode}\n")
            return 1
        _print(
            {
                "file": number,
                "used_bytes": used,
                "total_bytes": total,
                "wall_seconds": time.monotonic() - started,
                "stdout": done.stdout,
                "stderr": done.stderr,
            }
        )
    return _end("count", limits.files, directory)


def _space(directory: str) -> tuple[int, int, int]:
    """Space reserved for root counts as used."""
    space = os.statvfs(directory)
    free, total = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
    return total - free, free, total


def _end(because: str, files: int, directory: str) -> int:
    used, _, total = _space(directory)
    if not files:
        sys.stderr.write(f"fill_files: no file fits, {used} of {total} bytes are used; raise the share or free space\n")
        return 1
    _print({"ended_by": because, "files": files, "used_bytes": used, "total_bytes": total})
    return 0


def _print(values: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
