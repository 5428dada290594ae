"""A text that occurs in very many names: the table of runs does not read the ids of all matches."""

from typing import Final

import pytest
from factories.clock import MovedClock
from factories.people import Person
from factories.plans import plan
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient

from iotide_server.explorer import queries
from iotide_server.kit.db import Database

API: Final = "/api/v1"


@pytest.mark.parametrize("words", ["i", "night", "n1", "scratch", "dd", "nothing has this name"])
def test_a_text_finds_the_same_runs_however_many_things_have_it(
    words: str,
    client: TestClient,
    admin: Person,
    database: Database,
    clock: MovedClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with database.transaction() as session:
        ReadyCluster(session, clock())
    assert client.post(f"{API}/campaigns", json=plan(repeats=3), headers=admin.headers).status_code == 201

    def found() -> list[int]:
        answer = client.get(f"{API}/explorer/runs", params={"text": words}, headers=admin.headers)
        assert answer.status_code == 200, answer.text
        return [run["id"] for run in answer.json()["items"]]

    few = found()
    monkeypatch.setattr(queries, "MOST_NAMED", 0)
    assert found() == few
    assert len(few) == (0 if words.startswith("nothing") else 3)
