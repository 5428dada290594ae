from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.runs.lifecycle import (
    DECLINES_FORGIVEN,
    RUN_MOVES,
    AttemptState,
    ImpossibleMoveError,
    NextOfRun,
    OrderEnd,
    RunState,
    Tries,
    advanced,
    after_attempt,
    end_of_attempt,
    require_move,
    retried,
)
from iotide_wire.messages import OrderState

ORDER = list(OrderState)
order_states = st.sampled_from(ORDER)
ended_attempts = st.sampled_from([state for state in AttemptState if state is not AttemptState.OPEN])


@given(before=st.sampled_from(RunState), after=st.sampled_from(RunState))
def test_a_run_moves_only_as_in_the_table(before: RunState, after: RunState) -> None:
    if after in RUN_MOVES[before]:
        require_move(before, after)
    else:
        with pytest.raises(ImpossibleMoveError, match=f"{before} cannot become {after}"):
            require_move(before, after)


def test_nothing_leads_out_of_finished() -> None:
    assert RUN_MOVES[RunState.FINISHED] == frozenset()


@given(known=order_states, reports=st.lists(order_states))
def test_an_order_only_moves_forwards_for_any_report_of_the_agent(known: OrderState, reports: list[OrderState]) -> None:
    seen = [known]
    for report in reports:
        seen.append(advanced(seen[-1], report))
    assert all(ORDER.index(before) <= ORDER.index(after) for before, after in pairwise(seen))


@given(known=order_states, report=order_states)
def test_no_heartbeat_claims_or_ends_an_order(known: OrderState, report: OrderState) -> None:
    after = advanced(known, report)
    assert (known is OrderState.OFFERED) == (after is OrderState.OFFERED)
    assert (known is OrderState.ENDED) == (after is OrderState.ENDED)


@given(known=order_states, report=order_states)
def test_a_repeated_heartbeat_changes_nothing(known: OrderState, report: OrderState) -> None:
    once = advanced(known, report)
    assert advanced(once, report) is once


@pytest.mark.parametrize(
    ("ends", "cancel_wanted", "state"),
    [
        ({OrderEnd.FINISHED}, False, AttemptState.FINISHED),
        ({OrderEnd.FINISHED}, True, AttemptState.FINISHED),
        ({OrderEnd.FAILED, OrderEnd.CANCELLED}, False, AttemptState.FAILED),
        ({OrderEnd.FAILED}, True, AttemptState.FAILED),
        ({OrderEnd.CANCELLED}, True, AttemptState.CANCELLED),
        ({OrderEnd.CANCELLED}, False, AttemptState.CANCELLED),
        ({OrderEnd.WITHDRAWN}, True, AttemptState.CANCELLED),
        ({OrderEnd.DECLINED, OrderEnd.CANCELLED}, True, AttemptState.CANCELLED),
        ({OrderEnd.LOST}, True, AttemptState.CANCELLED),
        ({OrderEnd.DECLINED}, False, AttemptState.DECLINED),
        ({OrderEnd.DECLINED, OrderEnd.CANCELLED}, False, AttemptState.DECLINED),
        ({OrderEnd.WITHDRAWN}, False, AttemptState.DECLINED),
        ({OrderEnd.LOST, OrderEnd.DECLINED, OrderEnd.CANCELLED}, False, AttemptState.LOST),
    ],
)
def test_an_attempt_ends_as_its_weightiest_order(
    ends: set[OrderEnd],
    cancel_wanted: bool,  # noqa: FBT001 - a column of the table
    state: AttemptState,
) -> None:
    assert end_of_attempt(ends, cancel_wanted=cancel_wanted) is state


@given(ended=ended_attempts, allowed=st.integers(1, 10), data=st.data())
def test_every_outcome_of_an_attempt_is_a_move_out_of_active(
    ended: AttemptState, allowed: int, data: st.DataObject
) -> None:
    made = data.draw(st.integers(1, allowed))
    require_move(RunState.ACTIVE, after_attempt(ended, Tries(made, allowed, 0)).state)


@given(ends=st.lists(st.sampled_from([AttemptState.DECLINED, AttemptState.LOST]), min_size=16, max_size=16))
def test_a_run_that_never_gets_done_ends_failed(ends: list[AttemptState]) -> None:
    tries, attempts = Tries(made=0, allowed=10, declines=0), 0
    for end in ends:
        attempts += 1
        after = after_attempt(end, Tries(tries.made + 1, tries.allowed, tries.declines))
        tries = after.tries
        if after.state is RunState.FAILED:
            break
    assert after.state is RunState.FAILED
    assert attempts <= tries.allowed + DECLINES_FORGIVEN + 1


def test_a_lost_attempt_counts_and_a_declined_one_does_not() -> None:
    assert after_attempt(AttemptState.LOST, Tries(1, 2, 0)) == NextOfRun(RunState.WAITING, Tries(1, 2, 0))
    assert after_attempt(AttemptState.LOST, Tries(2, 2, 0)).state is RunState.FAILED
    declined = after_attempt(AttemptState.DECLINED, Tries(2, 2, 0))
    assert declined == NextOfRun(RunState.WAITING, Tries(1, 2, 1), timedelta(seconds=5))


def test_the_wait_after_declines_doubles_up_to_a_minute() -> None:
    waits = [after_attempt(AttemptState.DECLINED, Tries(1, 2, before)).delay for before in range(DECLINES_FORGIVEN)]
    assert waits == [timedelta(seconds=seconds) for seconds in (5, 10, 20, 40, 60)]


def test_a_retry_allows_exactly_one_more_attempt() -> None:
    tries = retried(Tries(made=2, allowed=2, declines=6))
    assert tries == Tries(made=2, allowed=3, declines=0)
    assert after_attempt(AttemptState.LOST, Tries(tries.made + 1, tries.allowed, 0)).state is RunState.FAILED


def test_a_run_postponed_by_its_node_waits_that_long_and_uses_no_attempt() -> None:
    for tries in (Tries(1, 1, 0), Tries(2, 2, DECLINES_FORGIVEN)):
        put_off = after_attempt(AttemptState.DECLINED, tries, timedelta(hours=7))
        assert put_off == NextOfRun(
            RunState.WAITING, Tries(tries.made - 1, tries.allowed, tries.declines), timedelta(hours=7)
        )
    for end in (AttemptState.FINISHED, AttemptState.FAILED, AttemptState.CANCELLED):
        assert after_attempt(end, Tries(1, 1, 0), timedelta(hours=7)) == after_attempt(end, Tries(1, 1, 0))
