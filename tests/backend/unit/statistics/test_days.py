from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Sides, Verdict, compare_board
from iotide_server.statistics.days import (
    DayScatter,
    are_of_one_day,
    day_error,
    day_medians,
    pooled_scatter,
    scatter_of,
)

NIGHT = datetime(2026, 11, 1, 22, 0, tzinfo=UTC)


def after(*hours: float) -> list[datetime]:
    return [NIGHT + timedelta(hours=one) for one in hours]


def test_a_night_is_one_day_and_the_next_night_another() -> None:
    assert are_of_one_day(after(0, 1), after(3, 4))
    assert are_of_one_day(after(0), after(12))
    assert not are_of_one_day(after(0, 1), after(24, 25))
    assert day_medians(after(4, 0, 24, 28, 47.9, 72), [1.0, 3.0, 10.0, 12.0, 20.0, 30.0]) == [2.0, 11.0, 20.0, 30.0]


def test_the_scatter_is_that_of_the_last_20_days_and_unknown_below_six() -> None:
    assert scatter_of([100.0, 101.0, 99.0, 100.0, 102.0]) is None
    found = scatter_of([1000.0] * 5 + [100.0, 110.0] * 10)
    assert found is not None
    assert (found.point_count, found.freedom) == (20, 19)
    assert found.variance == pytest.approx(np.var(np.log([100.0, 110.0] * 10), ddof=1))


def test_the_scatter_of_several_series_is_within_them() -> None:
    found = pooled_scatter([[100.0, 110.0, 100.0], [1.0, 1.1, 1.0, 1.1], [7.0]])
    assert found is not None
    assert (found.point_count, found.freedom, found.series_count) == (7, 5, 2)
    assert found.variance**0.5 == pytest.approx(0.055, rel=0.05)
    assert pooled_scatter([[100.0, 110.0], [1.0, 1.1]]) is None


def test_series_of_the_same_days_know_no_more_days() -> None:
    series = [[100.0, 110.0, 100.0, 104.0, 99.0, 103.0]] * 4
    shared, apart = pooled_scatter(series, 6), pooled_scatter(series)
    assert shared is not None
    assert apart is not None
    assert (shared.freedom, apart.freedom, shared.variance) == (5, 20, apart.variance)
    assert pooled_scatter(series, 5) is None


def test_one_series_is_known_once_and_two_by_both() -> None:
    one, other = DayScatter(0.01, 19, 20), DayScatter(0.01, 9, 10)
    assert day_error(one, one).freedom == 19
    assert day_error(one, other).variance == 0.02
    assert 19 < day_error(one, other).freedom < 28


@pytest.mark.parametrize(("day", "run", "count"), [(0.01, 0.03, 4), (0.05, 0.03, 4), (0.05, 0.01, 10), (0.1, 0.03, 30)])
def test_the_interval_of_history_holds_the_ratio_of_two_days(day: float, run: float, count: int) -> None:
    """By runs alone it held in 0.61, 0.11 and 0.32 of the last three (review, S3)."""
    random = np.random.default_rng(36)
    held = wrong = 0
    for _ in range(400):
        days = 100 * np.exp(day * random.standard_normal(22))
        values = days[:, None] * np.exp(run * random.standard_normal((22, count)))
        scatter = scatter_of(list(np.median(values[:20], axis=1)))
        assert scatter is not None
        sides = Sides(list(values[20]), list(values[21]), Basis.HISTORY, day_error(scatter, scatter))
        (found,) = compare_board([sides])
        assert found.interval is not None
        held += found.interval.low <= 1 <= found.interval.high
        wrong += found.verdict in {Verdict.HIGHER, Verdict.LOWER}
    assert 0.92 <= held / 400 <= 0.98
    assert wrong / 400 <= 0.07


def test_days_without_history_are_not_judged() -> None:
    a, b = [100.0, 101.0, 99.0, 100.5], [120.0, 121.0, 119.0, 120.5]
    (found,) = compare_board([Sides(a, b, Basis.ONE_DAY)])
    assert (found.verdict, found.is_discovery, found.p_value) == (Verdict.NOT_JUDGED, None, None)
    assert found.basis_words == "measured on one day each: the day may be the cause"
    assert found.words.startswith("+1")


def test_medians_of_three_days_each_are_enough() -> None:
    (found,) = compare_board([Sides([100.0, 101.0, 99.0], [120.0, 121.0, 119.0], Basis.DAYS)])
    assert found.verdict is Verdict.HIGHER
    assert found.basis_words == "error from the medians of 3 days"
