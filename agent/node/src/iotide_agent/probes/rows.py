"""Lists that other programs print, read row by row, so that one odd row never hides the others."""

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeVar

_MOST_SHOWN: Final = 200
_UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError)
_logger = logging.getLogger(__name__)
Row = TypeVar("Row")
Read = TypeVar("Read")


def read_rows(source: str, rows: Iterable[Row], read: Callable[[Row], Read | None]) -> list[Read]:
    """Return the values of `read` for each row. A row that is not needed has None, which is left out.

    `read` raises ValueError, or the error of a wrong shape, for a row that it cannot read. Such rows are skipped and
    counted. The log has the first of them, once.
    """
    found: list[Read] = []
    skipped: list[Row] = []
    for row in rows:
        try:
            value = read(row)
        except _UNREADABLE:
            skipped.append(row)
        else:
            if value is not None:
                found.append(value)
    if skipped:
        _log_once(source, len(skipped), repr(skipped[0])[:_MOST_SHOWN])
    return found


def lines_of(printed: str) -> list[str]:
    """Return the lines that are not blank."""
    return [line for line in printed.splitlines() if line.strip()]


@lru_cache(maxsize=1000)
def _log_once(source: str, count: int, first: str) -> None:
    """Log on the first call with these arguments: gateways read the same lists every few seconds."""
    _logger.warning("rows_skipped source=%s count=%d first=%s", source, count, first)
