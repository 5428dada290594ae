"""Rights over scratch sets at the API, and lies of a node about them."""

from dataclasses import dataclass

import pytest
from factories.announced import NOW, hello
from factories.clusters import make_cluster, make_node, node_token
from factories.people import Person, person
from factories.scratch_sets import disk, scratch_set
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.agent_api import service as agent_api
from iotide_server.kit.db import Database, Json
from iotide_server.main import API


@dataclass(frozen=True)
class Asked:
    """The API with the set of a node, an operator and an admin of its cluster."""

    client: TestClient
    people: dict[Role, Person]

    def listed(self) -> Json:
        answer = self.client.get(f"{API}/scratch-sets", headers=self.people[Role.OPERATOR].headers)
        (found,) = answer.json()["items"]
        return dict(found)


@pytest.fixture
def asked(client: TestClient, database: Database) -> Asked:
    with database.transaction() as session:
        node = make_node(session, make_cluster(session), "storage01")
        agent_api.hello(session, node.id, hello().model_copy(update={"scratch_sets": (scratch_set(),)}), NOW)
        roles = {Role.OPERATOR: "olga", Role.ADMIN: "ada"}
        people = {role: person(session, name, role, node.cluster_id, now=NOW) for role, name in roles.items()}
    return Asked(client, people)


@pytest.mark.parametrize(("role", "code"), [(Role.OPERATOR, "not_allowed"), (Role.ADMIN, "person_wanted")])
def test_neither_an_operator_nor_an_api_token_enables_a_set(asked: Asked, role: Role, code: str) -> None:
    found = asked.listed()
    enabling = {"name": "bays", "disks_sha256": found["disks_sha256"], "target_name": "storage01-bays"}
    url = f"{API}/scratch-sets/{found['id']}/enable"
    answer = asked.client.post(url, json=enabling, headers=asked.people[role].headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == code
    assert asked.listed()["permission"] == "disabled"


def test_the_list_has_what_the_admin_decides_on(asked: Asked) -> None:
    found = asked.listed()
    assert [shown["serial"] for shown in found["disks"]] == ["ZC0001", "ZC0002"]
    assert found["suggested_target"] == "storage01-bays"
    assert (found["enabled"], found["changes"], found["target"]) == (None, [], None)


def test_a_thousand_lies_of_a_node_are_refused_and_change_nothing(asked: Asked) -> None:
    lies = [scratch_set(f"s{number}", disk(number)).model_dump(mode="json") for number in range(1000)]
    said = hello().model_dump(mode="json") | {"scratch_sets": lies}
    headers = {"Authorization": f"Bearer {node_token('storage01')}"}
    answer = asked.client.post(f"{API}/agent/hello", json=said, headers=headers)
    assert answer.status_code == 422
    assert len(answer.content) < 2000
    assert asked.listed()["name"] == "bays"
