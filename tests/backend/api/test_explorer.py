from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database, Json
from iotide_server.results.ingest import service
from iotide_server.results.models import Point
from iotide_server.runs.models import Run
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import Outcome

RATES = [100.0, 300.0, 200.0]
SHORT = Flag(code="DURATION", measured="5 s", limit="30 s", effect=FlagEffect.MARKED)
MakePerson = Callable[..., Person]


def found(client: TestClient, person: Person, path: str = "runs", **wanted: object) -> Json:
    answer = client.get(f"/api/v1/explorer/{path}", params=cast("Json", wanted), headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


def run_ids(answer: Json) -> list[int]:
    return [row["id"] for row in answer["items"]]


@pytest.fixture
def runs(database: Database) -> list[int]:
    """Three runs of one cell, a minute apart and 5, 4 and 3 s long, and one that is still running; oldest first."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        campaign = measured.campaign("nightly")
        cell = measured.cell(campaign, block_size_bytes=512)
        made = []
        for index, rate in enumerate(RATES):
            flags = (
                (Flag(code="DURATION", measured="5 s", limit="30 s", effect=FlagEffect.MARKED),) if index == 0 else ()
            )
            numbers = sample(1.5, metric="wait", operation="write"), sample(rate, operation="write")
            run = measured.deliver(cell, finish(NOW, *numbers, flags=flags), minutes=index)
            assert run.started_at is not None
            run.ended_at = run.started_at + timedelta(seconds=5 - index)
            made.append(run.id)
        recompute_points(session, cell.id)
        made.append(measured.run(measured.cell(measured.campaign("weekly")), minutes=9).id)
    return made


def test_a_row_identifies_its_run_and_what_it_may_be_compared_with(
    client: TestClient, admin: Person, runs: list[int]
) -> None:
    active, *finished = found(client, admin)["items"]
    assert (active["id"], active["headline"], active["likeness"], active["duration_seconds"]) == (
        runs[3],
        None,
        None,
        None,
    )
    newest = finished[0]
    headline = newest["headline"]
    assert (headline["metric"], headline["value"], headline["labels"]) == ("write_rate", 200.0, {"operation": "write"})
    assert (newest["options"], newest["node_names"], newest["target_names"]) == (
        {"block_size_bytes": 512},
        ["node1"],
        ["scratch"],
    )
    assert (newest["cluster_name"], newest["campaign_name"], newest["duration_seconds"]) == ("blade", "nightly", 3.0)
    assert len({row["likeness"] for row in finished}) == 1
    assert finished[2]["flags"] == ["DURATION"]


def test_a_headline_has_the_flags_that_concern_it_and_no_others(
    client: TestClient, admin: Person, database: Database
) -> None:
    of_reads = SHORT.model_copy(update={"code": FlagCode.CACHE_DROP, "labels": {"operation": "read"}})
    of_writes = SHORT.model_copy(update={"code": FlagCode.FSYNC, "labels": {"operation": "write"}})
    with database.transaction() as session:
        measured = Measured(session, NOW)
        of_target, elsewhere = (
            SHORT.model_copy(update={"code": code, "target_id": target_id})
            for code, target_id in ((FlagCode.STEADY, measured.target.id), (FlagCode.CLOCK, measured.target.id + 1))
        )
        cell = measured.cell()
        numbers = (
            sample(100.0, operation="write").model_copy(update={"target_id": measured.target.id}),
            sample(200.0, operation="read"),
        )
        run = measured.deliver(cell, finish(NOW, *numbers, flags=(SHORT, of_reads, of_writes, of_target)))
        run.flags = [*run.flags, elsewhere.model_dump(mode="json")]  # as release 0.2 accepted it from an agent
        session.flush()
        recompute_points(session, cell.id)
    [row] = found(client, admin)["items"]
    assert row["headline"]["labels"] == {"operation": "write"}
    assert row["headline"]["flags"] == ["DURATION", "FSYNC", "STEADY"]
    assert row["flags"] == ["CACHE_DROP", "CLOCK", "DURATION", "FSYNC", "STEADY"]


def test_the_partial_figure_of_a_run_that_was_cut_is_neither_its_headline_nor_a_point(
    client: TestClient, admin: Person, database: Database
) -> None:
    cut = Flag(code=FlagCode.CUT, measured="3.2 GiB of 16 GiB", limit="60 s", effect=FlagEffect.REJECTED)
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell(measured.campaign("nightly"))
        run, partial = measured.run(cell), sample(871e6, operation="write")
        order = measured.order(run)
        service.ingest(session, order, finish(NOW, partial, flags=(cut,), outcome=Outcome.FAILED), NOW)
        measured.end(run, order, "failed")
        recompute_points(session, cell.id)
        assert session.query(Point).all() == []
    [row] = found(client, admin)["items"]
    assert (row["state"], row["headline"], row["flags"]) == ("failed", None, ["CUT"])


@pytest.mark.parametrize(
    ("sort", "places"),
    [
        ("newest", [3, 2, 1, 0]),
        ("oldest", [0, 1, 2, 3]),
        ("longest", [0, 1, 2]),
        ("shortest", [2, 1, 0]),
        ("highest", [1, 2, 0]),
        ("lowest", [0, 2, 1]),
    ],
)
def test_pages_follow_each_other_in_every_order(
    client: TestClient, admin: Person, runs: list[int], sort: str, places: list[int]
) -> None:
    wanted: Json = {"sort": sort, "workload": "dd", "limit": 1}
    shown: list[int] = []
    while True:
        page = found(client, admin, **wanted)
        shown += run_ids(page)
        if page["next_cursor"] is None:
            break
        wanted["cursor"] = page["next_cursor"]
    assert shown == [runs[place] for place in places]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ({"state": "finished"}, [2, 1, 0]),
        ({"validity": "rejected"}, []),
        ({"flag": "DURATION"}, [0]),
        ({"flag": "any"}, [0]),
        ({"flag": "none"}, [3, 2, 1]),
        ({"workload": "fio"}, []),
        ({"text": "WEEK"}, [3]),
        ({"text": "scratch"}, [3, 2, 1, 0]),
        ({"text": "node1"}, [3, 2, 1, 0]),
        ({"text": "%"}, []),
        ({"from": (NOW + timedelta(minutes=2)).isoformat()}, [3, 2]),
        ({"to": NOW.isoformat()}, [0]),
    ],
)
def test_a_filter_lets_through_what_it_names_and_counts_it(
    client: TestClient, admin: Person, runs: list[int], wanted: dict[str, str], places: list[int]
) -> None:
    assert run_ids(found(client, admin, **wanted)) == [runs[place] for place in places]
    assert found(client, admin, "count", **wanted) == {"count": len(places), "is_at_least": False}


def test_runs_are_found_by_where_they_ran_and_by_their_ids(
    client: TestClient, admin: Person, runs: list[int], database: Database
) -> None:
    with database.transaction() as session:
        run = session.get_one(Run, runs[0])
        cluster_id, campaign_id = run.cluster_id, run.campaign_id
    of_both = found(client, admin, cluster_id=cluster_id, campaign_id=campaign_id, id=[runs[1], runs[0]])
    assert run_ids(of_both) == [runs[1], runs[0]]
    assert run_ids(found(client, admin, node_id=2**62)) == run_ids(found(client, admin, target_id=2**62)) == []


def test_the_course_of_a_series_comes_oldest_first_and_only_to_who_may_see_it(
    client: TestClient, admin: Person, make_person: MakePerson, runs: list[int]
) -> None:
    series_id = found(client, admin, id=runs[0])["items"][0]["headline"]["series_id"]
    (line,) = found(client, admin, "sparklines", series_id=[series_id, series_id, 2**62])["items"]
    assert (line["series_id"], line["medians"]) == (series_id, [200.0])
    stranger = make_person("eve", Role.VIEWER, cluster_id=found(client, admin)["items"][0]["cluster_id"])
    assert found(client, stranger, "sparklines", series_id=[series_id])["items"] != []
    assert run_ids(found(client, stranger)) != []


@pytest.mark.parametrize(
    ("wanted", "code", "field"),
    [
        ({"sort": "highest"}, "workload_wanted", "sort"),
        ({"cursor": "nonsense"}, "invalid_input", "cursor"),
        ({"cursor": "WyJvbGRlc3QiLCIyMDI2LTAxLTAxIiwxXQ"}, "invalid_input", "cursor"),
        ({"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "invalid_input", "to"),
        ({"sort": "fastest"}, "invalid_input", "sort"),
    ],
)
def test_an_invalid_listing_is_refused_by_name(
    client: TestClient, admin: Person, wanted: dict[str, str], code: str, field: str
) -> None:
    answer = client.get("/api/v1/explorer/runs", params=wanted, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (422, code, field)
    assert error["remedy"]


def test_only_its_owner_saves_renames_and_removes_a_view(
    client: TestClient, admin: Person, make_person: MakePerson
) -> None:
    path = "/api/v1/explorer/views"
    kept = client.post(path, json={"name": "slow", "query": "sort=longest"}, headers=admin.headers)
    assert kept.status_code == 201, kept.text
    view_id = kept.json()["id"]
    again = client.post(path, json={"name": "slow", "query": ""}, headers=admin.headers)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "view_name_taken")
    changed = {"name": "slowest", "query": "sort=longest&state=finished"}
    other = make_person("bob", Role.ADMIN)
    assert client.put(f"{path}/{view_id}", json=changed, headers=other.headers).status_code == 404
    assert client.put(f"{path}/{view_id}", json=changed, headers=admin.headers).json()["query"] == changed["query"]
    assert [view["name"] for view in found(client, admin, "views")["items"]] == ["slowest"]
    assert found(client, other, "views")["items"] == []
    assert client.delete(f"{path}/{view_id}", headers=other.headers).json()["error"]["code"] == "view_not_found"
    assert client.delete(f"{path}/{view_id}", headers=admin.headers).status_code == 204
    assert found(client, admin, "views")["items"] == []
    actions = [row["action"] for row in client.get("/api/v1/audit", headers=admin.headers).json()["items"]]
    assert actions[:3] == ["view_removed", "view_changed", "view_kept"]


def test_the_number_of_saved_views_is_limited(
    client: TestClient, admin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide_server.explorer.views.MOST_VIEWS", 1)
    path = "/api/v1/explorer/views"
    assert client.post(path, json={"name": "one", "query": ""}, headers=admin.headers).status_code == 201
    refused = client.post(path, json={"name": "two", "query": ""}, headers=admin.headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_views")
