"""Simulated agents, thousands in one process, for `./dev bench load`.

Each has its own node token from a real enrolment, sends hello, and then sends heartbeats at the interval that the
last answer gave. After a wake-up it claims the order, gets ready, starts at the server's signal, sends heartbeats
with progress and curves, and uploads raw output and result. No load runs; messages have the form of a real agent's.
"""

import asyncio
import hashlib
import json
import random
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from load_calls import Answer, Caller, Tally
from redis.asyncio import Redis

from iotide_wire.measured import SampleMessage, StepRecord
from iotide_wire.messages import (
    ArtefactFact,
    ClaimRequest,
    CurvePiece,
    FinishReply,
    FinishRequest,
    HeartbeatReply,
    HeartbeatRequest,
    HelloRequest,
    Order,
    OrderHeartbeat,
    OrderState,
    Outcome,
    Word,
)

RUN_SECONDS: Final = (60.0, 120.0)
"""Range of a run's length. Its heartbeats come each second for 10 s, every 3 s for 20 s, then every 10 s."""
MOST_SAMPLES: Final = 400
"""Of one result."""
COUNTERS: Final = 40
PIECE_SECONDS: Final = 10
"""Length of a curve's pieces in a run's first ten minutes."""
RAW_BYTES: Final = 8192
_JSON: Final = "Content-Type: application/json\r\n"


@dataclass
class Samples:
    """Number of samples of the next result, so that all agents together upload this many a second.

    Attributes:
        sent: of results that were acknowledged.
    """

    per_second: float
    sent: int = 0
    _promised: int = 0
    _began: float | None = None

    def rate(self, now: float) -> float:
        """Acknowledged samples a second since the first result was ready."""
        return 0.0 if self._began is None else self.sent / (now - self._began)

    def owed(self, now: float) -> int:
        """Samples due now, counted from the first result."""
        if self._began is None:
            self._began = now - 1 / 5
        due = min(MOST_SAMPLES, max(1, round(self.per_second * (now - self._began)) - self._promised))
        self._promised += due
        return due


@dataclass(frozen=True, slots=True)
class Offer:
    order_id: int
    fence: int


