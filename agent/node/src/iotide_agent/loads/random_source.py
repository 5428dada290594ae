"""Runs a program whose standard input is a stream of incompressible data that does not repeat; a load of its own.

Usage: random_source.py PROGRAM ARGUMENT...

Prints one line of JSON on stdout when the program has ended: its own cost by wait4, and which share of the time the
source was busy rather than waiting for the program to take more. Ends as the program ended. Needs the standard library
alone, so it runs with `python -I -S`.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress

_POOL_BYTES = 64 * 1024**2
_PIECE_BYTES = 1024**2
# Each pass over the pool is shifted against the one before by less than any block of a deduplicating store, so that
# no aligned block of 4 KiB comes twice within 250 GB.
_STRIDE_BYTES = _PIECE_BYTES + 1
_NOT_STARTED = 127


def main(arguments: list[str]) -> int:
    """Feeds one program; the exit status is the program's, 127 where it cannot be started, 2 for a wrong call."""
    if not arguments:
        sys.stderr.write(__doc__ or "")
        return 2
    program = shutil.which(arguments[0])
    if program is None:
        sys.stderr.write(f"random_source: {arguments[0]} is not on PATH\n")
        return _NOT_STARTED
    pool = memoryview(os.urandom(_POOL_BYTES))
    own_end, program_end = _pipe()
    # Whoever interrupts the group wants the program's last words, which come only while this process waits for it.
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
    program_end, own_end = os.pipe()
    # The user's share of pipe memory may be used up: a smaller pipe is slower, which the busy ratio then shows.
    with suppress(PermissionError):
        fcntl.fcntl(own_end, fcntl.F_SETPIPE_SZ, _PIECE_BYTES)
    return own_end, program_end


def _feed(own_end: int, pool: memoryview) -> float:
    """Writes until the program takes no more; the seconds spent waiting for it."""
    waited_seconds = 0.0
    offset = 0
    offsets = len(pool) - _PIECE_BYTES
    os.set_blocking(own_end, False)
    try:
        while True:
            piece = pool[offset : offset + _PIECE_BYTES]
            while piece:
                began = time.monotonic()
                select.select((), (own_end,), ())
                waited_seconds += time.monotonic() - began
                piece = piece[os.write(own_end, piece) :]
            offset = (offset + _STRIDE_BYTES) % offsets
    except BrokenPipeError:
        return waited_seconds
    finally:
        os.close(own_end)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
