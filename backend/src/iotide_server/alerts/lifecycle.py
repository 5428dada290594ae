"""Pure state machine of alerts; `MOVES` of users, and updates by analyses."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final


class AlertState(StrEnum):
    """State of an alert. A `suspect` is not sent to channels."""

    SUSPECT = "suspect"
    UNTRIAGED = "untriaged"
    ACKNOWLEDGED = "acknowledged"
    INVESTIGATING = "investigating"
    EXPECTED = "expected"
    NOISE = "noise"
    WONT_FIX = "wont_fix"
    FIXED = "fixed"
    VERIFIED = "verified"
    RECOVERED = "recovered"
    CLOSED = "closed"


class Move(StrEnum):
    ACKNOWLEDGE = "acknowledge"
    INVESTIGATE = "investigate"
    EXPECT = "expect"
    NOISE = "noise"
    WONT_FIX = "wont_fix"
    FIXED = "fixed"
    ACCEPT_BASELINE = "accept_baseline"
    REOPEN = "reopen"
    COMMENT = "comment"


class AlertUpdate(StrEnum):
    CONFIRMED = "confirmed"
    RECOVERED = "recovered"
    OVER = "over"
    GONE = "gone"
    RULE_REMOVED = "rule_removed"


class ClosedBecause(StrEnum):
    CHANGE_GONE = "change_gone"
    SUSPECT_GONE = "suspect_gone"
    RULE_REMOVED = "rule_removed"


S = AlertState
FRESH: Final = timedelta(days=90)
"""Overview and digests only count or leave out what was found earlier, so that they stay bounded."""
OPEN: Final = frozenset({S.UNTRIAGED, S.ACKNOWLEDGED, S.INVESTIGATING})
_ENDED: Final = frozenset({S.EXPECTED, S.NOISE, S.WONT_FIX, S.FIXED, S.VERIFIED, S.RECOVERED})

MOVES: Final[Mapping[Move, Mapping[AlertState, AlertState]]] = {
    Move.ACKNOWLEDGE: {
        S.UNTRIAGED: S.ACKNOWLEDGED,
        S.ACKNOWLEDGED: S.ACKNOWLEDGED,
        S.INVESTIGATING: S.INVESTIGATING,
    },
    Move.INVESTIGATE: {S.UNTRIAGED: S.INVESTIGATING, S.ACKNOWLEDGED: S.INVESTIGATING},
    Move.EXPECT: dict.fromkeys(OPEN | {S.EXPECTED}, S.EXPECTED),
    Move.NOISE: dict.fromkeys(OPEN, S.NOISE),
    Move.WONT_FIX: dict.fromkeys(OPEN, S.WONT_FIX),
    Move.FIXED: dict.fromkeys(OPEN, S.FIXED) | {S.RECOVERED: S.VERIFIED},
    Move.ACCEPT_BASELINE: {S.EXPECTED: S.EXPECTED},
    Move.REOPEN: dict.fromkeys(_ENDED, S.UNTRIAGED),
    Move.COMMENT: {state: state for state in S},
}

_IMPROVEMENT_ACCEPTED: Final = dict.fromkeys(OPEN | {S.EXPECTED}, S.EXPECTED)
_UPDATES: Final[Mapping[AlertUpdate, Mapping[AlertState, AlertState]]] = {
    AlertUpdate.CONFIRMED: {S.SUSPECT: S.UNTRIAGED},
    AlertUpdate.RECOVERED: dict.fromkeys(OPEN, S.RECOVERED) | {S.FIXED: S.VERIFIED},
    AlertUpdate.OVER: dict.fromkeys(OPEN, S.RECOVERED) | {S.FIXED: S.VERIFIED},
    AlertUpdate.GONE: dict.fromkeys(OPEN | {S.SUSPECT, S.FIXED}, S.CLOSED),
    AlertUpdate.RULE_REMOVED: dict.fromkeys(OPEN | {S.FIXED}, S.CLOSED),
}


def moved(state: AlertState, move: Move, *, is_improvement: bool) -> AlertState | None:
    return _targets(move, is_improvement=is_improvement).get(state)


def possible(state: AlertState, *, is_improvement: bool) -> tuple[Move, ...]:
    return tuple(move for move in Move if state in _targets(move, is_improvement=is_improvement))


def after_update(state: AlertState, update: AlertUpdate) -> AlertState:
    """Return the state after an update, which never changes a user's verdict."""
    return _UPDATES[update].get(state, state)


def closes(state: AlertState, update: AlertUpdate) -> bool:
    """Return False for a closed alert too, which keeps its reason and the state that it returns to."""
    return _UPDATES[update].get(state) is AlertState.CLOSED


def _targets(move: Move, *, is_improvement: bool) -> Mapping[AlertState, AlertState]:
    if move is Move.ACCEPT_BASELINE and is_improvement:
        return _IMPROVEMENT_ACCEPTED
    return MOVES[move]
