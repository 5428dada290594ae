"""How far the server's clock is from ours, by the answers that took the shortest way."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

_REMEMBERED: Final = 8


@dataclass(slots=True)
class ServerClock:
    """The server's clock as seen from here."""

    _seen: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def learn(self, server_time: datetime, sent_at_epoch_seconds: float, heard_at_epoch_seconds: float) -> None:
        """Takes the time in an answer; it was written about midway between asking and hearing."""
        trip_seconds = max(0.0, heard_at_epoch_seconds - sent_at_epoch_seconds)
        midway = sent_at_epoch_seconds + trip_seconds / 2
        self._seen.append((trip_seconds, server_time.timestamp() - midway))

    @property
    def ahead_seconds(self) -> float:
        """How far the server is ahead of this node; 0 while nothing was heard."""
        return min(self._seen)[1] if self._seen else 0.0

    def here(self, server_time: datetime) -> float:
        """That moment on this node's clock, in seconds since the epoch."""
        return server_time.timestamp() - self.ahead_seconds
