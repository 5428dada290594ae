from collections.abc import Callable
from typing import Any

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.clusters.models import Node
from iotide_server.explorer.search import MOST_OF_A_KIND
from iotide_server.kit.db import Database, Json
from iotide_server.trends.points.service import recompute_points

SEARCH = "/api/v1/explorer/search"


def search(client: TestClient, person: Person, text: str) -> Json:
    answer = client.get(SEARCH, params={"text": text}, headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


def named(found: Json) -> list[tuple[str, str]]:
    return [(one["kind"], one["name"]) for one in found["named"]]


@pytest.fixture
def measured(database: Database) -> None:
    """Nodes node1, c03, c030 and a retired c031, a target scratch, a campaign c03-check, and three series."""
    with database.transaction() as session:
        made = Measured(session, NOW)
        nodes = [
            Node(cluster_id=made.cluster.id, name=name, role="compute", token_sha256=name, redis_password_sha256="")
            for name in ("c030", "c03", "c031")
        ]
        nodes[2].retired_at = NOW
        session.add_all(nodes)
        cell = made.cell(made.campaign("c03-check"))
        numbers = (
            sample(100.0, operation="write"),
            sample(200.0, operation="read"),
            sample(1.5, metric="wait", operation="write"),
        )
        made.deliver(cell, finish(NOW, *numbers))
        session.flush()
        recompute_points(session, cell.id)


@pytest.mark.usefixtures("measured")
def test_a_node_is_found_by_its_name_before_longer_names_and_without_retired_ones(
    client: TestClient, admin: Person
) -> None:
    found = search(client, admin, "C03")
    assert named(found) == [("node", "c03"), ("node", "c030"), ("campaign", "c03-check")]
    assert (found["named"][0]["cluster_name"], found["series"]) == ("blade", [])


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("text", "kinds"),
    [("blade", ["cluster"]), ("scratch", ["target"]), ("node1", ["node"]), ("c0_", []), ("%", [])],
)
def test_clusters_and_targets_are_found_and_wildcards_are_ordinary_characters(
    text: str, kinds: list[str], client: TestClient, admin: Person
) -> None:
    assert [kind for kind, _ in named(search(client, admin, text))] == kinds


@pytest.mark.usefixtures("measured")
def test_a_series_has_every_word_in_any_of_its_names_and_that_of_the_headline_is_first(
    client: TestClient, admin: Person
) -> None:
    found = search(client, admin, "scratch dd")["series"]
    assert (found[0]["metric"], found[0]["labels"]["operation"]) == ("write_rate", "write")
    assert len(found) == 3
    [read] = search(client, admin, "scratch read")["series"]
    assert (read["workload"], read["target_names"], read["cluster_name"]) == ("dd", ["scratch"], "blade")
    assert search(client, admin, "scratch trim")["series"] == []


@pytest.mark.usefixtures("measured")
def test_a_search_finds_nothing_of_other_clusters(
    client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    other = client.post("/api/v1/clusters", json={"name": "other"}, headers=admin.headers).json()
    olaf = make_person("olaf", Role.VIEWER, other["id"])
    for text in ("c03", "scratch", "dd", "blade"):
        assert search(client, olaf, text) == {"named": [], "series": []}
    assert named(search(client, olaf, "other")) == [("cluster", "other")]


def test_an_answer_has_at_most_five_of_a_kind(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    for number in range(MOST_OF_A_KIND + 1):
        client.post("/api/v1/campaigns", json=plan(name=f"night-{number}"), headers=admin.headers)
    assert [name for _, name in named(search(client, admin, "night"))] == [
        f"night-{number}" for number in range(5, 0, -1)
    ]


@pytest.mark.parametrize("text", ["", "x" * 101])
def test_a_text_that_is_empty_or_too_long_is_refused(text: str, client: TestClient, admin: Person) -> None:
    assert client.get(SEARCH, params={"text": text}, headers=admin.headers).status_code == 422


def test_a_blank_text_finds_nothing(client: TestClient, admin: Person) -> None:
    assert search(client, admin, "  ") == {"named": [], "series": []}
