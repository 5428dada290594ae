"""State machines of runs, attempts and orders, as pure functions. Services call them before they write a state.

Run (one repeat of a cell)

| from      | to        | because                                                              |
|-----------|-----------|----------------------------------------------------------------------|
| waiting   | active    | the scheduler opened an attempt                                      |
| waiting   | cancelled | a user cancelled it                                                  |
| active    | waiting   | the attempt was declined or lost, and attempts remain                |
| active    | finished  | every order of the attempt finished                                  |
| active    | failed    | an order failed, or no attempt remains                               |
| active    | cancelled | a user cancelled it, and the last of its orders ended                |
| failed    | waiting   | a user retried it                                                    |
| failed    | finished  | only its parser had failed, and a corrected one read its output      |
| cancelled | waiting   | a user retried it                                                    |

Attempt (one try of a run): from `open` to one final state, see `end_of_attempt`. Only a corrected parser changes
`failed` to `finished`.

Order (work of one node in an attempt): forwards through
`offered - claimed - preflight - ready - running - uploading - ended`, as the agent reports. Only a result or a server
decision (withdrawn, lost) sets `ended`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from iotide_wire.messages import OrderState


class RunState(StrEnum):
    WAITING = "waiting"
    ACTIVE = "active"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class AttemptState(StrEnum):
    OPEN = "open"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    LOST = "lost"


class OrderEnd(StrEnum):
    """The last two are set by the server: not claimed in time, and no longer on its node."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    LOST = "lost"


RUN_MOVES: Final[dict[RunState, frozenset[RunState]]] = {
    RunState.WAITING: frozenset({RunState.ACTIVE, RunState.CANCELLED}),
    RunState.ACTIVE: frozenset({RunState.WAITING, RunState.FINISHED, RunState.FAILED, RunState.CANCELLED}),
    RunState.FINISHED: frozenset(),
    RunState.FAILED: frozenset({RunState.WAITING, RunState.FINISHED}),
    RunState.CANCELLED: frozenset({RunState.WAITING}),
}

DECLINES_FORGIVEN = 5  # number of uncounted declines; the next one fails the run

_FIRST_DELAY: Final = timedelta(seconds=5)
_LONGEST_DELAY: Final = timedelta(seconds=60)
_ORDER_STATES: Final = tuple(OrderState)


class ImpossibleMoveError(Exception):
    """Bug: a forbidden change of state."""


def require_move(before: RunState, after: RunState) -> None:
    if after not in RUN_MOVES[before]:
        raise ImpossibleMoveError(f"a run that is {before} cannot become {after}")


def advanced(known: OrderState, reported: OrderState) -> OrderState:
    """Return the order's state after a heartbeat: it only advances, never leaves `offered` nor enters `ended`."""
    if known in {OrderState.OFFERED, OrderState.ENDED}:
        return known
    furthest = max(known, reported, key=_ORDER_STATES.index)
    return OrderState.UPLOADING if furthest is OrderState.ENDED else furthest


def end_of_attempt(ends: Collection[OrderEnd], *, cancel_wanted: bool) -> AttemptState:
    """Return the state of an attempt from the ends of all its orders.

    A failure outweighs everything; a user's cancel outweighs lost, declined and withdrawn. An order ends as
    `cancelled` because another order of the attempt stopped, so it counts least.
    """
    if OrderEnd.FAILED in ends:
        return AttemptState.FAILED
    if set(ends) == {OrderEnd.FINISHED}:
        return AttemptState.FINISHED
    if cancel_wanted:
        return AttemptState.CANCELLED
    if OrderEnd.LOST in ends:
        return AttemptState.LOST
    if OrderEnd.DECLINED in ends or OrderEnd.WITHDRAWN in ends:
        return AttemptState.DECLINED
    return AttemptState.CANCELLED


@dataclass(frozen=True, slots=True)
class Tries:
    made: int  # without declined ones
    allowed: int
    declines: int  # attempts that a node declined or did not claim


@dataclass(frozen=True, slots=True)
class NextOfRun:
    state: RunState
    tries: Tries
    delay: timedelta = timedelta(0)


def after_attempt(ended: AttemptState, tries: Tries, put_off: timedelta | None = None) -> NextOfRun:
    """Return the run's next state; a decline with `put_off` does not count."""
    match ended:
        case AttemptState.FINISHED:
            return NextOfRun(RunState.FINISHED, tries)
        case AttemptState.CANCELLED:
            return NextOfRun(RunState.CANCELLED, tries)
        case AttemptState.DECLINED if put_off is not None:
            return NextOfRun(RunState.WAITING, Tries(tries.made - 1, tries.allowed, tries.declines), put_off)
        case AttemptState.DECLINED:
            return _after_decline(Tries(tries.made - 1, tries.allowed, tries.declines + 1))
        case AttemptState.LOST if tries.made < tries.allowed:
            return NextOfRun(RunState.WAITING, tries)
        case AttemptState.LOST | AttemptState.FAILED:
            return NextOfRun(RunState.FAILED, tries)
        case AttemptState.OPEN:
            raise ImpossibleMoveError("an open attempt has not ended")


def _after_decline(tries: Tries) -> NextOfRun:
    if tries.declines > DECLINES_FORGIVEN:
        return NextOfRun(RunState.FAILED, tries)
    return NextOfRun(RunState.WAITING, tries, min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** (tries.declines - 1)))


def retried(tries: Tries) -> Tries:
    """Return the tries of a retried run: one more attempt, declines reset."""
    return Tries(tries.made, tries.made + 1, 0)