@dataclass
class SimulatedAgent:
    """One node's agent.

    Attributes:
        offers: wake-ups that it has not handled yet.
        longest_silence_seconds: between two of its answered heartbeats.
    """

    node_id: int
    caller: Caller
    tally: Tally
    samples: Samples
    instance: str
    boot_id: str
    draw: random.Random
    offers: asyncio.Queue[Offer] = field(default_factory=asyncio.Queue)
    longest_silence_seconds: float = 0.0
    _seen: set[int] = field(default_factory=set)
    _heartbeat_seconds: float = 5.0
    _answered_at: float | None = None

    async def hello(self, template: HelloRequest) -> None:
        """Send a hello like the template's, as this agent."""
        own = {"agent_instance": self.instance, "boot_id": self.boot_id, "sent_at": _now()}
        said = template.model_copy(update=own).model_dump_json().encode()
        answer = await self.caller.ask("hello", "POST", "/api/v1/agent/hello", said, _JSON)
        if not answer.is_success:
            raise SystemExit(f"load: a hello was refused: {answer.status} {answer.body!r}")

    async def live(self) -> None:
        """Send heartbeats and carry out orders, until cancelled."""
        self.end_silence(time.monotonic())
        await asyncio.sleep(self.draw.uniform(0, self._heartbeat_seconds))
        while True:
            await self._send_heartbeat()
            try:
                offer = await asyncio.wait_for(self.offers.get(), self._heartbeat_seconds)
            except TimeoutError:
                continue
            if offer.order_id not in self._seen:
                self._seen.add(offer.order_id)
                await self._serve(offer)

    def end_silence(self, now: float) -> None:
        """Note the end of a silence: the server answered, or the bench ends."""
        if self._answered_at is not None:
            self.longest_silence_seconds = max(self.longest_silence_seconds, now - self._answered_at)
        self._answered_at = now

    async def _send_heartbeat(self, order: OrderHeartbeat | None = None) -> Word | None:
        """Return the server's answer about the order; None if there is none."""
        said = HeartbeatRequest(
            agent_instance=self.instance,
            boot_id=self.boot_id,
            sent_at=_now(),
            orders=() if order is None else (order,),
            spool_bytes=4096,
        )
        answer = await self._post("beat", "/beat", said)
        if not answer.is_success:
            return None
        self.end_silence(time.monotonic())
        reply = HeartbeatReply.model_validate_json(answer.body)
        self._heartbeat_seconds = reply.beat_seconds
        return reply.orders[0].word if reply.orders else None

    async def _serve(self, offer: Offer) -> None:
        claim = ClaimRequest(fence=offer.fence, agent_instance=self.instance, boot_id=self.boot_id)
        answer = await self._post("claim", f"/orders/{offer.order_id}/claim", claim)
        if not answer.is_success:
            return
        order = Order.model_validate_json(answer.body)
        await self._send_heartbeat(_heartbeat_of(order, OrderState.PREFLIGHT, None))
        while (word := await self._send_heartbeat(_heartbeat_of(order, OrderState.READY, None))) is not Word.GO:
            if word is Word.UNKNOWN:
                self.tally.fail("beat", f"the server does not know order {order.order_id}")
                return
            await asyncio.sleep(self._heartbeat_seconds)
        began = _now()
        seconds = self.draw.uniform(*RUN_SECONDS)
        # The server is met in the middle of runs. If all began with the bench, the first minute would have no results.
        await self._run(order, began, seconds if len(self._seen) > 1 else self.draw.uniform(0, seconds))
        await self._hand_in(order, began)

    async def _run(self, order: Order, began: datetime, seconds: float) -> None:
        sent_rows = 0
        while (passed := (_now() - began).total_seconds()) < seconds:
            rows = int(passed) - int(passed) % PIECE_SECONDS
            curves = self._curves(began, sent_rows, rows)
            sent_rows = rows
            heartbeat = _heartbeat_of(order, OrderState.RUNNING, began)
            await self._send_heartbeat(
                heartbeat.model_copy(update={"progress": passed / seconds, "phase": "write", "curves": curves})
            )
            await asyncio.sleep(self._heartbeat_seconds)

    async def _hand_in(self, order: Order, began: datetime) -> None:
        raw = {name: self.draw.randbytes(RAW_BYTES // 2).hex().encode() for name in ("write.stdout", "plan.json")}
        for name, content in raw.items():
            query = f"sha256={hashlib.sha256(content).hexdigest()}"
            await self.caller.ask(
                "artefact",
                "PUT",
                f"/api/v1/agent/orders/{order.order_id}/artefacts/{name}?{query}",
                content,
                f"Content-Type: application/octet-stream\r\nX-Iotide-Fence: {order.fence}\r\n",
            )
        result = self._result(order, began, raw)
        answer = await self._post("finish", f"/orders/{order.order_id}/finish", result)
        if answer.is_success and FinishReply.model_validate_json(answer.body).accepted:
            self.samples.sent += len(result.samples)
        elif answer.is_success:
            self.tally.fail("finish", f"the result of order {order.order_id} was not accepted")

    def _result(self, order: Order, began: datetime, raw: Mapping[str, bytes]) -> FinishRequest:
        ended, target_id = _now(), order.targets[0].target_id
        wall_seconds = (ended - began).total_seconds()
        step = StepRecord(
            name="write",
            phase="write",
            argv=("iozone", "-a"),
            target_id=target_id,
            writer=None,
            started_at=began,
            wall_seconds=wall_seconds,
            user_seconds=0.1,
            system_seconds=1.0,
            max_rss_bytes=2**24,
            exit_status=0,
            signal=None,
        )
        return FinishRequest(
            fence=order.fence,
            agent_instance=self.instance,
            digest=hashlib.sha256(f"{order.order_id}".encode()).hexdigest(),
            outcome=Outcome.FINISHED,
            reason_code=None,
            reason=None,
            started_at=began,
            ended_at=ended,
            steps=(step,),
            samples=self._samples(target_id, self.samples.owed(time.monotonic())),
            flags=(),
            environment={"kernel.release": "6.1", "memory.total_bytes": 2**34},
            artefacts=tuple(
                ArtefactFact(name=name, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content))
                for name, content in raw.items()
            ),
            curves=self._curves(began, int(wall_seconds) - int(wall_seconds) % PIECE_SECONDS, int(wall_seconds)),
        )

    def _samples(self, target_id: int, count: int) -> tuple[SampleMessage, ...]:
        """Return as many samples as the matrices of iozone have cells."""
        return tuple(
            SampleMessage(
                metric="throughput",
                value=self.draw.lognormvariate(18, 0.1),
                labels={
                    "operation": ("write", "rewrite", "read", "reread")[number % 4],
                    "file_size_bytes": 2**16 << number // 52,
                    "record_size_bytes": 4096 << number // 4 % 13,
                },
                target_id=target_id,
            )
            for number in range(count)
        )

    def _curves(self, began: datetime, first: int, end: int) -> tuple[CurvePiece, ...]:
        """Return all counters from one second to another."""
        if first >= end:
            return ()
        at = began + timedelta(seconds=first)
        return tuple(
            CurvePiece(
                counter=f"counter{number}_per_second",
                started_at=at,
                step_seconds=1.0,
                values=tuple(round(self.draw.lognormvariate(15, 1)) for _ in range(first, end)),
            )
            for number in range(COUNTERS)
        )

    async def _post(self, kind: str, path: str, message: HeartbeatRequest | ClaimRequest | FinishRequest) -> Answer:
        said = message.model_dump_json().encode()
        return await self.caller.ask(kind, "POST", f"/api/v1/agent{path}", said, _JSON)


async def deliver_wakes(redis_url: str, agents: Sequence[SimulatedAgent]) -> None:
    """Pass each wake-up on the agents' queues to its agent, as each agent's Celery worker would, until cancelled."""
    by_queue = {f"node.{agent.node_id}": agent for agent in agents}
    async with Redis.from_url(redis_url) as redis:
        while True:
            found = await redis.brpop(list(by_queue), timeout=1)
            if found is None:
                continue
            queue, raw = found
            (order_id, fence, *_), _, _ = json.loads(b64decode(json.loads(raw)["body"]))
            by_queue[str(queue, "utf-8") if isinstance(queue, bytes) else queue].offers.put_nowait(
                Offer(order_id, fence)
            )


def _heartbeat_of(order: Order, state: OrderState, started_at: datetime | None) -> OrderHeartbeat:
    return OrderHeartbeat(
        order_id=order.order_id,
        fence=order.fence,
        state=state,
        progress=None,
        phase=state.value,
        started_at=started_at,
    )


def bearer(node_token: str) -> str:
    """Return the header that authenticates the agent."""
    return f"Authorization: Bearer {node_token}\r\n"


def _now() -> datetime:
    return datetime.now(UTC)
