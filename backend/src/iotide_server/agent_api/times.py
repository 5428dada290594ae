"""Checks of nodes' times. A wrong clock may shift values but must stop nothing."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from iotide_server.results.errors import CURVE_OUT_OF_RUN
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import CurvePiece, FinishRequest

CLOCK_SLACK: Final = timedelta(days=1)
"""Tolerance for a node's clock: starts earlier than this before the offer, or ends later, are implausible."""

SHORTEST_PUT_OFF: Final = timedelta(minutes=1)
LONGEST_PUT_OFF: Final = timedelta(days=1)


def plausible(said: datetime | None, offered_at: datetime, now: datetime) -> datetime | None:
    """Return a reported time, if implausible clamped to between offer and now."""
    if said is None or offered_at - CLOCK_SLACK <= said <= now + CLOCK_SLACK:
        return said
    return min(max(said, offered_at), now)


def put_off(said: datetime, now: datetime) -> datetime:
    """Return when to offer a declined order again, in one minute to one day."""
    return min(max(said, now + SHORTEST_PUT_OFF), now + LONGEST_PUT_OFF)


def moved_curves(
    pieces: Sequence[CurvePiece], said_start: datetime | None, start: datetime | None
) -> tuple[CurvePiece, ...]:
    # A clock within a day of the server's is trusted.
    if said_start is None or start is None or abs(start - said_start) <= CLOCK_SLACK:
        return tuple(pieces)
    return tuple(piece.model_copy(update={"started_at": _moved(piece, start, said_start)}) for piece in pieces)


def _moved(piece: CurvePiece, start: datetime, said_start: datetime) -> datetime:
    try:
        return piece.started_at + (start - said_start)
    except OverflowError:
        return piece.started_at


def check_within(pieces: Iterable[CurvePiece], offered_at: datetime, now: datetime) -> None:
    first, last = offered_at - CLOCK_SLACK, now + CLOCK_SLACK
    for piece in pieces:
        seconds_left = (last - piece.started_at).total_seconds()
        if piece.started_at < first or len(piece.values) * piece.step_seconds > seconds_left:
            raise CURVE_OUT_OF_RUN(counter=piece.counter, said=piece.started_at, first=first, last=last)


def with_plausible_times(
    result: FinishRequest, known_start: datetime | None, offered_at: datetime, now: datetime
) -> FinishRequest:
    """Return the result with plausible times; a flag marks those that are not the node's.

    The load's duration is kept if possible; otherwise it ends now. Curves shift with the start. `known_start` is from
    a heartbeat.
    """
    started_at = plausible(result.started_at, offered_at, now)
    if started_at != result.started_at:
        started_at = known_start or started_at
    ended_at = _end(result, started_at, offered_at, now)
    if (started_at, ended_at) == (result.started_at, result.ended_at):
        return result
    flag = Flag(
        code=FlagCode.NODE_TIME,
        effect=FlagEffect.MARKED,
        measured=f"the node reported {result.started_at} to {result.ended_at}",
        limit=f"a day around {offered_at} to {now}, by the server's clock",
    )
    curves = moved_curves(result.curves, result.started_at, started_at)
    changed = {"started_at": started_at, "ended_at": ended_at, "flags": (*result.flags, flag), "curves": curves}
    return result.model_copy(update=changed)


def _end(result: FinishRequest, started_at: datetime | None, offered_at: datetime, now: datetime) -> datetime:
    said = plausible(result.ended_at, offered_at, now)
    is_believed = said == result.ended_at and started_at == result.started_at
    if is_believed and (started_at is None or result.ended_at >= started_at):
        return result.ended_at
    if result.started_at is None or started_at is None:
        return now if said is None else said
    lasted = result.ended_at - result.started_at
    return started_at + lasted if timedelta() <= lasted <= now - started_at else max(started_at, now)
