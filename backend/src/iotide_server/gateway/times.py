"""What nodes say of time, held against the server's clock: a clock that is wrong may shift numbers and stop nothing."""

from datetime import datetime, timedelta
from typing import Final

from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import FinishRequest

CLOCK_SLACK: Final = timedelta(days=1)
"""So far may a node's clock be from the server's; a load that starts before its offer or ends tomorrow is nonsense."""

SHORTEST_PUT_OFF: Final = timedelta(minutes=1)
LONGEST_PUT_OFF: Final = timedelta(days=1)


def plausible(said: datetime | None, offered_at: datetime, now: datetime) -> datetime | None:
    """The time that a node said, moved to the nearest one that an order offered then can have; None stays None."""
    return None if said is None else min(max(said, offered_at - CLOCK_SLACK), now + CLOCK_SLACK)


def put_off(said: datetime, now: datetime) -> datetime:
    """Until when a node that declined puts an order off: not so soon that it is asked all the time, nor for ever."""
    return min(max(said, now + SHORTEST_PUT_OFF), now + LONGEST_PUT_OFF)


def with_plausible_times(result: FinishRequest, offered_at: datetime, now: datetime) -> FinishRequest:
    """The result with such times; a flag says so where they are not those that the node said."""
    started_at = plausible(result.started_at, offered_at, now)
    ended_at = plausible(result.ended_at, offered_at, now)
    if (started_at, ended_at) == (result.started_at, result.ended_at):
        return result
    flag = Flag(
        code=FlagCode.CLOCK,
        effect=FlagEffect.MARKED,
        measured=f"the node says {result.started_at} to {result.ended_at}",
        limit=f"a day around {offered_at} to {now}, by the server's clock",
    )
    changed = {"started_at": started_at, "ended_at": ended_at, "flags": (*result.flags, flag)}
    return result.model_copy(update=changed)
