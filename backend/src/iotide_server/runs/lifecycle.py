"""The three state machines of an execution, as pure functions: every service asks them before it writes a state.

Run (one repeat of a cell)

| from      | to        | because                                                              |
|-----------|-----------|----------------------------------------------------------------------|
| waiting   | active    | the scheduler opened an attempt                                      |
| waiting   | cancelled | a person cancelled it                                                |
| active    | waiting   | the attempt was declined or lost, and attempts remain                |
| active    | finished  | every order of the attempt finished                                  |
| active    | failed    | an order failed, or no attempt remains                               |
| active    | cancelled | a person cancelled it, and the last of its orders ended              |
| failed    | waiting   | a person retried it                                                  |
| failed    | finished  | only its parser had failed, and a corrected one read it              |
| cancelled | waiting   | a person retried it                                                  |

Attempt (one try of a run): `open`, then one of the others for ever, but for the last line above; `end_of_attempt` says
which.

Order (what one node does in an attempt): only forwards through
`offered - claimed - preflight - ready - running - uploading - ended`, by the agent's word, except that `ended` is
reached by its result alone or by the server's own decision (withdrawn, lost).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from iotide_wire.messages import OrderState


class RunState(StrEnum):
    """Where a run is."""

    WAITING = "waiting"
    ACTIVE = "active"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class AttemptState(StrEnum):
    """Where an attempt is."""

    OPEN = "open"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    LOST = "lost"


class OrderEnd(StrEnum):
    """How an order ended: the agent's four words, and the two that only the server says.

    `withdrawn` is an order that its node did not claim in time; `lost` is one that its node no longer has.
    """

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
"""The table above."""

DECLINES_FORGIVEN = 5  # so often may a run be declined without that counting against it; one more and it fails

_FIRST_DELAY: Final = timedelta(seconds=5)
_LONGEST_DELAY: Final = timedelta(seconds=60)
_ORDER_STATES: Final = tuple(OrderState)


class ImpossibleMoveError(Exception):
    """A fault of ours: a state was to be left for one that it does not lead to."""


def require_move(before: RunState, after: RunState) -> None:
    """Raise ImpossibleMoveError unless the table allows it."""
    if after not in RUN_MOVES[before]:
        raise ImpossibleMoveError(f"a run that is {before} cannot become {after}")


def advanced(known: OrderState, reported: OrderState) -> OrderState:
    """The order's state after an agent's beat: forwards only, never out of `offered` and never into `ended`."""
    if known in {OrderState.OFFERED, OrderState.ENDED}:
        return known
    furthest = max(known, reported, key=_ORDER_STATES.index)
    return OrderState.UPLOADING if furthest is OrderState.ENDED else furthest


def end_of_attempt(ends: Collection[OrderEnd], *, cancel_wanted: bool) -> AttemptState:
    """How an attempt ended of which every order has ended.

    A failure outweighs all; a person's cancel outweighs what merely kept the attempt from happening; an order that was
    cancelled because another one of its attempt stopped is outweighed by that one's reason.
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
    """How often a run was tried."""

    made: int  # attempts opened, those without the declined ones
    allowed: int  # as many may be made
    declines: int  # attempts that a node declined or did not claim


@dataclass(frozen=True, slots=True)
class NextOfRun:
    """What becomes of a run after an attempt."""

    state: RunState
    tries: Tries
    delay: timedelta = timedelta(0)  # with `waiting`, how long it waits at least before it is tried again


def after_attempt(ended: AttemptState, tries: Tries, put_off: timedelta | None = None) -> NextOfRun:
    """Return the run's state after an attempt that ended so; a try that a node puts off does not count."""
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
    """The tries of a run that a person lets wait again: exactly one more attempt, old declines forgotten."""
    return Tries(tries.made, tries.made + 1, 0)
