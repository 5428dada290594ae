"""Times in sentences."""

from datetime import UTC, datetime

from iotide_server.kit.clock import day_written, written


def test_a_day_is_written_without_leading_zero_and_with_its_year() -> None:
    assert day_written(datetime(2026, 8, 1, 23, 30, tzinfo=UTC)) == "1 Aug 2026"


def test_a_moment_is_written_to_the_second_with_its_zone() -> None:
    assert written(datetime(2026, 8, 1, 23, 30, 5, tzinfo=UTC)) == "2026-08-01 23:30:05 UTC"
