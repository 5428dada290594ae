"""Real dates around clock changes in 2026: 29 March and 25 October in Zurich, 8 March and 1 November in New York."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.kit.errors import InvalidInputError
from iotide_server.schedules.calendar import Calendar, cron_of
from iotide_wire import schedule as wire

ZURICH, NEW_YORK = "Europe/Zurich", "America/New_York"


def calendar(time_zone: str = ZURICH, **fields: Any) -> Calendar:  # noqa: ANN401 - any field of a calendar
    return Calendar.of(wire.Calendar(time_zone=time_zone, **fields))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("zone", "cron", "after", "firings"),
    [
        # a time that is skipped in spring fires once, when the clocks jump
        (
            ZURICH,
            "30 2 * * *",
            "2026-03-28T00:00+01:00",
            ["2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"],
        ),
        (
            NEW_YORK,
            "30 2 * * *",
            "2026-03-07T00:00-05:00",
            ["2026-03-07T02:30-05:00", "2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"],
        ),
        (ZURICH, "15,45 2 * * *", "2026-03-29T00:00+01:00", ["2026-03-29T03:00+02:00", "2026-03-30T02:15+02:00"]),
        (ZURICH, "0 2,3 * * *", "2026-03-29T00:00+01:00", ["2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00"]),
        # a time that comes twice in autumn fires only the first time
        (
            ZURICH,
            "30 2 * * *",
            "2026-10-24T00:00+02:00",
            ["2026-10-24T02:30+02:00", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
        ),
        (
            NEW_YORK,
            "30 1 * * *",
            "2026-10-31T00:00-04:00",
            ["2026-10-31T01:30-04:00", "2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"],
        ),
        (ZURICH, "30 2 * * *", "2026-10-25T02:30+02:00", ["2026-10-26T02:30+01:00"]),
        (ZURICH, "30 2 * * *", "2026-10-25T02:10+01:00", ["2026-10-26T02:30+01:00"]),
        (NEW_YORK, "30 1 * * *", "2026-11-01T01:10-05:00", ["2026-11-02T01:30-05:00"]),
        # an hourly schedule fires in each hour that exists
        (
            ZURICH,
            "0 * * * *",
            "2026-10-25T01:30+02:00",
            ["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"],
        ),
        (ZURICH, "0 * * * *", "2026-03-29T01:30+01:00", ["2026-03-29T03:00+02:00", "2026-03-29T04:00+02:00"]),
        # outside the change the wall clock keeps its hour
        (ZURICH, "0 22 * * MON-FRI", "2026-10-23T23:00+02:00", ["2026-10-26T22:00+01:00", "2026-10-27T22:00+01:00"]),
        (NEW_YORK, "0 22 * * SUN", "2026-10-31T00:00-04:00", ["2026-11-01T22:00-05:00"]),
        ("UTC", "30 2 * * *", "2026-03-29T00:00+00:00", ["2026-03-29T02:30+00:00"]),
        # strictly after
        (ZURICH, "30 2 * * *", "2026-06-01T02:30+02:00", ["2026-06-02T02:30+02:00"]),
        (ZURICH, "30 2 * * *", "2026-06-01T02:29:59+02:00", ["2026-06-01T02:30+02:00"]),
        # days that few months have
        (ZURICH, "0 4 31 * *", "2026-02-01T00:00+01:00", ["2026-03-31T04:00+02:00", "2026-05-31T04:00+02:00"]),
        (ZURICH, "0 4 29 2 *", "2026-02-01T00:00+01:00", ["2028-02-29T04:00+01:00"]),
        (ZURICH, "0 4 L * *", "2026-02-01T00:00+01:00", ["2026-02-28T04:00+01:00", "2026-03-31T04:00+02:00"]),
    ],
)
def test_cron_by_the_clocks_of_a_place(zone: str, cron: str, after: str, firings: list[str]) -> None:
    found = calendar(zone, cron=cron).next_firings(at(after), len(firings))
    assert found == [at(firing) for firing in firings]


@pytest.mark.parametrize(
    ("zone", "monthly", "after", "firings"),
    [
        (
            ZURICH,
            "first sunday at 02:30",
            "2026-10-15T00:00+02:00",
            ["2026-11-01T02:30+01:00", "2026-12-06T02:30+01:00"],
        ),
        (
            ZURICH,
            "last sunday at 02:30",
            "2026-03-01T00:00+01:00",
            ["2026-03-29T03:00+02:00", "2026-04-26T02:30+02:00"],
        ),
        (ZURICH, "Last Sunday of each month at 02:30", "2026-10-01T00:00+02:00", ["2026-10-25T02:30+02:00"]),
        (
            NEW_YORK,
            "first sunday at 01:30",
            "2026-10-15T00:00-04:00",
            ["2026-11-01T01:30-04:00", "2026-12-06T01:30-05:00"],
        ),
        (NEW_YORK, "second sunday at 02:15", "2026-03-01T00:00-05:00", ["2026-03-08T03:00-04:00"]),
        (
            ZURICH,
            "third  monday at 22:00",
            "2026-11-01T00:00+01:00",
            ["2026-11-16T22:00+01:00", "2026-12-21T22:00+01:00"],
        ),
        (ZURICH, "fourth saturday at 05:05", "2026-02-01T00:00+01:00", ["2026-02-28T05:05+01:00"]),
        (
            ZURICH,
            "last friday at 23:59",
            "2026-01-01T00:00+01:00",
            ["2026-01-30T23:59+01:00", "2026-02-27T23:59+01:00"],
        ),
    ],
)
def test_one_day_of_each_month(zone: str, monthly: str, after: str, firings: list[str]) -> None:
    found = calendar(zone, monthly=monthly).next_firings(at(after), len(firings))
    assert found == [at(firing) for firing in firings]


def test_a_monthly_rule_is_another_spelling_of_a_cron_expression() -> None:
    assert cron_of("first sunday at 02:30") == "30 2 * * 0#1"
    assert calendar(monthly="last friday at 22:00").words == "At 22:00 on the last Friday of the month"


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({}, "calendar_unclear", "cron"),
        ({"cron": "30 2 * * *", "monthly": "first sunday at 02:30"}, "calendar_unclear", "cron"),
        ({"cron": "30 2 * *"}, "cron_refused", "cron"),
        ({"cron": "0 30 2 * * *"}, "cron_refused", "cron"),
        ({"cron": "60 2 * * *"}, "cron_refused", "cron"),
        ({"cron": "@daily"}, "cron_refused", "cron"),
        ({"cron": "0 0 31 2 *"}, "cron_refused", "cron"),
        ({"cron": "0 0 * * SUN#6"}, "cron_refused", "cron"),
        ({"cron": ""}, "cron_refused", "cron"),
        ({"monthly": "fifth sunday at 02:30"}, "monthly_refused", "monthly"),
        ({"monthly": "first sunday"}, "monthly_refused", "monthly"),
        ({"monthly": "first sunday at 24:00"}, "monthly_refused", "monthly"),
        ({"cron": "30 2 * * *", "time_zone": "Europe/Bern"}, "time_zone_unknown", "time_zone"),
    ],
)
def test_a_calendar_that_cannot_be_read_is_refused_with_its_field(
    fields: dict[str, Any], code: str, field: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        calendar(**fields)
    assert (refused.value.code, refused.value.field) == (code, field)
    assert refused.value.remedy


def test_nothing_is_planned_after_the_end() -> None:
    ending = calendar(cron="30 2 * * *", ends_at=at("2026-10-26T01:30+00:00"))
    assert ending.next_firings(at("2026-10-24T12:00+02:00"), 9) == [
        at("2026-10-25T00:30+00:00"),
        at("2026-10-26T01:30+00:00"),
    ]
    assert ending.after(at("2026-10-26T01:30+00:00")) is None


@pytest.mark.parametrize(
    ("zone", "cron", "first", "now", "last", "count", "following"),
    [
        # one is due
        (
            ZURICH,
            "0 2 * * *",
            "2026-06-01T02:00+02:00",
            "2026-06-01T02:00+02:00",
            "2026-06-01T02:00+02:00",
            1,
            "2026-06-02T02:00+02:00",
        ),
        # the scheduler was away for three nights
        (
            ZURICH,
            "0 2 * * *",
            "2026-06-01T02:00+02:00",
            "2026-06-03T12:00+02:00",
            "2026-06-03T02:00+02:00",
            3,
            "2026-06-04T02:00+02:00",
        ),
        # nor while the clocks changed
        (
            ZURICH,
            "30 2 * * *",
            "2026-03-28T02:30+01:00",
            "2026-03-29T03:00+02:00",
            "2026-03-29T03:00+02:00",
            2,
            "2026-03-30T02:30+02:00",
        ),
        (
            NEW_YORK,
            "30 1 * * *",
            "2026-10-31T01:30-04:00",
            "2026-11-01T01:45-05:00",
            "2026-11-01T01:30-04:00",
            2,
            "2026-11-02T01:30-05:00",
        ),
        (
            ZURICH,
            "0 * * * *",
            "2026-10-25T00:00+02:00",
            "2026-10-25T04:00+01:00",
            "2026-10-25T04:00+01:00",
            6,
            "2026-10-25T05:00+01:00",
        ),
        # a year of minutes is not counted to its end
        (
            "UTC",
            "* * * * *",
            "2025-06-01T00:00+00:00",
            "2026-06-01T00:00+00:00",
            "2026-06-01T00:00+00:00",
            None,
            "2026-06-01T00:01+00:00",
        ),
    ],
)
def test_firings_that_went_by_are_found_with_the_one_to_come(
    zone: str, cron: str, first: str, now: str, last: str, count: int | None, following: str
) -> None:
    passed = calendar(zone, cron=cron).passed(7, at(first), at(now))
    assert (passed.last, passed.following) == (at(last), at(following))
    assert passed.count == count if count is not None else passed.count >= 1000


def test_a_random_offset_is_drawn_once_for_each_firing() -> None:
    drawing = calendar(cron="0 2 * * *", random_offset_seconds=1800)
    planned = drawing.next_firings(at("2026-06-01T00:00+02:00"), 50)
    due = [drawing.due(7, moment) for moment in planned]
    assert due == [drawing.due(7, moment.astimezone(UTC)) for moment in planned]
    assert due != [drawing.due(8, moment) for moment in planned]
    offsets = {(late - moment).total_seconds() for late, moment in zip(due, planned, strict=True)}
    assert len(offsets) > 40
    assert all(0 <= offset <= 1800 for offset in offsets)


def test_without_a_random_offset_a_firing_comes_when_it_is_planned() -> None:
    assert calendar(cron="0 2 * * *").due(7, at("2026-06-01T00:00+00:00")) == at("2026-06-01T00:00+00:00")


def test_a_firing_before_the_end_of_its_offset_has_not_passed() -> None:
    late = calendar(cron="* * * * *", random_offset_seconds=3600)
    first = at("2026-06-01T00:00+00:00")
    now = late.due(7, first)
    passed = late.passed(7, first, now)
    assert late.due(7, passed.last) <= now
    assert passed.following is not None
    assert late.due(7, passed.following) > now


@given(
    start=st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1)),  # noqa: DTZ001 - made aware below
    cron=st.sampled_from(
        ["30 2 * * *", "15,45 1-3 * * *", "*/20 2 * * *", "0 */2 * * *", "30 1 * * 0#1", "59 2 L * *"]
    ),
    zone=st.sampled_from([ZURICH, NEW_YORK, "Australia/Lord_Howe", "UTC"]),
)
def test_firings_only_ever_go_forward_and_are_the_same_from_wherever_one_asks(
    start: datetime, cron: str, zone: str
) -> None:
    asked, moment = calendar(zone, cron=cron), start.replace(tzinfo=UTC)
    found = [moment, *asked.next_firings(moment, 6)]
    assert all(earlier < later for earlier, later in pairwise(found))
    assert [asked.after(one) for one in found[:-1]] == found[1:]
    assert asked.after(found[1] - timedelta(seconds=1)) == found[1]
