"""Runs a program whose stdin is a stream of incompressible data that does not repeat.

Usage: random_source.py PROGRAM ARGUMENT...

Splices the data from memory into a named pipe, so that neither process seems to move bytes of a target;
runner/tree.py knows the pipe's name. At the end prints one line of JSON: the program's cost by wait4, and the share
of time in which the source was not waiting for the program. Ends as the program does. Runs with `python -I -S`.
"""

import fcntl
import json
import mmap
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress

_POOL_BYTES = 64 * 1024**2
_PIECE_BYTES = 1024**2
# Each round through the pool is shifted by less than any block of a deduplicating store, so that no aligned block of 4
# KiB repeats within 250 GB.
_STRIDE_BYTES = _PIECE_BYTES + 1
_NOT_STARTED = 127
_PIPE = "iotide-random-source"


def main(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write(__doc__ or "")
        return 2
    program = shutil.which(arguments[0])
    if program is None:
        sys.stderr.write(f"random_source: {arguments[0]} is not on PATH\n")
        return _NOT_STARTED
    pool = os.memfd_create("pool")
    os.truncate(pool, _POOL_BYTES)
    with mmap.mmap(pool, _POOL_BYTES) as memory:  # write(2) would count as a write to a target
        memory[:] = os.urandom(_POOL_BYTES)
    own_end, program_end = _pipe()
    # A SIGINT to the group makes the program print its last output, which arrives only if this process waits for it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    started = time.monotonic()
    child = os.posix_spawn(
        program,
        arguments,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, program_end, 0)],
        setsigdef=[signal.SIGINT, signal.SIGPIPE],
    )
    os.close(program_end)
    waited_seconds = _feed(own_end, pool)
    _, status, usage = os.wait4(child, 0)
    wall_seconds = time.monotonic() - started
    report = {
        "wall_seconds": wall_seconds,
        "user_seconds": usage.ru_utime,
        "system_seconds": usage.ru_stime,
        "source_busy_ratio": 1 - waited_seconds / wall_seconds,
    }
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


def _pipe() -> tuple[int, int]:
    """Return both ends of a pipe from the scratch directory, where every load starts; its name is removed at once."""
    name = f"{_PIPE}.{os.getpid()}"
    os.mkfifo(name, 0o600)
    try:
        program_end = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        own_end = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.unlink(name)  # noqa: PTH108 - pathlib would be most of what this program imports
    os.set_blocking(program_end, True)
    # The user's pipe memory may be used up. A smaller pipe is slower, which the busy ratio shows.
    with suppress(PermissionError):
        fcntl.fcntl(own_end, fcntl.F_SETPIPE_SZ, _PIECE_BYTES)
    return own_end, program_end


def _feed(own_end: int, pool: int) -> float:
    """Feed the program until it stops reading; return the seconds spent waiting for it."""
    waited_seconds = 0.0
    offset = 0
    try:
        while True:
            end = offset + _PIECE_BYTES
            while offset < end:
                began = time.monotonic()
                select.select((), (own_end,), ())
                waited_seconds += time.monotonic() - began
                offset += os.splice(pool, own_end, end - offset, offset_src=offset)
            offset = (end - _PIECE_BYTES + _STRIDE_BYTES) % (_POOL_BYTES - _PIECE_BYTES)
    except BrokenPipeError:
        return waited_seconds
    finally:
        os.close(own_end)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
