"""How much runs may write below a directory in any 24 hours: flash wears, and agent.toml has a limit for that.

A ledger on the agent's disk has what each order wrote; one that is begun stands in it with what it will take at least.
"""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

from iotide_agent.runner.files import read_json, replace_file
from iotide_wire.units import format_bytes

DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Written:
    """What one order wrote, or will at least: bytes by target path. It counts for a day from `at` on."""

    order_id: int
    at: float
    by_path: Mapping[str, int]

    def below(self, directory: str) -> int:
        """Bytes at or below a directory."""
        return sum(size for path, size in self.by_path.items() if PurePosixPath(path).is_relative_to(directory))


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget without room for an order until `suffices_at`; None where the order needs more than all of it."""

    sentence: str
    suffices_at: datetime | None


class BudgetUnknownError(Exception):
    """The ledger cannot be read; the text has the remedy."""


class Ledger:
    """What was written in the last day below the directories that have a budget. Several threads may use it."""

    def __init__(self, state_directory: Path, budget: Mapping[str, int], now: Callable[[], float]) -> None:
        """Keep `written.json` of the budget, bytes by directory; `now` returns seconds of the epoch."""
        self._file = state_directory / "written.json"
        self._budget = budget
        self._now = now
        self._lock = threading.Lock()

    def reserve(self, order_id: int, by_path: Mapping[str, int]) -> Spent | None:
        """Note what an order will write at least by target path, or return the budget that has no room for it.

        Raise BudgetUnknownError where nobody knows what was written before.
        """
        if not self._budget:
            return None
        with self._lock:
            wanted, now = Written(order_id, self._now(), by_path), self._now()
            others = [written for written in self._read() if written.order_id != order_id]
            for directory, limit_bytes in self._budget.items():
                spent = _spent(directory, limit_bytes, wanted, others)
                if spent is not None:
                    return spent
            self._write([*others, wanted], now)
        return None

    def settle(self, order_id: int, written_bytes: int | None) -> None:
        """Puts in what the order really wrote, shared out as it was foreseen; None: nobody knows, so that stands."""
        if not self._budget or written_bytes is None:
            return
        with self._lock:
            known = self._read()
            self._write(
                [_settled(one, written_bytes) if one.order_id == order_id else one for one in known], self._now()
            )

    def spent_bytes(self, directory: str) -> int:
        """Return what was or will be written below a directory in 24 hours; raise BudgetUnknownError."""
        with self._lock:
            since = self._now() - DAY_SECONDS
            return sum(written.below(directory) for written in self._read() if written.at > since)

    def _read(self) -> list[Written]:
        try:
            return [Written(*row) for row in read_json(self._file) or []]
        except (OSError, ValueError, TypeError) as error:
            words = f"{self._file} cannot be read ({error}), so nobody knows what was written today; "
            raise BudgetUnknownError(words + "remove it, and the budget begins anew") from error

    def _write(self, rows: list[Written], now: float) -> None:
        counted = [row for row in rows if row.at > now - DAY_SECONDS]
        text = json.dumps([[row.order_id, row.at, dict(row.by_path)] for row in counted])
        replace_file(self._file, text, durable=True)


def written_bytes(curve: Path) -> int | None:
    """What the load wrote by the counters of its processes, from the runner's file of seconds; None without one."""
    by_step: dict[int, int] = {}
    try:
        with curve.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    row: dict[str, Any] = json.loads(line)
                    step = row["step"]
                    by_step[step] = max(by_step.get(step, 0), row["step_written_bytes"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return sum(by_step.values()) if by_step else None


def _spent(directory: str, limit_bytes: int, wanted: Written, others: list[Written]) -> Spent | None:
    needed = wanted.below(directory)
    counted = sorted((one for one in others if one.at > wanted.at - DAY_SECONDS), key=lambda one: one.at)
    total = sum(one.below(directory) for one in counted)
    if not needed or total + needed <= limit_bytes:
        return None
    told = f"runs may write {format_bytes(limit_bytes)} a day below {directory}"
    if needed > limit_bytes:
        return Spent(f"{told}, and this one needs {format_bytes(needed)}; ask for less, or raise it in [budget]", None)
    left = total
    for one in counted:
        left -= one.below(directory)
        if left + needed <= limit_bytes:
            break
    suffices_at = datetime.fromtimestamp(one.at + DAY_SECONDS, UTC)
    sentence = f"{told}; {format_bytes(total)} were written, this one needs {format_bytes(needed)}"
    return Spent(f"{sentence}, for which there is room from {suffices_at:%Y-%m-%d %H:%M} UTC on", suffices_at)


def _settled(one: Written, total_bytes: int) -> Written:
    foreseen = sum(one.by_path.values())
    if not foreseen:
        return Written(one.order_id, one.at, {path: total_bytes // len(one.by_path) for path in one.by_path})
    return Written(one.order_id, one.at, {path: total_bytes * size // foreseen for path, size in one.by_path.items()})
