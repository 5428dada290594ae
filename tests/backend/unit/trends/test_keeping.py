from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from factories.streamed import Fates, fates, regimes

from iotide_server.results.models import Point
from iotide_server.statistics.course import Analysis, Course, DriftShape, FittedDrift
from iotide_server.trends.changes.keeping import AnalysedPoints, keep_changes
from iotide_server.trends.models import ChangePoint

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def analysed(values: list[float], *, skipped: int = 0) -> AnalysedPoints:
    points = [
        Point(at=FIRST + timedelta(days=day), median=value, cell_id=day, campaign_id=day)
        for day, value in enumerate(values)
    ]
    return AnalysedPoints(points, len(values) + skipped, points[-1].at)


def reported(day: int) -> ChangePoint:
    return ChangePoint(
        at=FIRST + timedelta(days=day), median_before=100.0, median_after=80.0, confirmed_at=FIRST, found_points=40
    )


def flat(count: int) -> list[float]:
    return [100.0 + day % 3 for day in range(count)]


STEADY = Analysis(Course.STEADY, 60)


def test_at_most_a_tenth_of_the_reported_changes_are_withdrawn() -> None:
    """Simulate scatter of 10 %, lag-1 autocorrelation of 0.3 and two regimes of days in a hundred runs.

    16 seeds gave 4 of 43. With regimes half of the time (four in ninety runs) it is one in five.
    """
    series = [regimes(np.random.default_rng(seed), 120, spread=0.1, memory=0.3, regime_share=0.02) for seed in range(3)]
    found = sum((fates(values) for values in series), start=Fates())
    assert found.reported >= 5
    assert found.withdrawn <= 0.1 * found.reported


def test_a_steady_series_that_grows_run_by_run_seldom_has_a_reported_change() -> None:
    """Simulate lag-1 autocorrelation of 0.5. About one in seventeen such series is expected to have one."""
    series = [regimes(np.random.default_rng(seed), 70, spread=0.05, memory=0.5, regime_share=0) for seed in range(5)]
    assert sum(fates(values).reported > 0 for values in series) <= 1


def test_a_reported_change_that_is_not_found_stays_with_its_own_segments() -> None:
    row = reported(30)
    keep_changes([row], STEADY, analysed([*flat(30), *(0.98 * value for value in flat(8))]))
    assert (row.gone_at, row.over_at) == (None, None)
    assert (row.points_before, row.points_after) == (30, 8)
    assert row.shift_ratio is not None
    assert -0.03 < row.shift_ratio < 0


def test_an_unconfirmed_change_that_is_not_found_again_is_gone() -> None:
    row = reported(30)
    row.confirmed_at = None
    keep_changes([row], STEADY, analysed(flat(60)))
    assert (row.gone_at is not None, row.over_at) == (True, None)


def test_a_change_at_the_start_of_the_analysed_points_stays_when_earlier_ones_left_them() -> None:
    values = flat(60)
    kept, withdrawn = reported(6), reported(6)
    keep_changes([kept], STEADY, analysed(values, skipped=1))
    keep_changes([withdrawn], STEADY, analysed(values))
    assert (kept.gone_at is None, withdrawn.gone_at is None) == (True, False)


def test_a_change_stays_when_a_drift_is_found_as_long_as_its_own_segments_differ() -> None:
    drift = FittedDrift(DriftShape.LINE, -0.3, -0.31, -0.29, 101.0, 71.0, ((0, 101.0), (59, 71.0)))
    found = Analysis(Course.DRIFT, 60, drift=drift)
    kept, withdrawn = reported(30), reported(30)
    keep_changes([kept], found, analysed([*flat(30), *(0.7 * value for value in flat(30))]))
    keep_changes([withdrawn], found, analysed(flat(60)))
    assert (kept.gone_at is None, withdrawn.gone_at is None) == (True, False)
    assert kept.shift_ratio == pytest.approx(-0.3)
