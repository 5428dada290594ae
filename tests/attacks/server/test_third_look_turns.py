"""Third review, A3 to A5, C1 and C4: a node that sends again and again delays no other node and fills no disk."""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import pytest
from bring_up import wait_for
from factories.clusters import node_token
from factories.raised import raised
from factories.reported import SAMPLE
from factories.site import Offered, SimulatedAgent, Site, order_heartbeat
from factories.slow_pages import locks_wanted
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.agent_api import heartbeats, heartbeats_first, service
from iotide_server.agent_api.errors import ORDER_NOT_FOUND
from iotide_server.agent_api.service import RawOutput
from iotide_server.kit import web
from iotide_server.kit.bodies import LARGE_BYTES
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.digests import digest
from iotide_server.kit.queue import Broker
from iotide_server.kit.wake import DRAIN_LOCK
from iotide_server.main import MOST_OF_A_NODE
from iotide_server.results.ingest.limits import ReportLimits
from iotide_server.scheduling.service import Scheduler
from iotide_wire.messages import ClaimRequest, CurvePiece, HeartbeatRequest, OrderHeartbeat, Word

AGENT: Final = "/api/v1/agent"
PATIENCE_SECONDS: Final = 10.0
"""A slower answer waits for the attacking node."""
LONG_SECONDS: Final = 20
ROW_BYTES: Final = 100


@pytest.fixture
def talk(client: TestClient, plant: Site) -> "Talk":
    return Talk(client, plant)


class Talk:
    """HTTP requests of a site's two nodes, each with a running order."""

    def __init__(self, client: TestClient, site: Site) -> None:
        self._client = client
        self.loads = {number: site.start_load(number) for number in (1, 2)}
        for number, node_id in enumerate(site.node_ids, start=1):
            token_sha256 = digest(node_token(f"n{number}"))
            site.change("UPDATE node SET token_sha256 = :digest WHERE id = :id", digest=token_sha256, id=node_id)

    def heartbeat(self, number: int) -> Response:
        agent, offer = self.loads[number]
        request = HeartbeatRequest(
            agent_instance=agent.instance, boot_id=agent.boot_id, sent_at=agent.site.clock(), orders=(running(offer),)
        )
        return self._post(number, "beat", request.model_dump_json())

    def claim(self, number: int) -> Response:
        agent, offer = self.loads[number]
        request = ClaimRequest(fence=offer.fence, agent_instance=agent.instance, boot_id=agent.boot_id)
        return self._post(number, f"orders/{offer.order_id}/claim", request.model_dump_json())

    def finish(self, number: int) -> Response:
        agent, offer = self.loads[number]
        return self._post(number, f"orders/{offer.order_id}/finish", agent.result(offer).model_dump_json())

    def upload(self, number: int, content: bytes) -> Response:
        _, offer = self.loads[number]
        return self._client.put(
            f"{AGENT}/orders/{offer.order_id}/artefacts/write.stdout",
            content=content,
            params={"sha256": hashlib.sha256(content).hexdigest()},
            headers={**self._headers(number), "X-Iotide-Fence": str(offer.fence)},
        )

    def _post(self, number: int, path: str, content: str) -> Response:
        headers = {**self._headers(number), "Content-Type": "application/json"}
        return self._client.post(f"{AGENT}/{path}", content=content, headers=headers)

    def _headers(self, number: int) -> dict[str, str]:
        return {"Authorization": f"Bearer {node_token(f'n{number}')}"}


def running(offer: Offered, *curves: CurvePiece) -> OrderHeartbeat:
    return order_heartbeat(offer, progress=0.5, curves=curves)


@contextmanager
def held_order(database: Database, offer: Offered) -> Iterator[None]:
    """Hold the row of an order, as a slow result of its node does."""
    with database.engine.connect() as holder:
        holder.execute(text("SELECT FROM node_order WHERE id = :id FOR UPDATE"), {"id": offer.order_id})
        yield
        holder.rollback()


