"""How often a node's agent is asked to speak."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

IDLE_BEAT_SECONDS = 5.0
EARLY_BEAT_SECONDS = 1.0
"""Until the load of a run has started, when the server's word is waited for, and in its first seconds: short ones are
seen to run."""
WATCHED_BEAT_SECONDS = 3.0  # in the first half minute of a load, when people watch: as often as their pages ask
RUNNING_BEAT_SECONDS = 10.0  # later on: an agent must not disturb what it measures

MOST_IDLE_BEATS_PER_SECOND: Final = 200.0
"""Of all nodes together: a small part of what one API process takes, which has people to answer, too. From that on idle
nodes speak less often, which delays nothing but that they are asked to look around: a wake-up comes by the broker.
"""

BEGINNING = timedelta(seconds=10)
WATCHED = timedelta(seconds=30)


def idle_beat_seconds(node_count: float) -> float:
    """Return how long an idle agent is silent between two beats where there are so many nodes."""
    # Never longer than a running one: three of these make a node silent.
    return min(RUNNING_BEAT_SECONDS, max(IDLE_BEAT_SECONDS, node_count / MOST_IDLE_BEATS_PER_SECOND))


def beat_seconds(load_starts: Iterable[datetime | None], now: datetime, idle_seconds: float) -> float:
    """Return how long until the agent's next heartbeat; `load_starts` are None of loads that have not started."""
    starts = list(load_starts)
    if not starts:
        return idle_seconds
    passed = min(timedelta() if start is None else now - start for start in starts)
    if passed < BEGINNING:
        return EARLY_BEAT_SECONDS
    return WATCHED_BEAT_SECONDS if passed < WATCHED else RUNNING_BEAT_SECONDS
