"""Second review, A2: a node that holds its own rows for long, or keeps the server computing, blocks no other node."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import pytest
from bring_up import wait_for
from factories.announced import hello
from factories.clock import MovedClock
from factories.clusters import make_cluster, make_node, node_token
from factories.people import Person
from factories.site import Site
from factories.slow_pages import locks_wanted
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.kit.db import CONNECTIONS, Database, open_engine
from iotide_server.kit.queue import Broker
from iotide_server.results.ingest.service import concerned, is_rejected
from iotide_server.scheduling.offers import MOST_OFFERS
from iotide_server.scheduling.service import WATCH_EVERY, Scheduler
from iotide_server.scheduling.watch import BARRIER_TIMEOUT
from iotide_wire.measured import Flag, SampleMessage

PATIENCE_SECONDS: Final = 3.0
"""A statement that waits for a locked row fails its test after this."""


@pytest.fixture
def scheduler(database_url: str, clock: MovedClock) -> Iterator[Scheduler]:
    engine = open_engine(database_url, statement_seconds=PATIENCE_SECONDS)
    yield Scheduler(Database(engine), Broker("redis://127.0.0.1:1/0"), lambda: None, clock)
    engine.dispose()


@contextmanager
def held(database: Database, table: str, row_id: int) -> Iterator[None]:
    """Hold one row, as a long transaction of its node does."""
    with database.engine.connect() as holder:
        holder.execute(text(f"SELECT FROM {table} WHERE id = :id FOR UPDATE"), {"id": row_id})
        yield
        holder.rollback()


def step_until(scheduler: Scheduler, clock: MovedClock, seconds: float) -> None:
    end = clock.now + timedelta(seconds=seconds)
    while clock.now < end:
        clock.now += WATCH_EVERY
        scheduler.step(set())


@pytest.mark.parametrize("table", ["run", "node_order"])
def test_silence_and_time_limits_of_others_are_flagged_despite_a_locked_row(
    database: Database, clock: MovedClock, plant: Site, scheduler: Scheduler, table: str
) -> None:
    own, other = (plant.start_load(number)[1] for number in (1, 2))
    with held(database, table, own.run_id if table == "run" else own.order_id):
        step_until(scheduler, clock, 200)
        assert plant.run(other.run_id).overdue
        assert plant.run(own.run_id).overdue is (table == "node_order")
    step_until(scheduler, clock, 5)
    assert plant.run(own.run_id).overdue
    silent = text("SELECT id FROM node_order WHERE silent_since IS NOT NULL ORDER BY id")
    with database.transaction() as session:
        assert session.scalars(silent).all() == [own.order_id, other.order_id]


@pytest.mark.parametrize("table", ["run", "node_order"])
def test_gangs_of_others_are_dissolved_despite_a_locked_row(
    make_site: Callable[..., Site], database: Database, clock: MovedClock, scheduler: Scheduler, table: str
) -> None:
    plant = make_site(node_count=4)
    own, other = plant.add_runs([1, 2], [3, 4])
    plant.start()
    offers = {number: plant.agent(number).claim_offer() for number in (1, 2, 3, 4)}
    with held(database, table, own if table == "run" else offers[1].order_id):
        clock.now += BARRIER_TIMEOUT + timedelta(seconds=1)
        scheduler.step(set())
        assert plant.states([own, other]) == ["active", "waiting"]
    clock.now += WATCH_EVERY
    scheduler.step(set())
    assert plant.states([own]) == ["waiting"]


def test_unclaimed_orders_of_others_are_withdrawn_despite_a_locked_row(
    database: Database, clock: MovedClock, plant: Site, scheduler: Scheduler
) -> None:
    own, other = plant.add_runs([1], [2])
    plant.start()
    plant.change("UPDATE node_order SET offers_made = :most", most=MOST_OFFERS)
    clock.now += timedelta(minutes=1)
    with held(database, "run", own):
        scheduler.step(set())
        assert plant.states([own, other]) == ["active", "waiting"]
    scheduler.step(set())
    assert plant.states([own]) == ["waiting"]


def test_runs_of_others_start_despite_a_locked_node(database: Database, plant: Site, scheduler: Scheduler) -> None:
    own, other = plant.add_runs([1], [2])
    with held(database, "node", plant.node_ids[0]):
        scheduler.step({"start"})
        assert plant.states([own, other]) == ["waiting", "active"]


def test_requests_that_wait_for_a_row_of_their_node_keep_no_page_waiting_and_end_within_a_second(
    shared_app: FastAPI, client: TestClient, database: Database, database_url: str, admin: Person
) -> None:
    with database.transaction() as session:
        cluster = make_cluster(session)
        node_ids = [make_node(session, cluster, name).id for name in ("n1", "n2")]
    engine = open_engine(database_url, pool_size=CONNECTIONS)
    shared_app.state.database = Database(engine)

    def greet(name: str) -> Response:
        headers = {"Authorization": f"Bearer {node_token(name)}", "Content-Type": "application/json"}
        return client.post("/api/v1/agent/hello", content=hello().model_dump_json(), headers=headers)

    with held(database, "node", node_ids[0]), held(database, "node", node_ids[1]), ThreadPoolExecutor(4) as pool:
        hellos = [pool.submit(greet, name) for name in ("n1", "n2", "n1", "n2")]
        wait_for("hellos that wait for the rows", lambda: locks_wanted(database) >= CONNECTIONS - 1 or None)
        assert client.get("/api/v1/clusters", headers=admin.headers).status_code == 200
        answers = [waiting.result() for waiting in hellos]
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {(503, "held_up")}
    assert {answer.headers["Retry-After"] for answer in answers} == {"1"}
    assert greet("n1").status_code == 200
    shared_app.state.database = database
    engine.dispose()


def test_whether_a_result_is_rejected_asks_no_flag_about_each_number(monkeypatch: pytest.MonkeyPatch) -> None:
    flag = {"code": "DURATION", "effect": "rejected", "measured": "", "limit": "", "target_id": None}
    flags = [{**flag, "labels": {"operation": "none of them"}}] * 999 + [{**flag, "labels": {}}]
    samples = [
        SampleMessage(metric="rate", value=1.0, labels={"operation": str(number)}, target_id=None)
        for number in range(30_000)
    ]
    asked: list[Flag] = []

    def concerns(self: Flag, *_: object) -> bool:
        asked.append(self)
        return True

    monkeypatch.setattr(Flag, "concerns", concerns)
    assert is_rejected(flags, concerned(samples))
    assert not is_rejected(flags[:-1], concerned(samples))
    assert len(asked) == 0
