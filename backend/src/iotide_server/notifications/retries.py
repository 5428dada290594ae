"""When a message that did not arrive is tried again, and when no more: pure."""

from datetime import datetime, timedelta
from typing import Final

FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(hours=2)
GIVEN_UP_AFTER: Final = timedelta(hours=24)
"""From the first attempt on."""

_MOST_DOUBLINGS: Final = 8


def next_attempt(first_at: datetime, attempts: int, now: datetime, wished: timedelta | None) -> datetime | None:
    """After 30 s, 1 min, 2 min and so on up to every 2 h, until 24 h after the first attempt; None: no more.

    Args:
        attempts: how many there were.
        wished: the pause that the receiver asks for; it makes ours longer, up to the longest one.
    """
    pause = min(FIRST_PAUSE * 2 ** min(attempts - 1, _MOST_DOUBLINGS), LONGEST_PAUSE)
    if wished is not None:
        pause = max(pause, min(wished, LONGEST_PAUSE))
    at = now + pause
    return at if at - first_at <= GIVEN_UP_AFTER else None
