from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.statistics.lateness import TOLERANCE, lateness

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


def daily(count: int, first: datetime = NOW) -> list[datetime]:
    return [first + number * DAY for number in range(count)]


def test_a_daily_series_is_late_an_hour_after_its_second_missed_firing() -> None:
    times = daily(5)
    firings = daily(2, times[-1] + DAY)
    on_time = lateness(times, firings, firings[1] + TOLERANCE - MOMENT)
    assert (on_time.is_late, on_time.missed_firings) == (False, 1)
    late = lateness(times, firings, firings[1] + TOLERANCE)
    assert (late.is_late, late.missed_firings, late.late_at) == (True, 2, firings[1] + TOLERANCE)
    assert late.last_at == times[-1]


@pytest.mark.parametrize(("points", "count"), [(5, 0), (3, 1)])
def test_without_a_firing_or_with_one_and_no_usual_gap_nothing_is_late(points: int, count: int) -> None:
    found = lateness(daily(points), daily(count, NOW + 5 * DAY), NOW + 900 * DAY)
    assert (found.is_late, found.late_at, found.missed_firings) == (False, None, count)


def test_a_series_is_late_if_its_schedule_no_longer_fires() -> None:
    times = daily(5)
    due_at = times[-1] + DAY
    late_at = times[-1] + 2 * DAY + TOLERANCE
    assert not lateness(times, [due_at], late_at - MOMENT).is_late
    assert lateness(times, [due_at], late_at).is_late
    assert not lateness(times, [times[-1] + 30 * DAY], times[-1] + 29 * DAY).is_late


def test_a_series_that_gets_each_third_point_only_is_late_after_six_firings() -> None:
    times = [NOW + 3 * number * DAY for number in range(6)]
    firings = daily(9, times[-1] + DAY)
    assert not lateness(times, firings, times[-1] + 6 * DAY).is_late
    assert lateness(times, firings, times[-1] + 6 * DAY + TOLERANCE).is_late


def test_one_outage_in_the_past_makes_no_series_slower_to_be_late() -> None:
    times = [*daily(4), *daily(4, NOW + 60 * DAY)]
    firings = daily(2, times[-1] + DAY)
    assert lateness(times, firings, firings[1] + TOLERANCE).is_late


moments = st.lists(st.integers(0, 10_000), min_size=1, max_size=20).map(
    lambda minutes: sorted(NOW + timedelta(minutes=number) for number in minutes)
)


@given(moments, moments, st.integers(0, 40_000), st.integers(0, 600))
def test_late_comes_at_one_moment_and_never_before_the_second_known_firing(
    times: list[datetime], gaps: list[datetime], minutes: int, tolerance_minutes: int
) -> None:
    tolerance = timedelta(minutes=tolerance_minutes)
    firings = [times[-1] + (moment - NOW) for moment in gaps]
    found = lateness(times, firings, NOW + timedelta(minutes=minutes), tolerance)
    assert found.missed_firings <= len(firings)
    assert not found.is_late or found.missed_firings >= min(2, len(firings))
    if found.late_at is not None:
        assert found.late_at >= times[-1] + tolerance
        assert lateness(times, firings, found.late_at, tolerance).is_late
        assert not lateness(times, firings, found.late_at - MOMENT, tolerance).is_late


@given(moments, st.integers(1, 10_000))
def test_a_new_point_ends_it(times: list[datetime], minutes: int) -> None:
    now = times[-1] + timedelta(minutes=minutes)
    assert not lateness([*times, now], [now + DAY], now + DAY).is_late
