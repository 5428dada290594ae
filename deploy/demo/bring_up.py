"""Helpers to start services locally: waiting with a limit, and free ports."""

import errno
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, TypeVar

_MOST_DRAWS: Final = 200
_LEAST_PAUSE_SECONDS: Final = 0.05
_MOST_PAUSE_SECONDS: Final = 0.5

T = TypeVar("T")


class StackError(Exception):
    """A part did not start. The message has the last lines of its log."""


def wait_for(
    what: str, probe: Callable[[], T | None], *, seconds: float = 60.0, pause_seconds: float | None = None
) -> T:
    """Return the first value of `probe` that is not None.

    Args:
        pause_seconds: pause between calls of `probe`; None: a tenth of the time so far, 50 to 500 ms, because polling
            the server takes CPU time from it.

    Raises:
        StackError: there was none within `seconds`.
    """
    started = time.monotonic()
    while (value := probe()) is None:
        waited = time.monotonic() - started
        if waited > seconds:
            raise StackError(f"{what}: not within {seconds:g} s")
        growing = min(max(_LEAST_PAUSE_SECONDS, waited / 10), _MOST_PAUSE_SECONDS)
        time.sleep(growing if pause_seconds is None else pause_seconds)
    return value


def free_port(*, in_a_row: int = 1) -> int:
    """Return a free loopback TCP port that starts a row of `in_a_row` free ports.

    Raises:
        StackError: no free row was found after 200 attempts.
        OSError: a port could not be tried, for instance because no file can be opened.
    """
    for _ in range(_MOST_DRAWS):
        # Below Linux' ephemeral port range: outgoing connections may take ports in that range at any moment.
        port = 10_000 + secrets.randbelow(22_000)
        try:
            with ExitStack() as probes:
                for number in range(port, port + in_a_row):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", number))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return port
    raise StackError(
        f"no {in_a_row} consecutive free ports on 127.0.0.1 after {_MOST_DRAWS} attempts; stop what listens there"
    )
