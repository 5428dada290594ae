"""Gaps of a series without data."""

from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.statistics.lateness import DataGap, find_gaps, missing_days

START = datetime(2026, 5, 31, 2, 30, tzinfo=UTC)


def nights(*numbers: int) -> list[datetime]:
    return [START + timedelta(days=number) for number in numbers]


def test_a_series_that_stopped_has_a_gap_up_to_now() -> None:
    times = nights(*range(30))
    assert find_gaps(times, times[-1] + timedelta(days=33)) == [DataGap(times[-1], None)]


def test_a_gap_between_points_lasts_from_the_last_point_before_it_to_the_first_after_it() -> None:
    times = nights(*range(10), *range(15, 25))
    assert find_gaps(times, times[-1]) == [DataGap(times[9], times[10])]


@pytest.mark.parametrize("days", [1, 2])
def test_up_to_twice_the_usual_gap_is_no_gap(days: int) -> None:
    times = nights(*range(10))
    assert find_gaps(times, times[-1] + timedelta(days=days)) == []


def test_the_night_after_an_afternoon_of_many_runs_is_no_gap() -> None:
    times = [day + timedelta(minutes=minute) for day in nights(*range(10)) for minute in range(0, 60, 10)]
    assert find_gaps(times, times[-1] + timedelta(hours=30)) == []


def test_a_series_that_changed_from_nightly_to_weekly_is_measured_by_the_days_before_each_gap() -> None:
    times = nights(*range(30), *range(36, 36 + 7 * 30, 7))
    gaps = find_gaps(times, times[-1])
    assert gaps[0] == DataGap(times[29], times[30])
    assert gaps[-1].until is not None
    assert gaps[-1].until < times[-10]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_points_on_fewer_than_four_days_give_no_verdict(count: int) -> None:
    assert find_gaps(nights(*range(count)), START + timedelta(days=900)) == []
    assert missing_days(nights(*range(count))) == 4 - count
