"""How often a node's agent is asked to speak."""

from collections.abc import Iterable
from datetime import datetime, timedelta

IDLE_BEAT_SECONDS = 5.0
EARLY_BEAT_SECONDS = 1.0
"""While a run begins and people watch."""
RUNNING_BEAT_SECONDS = 10.0
"""Later on: an agent must not disturb what it measures."""

EARLY = timedelta(seconds=30)


def beat_seconds(load_starts: Iterable[datetime | None], now: datetime) -> float:
    """How long until the agent's next beat, given when the loads of its active orders started (None: not yet)."""
    starts = list(load_starts)
    if not starts:
        return IDLE_BEAT_SECONDS
    is_early = any(start is None or now - start < EARLY for start in starts)
    return EARLY_BEAT_SECONDS if is_early else RUNNING_BEAT_SECONDS
