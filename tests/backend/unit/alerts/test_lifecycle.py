import pytest

from iotide_server.alerts.lifecycle import OPEN, AlertState, AlertUpdate, Move, after_news, moved, possible

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
def test_what_nobody_was_told_of_and_what_is_closed_takes_comments_alone(state: AlertState) -> None:
    assert possible(state, is_improvement=True) == (Move.COMMENT,)


def test_what_is_possible_is_what_a_move_answers_to() -> None:
    for state in AlertState:
        for is_improvement in (False, True):
            allowed = possible(state, is_improvement=is_improvement)
            assert all(
                (moved(state, move, is_improvement=is_improvement) is None) == (move not in allowed) for move in Move
            )


@pytest.mark.parametrize("state", sorted(OPEN))
def test_the_opposite_change_ends_what_is_open(state: AlertState) -> None:
    assert after_news(state, AlertUpdate.RECOVERED) is AlertState.RECOVERED
    assert after_news(state, AlertUpdate.GONE) is AlertState.CLOSED
    assert after_news(state, AlertUpdate.RULE_REMOVED) is AlertState.CLOSED


def test_what_was_said_to_be_fixed_is_verified_by_it() -> None:
    assert after_news(AlertState.FIXED, AlertUpdate.RECOVERED) is AlertState.VERIFIED


@pytest.mark.parametrize("news", AlertUpdate)
@pytest.mark.parametrize("state", [AlertState.EXPECTED, AlertState.NOISE, AlertState.WONT_FIX, AlertState.VERIFIED])
def test_no_analysis_overrules_a_persons_judgement(state: AlertState, news: AlertUpdate) -> None:
    assert after_news(state, news) is state
