"""States of incidents, and what users may do in each; pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from iotide_server.alerts.lifecycle import Move


class IncidentState(StrEnum):
    """State of an incident: the most urgent one of its alerts.

    ENDED: all of its changes recovered, or it is an improvement. WITHDRAWN: later analyses found none of its changes.
    """

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    EXPECTED = "expected"
    IGNORED = "ignored"
    ENDED = "ended"
    WITHDRAWN = "withdrawn"


class IncidentMove(StrEnum):
    ACKNOWLEDGE = "acknowledge"
    EXPECT = "expect"
    SET_CAUSE = "set_cause"
    IGNORE = "ignore"
    COMMENT = "comment"
    REOPEN = "reopen"
    UNDO = "undo"


S = IncidentState
OPEN_INCIDENTS: Final = (S.OPEN, S.ACKNOWLEDGED)
LISTED_INCIDENTS: Final = (S.OPEN, S.ACKNOWLEDGED, S.EXPECTED, S.IGNORED, S.ENDED)

ALERT_MOVES: Final[Mapping[IncidentMove, Move]] = {
    IncidentMove.ACKNOWLEDGE: Move.ACKNOWLEDGE,
    IncidentMove.EXPECT: Move.EXPECT,
    IncidentMove.IGNORE: Move.WONT_FIX,
    IncidentMove.REOPEN: Move.REOPEN,
}
"""Action on each alert of the incident. An ignored change is real, so its level does not count as healthy."""

_JUDGING: Final = (IncidentMove.ACKNOWLEDGE, IncidentMove.EXPECT, IncidentMove.IGNORE)
_ALWAYS: Final = (IncidentMove.SET_CAUSE, IncidentMove.COMMENT)
DECISIONS: Final = (*_JUDGING, IncidentMove.SET_CAUSE, IncidentMove.REOPEN)
"""The newest of these can be undone."""


def possible_moves(
    state: IncidentState, *, has_alerts: bool, last_decision: IncidentMove | None
) -> tuple[IncidentMove, ...]:
    """`last_decision` is the newest action that is no comment."""
    match state:
        case S.OPEN | S.ACKNOWLEDGED if has_alerts:
            allowed = {*_JUDGING, *_ALWAYS}
        case S.EXPECTED | S.IGNORED | S.ENDED if has_alerts:
            allowed = {IncidentMove.REOPEN, *_ALWAYS}
        case _:
            allowed = {*_ALWAYS}
    if last_decision in DECISIONS:
        allowed.add(IncidentMove.UNDO)
    return tuple(move for move in IncidentMove if move in allowed)
