from datetime import datetime, timedelta

import pytest
from factories.raised import raised

from iotide_server.campaigns.errors import RUN_LONGER_THAN_WINDOW
from iotide_server.campaigns.openings import Opening, check_window, opening_at
from iotide_wire.window import Window

NIGHT = ("22:00", "05:00")
ZURICH, NEW_YORK = "Europe/Zurich", "America/New_York"


def window(hours: tuple[str, str], time_zone: str) -> Window:
    return Window.model_validate({"from": hours[0], "until": hours[1], "time_zone": time_zone})


@pytest.mark.parametrize(
    ("hours", "zone", "hours_needed", "now", "opens_at", "start_by"),
    [
        # before it, at its first moment, inside, at the last moment, after it
        (NIGHT, ZURICH, 1, "2026-11-21T21:59+01:00", "2026-11-21T22:00+01:00", "2026-11-22T04:00+01:00"),
        (NIGHT, ZURICH, 1, "2026-11-21T22:00+01:00", "2026-11-21T22:00+01:00", "2026-11-22T04:00+01:00"),
        (NIGHT, ZURICH, 1, "2026-11-22T02:00+01:00", "2026-11-21T22:00+01:00", "2026-11-22T04:00+01:00"),
        (NIGHT, ZURICH, 1, "2026-11-22T03:59:59+01:00", "2026-11-21T22:00+01:00", "2026-11-22T04:00+01:00"),
        (NIGHT, ZURICH, 1, "2026-11-22T04:00+01:00", "2026-11-22T22:00+01:00", "2026-11-23T04:00+01:00"),
        (NIGHT, ZURICH, 1, "2026-11-22T12:00+01:00", "2026-11-22T22:00+01:00", "2026-11-23T04:00+01:00"),
        # the longer the run, the earlier its last start
        (NIGHT, ZURICH, 6, "2026-11-21T22:30+01:00", "2026-11-21T22:00+01:00", "2026-11-21T23:00+01:00"),
        (NIGHT, ZURICH, 6, "2026-11-21T23:00+01:00", "2026-11-22T22:00+01:00", "2026-11-22T23:00+01:00"),
        # within one day
        (("12:00", "13:30"), NEW_YORK, 1, "2026-11-21T13:00-05:00", "2026-11-22T12:00-05:00", "2026-11-22T12:30-05:00"),
        (("00:00", "06:00"), NEW_YORK, 1, "2026-11-21T23:59-05:00", "2026-11-22T00:00-05:00", "2026-11-22T05:00-05:00"),
        # another time zone than the user's
        (NIGHT, NEW_YORK, 1, "2026-11-22T03:30+01:00", "2026-11-21T22:00-05:00", "2026-11-22T04:00-05:00"),
        # in spring the night is an hour shorter: a run of six and a half hours does not fit
        (NIGHT, ZURICH, 1, "2026-03-28T23:00+01:00", "2026-03-28T22:00+01:00", "2026-03-29T04:00+02:00"),
        (NIGHT, ZURICH, 6.5, "2026-03-28T21:00+01:00", "2026-03-29T22:00+02:00", "2026-03-29T22:30+02:00"),
        (NIGHT, NEW_YORK, 6.5, "2026-03-07T21:00-05:00", "2026-03-08T22:00-04:00", "2026-03-08T22:30-04:00"),
        # in autumn it is an hour longer
        (NIGHT, ZURICH, 6.5, "2026-10-24T21:00+02:00", "2026-10-24T22:00+02:00", "2026-10-24T23:30+02:00"),
        (NIGHT, NEW_YORK, 6.5, "2026-10-31T21:00-04:00", "2026-10-31T22:00-04:00", "2026-10-31T23:30-04:00"),
        # hours that the clocks skip never open, hours that come twice open once
        (("02:00", "03:00"), ZURICH, 0.5, "2026-03-29T00:00+01:00", "2026-03-30T02:00+02:00", "2026-03-30T02:30+02:00"),
        (("02:30", "04:00"), ZURICH, 0.5, "2026-03-29T00:00+01:00", "2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00"),
        (
            ("02:15", "02:45"),
            ZURICH,
            0.25,
            "2026-10-25T02:40+02:00",
            "2026-10-26T02:15+01:00",
            "2026-10-26T02:30+01:00",
        ),
        (("02:15", "04:00"), ZURICH, 0.5, "2026-10-25T02:00+01:00", "2026-10-25T02:15+02:00", "2026-10-25T03:30+01:00"),
        (("01:30", "03:00"), NEW_YORK, 1, "2026-11-01T01:00-05:00", "2026-11-01T01:30-04:00", "2026-11-01T02:00-05:00"),
    ],
)
def test_a_run_may_start_from_the_opening_on_and_so_that_it_ends_in_the_window(
    hours: tuple[str, str], zone: str, hours_needed: float, now: str, opens_at: str, start_by: str
) -> None:
    found = opening_at(window(hours, zone), timedelta(hours=hours_needed), datetime.fromisoformat(now))
    assert found == Opening(datetime.fromisoformat(opens_at), datetime.fromisoformat(start_by))


@pytest.mark.parametrize(
    ("hours", "limit_seconds", "fits"),
    [
        (NIGHT, 7 * 3600 - 121, True),
        (NIGHT, 7 * 3600 - 120, False),
        (NIGHT, 8 * 3600, False),
        (("12:00", "12:30"), 1679, True),
        (("12:00", "12:30"), 1680, False),
        (("12:00", "11:59"), 80_000, True),
    ],
)
def test_a_plan_is_refused_if_its_runs_could_never_end_in_its_window(
    hours: tuple[str, str], limit_seconds: float, *, fits: bool
) -> None:
    if fits:
        check_window(window(hours, ZURICH), limit_seconds, timedelta(minutes=2))
    else:
        with raised(RUN_LONGER_THAN_WINDOW) as refused:
            check_window(window(hours, ZURICH), limit_seconds, timedelta(minutes=2))
        assert refused.value.field == "time_limit_seconds"
