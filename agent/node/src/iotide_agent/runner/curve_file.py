"""The file of an order's curves: a line of JSON for each second, none of which a full disk may cost."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iotide_agent.runner.files import PatientFile

_DIGITS: Final = 6
"""Kept of each value: a float4, which curves are stored as, holds seven, and the lines stay short."""


class CurveFile:
    """Appends lines."""

    def __init__(self, file: Path, state: str = "") -> None:
        """Open it; a line says `state`, with places for values, behind its counters."""
        self._file = PatientFile(file, file.parent, os.O_APPEND)
        self._state = state
        self._counters: tuple[str, ...] = ()
        self._format = ""

    def append(self, counters: Mapping[str, float], lines: int, state: tuple[object, ...] = ()) -> None:
        """Appends so many equal lines; what a full disk refuses is kept for the next, as no load may suffer for it."""
        self._file.write((self._format_of(tuple(counters)) % (*counters.values(), *state) * lines).encode())

    def write_rest(self) -> bool:
        """Writes what waits for room on the disk, also after `close`; says whether all is written."""
        return self._file.write(b"")

    def close(self) -> None:
        """Closes it, as soon as all is written."""
        self._file.close()

    def _format_of(self, counters: tuple[str, ...]) -> str:
        """Of a line with these counters, which are the same for most of a run."""
        if counters != self._counters:
            self._counters = counters
            rates = [f'"{name}": %.{_DIGITS}g' for name in counters]
            self._format = f"{{{', '.join([*rates, self._state] if self._state else rates)}}}\n"
        return self._format
