from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import pytest
from factories.raised import raised

from iotide_server.kit.zones import TIME_ZONE_UNKNOWN, first_moment, zone_named


@pytest.mark.parametrize(
    ("zone", "day", "clock", "moment"),
    [
        ("Europe/Zurich", "2026-01-15", "02:30", "2026-01-15T02:30+01:00"),
        ("Europe/Zurich", "2026-07-15", "02:30", "2026-07-15T02:30+02:00"),
        ("Europe/Zurich", "2026-03-29", "01:59", "2026-03-29T01:59+01:00"),
        ("Europe/Zurich", "2026-03-29", "02:00", "2026-03-29T03:00+02:00"),
        ("Europe/Zurich", "2026-03-29", "02:30", "2026-03-29T03:00+02:00"),
        ("Europe/Zurich", "2026-03-29", "03:00", "2026-03-29T03:00+02:00"),
        ("Europe/Zurich", "2026-10-25", "02:30", "2026-10-25T02:30+02:00"),
        ("Europe/Zurich", "2026-10-25", "03:00", "2026-10-25T03:00+01:00"),
        ("America/New_York", "2026-03-08", "02:30", "2026-03-08T03:00-04:00"),
        ("America/New_York", "2026-11-01", "01:30", "2026-11-01T01:30-04:00"),
        ("America/New_York", "2026-11-01", "02:00", "2026-11-01T02:00-05:00"),
        ("Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-04T02:30+11:00"),  # half an hour is skipped
        ("Pacific/Apia", "2011-12-30", "12:00", "2011-12-31T00:00+14:00"),  # a whole day was
        ("UTC", "2026-03-29", "02:30", "2026-03-29T02:30+00:00"),
    ],
)
def test_a_wall_clock_reads_it_first_then(zone: str, day: str, clock: str, moment: str) -> None:
    found = first_moment(date.fromisoformat(day), time.fromisoformat(clock), ZoneInfo(zone))
    assert found == datetime.fromisoformat(moment)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("Europe/Zürich", "did you mean Europe/Zurich?"),
        ("Europe/Zurch", "did you mean Europe/Zurich?"),
        ("Nowhere", "use an IANA name, for instance Europe/Zurich or UTC"),
        ("../../etc/passwd", "use an IANA name, for instance Europe/Zurich or UTC"),
    ],
)
def test_a_time_zone_that_is_none_is_refused_with_what_was_meant(name: str, remedy: str) -> None:
    with raised(TIME_ZONE_UNKNOWN) as refused:
        zone_named(name, field="window.time_zone")
    assert (refused.value.field, refused.value.value, refused.value.remedy) == ("window.time_zone", name, remedy)
