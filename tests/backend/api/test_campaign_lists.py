from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.campaigns.models import Campaign
from iotide_server.kit.db import Database, Json
from iotide_server.schedules.models import Firing, Schedule
from iotide_server.trends.points.service import recompute_points

API = "/api/v1"
MakePlan = Callable[..., dict[str, Any]]


def listed(client: TestClient, person: Person, path: str = "campaigns", **wanted: object) -> Json:
    answer = client.get(f"{API}/{path}", params=cast("Json", wanted), headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


def names(answer: Json) -> list[str]:
    return [campaign["name"] for campaign in answer["items"]]


def submit(client: TestClient, person: Person, body: dict[str, Any]) -> int:
    answer = client.post(f"{API}/campaigns", json=body, headers=person.headers)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


@pytest.fixture
def three(client: TestClient, admin: Person, plan: MakePlan) -> list[int]:
    """Campaigns in the order of submission: their names are in no order."""
    return [submit(client, admin, plan(name=name)) for name in ("Beta_1", "gamma", "alpha")]


@pytest.fixture
def nightly(client: TestClient, admin: Person, plan: MakePlan, clock: MovedClock) -> Json:
    """A schedule that has run twice, and again after a campaign that a user submitted."""
    body = {"name": "nightly", "plan": plan(name="night"), "cron": "30 2 * * *", "time_zone": "Europe/Zurich"}
    schedule: Json = client.post(f"{API}/schedules", json=body, headers=admin.headers).json()
    for step in range(4):
        clock.move(60)
        if step == 2:
            submit(client, admin, plan(name="by-hand"))
        else:
            fired = client.post(f"{API}/schedules/{schedule['id']}/run", headers=admin.headers)
            assert fired.status_code == 201, fired.text
    return schedule


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", ["alpha", "gamma", "Beta_1"]),
        ("oldest", ["Beta_1", "gamma", "alpha"]),
        ("name", ["alpha", "Beta_1", "gamma"]),
    ],
)
def test_every_order_goes_on_where_the_page_before_ended(
    sort: str, expected: list[str], three: list[int], client: TestClient, admin: Person
) -> None:
    del three
    first = listed(client, admin, sort=sort, limit=2)
    rest = listed(client, admin, sort=sort, limit=2, cursor=first["next_cursor"])
    assert names(first) + names(rest) == expected
    assert rest["next_cursor"] is None


def test_campaigns_are_found_by_a_part_of_their_name_without_wildcards(
    three: list[int], client: TestClient, admin: Person
) -> None:
    del three
    assert names(listed(client, admin, text="ETA")) == ["Beta_1"]
    assert names(listed(client, admin, text="_")) == ["Beta_1"]
    assert names(listed(client, admin, text="%")) == []


def test_filters_of_name_state_and_owner_apply_together_in_every_order(
    three: list[int], client: TestClient, admin: Person
) -> None:
    client.post(f"{API}/campaigns/{three[0]}/cancel", headers=admin.headers)
    assert names(listed(client, admin, state="waiting", owner="ada", sort="name")) == ["alpha", "gamma"]
    assert names(listed(client, admin, state="cancelled", text="beta")) == ["Beta_1"]
    assert names(listed(client, admin, owner="nobody")) == []


def test_a_schedule_is_one_group_at_the_place_of_its_newest_campaign(
    nightly: Json, client: TestClient, admin: Person
) -> None:
    groups = listed(client, admin, "campaign-groups")["items"]
    assert [group["newest"]["name"] for group in groups] == ["night", "by-hand"]
    of_schedule, by_hand = groups
    assert of_schedule["schedule"] == {
        "id": nightly["id"],
        "name": "nightly",
        "campaign_count": 3,
        "recent_states": {"waiting": 3},
    }
    assert by_hand["schedule"] is None
    folded_out = listed(client, admin, schedule_id=nightly["id"])
    assert names(folded_out) == ["night"] * 3
    assert folded_out["items"][0]["id"] == of_schedule["newest"]["id"]


def test_the_states_of_a_group_are_those_of_all_its_newest_campaigns(
    nightly: Json, client: TestClient, admin: Person
) -> None:
    oldest = listed(client, admin, schedule_id=nightly["id"], sort="oldest")["items"][0]["id"]
    client.post(f"{API}/campaigns/{oldest}/cancel", headers=admin.headers)
    [group, _] = listed(client, admin, "campaign-groups")["items"]
    assert group["newest"]["state"] == "waiting"
    assert group["schedule"]["recent_states"] == {"waiting": 2, "cancelled": 1}


