from collections.abc import Callable
from typing import Any

import pytest
from factories.people import Person
from factories.rows import count
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.campaigns.resolved import MAX_RUNS
from iotide_server.kit.db import Database

CAMPAIGNS = "/api/v1/campaigns"
Plan = Callable[..., dict[str, Any]]


class Submitted:
    """A campaign of two cells with two runs each, and a user who adds runs."""

    def __init__(self, client: TestClient, person: Person, plan: dict[str, Any]) -> None:
        self.client = client
        self.person = person
        answer = client.post(CAMPAIGNS, json=plan, headers=person.headers)
        assert answer.status_code == 201, answer.text
        self.id = answer.json()["id"]

    def add(self, body: object, *, key: str | None = None, by: Person | None = None) -> Response:
        headers = (by or self.person).headers | ({} if key is None else {"Idempotency-Key": key})
        return self.client.post(f"{CAMPAIGNS}/{self.id}/repeats", json=body, headers=headers)

    def cells(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.client.get(
            f"{CAMPAIGNS}/{self.id}/cells", headers=self.person.headers
        ).json()["items"]
        return items

    def cancel(self) -> None:
        assert self.client.post(f"{CAMPAIGNS}/{self.id}/cancel", headers=self.person.headers).is_success


@pytest.fixture
def submitted(client: TestClient, admin: Person, plan: Plan) -> Submitted:
    return Submitted(client, admin, plan())


def test_repeats_of_chosen_cells_wait_in_line_behind_those_of_the_plan(
    submitted: Submitted, database: Database
) -> None:
    first, second = submitted.cells()
    answer = submitted.add({"repeats": 3, "cell_ids": [first["id"]]})
    assert answer.status_code == 200
    assert answer.json()["counts"]["waiting"] == 7
    (added,) = answer.json()["additions"]
    assert (added["repeats"], added["cells"]) == (3, 1)
    assert [cell["counted_runs"] for cell in submitted.cells()] == [[], []]
    assert [len(cell["runs"]) for cell in submitted.cells()] == [5, 2]
    assert submitted.cells()[0]["runs"] == sorted([*first["runs"], *submitted.cells()[0]["runs"][2:]])
    assert submitted.cells()[1]["runs"] == second["runs"]
    assert count(database, "line_place") == 7


def test_repeats_of_all_cells_are_interleaved_and_numbered_on(submitted: Submitted, database: Database) -> None:
    submitted.add({"repeats": 2})
    with database.transaction() as session:
        rows = session.execute(
            text("SELECT repeat, ordinal FROM run JOIN cell ON cell.id = cell_id ORDER BY run.id DESC LIMIT 4")
        )
        assert [tuple(row) for row in rows][::-1] == [(3, 1), (3, 2), (4, 1), (4, 2)]


def test_a_campaign_that_has_ended_goes_on_with_what_was_added(submitted: Submitted, client: TestClient) -> None:
    submitted.cancel()
    answer = submitted.add({"repeats": 1})
    assert answer.json()["state"] == "active"
    assert answer.json()["counts"] == {"waiting": 2, "active": 0, "finished": 0, "failed": 0, "cancelled": 4}
    newest = client.get("/api/v1/runs", params={"campaign_id": submitted.id}, headers=submitted.person.headers)
    events = client.get(f"/api/v1/runs/{newest.json()['items'][0]['id']}/events", headers=submitted.person.headers)
    (event,) = events.json()["items"]
    assert (event["kind"], event["text"].startswith("added by ada")) == ("added", True)


def test_the_same_request_with_its_key_adds_once(submitted: Submitted, database: Database) -> None:
    answers = [submitted.add({"repeats": 1}, key="k1") for _ in range(2)]
    assert [answer.json()["counts"]["waiting"] for answer in answers] == [6, 6]
    other = submitted.add({"repeats": 2}, key="k1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert count(database, "campaign_addition") == 1


def test_the_audit_names_who_added_how_many(submitted: Submitted, database: Database) -> None:
    submitted.add({"repeats": 2})
    with database.transaction() as session:
        row = session.execute(text("SELECT * FROM audit_entry WHERE action = 'campaign_repeats_added'")).one()
    assert (row.subject_id, row.after) == (submitted.id, {"repeats": 2, "cells": 2, "runs": 4})


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"repeats": 0}, 422, "invalid_input", "repeats"),
        ({"repeats": 1001}, 422, "invalid_input", "repeats"),
        ({"repeats": 1, "cell_ids": []}, 422, "invalid_input", "cell_ids"),
        ({"repeats": 1, "cell_ids": [10**12]}, 404, "cell_not_found", "cell_ids[0]"),
        ({"repeats": 1, "cells": [1]}, 422, "invalid_input", "cells"),
    ],
)
def test_invalid_repeats_are_refused_by_name_and_nothing_is_stored(
    submitted: Submitted, database: Database, body: object, status: int, code: str, field: str
) -> None:
    answer = submitted.add(body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (status, code, field)
    assert error["remedy"]
    assert count(database, "run") == 4


def test_a_campaign_gets_no_larger_than_one_may_be_submitted(
    submitted: Submitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide_server.campaigns.repeats.MAX_RUNS", 5)
    answer = submitted.add({"repeats": 1})
    assert MAX_RUNS > 5
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "too_many_runs")


def test_retired_nodes_and_targets_get_no_repeats(submitted: Submitted, database: Database) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE node SET retired_at = now() WHERE name = 'n2'"))
    answer = submitted.add({"repeats": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "cell_resources_gone")
    assert "node n2 was retired" in answer.json()["error"]["message"]
    assert submitted.add({"repeats": 1, "cell_ids": [submitted.cells()[0]["id"]]}).is_success


def test_nothing_is_added_to_a_cluster_on_which_nothing_runs(submitted: Submitted, database: Database) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE cluster SET origin = 'made_up'"))
    assert submitted.add({"repeats": 1}).status_code == 409


def test_a_finished_stage_gets_no_repeats_and_a_later_one_waits(
    client: TestClient, admin: Person, plan: Plan, database: Database
) -> None:
    stages = [{"variant": "data=ordered"}, {"variant": "data=journal"}, {"variant": "data=writeback"}]
    submitted = Submitted(client, admin, plan(nodes=["n1"], repeats=1, stages=stages))
    over, present, later = (cell["id"] for cell in submitted.cells())
    with database.transaction() as session:
        session.execute(text("UPDATE campaign_stage SET state = 'open' WHERE ordinal = 2"))
    refused = submitted.add({"repeats": 1, "cell_ids": [over]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "cell_stage_over")
    in_line = count(database, "line_place")
    assert submitted.add({"repeats": 1, "cell_ids": [later]}).is_success
    assert count(database, "line_place") == in_line
    assert submitted.add({"repeats": 1, "cell_ids": [present]}).is_success
    assert count(database, "line_place") == in_line + 1


def test_a_viewer_adds_nothing_and_others_see_no_such_campaign(
    submitted: Submitted, client: TestClient, make_person: Callable[..., Person]
) -> None:
    other = client.post("/api/v1/clusters", json={"name": "other"}, headers=submitted.person.headers).json()
    assert submitted.add({"repeats": 1}, by=make_person("vera", Role.VIEWER)).status_code == 403
    olaf = make_person("olaf", Role.OPERATOR, other["id"])
    assert submitted.add({"repeats": 1}, by=olaf).json()["error"]["code"] == "campaign_not_found"
