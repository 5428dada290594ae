"""Choice of the alert rule of a series, and its thresholds."""

from typing import Any

import pytest

from iotide_server.alerts.models import AlertRule
from iotide_server.alerts.scopes import asks_for, narrowest
from iotide_server.results.models import Series
from iotide_server.statistics.shifts import Direction, Shift

SUBJECT = Series(target_ids=[7, 8], workload="fio", metric="write_rate")


def rule(rule_id: int, **fields: Any) -> AlertRule:  # noqa: ANN401 - of its columns
    return AlertRule(**{"id": rule_id, "least_shift_ratio": 0.03, "directions": "worse", **fields})


def test_the_rule_that_names_most_answers_and_of_equals_the_oldest() -> None:
    everything, target, workload = rule(1), rule(2, target_id=8), rule(3, workload="fio")
    both = rule(4, target_id=7, metric="write_rate")
    assert narrowest([everything], SUBJECT) is everything
    assert narrowest([workload, target, everything], SUBJECT) is target
    assert narrowest([everything, both, target], SUBJECT) is both


@pytest.mark.parametrize("other", [rule(1, target_id=9), rule(1, workload="dd"), rule(1, metric="read_rate")])
def test_a_rule_of_something_else_does_not_answer(other: AlertRule) -> None:
    assert narrowest([other], SUBJECT) is None


@pytest.mark.parametrize(
    ("shift", "better", "asked"),
    [
        (Shift(100, 80), "higher", {"worse", "both"}),
        (Shift(100, 120), "higher", {"both"}),
        (Shift(100, 120), "lower", {"worse", "both"}),
        (Shift(100, 120), "neither", {"both"}),
        (Shift(0, 5), "lower", {"worse", "both"}),
        (Shift(100, 96), "higher", set()),
    ],
)
def test_a_rule_needs_its_direction_and_its_least_shift(shift: Shift, better: str, asked: set[str]) -> None:
    rules = [rule(1, least_shift_ratio=0.05, directions=directions) for directions in ("worse", "both")]
    assert {rule.directions for rule in rules if asks_for(rule, shift, better)} == asked


@pytest.mark.parametrize(
    ("first", "later", "is_back"),
    [
        (Shift(100, 80), Shift(80, 98), True),
        (Shift(100, 80), Shift(80, 130), True),
        (Shift(100, 80), Shift(80, 90), False),
        (Shift(100, 80), Shift(80, 60), False),
        (Shift(10, 15), Shift(15, 10.2), True),
        (Shift(10, 15), Shift(15, 12), False),
    ],
)
def test_a_change_is_taken_back_by_one_that_ends_where_it_began(first: Shift, later: Shift, is_back: bool) -> None:  # noqa: FBT001
    assert first.is_taken_back_by(later) is is_back


def test_the_worse_direction_follows_from_the_metric() -> None:
    assert Shift(100, 80).direction("higher") is Direction.WORSE
    assert Shift(100, 80).direction("lower") is Direction.BETTER
    assert Shift(100, 80).direction("neither") is Direction.NEITHER