def test_groups_are_paged_and_searched_like_campaigns(nightly: Json, client: TestClient, admin: Person) -> None:
    del nightly
    first = listed(client, admin, "campaign-groups", limit=1, sort="name")
    rest = listed(client, admin, "campaign-groups", limit=1, sort="name", cursor=first["next_cursor"])
    assert [group["newest"]["name"] for group in first["items"] + rest["items"]] == ["by-hand", "night"]
    assert len(listed(client, admin, "campaign-groups", text="hand")["items"]) == 1


def test_groups_of_other_clusters_are_not_shown(
    nightly: Json, client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    del nightly
    other = client.post(f"{API}/clusters", json={"name": "other"}, headers=admin.headers).json()
    olaf = make_person("olaf", Role.VIEWER, other["id"])
    assert listed(client, olaf, "campaign-groups")["items"] == []


@pytest.mark.parametrize("wrong", [{"sort": "size"}, {"schedule_id": 0}, {"text": ""}, {"text": "x" * 101}])
def test_an_unknown_order_or_filter_is_refused(wrong: Json, client: TestClient, admin: Person) -> None:
    answer = client.get(f"{API}/campaigns", params=wrong, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, next(iter(wrong)))


@pytest.fixture
def measured_nights(database: Database) -> list[int]:
    """Two campaigns of a schedule, one of a user between them, and one without results; oldest first."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        schedule = Schedule(
            cluster_id=measured.cluster.id,
            name="nightly",
            plan={},
            cron="0 2 * * *",
            time_zone="UTC",
            random_offset_seconds=0.0,
            missed="skip",
            state="paused",
        )
        session.add(schedule)
        session.flush()

        def night(day: int, *rates: float, is_fired: bool = True) -> Campaign:
            campaign = measured.campaign()
            if is_fired:
                at = NOW + timedelta(days=day)
                session.add(Firing(schedule_id=schedule.id, planned_at=at, fired_at=at, campaign_id=campaign.id))
            cell = measured.cell(campaign)
            for rate in rates:
                numbers = sample(1.5, metric="wait", operation="write"), sample(rate, operation="write")
                measured.deliver(cell, finish(NOW, *numbers), minutes=1440 * day)
            session.flush()
            recompute_points(session, cell.id)
            return campaign

        found = [night(0, 100.0, 100.0), night(1, 500.0, is_fired=False), night(2, 90.0, 110.0, 70.0), night(3)]
        return [campaign.id for campaign in found]


def test_a_headline_is_the_first_primary_metric_with_the_previous_campaign_of_the_schedule(
    measured_nights: list[int], client: TestClient, admin: Person
) -> None:
    first, by_hand, newest, empty = measured_nights
    found = listed(client, admin, "campaign-headlines", campaign_id=measured_nights)["items"]
    assert [headline["campaign_id"] for headline in found] == [first, by_hand, newest]
    assert empty not in {headline["campaign_id"] for headline in found}
    shown = found[2]
    assert (shown["metric"], shown["labels"], shown["target_names"]) == (
        "write_rate",
        {"operation": "write"},
        ["scratch"],
    )
    assert (shown["n"], shown["median"], shown["low"], shown["high"]) == (3, 90.0, 70.0, 110.0)
    assert shown["previous"] == {"campaign_id": first, "median": 100.0, "n": 2, "ratio": 0.9}
    assert found[0]["previous"] is None
    assert found[1]["previous"] is None


def test_headlines_of_other_clusters_are_not_shown(
    measured_nights: list[int], client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    other = client.post(f"{API}/clusters", json={"name": "other"}, headers=admin.headers).json()
    olaf = make_person("olaf", Role.VIEWER, other["id"])
    assert listed(client, olaf, "campaign-headlines", campaign_id=measured_nights) == {"items": []}


def test_too_many_headlines_at_once_are_refused(client: TestClient, admin: Person) -> None:
    wanted = {"campaign_id": list(range(1, 102))}
    assert client.get(f"{API}/campaign-headlines", params=wanted, headers=admin.headers).status_code == 422
