"""The server's clock in terms of one that nobody sets here, by the answers that took the shortest way.

As NTP does it (RFC 5905, section 10): of several round trips the quickest says most, and its half bounds the error.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from iotide_wire.nodes import ClockReading

_REMEMBERED: Final = 8


@dataclass(slots=True)
class ServerClock:
    """The server's clock against this node's CLOCK_BOOTTIME, so that a step of the wall clock changes nothing."""

    _seen: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def learn(self, server_time: datetime, sent_at_boottime: float, heard_at_boottime: float) -> None:
        """Takes the time in an answer; it was written about midway between asking and hearing."""
        trip_seconds = max(0.0, heard_at_boottime - sent_at_boottime)
        midway = sent_at_boottime + trip_seconds / 2
        self._seen.append((trip_seconds, server_time.timestamp() - midway))

    def here(self, server_time: datetime) -> float | None:
        """That moment on CLOCK_BOOTTIME, in seconds; None while nothing was heard of the server."""
        return server_time.timestamp() - min(self._seen)[1] if self._seen else None

    def reading(self, time_of_day: float, boottime: float) -> ClockReading | None:
        """Return how far this node's time of day, at `boottime`, is from the server's; None before it was heard of."""
        if not self._seen:
            return None
        trip_seconds, ahead_seconds = min(self._seen)
        return ClockReading(
            offset_seconds=time_of_day - (boottime + ahead_seconds), uncertainty_seconds=trip_seconds / 2
        )
