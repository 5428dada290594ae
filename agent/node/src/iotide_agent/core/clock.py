"""The server's clock relative to this node's.

As in NTP (RFC 5905, section 10), the quickest of several round trips is the most accurate; half of it limits the
error.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from iotide_wire.nodes import ClockReading

_REMEMBERED: Final = 8


@dataclass(slots=True)
class ServerClock:
    """Relative to CLOCK_BOOTTIME, so that steps of the wall clock do not matter."""

    _seen: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def learn(self, server_time: datetime, sent_at_boottime: float, received_at_boottime: float) -> None:
        """The server wrote the time about midway through the round trip."""
        trip_seconds = max(0.0, received_at_boottime - sent_at_boottime)
        midway = sent_at_boottime + trip_seconds / 2
        self._seen.append((trip_seconds, server_time.timestamp() - midway))

    def here(self, server_time: datetime) -> float | None:
        """Return the server's moment on CLOCK_BOOTTIME; None before the first answer."""
        return server_time.timestamp() - min(self._seen)[1] if self._seen else None

    def reading(self, time_of_day: float, boottime: float) -> ClockReading | None:
        """Return the offset of this node's wall clock at `boottime`; None before the first answer."""
        if not self._seen:
            return None
        trip_seconds, ahead_seconds = min(self._seen)
        return ClockReading(
            offset_seconds=time_of_day - (boottime + ahead_seconds), uncertainty_seconds=trip_seconds / 2
        )
