import pytest

from iotide_server.alerts.lifecycle import OPEN, AlertState, AlertUpdate, Move, after_update, moved, possible

LIFE = [
    (AlertState.UNTRIAGED, Move.ACKNOWLEDGE, AlertState.ACKNOWLEDGED),
    (AlertState.ACKNOWLEDGED, Move.ACKNOWLEDGE, AlertState.ACKNOWLEDGED),
    (AlertState.INVESTIGATING, Move.ACKNOWLEDGE, AlertState.INVESTIGATING),
    (AlertState.ACKNOWLEDGED, Move.INVESTIGATE, AlertState.INVESTIGATING),
    (AlertState.INVESTIGATING, Move.EXPECT, AlertState.EXPECTED),
    (AlertState.INVESTIGATING, Move.NOISE, AlertState.NOISE),
    (AlertState.UNTRIAGED, Move.WONT_FIX, AlertState.WONT_FIX),
    (AlertState.ACKNOWLEDGED, Move.FIXED, AlertState.FIXED),
    (AlertState.RECOVERED, Move.FIXED, AlertState.VERIFIED),
    (AlertState.EXPECTED, Move.ACCEPT_BASELINE, AlertState.EXPECTED),
    (AlertState.NOISE, Move.REOPEN, AlertState.UNTRIAGED),
    (AlertState.CLOSED, Move.COMMENT, AlertState.CLOSED),
]


@pytest.mark.parametrize(("before", "move", "after"), LIFE)
def test_people_move_an_alert_along_its_life(before: AlertState, move: Move, after: AlertState) -> None:
    assert moved(before, move, is_improvement=False) is after


@pytest.mark.parametrize("state", sorted(OPEN))
def test_only_an_improvement_is_accepted_without_a_reason(state: AlertState) -> None:
    assert moved(state, Move.ACCEPT_BASELINE, is_improvement=True) is AlertState.EXPECTED
    assert moved(state, Move.ACCEPT_BASELINE, is_improvement=False) is None


@pytest.mark.parametrize("state", [AlertState.SUSPECT, AlertState.CLOSED])
def test_alerts_that_were_not_notified_or_are_closed_only_take_comments(state: AlertState) -> None:
    assert possible(state, is_improvement=True) == (Move.COMMENT,)


def test_the_possible_moves_are_those_that_succeed() -> None:
    for state in AlertState:
        for is_improvement in (False, True):
            allowed = possible(state, is_improvement=is_improvement)
            assert all(
                (moved(state, move, is_improvement=is_improvement) is None) == (move not in allowed) for move in Move
            )


@pytest.mark.parametrize("state", sorted(OPEN))
def test_the_opposite_change_ends_what_is_open(state: AlertState) -> None:
    assert after_update(state, AlertUpdate.RECOVERED) is AlertState.RECOVERED
    assert after_update(state, AlertUpdate.OVER) is AlertState.RECOVERED
    assert after_update(state, AlertUpdate.GONE) is AlertState.CLOSED
    assert after_update(state, AlertUpdate.RULE_REMOVED) is AlertState.CLOSED


def test_a_recovery_verifies_a_fix() -> None:
    assert after_update(AlertState.FIXED, AlertUpdate.RECOVERED) is AlertState.VERIFIED
    assert after_update(AlertState.FIXED, AlertUpdate.OVER) is AlertState.VERIFIED


@pytest.mark.parametrize("update", AlertUpdate)
@pytest.mark.parametrize("state", [AlertState.EXPECTED, AlertState.NOISE, AlertState.WONT_FIX, AlertState.VERIFIED])
def test_no_analysis_overrules_a_persons_judgement(state: AlertState, update: AlertUpdate) -> None:
    assert after_update(state, update) is state
