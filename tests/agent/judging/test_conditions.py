"""DEGRADED, ERRORS and TIME_SET: inputs that raise each flag, and inputs just below the limit."""

from typing import Any

import pytest
from agent.judging.rows import flags_of

from iotide_agent.judging.conditions import judge_clock, judge_condition
from iotide_agent.probes.condition import Condition
from iotide_wire.measured import Answer, Check, FlagCode, FlagEffect, NotJudged

WHOLE = Condition((), {"ext4 errors_count of sda1": 3})


def test_a_rebuild_at_either_end_of_the_run_is_flagged() -> None:
    rebuilding = Condition(("md5: recover, 12 / 4096",), WHOLE.errors)
    [flag] = flags_of(judge_condition(WHOLE, rebuilding))
    assert (flag.code, flag.effect) == (FlagCode.DEGRADED, FlagEffect.MARKED)
    assert flag.measured == "at the end of the run: md5: recover, 12 / 4096"
    assert [flag.measured for flag in flags_of(judge_condition(rebuilding, WHOLE))] == [
        "at the start of the run: md5: recover, 12 / 4096"
    ]


def test_errors_that_the_kernel_counted_meanwhile_reject_the_run_and_older_ones_do_not() -> None:
    assert judge_condition(WHOLE, WHOLE) == []
    [flag] = flags_of(judge_condition(WHOLE, Condition((), {"ext4 errors_count of sda1": 4})))
    assert (flag.code, flag.effect) == (FlagCode.ERRORS, FlagEffect.REJECTED)
    assert flag.measured == "ext4 errors_count of sda1 rose from 3 to 4"


def unjudged(found: list[Answer]) -> dict[Check, str]:
    """Return the checks that were not judged, with reasons."""
    return {answer.check: answer.because for answer in found if isinstance(answer, NotJudged)}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (None, WHOLE, "it was not read before the run"),
        (WHOLE, None, "it was not read after the run"),
        (None, None, "it was not read before and after the run"),
    ],
)
def test_a_counter_seen_at_one_end_only_gives_no_verdict(
    before: Condition | None, after: Condition | None, why: str
) -> None:
    found = judge_condition(before, after)
    assert flags_of(found) == []
    assert unjudged(found) == {Check.STORAGE_CONDITION: why, Check.STORAGE_ERRORS: why}


def test_a_counter_that_was_read_only_once_is_named() -> None:
    found = judge_condition(Condition((), {}), WHOLE)
    assert unjudged(found) == {Check.STORAGE_ERRORS: "read only once: ext4 errors_count of sda1"}


def test_unreadable_conditions_are_reported_with_the_reason() -> None:
    unread = Condition((), {}, ("dmsetup ended with status 1: Permission denied",))
    found = judge_condition(unread, unread)
    assert unjudged(found) == {Check.STORAGE_CONDITION: "dmsetup ended with status 1: Permission denied"}
    degraded = Condition(("md5: 1 of its disks missing",), {}, unread.unread)
    assert unjudged(judge_condition(degraded, unread)) == {}, "a flag is an answer"


def ended(lasted: float, wall: float) -> dict[str, Any]:
    return {
        "started_at_epoch_seconds": 1_800_000_000.0,
        "ended_at_epoch_seconds": 1_800_000_000.0 + wall,
        "started_at_boottime_seconds": 50.0,
        "ended_at_boottime_seconds": 50.0 + lasted,
    }


@pytest.mark.parametrize(
    ("lasted", "wall", "is_set"),
    [
        (10.0, 10.09, False),
        (10.0, 10.11, True),
        (10.0, 9.89, True),
        (3600.0, 3600.9, False),
        (3600.0, 3601.1, True),
        (0.2, 0.209, False),  # the process may be preempted between two readings
        (0.2, 0.22, True),
        (10.0, -3590.0, True),
    ],
)
def test_a_clock_that_was_set_by_more_than_a_second_or_a_hundredth_is_flagged(
    lasted: float, wall: float, *, is_set: bool
) -> None:
    flags = flags_of(judge_clock(ended(lasted, wall)))
    assert [flag.code for flag in flags] == ([FlagCode.TIME_SET] if is_set else [])


def test_a_run_without_both_clocks_is_not_judged() -> None:
    for half in (
        ended(10.0, 20.0) | {"started_at_boottime_seconds": None},
        {"started_at_epoch_seconds": 1.0, "ended_at_epoch_seconds": 9.0},
    ):
        assert unjudged(judge_clock(half)) == {Check.CLOCK: "the runner recorded no start or end"}
