"""Limits how often each caller may send a request, in a process."""

from collections.abc import Hashable
from datetime import datetime, timedelta
from math import ceil
from typing import Final

_MOST_KNOWN: Final = 50_000


class Rate:
    """Admits each caller `a_minute` times per minute on average, and twice as often in a burst."""

    def __init__(self, a_minute: int) -> None:
        self.a_minute = a_minute
        self._share = timedelta(minutes=1) / a_minute
        self._used_until: dict[Hashable, datetime] = {}

    def wait_seconds(self, caller: Hashable, now: datetime) -> int:
        """Return 0 if the caller is admitted, otherwise the seconds until the next time."""
        full_at = now + 2 * self.a_minute * self._share
        # If the clock was set back, a caller waits no longer than for one share.
        used_until = min(max(self._used_until.get(caller, now), now), full_at) + self._share
        if used_until > full_at:
            self._used_until[caller] = used_until - self._share
            return ceil((used_until - full_at).total_seconds())
        if len(self._used_until) >= _MOST_KNOWN:
            self._used_until = {known: until for known, until in self._used_until.items() if until > now}
        self._used_until[caller] = used_until
        return 0
