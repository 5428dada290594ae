"""Records of the last operation and the last make of each set, below the state directory of root."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import ScratchRequest, parse_request

_DAY_SECONDS: Final = 24 * 3600
_MINUTE_SECONDS: Final = 60


class Records:
    """Files of one set. They only remember answers; whether a disk is dirty is decided by its mark."""

    def __init__(self, state: Path, name: str) -> None:
        self._last = state / f"{name}.last.json"
        self._made = state / f"{name}.made.json"
        self._written = state / f"{name}.written.json"

    def last(self) -> dict[str, Any] | None:
        """Return the last operation: `verb`, `order`, `fence`, `outcome`, `answer`, `commands`."""
        found: dict[str, Any] | None = read_json(self._last)
        return found

    def write_last(self, record: Mapping[str, Any]) -> None:
        replace_file(self._last, json.dumps(record), durable=True)

    def made(self) -> tuple[ScratchRequest, dict[str, Any]]:
        """Return request and answer of the last make; raise ScratchRefusedError without one."""
        found = read_json(self._made)
        if found is None:
            raise ScratchRefusedError("this node has no record of a make of this set; recover it, then make it again")
        return parse_request(found["packet"].encode()), found["answer"]

    def write_made(self, packet: bytes, answer: Mapping[str, Any]) -> None:
        replace_file(self._made, json.dumps({"packet": packet.decode(), "answer": answer}), durable=True)

    def written_bytes(self) -> int:
        """Return the bytes that operations wrote in the last 24 hours."""
        return sum(size_bytes for _, size_bytes in self._recent())

    def add_written(self, size_bytes: int) -> None:
        """Count bytes for the present minute; nothing is stored for an operation that wrote none."""
        if size_bytes > 0:
            minute_s = int(time.time()) // _MINUTE_SECONDS * _MINUTE_SECONDS
            rows = dict(self._recent())
            rows[minute_s] = rows.get(minute_s, 0) + size_bytes
            replace_file(self._written, json.dumps([*rows.items()]), durable=True)

    def _recent(self) -> list[tuple[int, int]]:
        since_s = time.time() - _DAY_SECONDS
        return [(at_s, size_bytes) for at_s, size_bytes in read_json(self._written) or [] if at_s > since_s]
