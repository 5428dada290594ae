from datetime import UTC, datetime, timedelta

from iotide_server.overview.cell_trends import DrawnPoint, KnownLevels, cell_line, cell_trend
from iotide_server.overview.schemas import LevelLine
from iotide_server.overview.standing import AgreedChange, JudgedSeries, SeriesState
from iotide_server.statistics.course import Course, DriftShape
from iotide_server.trends.changes.drift import Drift, DriftPoint

SINCE = datetime(2026, 9, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
DAY = timedelta(days=1)
SECONDS = 86_400
POINTS = [DrawnPoint(1.4, 100.04), DrawnPoint(10 * SECONDS, 80.123456), DrawnPoint(20 * SECONDS, 81.0)]
STEP = AgreedChange(SINCE + 6 * DAY, 1, 100.0, 80.0)


def slower(**details: object) -> JudgedSeries:
    known = {"state": SeriesState.SLOWER, "since": STEP.at, "cell_id": 1, "shift_ratio": -0.2, "words": "20.0 % lower"}
    return JudgedSeries(**known | details)  # type: ignore[arg-type]


def drift(start: datetime) -> Drift:
    path = [DriftPoint(at=start, value=130.0), DriftPoint(at=start + 40 * DAY, value=90.0)]
    return Drift(
        shape=DriftShape.LINE,
        shift_ratio=-0.31,
        low=-0.4,
        high=-0.2,
        start=130.0,
        end=90.0,
        start_at=start,
        end_at=path[-1].at,
        path=path,
    )


def test_levels_meet_at_the_change_and_earlier_ones_begin_with_the_period() -> None:
    trend = cell_trend(POINTS, KnownLevels(Course.CHANGED, [STEP]), SINCE)
    assert (trend.at_seconds, trend.medians) == ([1, 864_000, 1_728_000], [100.0, 80.12, 81.0])
    assert trend.changes_seconds == [6 * SECONDS]
    assert trend.levels == [
        LevelLine(start_seconds=0, end_seconds=6 * SECONDS, start=100.0, end=100.0),
        LevelLine(start_seconds=6 * SECONDS, end_seconds=20 * SECONDS, start=80.0, end=80.0),
    ]


def test_a_change_before_the_period_has_no_mark_and_only_its_level() -> None:
    before = AgreedChange(SINCE - 6 * DAY, 1, 100.0, 80.0)
    trend = cell_trend(POINTS, KnownLevels(Course.CHANGED, [before]), SINCE)
    assert trend.changes_seconds == []
    assert trend.levels == [LevelLine(start_seconds=0, end_seconds=20 * SECONDS, start=80.0, end=80.0)]


def test_a_gradual_change_is_drawn_as_its_line_from_the_start_of_the_period() -> None:
    trend = cell_trend(POINTS, KnownLevels(Course.DRIFT, drift=drift(SINCE - 20 * DAY)), SINCE)
    assert trend.levels == [LevelLine(start_seconds=0, end_seconds=20 * SECONDS, start=110.0, end=90.0)]


def test_a_steady_series_has_the_median_as_its_level_and_one_without_baseline_has_none() -> None:
    (level,) = cell_trend(POINTS, KnownLevels(Course.STEADY), SINCE).levels
    assert (level.start, level.end) == (81.0, 81.0)
    assert cell_trend(POINTS, KnownLevels(Course.TOO_SHORT), SINCE).levels == []
    assert cell_trend([], KnownLevels(Course.CHANGED, [STEP]), SINCE).levels == []


def test_one_line_names_size_start_and_cause() -> None:
    assert cell_line(slower(), None, "kernel 5.14.0-427", NOW) == "\u221220.0 % since 7 Sep, kernel 5.14.0-427"
    assert cell_line(slower(), None, None, NOW) == "\u221220.0 % since 7 Sep"
    assert cell_line(slower(shift_ratio=None), None, None, NOW) == "no longer 0 since 7 Sep"
    last_year = slower(since=STEP.at - 365 * DAY)
    assert cell_line(last_year, None, None, NOW) == "\u221220.0 % since 7 Sep 2025"


def test_the_line_of_a_gradual_change_of_a_noisy_and_of_a_steady_series() -> None:
    gradual = slower(since=None, shift_ratio=-0.31)
    assert cell_line(gradual, drift(SINCE), None, NOW) == "\u221231.0 % since 1 Sep, gradual"
    noisy = slower(state=SeriesState.NOISY, words="2.4 times as noisy, 1.2 % -> 2.9 % (40 points after, 100 before)")
    assert cell_line(noisy, None, None, NOW) == "2.4 times as noisy, 1.2 % -> 2.9 % since 7 Sep"
    steady = slower(state=SeriesState.IN_CONTROL, words="no significant change in 60 points")
    assert cell_line(steady, None, None, NOW) == "no significant change in 60 points"
