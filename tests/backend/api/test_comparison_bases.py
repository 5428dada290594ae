"""Scatter that the error of a comparison is taken from, by when and where the runs were measured."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from factories.announced import NOW
from factories.histories import confirmed_change
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.campaigns.models import Campaign, CampaignAddition, Cell
from iotide_server.kit.db import Database, Json
from iotide_server.results.models import Point, Series
from iotide_server.runs.models import Run
from iotide_server.trends.points.service import recompute_points

DAY_MINUTES = 24 * 60
RUNS = (100.0, 101.0, 99.0, 100.5)
LEVELS = (100.0, 106.0, 97.0, 103.0, 95.0, 104.0, 99.0)
"""Medians of seven nights."""


def runs_at(centre: float) -> list[float]:
    return [centre * value / 100 for value in RUNS]


def night(
    measured: Measured, day: float, centre: float, *, size: int = 512, spread: Sequence[float] = (0, 1, 2, 3)
) -> Campaign:
    """Make a campaign of one cell, with a run at each of these minutes."""
    made = measured.campaign(f"night {day}")
    add_cell(measured, made, [day * DAY_MINUTES + minutes for minutes in spread], runs_at(centre), size=size)
    return made


def add_cell(
    measured: Measured, campaign: Campaign, minutes: Sequence[float], values: Sequence[float], *, size: int = 512
) -> int:
    cell = measured.cell(campaign, block_size_bytes=size)
    for at, value in zip(minutes, values, strict=True):
        measured.deliver(cell, finish(NOW, sample(value, operation="write")), minutes=at)
    recompute_points(measured.session, cell.id)
    return cell.id


def compared(client: TestClient, person: Person, a: int, b: int, **cells: int) -> Json:
    answer = client.get("/api/v1/comparison", params={"a": a, "b": b, **cells}, headers=person.headers)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()["pairs"][0]["metrics"][0]
    return found


@pytest.mark.parametrize(("later", "verdict"), [(110.0, "no_difference_shown"), (150.0, "higher")])
def test_campaigns_of_different_days_are_compared_with_the_nights_before(
    client: TestClient, admin: Person, database: Database, later: float, verdict: str
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        for day, level in enumerate(LEVELS):
            night(measured, day, level)
        ids = night(measured, 8, 100).id, night(measured, 9, later).id
    metric = compared(client, admin, *ids)
    assert (metric["basis"], metric["verdict"]) == ("history", verdict)
    assert metric["basis_words"] == "error from the day-to-day scatter of its last 7 campaigns"
    assert metric["ratio"] == pytest.approx(later / 100)
    assert metric["high"] / metric["ratio"] == pytest.approx(metric["ratio"] / metric["low"])


def test_only_nights_since_the_last_confirmed_change_count(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        made = [night(measured, day, level) for day, level in enumerate([10 * level for level in LEVELS] + [*LEVELS])]
        ids = night(measured, 20, 100).id, night(measured, 21, 102).id
        point = session.query(Point).filter_by(campaign_id=made[len(LEVELS)].id).one()
        confirmed_change(session, session.get_one(Series, point.series_id), point.at, 1000, 100)
    metric = compared(client, admin, *ids)
    assert (metric["basis"], metric["basis_words"][-16:]) == ("history", "last 7 campaigns")
    assert metric["high"] < 1.2


def test_without_own_nights_those_of_the_workload_count_and_without_any_nothing_is_claimed(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        ids = night(measured, 8, 100).id, night(measured, 9, 150).id
    metric = compared(client, admin, *ids)
    assert (metric["basis"], metric["verdict"], metric["is_discovery"]) == ("one_day", "not_judged", None)
    assert metric["basis_words"] == "measured on one day each: the day may be the cause"
    assert (metric["p_value"], metric["low"] > 1.4) == (None, True)
    with database.transaction() as session:
        measured.session = session
        for size, days in ((1024, range(4)), (2048, range(3, 7))):
            for day in days:
                night(measured, day, LEVELS[day] * size, size=size)
    metric = compared(client, admin, *ids)
    assert (metric["basis"], metric["verdict"]) == ("workload", "higher")
    assert metric["basis_words"] == "error from the day-to-day scatter of 2 series of this workload"


def test_runs_of_one_day_are_compared_by_their_own_scatter(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        ids = night(measured, 0, 100).id, night(measured, 0.4, 120).id
    metric = compared(client, admin, *ids)
    assert (metric["basis"], metric["verdict"], metric["looks"]) == ("runs", "higher", 1)
    assert metric["basis_words"] == "error from the scatter of runs on one day"


def test_repeats_spread_over_days_are_compared_by_the_medians_of_days(
    client: TestClient, admin: Person, database: Database
) -> None:
    days = [0, DAY_MINUTES, 2 * DAY_MINUTES, 2 * DAY_MINUTES + 5]
    with database.transaction() as session:
        measured = Measured(session, NOW)
        ids = night(measured, 0, 100, spread=days).id, night(measured, 9, 120, spread=days).id
    metric = compared(client, admin, *ids)
    assert (metric["basis"], metric["verdict"]) == ("days", "higher")
    assert metric["basis_words"] == "error from the medians of 3 days"


def test_cells_of_one_campaign_that_took_turns_are_compared_pair_by_pair(
    client: TestClient, admin: Person, database: Database
) -> None:
    drift = [0.9**number for number in range(12)]
    order = [0, 1, 1, 0] * 3
    with database.transaction() as session:
        measured = Measured(session, NOW)
        made = measured.campaign()
        for side, factor in enumerate((100, 130)):
            places = [place for place, one in enumerate(order) if one == side]
            add_cell(measured, made, places, [factor * drift[place] for place in places], size=512 << side)
        campaign_id = made.id
    metric = compared(client, admin, campaign_id, campaign_id, a_cell=1, b_cell=2)
    assert (metric["basis"], metric["verdict"], metric["n_a"]) == ("pairs", "higher", 6)
    assert metric["basis_words"] == "error from 6 pairs of neighbouring runs"


def test_each_addition_of_repeats_that_brought_a_result_is_a_look(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        first, second = night(measured, 0, 100), night(measured, 0.1, 103)
        cell_id = session.query(Run.cell_id).filter_by(campaign_id=first.id).limit(1).scalar()
        cell = session.get_one(Cell, cell_id)
        for hours, has_run in ((3, True), (4, True), (5, False)):
            at = NOW + timedelta(hours=hours)
            addition = CampaignAddition(
                campaign_id=first.id, repeats=1, cell_ids=[cell_id], created_at=at, request_sha256=""
            )
            session.add(addition)
            if has_run:
                run = measured.deliver(cell, finish(NOW, sample(101.0, operation="write")), minutes=60 * hours)
                run.created_at = at
        ids = first.id, second.id
    assert compared(client, admin, *ids)["looks"] == 3


def made_twice(
    measured: Measured, rounds: Sequence[tuple[str, float, Sequence[float]]], *, size: int = 512
) -> Campaign:
    """Make a campaign on scratch disks with a stage for each round: its variant, first minute and values."""
    made = measured.campaign("scratch")
    made.plan = {"scratch": {"node": "node1", "set": "bays"}}
    add_rounds(measured, made, rounds, size=size)
    return made


def add_rounds(
    measured: Measured, made: Campaign, rounds: Sequence[tuple[str, float, Sequence[float]]], *, size: int
) -> None:
    for number, (variant, minute, values) in enumerate(rounds, start=1):
        cell = measured.cell(made, block_size_bytes=size)
        cell.variant, cell.stage = variant, 2 * number
        for repeat, value in enumerate(values, start=1):
            run = measured.deliver(
                cell, finish(NOW, sample(value, operation="write")), minutes=minute + repeat + size / 1e4
            )
            run.repeat = repeat
        recompute_points(measured.session, cell.id)


ROUNDS = [
    *[("ext4", 0.0, (100.0, 102.0)), ("xfs", 10.0, (120.0, 122.0))],
    *[("xfs", 20.0, (118.0, 120.0)), ("ext4", 30.0, (98.0, 100.0))],
]
"""Two rounds of two variants; the second in reverse. Means of makes: 101 and 99, 121 and 119."""


def sides_of(client: TestClient, person: Person, **query: int | list[int]) -> Json:
    answer = client.get("/api/v1/comparison/sides", params=query, headers=person.headers)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_variants_that_were_made_twice_are_compared_by_the_means_of_their_makes(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        campaign_id = made_twice(Measured(session, NOW), ROUNDS).id
    found = sides_of(client, admin, campaign=campaign_id)
    assert (found["by"], found["sides"]) == ("variant", ["ext4", "xfs"])
    (metric,) = found["rows"][0]["metrics"]
    assert [numbers["values"] for numbers in metric["numbers"]] == [[100, 102, 98, 100], [120, 122, 118, 120]]
    verdict = metric["verdicts"][1]
    assert (verdict["basis"], verdict["basis_words"]) == ("makes", "error from the means of 2 makes")
    # By hand in tests/backend/unit/statistics/test_makes.py.
    interval = verdict["ratio"], verdict["low"], verdict["high"]
    assert interval == pytest.approx((1.20002, 1.13465, 1.26915), rel=1e-5)


@pytest.mark.parametrize(
    ("added", "looks"),
    [
        pytest.param([(0, 3)], 2, id="both makes at once"),
        pytest.param([(3,)], 2, id="the second make only"),
        pytest.param([(0,), (3,)], 3, id="one make after the other"),
        pytest.param([(0, 3), (3,), (1,)], 4, id="the other variant, too"),
    ],
)
def test_each_addition_to_any_make_of_a_compared_variant_is_a_look(
    client: TestClient, admin: Person, database: Database, added: list[tuple[int, ...]], looks: int
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        made = made_twice(measured, ROUNDS)
        cells = session.query(Cell).filter_by(campaign_id=made.id).order_by(Cell.id).all()
        for hours, chosen in enumerate(added, start=3):
            at = NOW + timedelta(hours=hours)
            cell_ids = [cells[place].id for place in chosen]
            session.add(
                CampaignAddition(campaign_id=made.id, repeats=1, cell_ids=cell_ids, created_at=at, request_sha256="")
            )
            for place in chosen:
                value = 100.0 if cells[place].variant == "ext4" else 120.0
                run = measured.deliver(
                    cells[place], finish(NOW, sample(value, operation="write")), minutes=60 * hours + place
                )
                run.created_at = at
        campaign_id = made.id
    (metric,) = sides_of(client, admin, campaign=campaign_id)["rows"][0]["metrics"]
    assert metric["verdicts"][1]["looks"] == looks


@pytest.mark.parametrize("chosen", ["campaign", "cells"])
def test_one_make_each_is_said(client: TestClient, admin: Person, database: Database, chosen: str) -> None:
    rounds = [("ext4", 0.0, runs_at(100)), ("xfs", 10.0, runs_at(120))]
    with database.transaction() as session:
        campaign_id = made_twice(Measured(session, NOW), rounds).id
        cells = [cell.id for cell in session.query(Cell).filter_by(campaign_id=campaign_id).order_by(Cell.id)]
    named: dict[str, int | list[int]] = {"campaign": campaign_id} if chosen == "campaign" else {"cell": cells}
    found = sides_of(client, admin, **named)
    verdict = found["rows"][0]["metrics"][0]["verdicts"][1]
    assert (verdict["basis"], verdict["verdict"]) == ("one_make", "higher")
    assert verdict["basis_words"].startswith("error from the scatter of runs on one make each")


def test_options_that_took_turns_on_the_same_makes_are_pairs(
    client: TestClient, admin: Person, database: Database
) -> None:
    rounds = [("ext4", 0.0, runs_at(100)[:2]), ("ext4", 30.0, runs_at(100)[2:])]
    with database.transaction() as session:
        measured = Measured(session, NOW)
        made = made_twice(measured, rounds)
        add_rounds(
            measured, made, [(name, minute, [1.2 * one for one in own]) for name, minute, own in rounds], size=4096
        )
        campaign_id = made.id
    found = sides_of(client, admin, campaign=campaign_id)
    assert found["by"] == "options.block_size_bytes"
    verdict = found["rows"][0]["metrics"][0]["verdicts"][1]
    assert (verdict["basis"], verdict["basis_words"]) == ("pairs", "error from 4 pairs of neighbouring runs")
    assert verdict["ratio"] == pytest.approx(1.2)


def test_a_variant_of_two_campaigns_of_one_day_is_compared_by_makes_and_of_two_days_by_days(
    client: TestClient, admin: Person, database: Database
) -> None:
    rounds = [(variant, minute, [2 * value for value in values]) for variant, minute, values in ROUNDS]
    with database.transaction() as session:
        measured = Measured(session, NOW)
        first, same_day = made_twice(measured, ROUNDS).id, made_twice(measured, rounds).id
        later = made_twice(measured, [(name, DAY_MINUTES + at, values) for name, at, values in rounds]).id
    metric = compared(client, admin, first, same_day)
    assert (metric["basis"], metric["n_a"], metric["ratio"]) == ("makes", 4, pytest.approx(2))
    assert compared(client, admin, first, later)["basis"] == "one_day"
