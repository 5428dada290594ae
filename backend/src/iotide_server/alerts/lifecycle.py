"""The life of an alert, as pure functions: the service asks them before it writes a state.

What people do

| move            | from                                                 | to                               |
|-----------------|------------------------------------------------------|----------------------------------|
| acknowledge     | untriaged, acknowledged                              | acknowledged                     |
| acknowledge     | investigating                                        | investigating, with a new owner  |
| investigate     | untriaged, acknowledged                              | investigating                    |
| expect          | untriaged, acknowledged, investigating, expected     | expected, by the event it names  |
| noise, wont_fix | untriaged, acknowledged, investigating               | noise, wont_fix                  |
| fixed           | untriaged, acknowledged, investigating               | fixed                            |
| fixed           | recovered                                            | verified                         |
| accept_baseline | expected; of an improvement also what it can be before | expected                       |
| reopen          | expected, noise, wont_fix, fixed, verified, recovered | untriaged                       |
| comment         | any                                                  | the same                         |

What analyses say

| news            | from                                                 | to                               |
|-----------------|------------------------------------------------------|----------------------------------|
| confirmed       | suspect                                              | untriaged                        |
| recovered       | untriaged, acknowledged, investigating               | recovered                        |
| recovered       | fixed                                                | verified                         |
| gone            | suspect, untriaged, acknowledged, investigating, fixed | closed                         |
| back            | closed, since it was gone                            | what it was before               |
| rule_removed    | whatever is still open                               | closed                           |
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class AlertState(StrEnum):
    """Where an alert is; of a `suspect` nobody is told."""

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
    """What a person does about an alert."""

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
    """What becomes known of an alert without anybody's doing."""

    CONFIRMED = "confirmed"
    RECOVERED = "recovered"
    GONE = "gone"
    RULE_REMOVED = "rule_removed"


class ClosedBecause(StrEnum):
    """Why an alert was closed without anybody's judgement."""

    CHANGE_GONE = "change_gone"
    SUSPECT_GONE = "suspect_gone"
    RULE_REMOVED = "rule_removed"


S = AlertState
OPEN: Final = frozenset({S.UNTRIAGED, S.ACKNOWLEDGED, S.INVESTIGATING})  # somebody has to do something about these
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
"""The first table above, for what is no improvement."""

_IMPROVEMENT_ACCEPTED: Final = dict.fromkeys(OPEN | {S.EXPECTED}, S.EXPECTED)
_NEWS: Final[Mapping[AlertUpdate, Mapping[AlertState, AlertState]]] = {
    AlertUpdate.CONFIRMED: {S.SUSPECT: S.UNTRIAGED},
    AlertUpdate.RECOVERED: dict.fromkeys(OPEN, S.RECOVERED) | {S.FIXED: S.VERIFIED},
    AlertUpdate.GONE: dict.fromkeys(OPEN | {S.SUSPECT, S.FIXED}, S.CLOSED),
    AlertUpdate.RULE_REMOVED: dict.fromkeys(OPEN | {S.FIXED}, S.CLOSED),
}


def moved(state: AlertState, move: Move, *, is_improvement: bool) -> AlertState | None:
    """The state after a move; None where it is not allowed."""
    return _targets(move, is_improvement=is_improvement).get(state)


def possible(state: AlertState, *, is_improvement: bool) -> tuple[Move, ...]:
    return tuple(move for move in Move if state in _targets(move, is_improvement=is_improvement))


def after_news(state: AlertState, news: AlertUpdate) -> AlertState:
    """The state after the news; the same where they change nothing, since people have judged already."""
    return _NEWS[news].get(state, state)


def _targets(move: Move, *, is_improvement: bool) -> Mapping[AlertState, AlertState]:
    if move is Move.ACCEPT_BASELINE and is_improvement:
        return _IMPROVEMENT_ACCEPTED
    return MOVES[move]
