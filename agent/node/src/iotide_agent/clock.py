"""The server's clock in terms of one that nobody sets here, by the answers that took the shortest way."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

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

    def offset_seconds(self, wall_seconds: float, boottime_seconds: float) -> float | None:
        """How far the server's clock is ahead of the node's wall clock; None while nothing was heard of the server.

        Args:
            wall_seconds, boottime_seconds: both clocks of the node at one moment, the first since 1970.
        """
        return boottime_seconds + min(self._seen)[1] - wall_seconds if self._seen else None
