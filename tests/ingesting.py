"""Nodes that send results to the real API while its PostgreSQL is killed at random, and a log of the answers.

Each node acts as an agent: it sends raw output and then the result, again and again until the server answers. The
answer is all that it knows. At the end the database is compared with the log of all answers.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Event, Lock
from typing import Any, Final

import psycopg
from factories.clusters import node_token
from factories.measured import Measured
from fastapi.testclient import TestClient
from httpx2 import Response

from iotide_server.kit.db import Database
from iotide_server.kit.digests import canonical_sha256
from iotide_server.runs.models import Attempt, Order, Run

API: Final = "/api/v1/agent"
TOKEN: Final = node_token("n1")
FENCE: Final = 7
_STARTED_AT: Final = datetime(2026, 11, 21, 10, tzinfo=UTC)
_AGAIN_SECONDS: Final = 0.05
_BETWEEN_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Delivery:
    """A result on a node's disk."""

    order_id: int
    values: tuple[float, ...]
    raw: bytes

    @property
    def raw_sha256(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()

    def result(self) -> dict[str, Any]:
        samples = [
            {
                "metric": "write_rate",
                "labels": {"operation": "write", "writer": number},
                "target_id": None,
                "value": value,
            }
            for number, value in enumerate(self.values)
        ]
        artefact = {"name": "out", "sha256": self.raw_sha256, "size_bytes": len(self.raw)}
        said = {
            "fence": FENCE,
            "agent_instance": "instance",
            "outcome": "finished",
            "reason_code": None,
            "reason": None,
            "started_at": _STARTED_AT.isoformat(),
            "ended_at": (_STARTED_AT + timedelta(seconds=60)).isoformat(),
            "steps": [],
            "samples": samples,
            "flags": [],
            "environment": {"kernel.release": "6.1"},
            "artefacts": [artefact],
            "curves": [],
        }
        return {**said, "digest": canonical_sha256(said)}


def make_deliveries(database: Database, count: int, random: Random) -> list[Delivery]:
    """Make orders that run on one node, each of a separate run, and their future results."""
    with database.transaction() as session:
        measured = Measured(session, _STARTED_AT)
        measured.node.token_sha256 = hashlib.sha256(TOKEN.encode()).hexdigest()
        cell = measured.cell()
        runs = [
            Run(
                campaign_id=cell.campaign_id,
                cell_id=cell.id,
                cluster_id=measured.cluster.id,
                repeat=repeat + 1,
                state="active",
                exclusive="node",
                sort_key=0.0,
                time_limit_seconds=60.0,
                attempts_allowed=1,
                started_at=_STARTED_AT,
            )
            for repeat in range(count)
        ]
        session.add_all(runs)
        session.flush()
        attempts = [Attempt(run_id=run.id, ordinal=1, fence=FENCE) for run in runs]
        session.add_all(attempts)
        session.flush()
        orders = [
            Order(
                attempt_id=attempt.id,
                run_id=attempt.run_id,
                node_id=measured.node.id,
                role="load",
                state="running",
                offered_at=_STARTED_AT,
            )
            for attempt in attempts
        ]
        session.add_all(orders)
        session.flush()
        order_ids = [order.id for order in orders]
    return [
        Delivery(
            order_id, tuple(random.lognormvariate(15, 1) for _ in range(random.randint(1, 20))), random.randbytes(2000)
        )
        for order_id in order_ids
    ]


@dataclass
class Nodes:
    """Concurrent deliveries of several nodes, and the acknowledged ones.

    Attributes:
        refusals: answers that a node takes as "not now", such as those of a server without its database.
    """

    client: TestClient
    waiting: list[Delivery]
    acknowledged: list[Delivery] = field(default_factory=list)
    refusals: int = 0
    is_over: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)

    def hand_in(self) -> None:
        """Deliver one node's results, until none is left or `stop` is set."""
        while not self.is_over.is_set():
            with self._lock:
                if not self.waiting:
                    return
                delivery = self.waiting.pop()
            while not self._deliver(delivery):
                self.refusals += 1
                if self.is_over.wait(_AGAIN_SECONDS):
                    return
            with self._lock:
                self.acknowledged.append(delivery)
            self.is_over.wait(_BETWEEN_SECONDS)

    def _deliver(self, delivery: Delivery) -> bool:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        put = self.client.put(
            f"{API}/orders/{delivery.order_id}/artefacts/out",
            params={"sha256": delivery.raw_sha256},
            content=delivery.raw,
            headers={**headers, "X-Iotide-Fence": str(FENCE), "Content-Type": "application/octet-stream"},
        )
        if not put.is_success:
            return self._not_now(put)
        answer = self.client.post(f"{API}/orders/{delivery.order_id}/finish", json=delivery.result(), headers=headers)
        if not answer.is_success:
            return self._not_now(answer)
        assert answer.json()["accepted"], answer.text
        return True

    @staticmethod
    def _not_now(answer: Response) -> bool:
        assert answer.is_server_error, answer.text
        return False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Comparison of the database with the acknowledged results: numbers of samples."""

    acknowledged: int
    lost: int
    doubled: int


def judge(database_url: str, acknowledged: list[Delivery]) -> Verdict:
    """Compare each acknowledged delivery with the stored rows of its order."""
    lost = doubled = 0
    with psycopg.connect(database_url) as connection:
        for delivery in acknowledged:
            rows = connection.execute("SELECT value FROM sample WHERE order_id = %s", [delivery.order_id]).fetchall()
            stored = sorted(value for (value,) in rows)
            missing = [value for value in delivery.values if value not in stored]
            lost += len(missing)
            doubled += max(0, len(stored) - len(delivery.values))
            raw = connection.execute(
                "SELECT blob.content FROM artefact JOIN blob USING (sha256) WHERE order_id = %s", [delivery.order_id]
            ).fetchall()
            lost += 0 if [bytes(content) for (content,) in raw] == [delivery.raw] else 1
            ended = connection.execute(
                "SELECT run.state FROM node_order JOIN run ON run.id = run_id WHERE node_order.id = %s",
                [delivery.order_id],
            ).fetchall()
            lost += 0 if ended == [("finished",)] else 1
    return Verdict(sum(len(delivery.values) for delivery in acknowledged), lost, doubled)
