"""Limits in agent.toml on the bytes that runs write below a directory in 24 hours, because flash wears.

A ledger on the agent's disk has the bytes of each order, for an active one its expected minimum.
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
    """Bytes by target path of one order, measured or expected; they count for a day from `at`."""

    order_id: int
    at: float
    by_path: Mapping[str, int]

    def below(self, directory: str) -> int:
        return sum(size for path, size in self.by_path.items() if PurePosixPath(path).is_relative_to(directory))


@dataclass(frozen=True, slots=True)
class Spent:
    """Budget with no room until `suffices_at`; None if the order needs more than all of it."""

    sentence: str
    suffices_at: datetime | None


class BudgetUnknownError(Exception):
    pass


class Ledger:
    def __init__(self, state_directory: Path, budget: Mapping[str, int], now: Callable[[], float]) -> None:
        """`now` returns seconds of the epoch."""
        self._file = state_directory / "written.json"
        self._budget = budget
        self._now = now
        self._lock = threading.Lock()

    def reserve(self, order_id: int, by_path: Mapping[str, int]) -> Spent | None:
        """Reserve an order's minimum by target path; return a budget without room for it; raise BudgetUnknownError."""
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
        """Replace the reservation by the measured bytes, in its proportions. None keeps it."""
        if not self._budget or written_bytes is None:
            return
        with self._lock:
            known = self._read()
            self._write(
                [_settled(one, written_bytes) if one.order_id == order_id else one for one in known], self._now()
            )

    def spent_bytes(self, directory: str) -> int:
        """Include reservations; raise BudgetUnknownError."""
        with self._lock:
            since = self._now() - DAY_SECONDS
            return sum(written.below(directory) for written in self._read() if written.at > since)

    def _read(self) -> list[Written]:
        try:
            return [Written(*row) for row in read_json(self._file) or []]
        except (OSError, ValueError, TypeError) as error:
            words = f"{self._file} cannot be read ({error}), so the bytes written today are unknown; "
            raise BudgetUnknownError(words + "delete the file to start the budget again at zero") from error

    def _write(self, rows: list[Written], now: float) -> None:
        counted = [row for row in rows if row.at > now - DAY_SECONDS]
        text = json.dumps([[row.order_id, row.at, dict(row.by_path)] for row in counted])
        replace_file(self._file, text, durable=True)


def written_bytes(curve: Path) -> int | None:
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
    limit = f"runs may write {format_bytes(limit_bytes)} per day below {directory}"
    if needed > limit_bytes:
        return Spent(
            f"{limit}, and this run needs {format_bytes(needed)}; reduce its sizes, or raise the limit in [budget]",
            None,
        )
    left = total
    for one in counted:
        left -= one.below(directory)
        if left + needed <= limit_bytes:
            break
    suffices_at = datetime.fromtimestamp(one.at + DAY_SECONDS, UTC)
    sentence = f"{limit}; {format_bytes(total)} were written, and this run needs {format_bytes(needed)}"
    return Spent(f"{sentence}; the budget has room from {suffices_at:%Y-%m-%d %H:%M} UTC", suffices_at)


def _settled(one: Written, total_bytes: int) -> Written:
    foreseen = sum(one.by_path.values())
    if not foreseen:
        return Written(one.order_id, one.at, {path: total_bytes // len(one.by_path) for path in one.by_path})
    return Written(one.order_id, one.at, {path: total_bytes * size // foreseen for path, size in one.by_path.items()})
