"""The file of an order's curves: a line of JSON for each second, none of which a full disk may cost."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_DIGITS: Final = 6
"""Kept of each value: a float4, which curves are stored as, holds seven, and the lines stay short."""
_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class CurveFile:
    """Appends lines."""

    def __init__(self, file: Path, state: str = "") -> None:
        """Opens it.

        Args:
            state: what a line says behind its counters, with places for values.
        """
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._state = state
        self._unwritten = b""
        self._counters: tuple[str, ...] = ()
        self._format = ""

    def append(self, counters: Mapping[str, float], lines: int, state: tuple[object, ...] = ()) -> None:
        """Appends so many equal lines; what a full disk refuses is kept for the next, as no load may suffer for it."""
        self._unwritten += (self._format_of(tuple(counters)) % (*counters.values(), *state) * lines).encode()
        try:
            self._unwritten = self._unwritten[os.write(self._descriptor, self._unwritten) :]
        except OSError as error:
            if error.errno not in _DISK_FULL:
                raise

    def close(self) -> None:
        """Closes it."""
        os.close(self._descriptor)

    def _format_of(self, counters: tuple[str, ...]) -> str:
        """Of a line with these counters, which are the same for most of a run."""
        if counters != self._counters:
            self._counters = counters
            rates = [f'"{name}": %.{_DIGITS}g' for name in counters]
            self._format = f"{{{', '.join([*rates, self._state] if self._state else rates)}}}\n"
        return self._format
