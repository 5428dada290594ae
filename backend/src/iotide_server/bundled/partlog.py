"""Log files of the parts."""

import json
from collections import deque
from itertools import pairwise
from pathlib import Path

from iotide_server.kit.clock import Clock, system_clock
from iotide_wire.units import KIB, MIB

_CAP_BYTES = 8 * MIB
_OLDER_FILES = 2
_LONGEST_LINE_BYTES = 16 * KIB
_LINES_REMEMBERED = 15


class PartLog:
    """Appends to `path`, rotated to `path`.1 and `path`.2. Write errors never stop the part.

    `as_json` wraps plain text in JSON objects.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        *,
        cap_bytes: int = _CAP_BYTES,
        clock: Clock = system_clock,
        as_json: bool = False,
    ) -> None:
        self.path = path
        self.last_lines: deque[str] = deque(maxlen=_LINES_REMEMBERED)
        self._name = name
        self._cap_bytes = cap_bytes
        self._clock = clock
        self._as_json = as_json
        self._rest = b""

    def write(self, chunk: bytes) -> None:
        """A line is written when complete or too long."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _LONGEST_LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        self._append([line.decode(errors="replace").rstrip("\r") for line in lines])

    def close(self) -> None:
        if self._rest:
            self.write(b"\n")

    def _append(self, lines: list[str]) -> None:
        self.last_lines.extend(lines)
        stamp = self._clock().isoformat(timespec="milliseconds")
        text = "".join(f"{self._shaped(line, stamp)}\n" for line in lines)
        try:
            self._make_room(len(text))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            return

    def _shaped(self, line: str, stamp: str) -> str:
        if not self._as_json:
            return f"{stamp} {self._name} | {line}"
        return line if line.startswith('{"') else json.dumps({"time": stamp, "part": self._name, "event": line})

    def _make_room(self, wanted_bytes: int) -> None:
        if not self.path.exists() or self.path.stat().st_size + wanted_bytes <= self._cap_bytes:
            return
        files = [self.path, *(self.path.with_name(f"{self.path.name}.{age}") for age in range(1, _OLDER_FILES + 1))]
        for younger, older in reversed(list(pairwise(files))):
            if younger.exists():
                younger.replace(older)
