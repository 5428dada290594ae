"""Bounded capture of a load's output, so that a flood fills neither the agent's disk nor its memory."""

import os
from pathlib import Path
from typing import Final

from iotide_agent.runner.files import PatientFile

_READ_BYTES: Final = 65_536
_READS_A_TURN: Final = 16
_SHOWN_TAIL_BYTES: Final = 400


class Capture:
    """One output stream of a load in a file: the first half of the limit as it arrives, the last half at the end."""

    def __init__(self, descriptor: int, file: Path, limit_bytes: int) -> None:
        self._input = descriptor
        os.set_blocking(descriptor, False)
        self._output = PatientFile(file, file.parent.parent, os.O_TRUNC)
        self._half_bytes = limit_bytes // 2
        self._head_bytes = 0
        self._tail = bytearray()
        self._shown = b""
        self.left_out_bytes = 0
        self.total_bytes = 0
        self.open = True

    def fileno(self) -> int:
        return self._input

    def drain(self) -> None:
        """Read what is available, at most a megabyte, to meet deadlines."""
        for _ in range(_READS_A_TURN):
            try:
                chunk = os.read(self._input, _READ_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                self.open = False
                return
            self._take(chunk)

    def last_line(self) -> str:
        return self._shown.decode("utf-8", errors="replace")

    def finish(self) -> None:
        while self.open:
            before = self.total_bytes
            self.drain()
            if self.total_bytes == before:
                break
        self._cut()
        if self.left_out_bytes:
            self._keep(b"\n[iotide left out %d bytes here]\n" % self.left_out_bytes)
        self._keep(self._tail)
        self._output.close()
        os.close(self._input)
        self.open = False

    def write_rest(self) -> bool:
        """Write what waits for disk space, also after `finish`; return true if all is written."""
        self._keep(b"")
        return not self._output.unwritten

    def _take(self, chunk: bytes) -> None:
        self.total_bytes += len(chunk)
        self._shown = (self._shown + chunk)[-_SHOWN_TAIL_BYTES:]
        to_head = chunk[: self._half_bytes - self._head_bytes]
        self._head_bytes += len(to_head)
        self._keep(to_head)
        self._tail += chunk[len(to_head) :]
        if len(self._tail) > 2 * self._half_bytes:
            self._cut()

    def _cut(self) -> None:
        excess_bytes = max(0, len(self._tail) - self._half_bytes)
        self.left_out_bytes += excess_bytes
        del self._tail[:excess_bytes]

    def _keep(self, data: bytes | bytearray) -> None:
        try:
            self._output.write(data)
        except OSError:
            # The disk is broken. The load continues, and its record marks the output as incomplete.
            self.left_out_bytes += len(self._output.unwritten)
            self._output.unwritten.clear()
