from collections.abc import Sequence

import pytest

from iotide_server.campaigns.stopping import (
    AdaptiveRule,
    CellRuns,
    EndOfRepeats,
    Step,
    progress_words,
    step_after,
    words_of,
)

RULE = AdaptiveRule(until_ratio=0.03, most=40)
STEADY = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1]
NOISY = [100.0, 130.0, 70.0, 115.0, 85.0, 105.0, 95.0, 100.0]


def after(values: Sequence[float], *, made: int | None = None, looked_at: int = 0, out_of_time: bool = False) -> Step:
    runs = CellRuns(1, len(values) if made is None else made, looked_at, values)
    return step_after(runs, RULE, is_out_of_time=out_of_time)


def test_a_narrow_interval_at_the_first_look_ends_the_repeats() -> None:
    step = after(STEADY)
    assert (step.more, step.ended_because, step.looked_at) == (0, EndOfRepeats.NARROW, 8)
    assert step.half_width_ratio == pytest.approx(0.01, rel=0.01)


def test_a_wide_interval_asks_for_the_runs_up_to_the_next_look() -> None:
    looked = [after(NOISY * 5), after(NOISY), after(NOISY[:4] + NOISY, looked_at=8), after(NOISY * 3, looked_at=16)]
    assert [(step.looked_at, step.more) for step in looked] == [(40, 0), (8, 4), (12, 4), (24, 16)]
    assert looked[0].ended_because is EndOfRepeats.MOST


def test_runs_that_failed_are_replaced_before_the_look() -> None:
    step = after(STEADY[:6], made=8)
    assert (step.looked_at, step.more, step.ended_because) == (0, 2, None)
    assert after(STEADY, made=10).ended_because is EndOfRepeats.NARROW


def test_replacements_count_towards_the_most_runs_of_a_plan() -> None:
    assert after(NOISY * 3, made=30, looked_at=16).more == 10
    last = after([*NOISY * 4, *NOISY[:6]], made=40, looked_at=24)
    assert (last.more, last.ended_because, last.looked_at) == (0, EndOfRepeats.MOST, 38)


@pytest.mark.parametrize(("valid", "more"), [(0, 0), (3, 0), (4, 4)])
def test_a_configuration_whose_runs_mostly_fail_is_not_repeated_to_the_end(valid: int, more: int) -> None:
    step = after(STEADY[:valid], made=8)
    assert (step.more, step.ended_because) == (more, None if more else EndOfRepeats.FAILED)


def test_at_the_end_of_the_time_it_ends_with_what_it_has() -> None:
    ends = [after(values, out_of_time=True).ended_because for values in (STEADY, NOISY, STEADY[:4], [])]
    assert ends == [EndOfRepeats.NARROW, *[EndOfRepeats.BUDGET] * 3]
    assert after(STEADY[:4], out_of_time=True).half_width_ratio is None


def test_added_runs_move_the_next_look() -> None:
    assert after([*NOISY, *NOISY[:5]], looked_at=8).more == 3


def test_the_words_say_the_number_of_runs_and_the_width() -> None:
    cases = [
        (None, 0, None, "not enough runs yet"),
        (None, 12, 0.051, "±5.1 % after 12 runs"),
        (EndOfRepeats.NARROW, 12, 0.024, "stopped after 12 runs: ±2.4 %"),
        (EndOfRepeats.MOST, 40, 0.051, "40 runs, still ±5.1 %"),
        (EndOfRepeats.BUDGET, 1, None, "budget used up after 1 run: no interval"),
        (EndOfRepeats.CANCELLED, 8, 0.1, "cancelled after 8 runs: ±10 %"),
    ]
    for because, runs, width, words in cases:
        assert words_of(because, runs, width, resembles=False) == words
    assert words_of(None, 12, 0.05, resembles=True).endswith(
        "; runs resemble the ones before, so the interval is too narrow"
    )


def test_the_words_of_a_campaign_count_its_configurations() -> None:
    ends = dict.fromkeys(EndOfRepeats, 0) | {EndOfRepeats.NARROW: 28, EndOfRepeats.MOST: 3}
    assert progress_words(ends, 1, 0.03) == (
        "28 of 32 configurations reached ±3 %, 3 are still wider after all runs, 1 is open"
    )
