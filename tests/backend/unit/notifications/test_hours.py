from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from iotide_server.notifications.hours import quiet_until, weekly_after
from iotide_wire.window import Window

ZURICH = ZoneInfo("Europe/Zurich")


def night(begins: str = "22:00", ends: str = "06:30") -> Window:
    return Window.model_validate({"from": begins, "until": ends, "time_zone": "Europe/Zurich"})


def at(text: str) -> datetime:
    """Return a time in Zurich as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=ZURICH).astimezone(UTC)


@pytest.mark.parametrize(
    ("now", "hours", "until"),
    [
        ("2026-11-21 21:59", night(), None),
        ("2026-11-21 22:00", night(), "2026-11-22 06:30"),
        ("2026-11-22 03:00", night(), "2026-11-22 06:30"),
        ("2026-11-22 06:30", night(), None),
        ("2026-11-22 12:00", night("12:00", "13:00"), "2026-11-22 13:00"),
        ("2026-11-22 13:00", night("12:00", "13:00"), None),
        # The clocks skip 02:30 in this night: they change from 02:00 to 03:00.
        ("2026-03-29 01:00", night("22:00", "02:30"), "2026-03-29 03:00"),
    ],
)
def test_quiet_hours_end_by_the_clocks_of_their_place(now: str, hours: Window, until: str | None) -> None:
    assert quiet_until(hours, at(now)) == (None if until is None else at(until))


def test_without_quiet_hours_no_hour_is_quiet() -> None:
    assert quiet_until(None, at("2026-11-22 03:00")) is None


@pytest.mark.parametrize(
    ("moment", "weekday", "expected"),
    [
        ("2026-11-21 10:00", 0, "2026-11-23 08:00"),  # a Saturday, to the Monday
        ("2026-11-23 07:59", 0, "2026-11-23 08:00"),
        ("2026-11-23 08:00", 0, "2026-11-30 08:00"),
        ("2026-10-24 09:00", 5, "2026-10-31 08:00"),  # the clocks change back in between
    ],
)
def test_the_weekly_hour_comes_after_the_moment_by_the_clock(moment: str, weekday: int, expected: str) -> None:
    assert weekly_after(at(moment), weekday, 8, ZURICH) == at(expected)
