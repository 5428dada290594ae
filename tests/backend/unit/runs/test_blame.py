"""Nodes of one program end together: which of their reasons explains it, and which of their ends counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.runs.blame import OF_OTHERS, Ended, counted_ends, explains_better
from iotide_server.runs.lifecycle import AttemptState, OrderEnd, end_of_attempt

FAILED, LOST, DECLINED, CANCELLED = OrderEnd.FAILED, OrderEnd.LOST, OrderEnd.DECLINED, OrderEnd.CANCELLED


def reason(*ended: Ended) -> str | None:
    """Return the reason code of an attempt whose orders end in this order."""
    code: str | None = None
    for index, ending in enumerate(ended):
        if explains_better(ending, code, ended[:index]):
            code = ending[1]
    return code


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        ([(FAILED, "head_lost"), (FAILED, "step_failed")], "step_failed"),
        ([(FAILED, "step_failed"), (FAILED, "head_lost")], "step_failed"),
        ([(FAILED, "head_lost"), (FAILED, "member_lost")], "member_lost"),
        ([(FAILED, "member_lost"), (FAILED, "head_lost")], "member_lost"),
        ([(FAILED, "head_lost"), (FAILED, "part_ended"), (FAILED, "out_of_memory")], "out_of_memory"),
        ([(FAILED, "member_lost"), (LOST, "lost_by_reboot")], "lost_by_reboot"),
        ([(FAILED, "head_lost"), (DECLINED, "other_user")], "other_user"),
        ([(DECLINED, "other_user"), (FAILED, "head_lost")], "other_user"),
        ([(FAILED, "step_failed"), (FAILED, "time_limit")], "step_failed"),
        ([(DECLINED, "memory_short"), (FAILED, "step_failed")], "step_failed"),
        ([(FAILED, "part_ended"), (FAILED, "part_ended")], "part_ended"),
        ([(FAILED, "head_lost"), (CANCELLED, None)], "head_lost"),
        ([(FAILED, "part_ended"), (CANCELLED, "cancelled")], "part_ended"),
        ([(FAILED, "part_ended"), (CANCELLED, "batch_ended")], "batch_ended"),
    ],
)
def test_the_reason_is_that_of_the_first_node_with_a_cause_of_its_own(ended: list[Ended], code: str) -> None:
    assert reason(*ended) == code


@pytest.mark.parametrize(
    ("ended", "cancel_wanted", "state"),
    [
        ([(FAILED, "head_lost"), (FAILED, "member_lost")], False, AttemptState.FAILED),
        ([(FAILED, "member_lost"), (LOST, "lost_by_reboot")], False, AttemptState.LOST),
        ([(FAILED, "head_lost"), (DECLINED, "other_user"), (CANCELLED, None)], False, AttemptState.DECLINED),
        ([(FAILED, "head_lost"), (CANCELLED, "cancelled")], True, AttemptState.CANCELLED),
        ([(FAILED, "head_lost"), (FAILED, "step_failed"), (LOST, None)], False, AttemptState.FAILED),
        ([(FAILED, "member_unreachable"), (CANCELLED, None)], False, AttemptState.FAILED),
    ],
)
def test_a_dead_node_or_a_decline_is_tried_again_though_other_nodes_failed_by_it(
    ended: list[Ended],
    cancel_wanted: bool,  # noqa: FBT001 - a column of the table
    state: AttemptState,
) -> None:
    assert end_of_attempt(counted_ends(ended, cancel_wanted=cancel_wanted), cancel_wanted=cancel_wanted) is state


@given(
    ended=st.lists(st.tuples(st.sampled_from(OrderEnd), st.none() | st.text(max_size=3)), min_size=1),
    wanted=st.booleans(),
)
def test_nothing_changes_for_orders_without_a_program_of_several_nodes(ended: list[Ended], wanted: bool) -> None:  # noqa: FBT001
    assert not {code for _, code in ended} & OF_OTHERS.keys()
    assert counted_ends(ended, cancel_wanted=wanted) == {end for end, _ in ended}
