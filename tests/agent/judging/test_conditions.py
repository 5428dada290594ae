"""DEGRADED, ERRORS and CLOCK: what trips each, and what nearly does."""

from typing import Any

import pytest

from iotide_agent.judging.conditions import judge_clock, judge_condition
from iotide_agent.probes.condition import Condition
from iotide_wire.measured import FlagCode, FlagEffect

WHOLE = Condition((), {"ext4 errors_count of sda1": 3})


def test_a_rebuild_at_either_end_of_the_run_is_told() -> None:
    rebuilding = Condition(("md5: recover, 12 / 4096",), {})
    [flag] = judge_condition(WHOLE, rebuilding)
    assert (flag.code, flag.effect) == (FlagCode.DEGRADED, FlagEffect.MARKED)
    assert flag.measured == "at the end of the run: md5: recover, 12 / 4096"
    assert [flag.measured for flag in judge_condition(rebuilding, WHOLE)] == [
        "at the start of the run: md5: recover, 12 / 4096"
    ]


def test_errors_that_the_kernel_counted_meanwhile_reject_the_run_and_older_ones_do_not() -> None:
    assert judge_condition(WHOLE, WHOLE) == []
    [flag] = judge_condition(WHOLE, Condition((), {"ext4 errors_count of sda1": 4}))
    assert (flag.code, flag.effect) == (FlagCode.ERRORS, FlagEffect.REJECTED)
    assert flag.measured == "ext4 errors_count of sda1 rose from 3 to 4"


def test_what_was_seen_at_one_end_only_is_no_rise() -> None:
    assert judge_condition(None, WHOLE) == judge_condition(WHOLE, None) == []
    assert judge_condition(Condition((), {}), WHOLE) == []


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
        (0.2, 0.209, False),  # a process may be put aside between two looks
        (0.2, 0.22, True),
        (10.0, -3590.0, True),
    ],
)
def test_a_clock_that_was_set_by_more_than_a_second_or_a_hundredth_is_told(
    lasted: float, wall: float, *, is_set: bool
) -> None:
    flags = judge_clock(ended(lasted, wall))
    assert [flag.code for flag in flags] == ([FlagCode.CLOCK] if is_set else [])


def test_a_run_without_both_clocks_is_not_judged() -> None:
    assert judge_clock(ended(10.0, 20.0) | {"started_at_boottime_seconds": None}) == []
    assert judge_clock({"started_at_epoch_seconds": 1.0, "ended_at_epoch_seconds": 9.0}) == []
