"""Heartbeat intervals of agents."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

IDLE_HEARTBEAT_SECONDS = 5.0
EARLY_HEARTBEAT_SECONDS = 1.0
"""Until the load has started and in its first seconds, to show even short runs."""
WATCHED_HEARTBEAT_SECONDS = 3.0  # in the first 30 s of a load; pages poll as often
RUNNING_HEARTBEAT_SECONDS = 10.0  # later: an agent must not disturb what it measures

MOST_IDLE_HEARTBEATS_PER_SECOND: Final = 200.0
"""For all nodes together, a small part of an API process's capacity. Beyond it, idle agents send fewer heartbeats,
which only delays probing.
"""

BEGINNING = timedelta(seconds=10)
WATCHED = timedelta(seconds=30)


def idle_heartbeat_seconds(node_count: float) -> float:
    # Never longer than a running agent's: a node is silent after three missed heartbeats.
    return min(RUNNING_HEARTBEAT_SECONDS, max(IDLE_HEARTBEAT_SECONDS, node_count / MOST_IDLE_HEARTBEATS_PER_SECOND))


def beat_seconds(load_starts: Iterable[datetime | None], now: datetime, idle_seconds: float) -> float:
    """Return the time to the agent's next heartbeat. `load_starts` has None for a load that has not started."""
    starts = list(load_starts)
    if not starts:
        return idle_seconds
    passed = min(timedelta() if start is None else now - start for start in starts)
    if passed < BEGINNING:
        return EARLY_HEARTBEAT_SECONDS
    return WATCHED_HEARTBEAT_SECONDS if passed < WATCHED else RUNNING_HEARTBEAT_SECONDS