@pytest.fixture
def long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prolong waits for rows, so that the waiting statements can be seen."""
    monkeypatch.setattr(heartbeats_first, "_LOCK_SECONDS", LONG_SECONDS)
    monkeypatch.setattr(web, "_NODE_LOCK_MILLISECONDS", LONG_SECONDS * 1000)


def one_of(asked: list[Future[Response]]) -> Response:
    done, _ = wait(asked, PATIENCE_SECONDS, FIRST_COMPLETED)
    return next(iter(done)).result()


def sent_at_once(pool: ThreadPoolExecutor, send: Callable[[int], Response], count: int) -> list[Future[Response]]:
    return [pool.submit(send, 1) for _ in range(count)]


@pytest.mark.usefixtures("long_waits")
def test_heartbeats_that_meet_a_row_of_their_node_hold_up_no_heartbeat_of_another(
    talk: Talk, database: Database
) -> None:
    assert [talk.heartbeat(number).status_code for number in (1, 2)] == [200, 200]
    with ThreadPoolExecutor(5) as pool:
        with held_order(database, talk.loads[1][1]):
            # One waits in its route, two wait for that one, and the fourth is rejected.
            asked = sent_at_once(pool, talk.heartbeat, 4)
            refused = one_of(asked)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
            assert refused.json()["error"]["code"] == "too_many_at_once"
            assert pool.submit(talk.heartbeat, 2).result(PATIENCE_SECONDS).status_code == 200
            wait_for("the one that waits", lambda: locks_wanted(database) == 1 or None)
        assert sorted(answer.result().status_code for answer in asked) == [200, 200, 200, 429]


@pytest.mark.usefixtures("long_waits")
def test_requests_that_wait_for_a_row_of_their_node_hold_up_no_claim_of_another(talk: Talk, database: Database) -> None:
    with ThreadPoolExecutor(MOST_OF_A_NODE + 3) as pool:
        with held_order(database, talk.loads[1][1]):
            asked = sent_at_once(pool, talk.finish, MOST_OF_A_NODE + 2)
            refused = one_of(asked)
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_at_once")
            assert pool.submit(talk.claim, 2).result(PATIENCE_SECONDS).status_code == 200
            wait_for("the one that waits", lambda: locks_wanted(database) == 1 or None)
        assert sorted(answer.result().status_code for answer in asked) == [200] * (MOST_OF_A_NODE + 1) + [429]


def test_a_node_with_upload_heartbeat_and_finish_at_once_is_served(talk: Talk) -> None:
    with ThreadPoolExecutor(4) as pool:
        asked = [
            pool.submit(talk.upload, 1, b"x" * (LARGE_BYTES + 1)),
            pool.submit(talk.heartbeat, 1),
            pool.submit(talk.finish, 1),
            pool.submit(talk.claim, 2),
        ]
        assert [answer.result(PATIENCE_SECONDS).status_code for answer in asked] == [204, 200, 200, 200]


def piece(site: Site, first_second: int, *values: float) -> CurvePiece:
    started_at = site.clock() + timedelta(seconds=first_second)
    return CurvePiece(counter="load1", started_at=started_at, step_seconds=1.0, values=values)


def send_curves(
    agent: SimulatedAgent, offer: Offered, *curves: CurvePiece, limits: ReportLimits | None = None
) -> tuple[Word, int]:
    """Send a heartbeat with curves; return the answer about its order, and the bytes that the node has sent today."""
    request = HeartbeatRequest(
        agent_instance=agent.instance,
        boot_id=agent.boot_id,
        sent_at=agent.site.clock(),
        orders=(running(offer, *curves),),
    )
    with agent.site.database.transaction() as session:
        reply = heartbeats.answer_heartbeat(
            session, agent.node_id, request, agent.site.clock(), limits or ReportLimits()
        )
        sent = text("SELECT raw_bytes FROM node_beat WHERE node_id = :id")
        return reply.orders[0].word, session.scalar(sent, {"id": agent.node_id}) or 0


def test_curves_of_heartbeats_count_to_the_bytes_of_their_node_and_day(plant: Site) -> None:
    agent, offer = plant.start_load()
    sent = ROW_BYTES + 3 * 4
    assert send_curves(agent, offer, piece(plant, 0, 1, 2, 3)) == (Word.CONTINUE, sent)
    assert send_curves(agent, offer, piece(plant, 0, 1, 2, 3)) == (Word.CONTINUE, sent)
    assert send_curves(agent, offer, piece(plant, 2, 3, 4, 5)) == (Word.CONTINUE, sent + 2 * 4)
    assert send_curves(agent, offer) == (Word.CONTINUE, sent + 2 * 4)
    plant.change("UPDATE node_beat SET raw_on = raw_on - 1")
    assert send_curves(agent, offer, piece(plant, 5, 6)) == (Word.CONTINUE, 4)


def test_curves_beyond_the_daily_limit_are_omitted_from_a_heartbeat_and_its_run_continues(plant: Site) -> None:
    agent, offer = plant.start_load()
    limits = ReportLimits(raw_bytes_a_day=ROW_BYTES + 4)
    for second in range(3):
        word, sent = send_curves(agent, offer, piece(plant, second, 1), limits=limits)
        assert (word, sent) == (Word.CONTINUE, ROW_BYTES + 4)
    with plant.database.transaction() as session:
        assert session.scalar(text("SELECT sum(cardinality(values)) FROM curve_chunk")) == 1
        assert session.scalar(text("SELECT progress FROM node_order WHERE id = :id"), {"id": offer.order_id}) == 0.5
        lines = session.scalars(text("SELECT text FROM run_event WHERE kind = 'curves_missing'")).all()
    [line] = lines
    assert line == (
        "curves were left out, and the run continues: curves: 108 bytes of results, curves and raw output of the node"
        " today; at most 104; wait until tomorrow (UTC), report less, or ask the server's administrator to raise the"
        " limit (docs/isolation.md)"
    )
    assert agent.finish(offer).accepted


def test_curves_count_while_the_server_knows_no_agent_of_their_node(plant: Site) -> None:
    agent, offer = plant.start_load()
    plant.change("UPDATE node SET agent_instance = NULL WHERE id = :id", id=agent.node_id)
    assert send_curves(agent, offer, piece(plant, 0, 1, 2, 3)) == (Word.CONTINUE, ROW_BYTES + 3 * 4)


def test_a_request_across_midnight_leaves_a_nodes_new_day_unchanged(plant: Site) -> None:
    agent, offer = plant.start_load()
    _, sent = send_curves(agent, offer, piece(plant, 0, 1))
    plant.change("UPDATE node_beat SET raw_on = raw_on + 1, series_on = raw_on + 1, new_series = 7 WHERE raw_bytes > 0")
    assert send_curves(agent, offer, piece(plant, 1, 2)) == (Word.CONTINUE, sent)
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    with plant.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM series")) == 1
        days = session.execute(
            text("SELECT raw_bytes, new_series, raw_on - series_on FROM node_beat WHERE raw_bytes > 0")
        )
        assert tuple(days.one()) == (sent, 7, 0)


def test_a_node_locks_no_run_of_another_one(plant: Site) -> None:
    agent, own = plant.start_load(1)
    _, other = plant.start_load(2)
    with plant.database.transaction() as session:
        assert not service.finish(session, agent.node_id, other.order_id, agent.result(own), plant.clock()).accepted
        raw = RawOutput("write.stdout", hashlib.sha256(b"").hexdigest(), b"")
        with raised(ORDER_NOT_FOUND):
            service.store_artefact(session, agent.node_id, other.order_id, other.fence, raw)
        plant.change("SELECT FROM run WHERE id = :id FOR UPDATE NOWAIT", id=other.run_id)
        plant.change("SELECT FROM node_order WHERE id = :id FOR UPDATE NOWAIT", id=other.order_id)


def test_a_drain_that_takes_long_holds_up_no_pass(plant: Site, database: Database, database_url: str) -> None:
    [run_id] = plant.add_runs([1])
    engine = open_engine(database_url, statement_seconds=PATIENCE_SECONDS)
    patient = Scheduler(Database(engine), Broker("redis://127.0.0.1:1/0"), lambda: None, plant.clock)
    with database.engine.connect() as holder:
        holder.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": DRAIN_LOCK})
        with ThreadPoolExecutor(1) as pool:
            pool.submit(patient.step, {"start"}).result(PATIENCE_SECONDS / 2)
        holder.rollback()
    assert plant.states([run_id]) == ["waiting"]
    patient.step({"start"})
    assert plant.states([run_id]) == ["active"]
    engine.dispose()
