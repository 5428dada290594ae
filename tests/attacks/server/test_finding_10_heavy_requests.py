"""Several heavy requests of one user: the second is rejected, and all other users are served."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from bring_up import wait_for
from factories.announced import workload
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from factories.slow_pages import locks_wanted
from factories.two_clusters import TwoClusters
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.kit.turns import Turns
from iotide_wire.expressions import Number

API: Final = "/api/v1"
PREVIEW: Final = f"{API}/campaigns/preview"
HEAVY: Final = (
    ("POST", "campaigns/preview"),
    ("POST", "campaigns"),
    ("POST", "campaigns/1/repeats"),
    ("POST", "schedules"),
    ("PUT", "schedules/1"),
    ("POST", "schedules/1/run"),
    ("POST", "runs/1/readings"),
    ("GET", "comparison?a=1&b=2"),
    ("GET", "comparison/sides?campaign=1&campaign=2"),
    ("GET", "campaigns/1/samples.csv"),
    ("GET", "audit/export"),
)
ONE: Final = Number.of(1)
NUMBER: Final = {"type": "integer"}


@pytest.fixture
def plan(database: Database, clock: Clock) -> Callable[..., dict[str, Any]]:
    with database.transaction() as session:
        return ReadyCluster(session, clock()).plan


@pytest.fixture
def other_process(migrated_url: str) -> Iterator[Turns]:
    turns = Turns(migrated_url)
    yield turns
    turns.close()


def assert_refused(answer: Response) -> None:
    assert answer.status_code == 429, answer.text
    assert answer.json()["error"]["code"] == "one_at_a_time"
    assert "another expensive request of yours is running" in answer.json()["error"]["message"]
    assert int(answer.headers["Retry-After"]) > 0


def test_a_second_heavy_request_is_refused_while_the_first_is_under_way(
    client: TestClient,
    database: Database,
    admin: Person,
    make_person: Callable[..., Person],
    plan: Callable[..., dict[str, Any]],
) -> None:
    other = make_person("bob", Role.ADMIN)

    def preview() -> Response:
        return client.post(PREVIEW, json=plan(), headers=admin.headers)

    with ThreadPoolExecutor(1) as thread:
        with database.transaction() as blocking:
            blocking.execute(text("LOCK TABLE workload_baseline IN ACCESS EXCLUSIVE MODE"))
            first = thread.submit(preview)
            wait_for("the first preview", lambda: locks_wanted(database) or None)
            assert_refused(preview())
            assert_refused(client.post(f"{API}/campaigns", json=plan(), headers=admin.headers))
            assert client.get(f"{API}/campaigns", headers=admin.headers).status_code == 200
            assert client.get(f"{API}/clusters", headers=other.headers).status_code == 200
        assert first.result().status_code == 200
    assert preview().status_code == 200


@pytest.mark.parametrize(("method", "path"), HEAVY)
def test_each_heavy_request_counts_whichever_process_serves_the_other_one(
    method: str, path: str, client: TestClient, admin: Person, other_process: Turns, shared_app: FastAPI
) -> None:
    assert other_process.take(f"user {admin.principal.user_id}")
    body: dict[str, Any] | None = {} if method != "GET" else None
    assert_refused(client.request(method, f"{API}/{path}", json=body, headers=admin.headers))
    other_process.give_back(f"user {admin.principal.user_id}")
    assert client.request(method, f"{API}/{path}", json=body, headers=admin.headers).status_code != 429
    # However it ended, it no longer occupies the user's only slot.
    turns: Turns = shared_app.state.turns
    assert turns.take(f"user {admin.principal.user_id}")
    turns.give_back(f"user {admin.principal.user_id}")


def test_the_turns_of_a_process_end_with_it(migrated_url: str, other_process: Turns) -> None:
    ended = Turns(migrated_url)
    assert ended.take("user 1")
    assert not ended.take("user 1")
    assert not other_process.take("user 1")
    assert other_process.take("user 2")
    ended.close()
    wait_for("the lock", lambda: other_process.take("user 1") or None)


def test_a_connection_that_was_lost_is_opened_again(database: Database, other_process: Turns) -> None:
    assert other_process.take("user 1")
    with database.transaction() as session:
        ended = text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = :kind")
        session.execute(ended, {"kind": 0x68656176})
    assert other_process.take("user 2")
    other_process.give_back("user 1")
    assert other_process.take("user 1")


def test_long_texts_in_very_many_configurations_are_refused_before_any_is_made(
    client: TestClient, admin: Person, database: Database
) -> None:
    """100,000 job files of 20,000 characters took gigabytes."""
    clusters = TwoClusters(client, database, admin)
    schema = {"type": "object", "properties": {"a": NUMBER, "b": NUMBER, "text": {"type": "string"}}}
    said = {"options_schema": schema, "option_defaults": {"text": ""}, "bytes_needed": ONE, "bytes_moved": ONE}
    clusters.say("alpha", workload("long", **said))

    def submit(characters: int) -> Response:
        sweep = {"a": list(range(316)), "b": list(range(316))}
        chosen = {"workload": "long", "options": {"text": "x" * characters}, "sweep": sweep}
        plan = clusters.clusters["alpha"].plan(workloads=[chosen], repeats=1)
        return client.post(PREVIEW, json=plan, headers=admin.headers)

    error = submit(20_000).json()["error"]
    assert (error["code"], error["field"]) == ("options_too_large", "workloads[0].options.text")
    assert error["value"] > 316 * 316 * 20_000
    assert error["message"] == (
        "workloads[0].options.text: the options of all configurations take 1.86 GiB, most of it for this option;"
        " a campaign may have at most 256 MiB"
    )
    assert submit(2_000).status_code == 200
