"""The agent's side of the protocol as a state machine without I/O or clock: events in, actions out.

Time is the `now` of each event, in seconds of a clock that does not jump. Messages may be lost, doubled, late or
forged. An order is prepared once, and released once, only by the server's `go`. It is forgotten only when its result
was acknowledged or the server no longer knows it.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Final

from iotide_agent.core.protocol import (
    Acknowledged,
    Action,
    Cancel,
    Claim,
    Claimed,
    ClaimRefused,
    ClaimUnanswered,
    Collect,
    DropOffer,
    Event,
    FactsChanged,
    Forget,
    Greet,
    Greeted,
    GreetingRefused,
    GreetingUnanswered,
    HeartbeatAnswered,
    HeartbeatRefused,
    HeartbeatUnanswered,
    LoadStarted,
    OfferSeen,
    OnGreeting,
    OnHeartbeat,
    OnOffer,
    OnOrder,
    Prepare,
    Prepared,
    Recovered,
    Release,
    ReportedOrder,
    ResultReady,
    RunnerEnded,
    SendHeartbeat,
    Stage,
    StartWorker,
    Stop,
    Tick,
    Upload,
    UploadFailed,
    WorkerEnded,
    first_stage,
)
from iotide_wire.messages import HeartbeatReply, Order, OrderWord, Word
from iotide_wire.versions import STRANGE_VERSION

MIN_HEARTBEAT_SECONDS: Final = 1.0
"""Minimum interval: whatever the server asks, heartbeats must not disturb a measurement."""
HELLO_SECONDS: Final = 10.0
"""Maximum interval of hello until it is answered."""
DEAF_SECONDS: Final = 15.0
"""An offer that waits longer means that the Celery worker receives nothing."""
WORKER_CHANCE_SECONDS: Final = 30.0
"""Time for a new worker before it is checked again."""
PATIENCE_SECONDS: Final = 45.0
""""Another agent runs" may refer to this agent before a quick reboot, which takes less than three heartbeats."""
STRANGER_SECONDS: Final = 600.0
"""Interval at which an agent with an unsupported version asks again."""
_PATIENT: Final = frozenset({"node_pending", STRANGE_VERSION})
"""Refusals that end when an admin approves the node or upgrades."""
_MISUNDERSTOOD: Final = frozenset({"invalid_input", STRANGE_VERSION})
"""Refusals of a server that was downgraded since hello."""
CURVES_REFUSED: Final = frozenset({"curve_out_of_run", "report_too_large"})
_REMEMBERED_ORDERS: Final = 1000


@dataclass(slots=True)
class _Retry:
    """Request that is retried with growing intervals, one try at a time."""

    longest_seconds: float
    first_seconds: float = 0.5
    due_at: float = -inf
    is_under_way: bool = False
    failures: int = 0

    def is_due(self, now: float) -> bool:
        return not self.is_under_way and now >= self.due_at

    def begin(self) -> None:
        self.is_under_way = True

    def fail(self, now: float) -> None:
        self.is_under_way = False
        self.due_at = now + min(self.longest_seconds, self.first_seconds * 2**self.failures)
        self.failures = min(self.failures + 1, 20)

    def succeed(self, next_at: float) -> None:
        self.is_under_way = False
        self.failures = 0
        self.due_at = next_at


@dataclass(slots=True)
class _HeldOrder:
    fence: int
    stage: Stage
    is_cancelled: bool = False
    is_unwanted: bool = False
    go_heard: datetime | None = None
    upload: _Retry = field(default_factory=lambda: _Retry(60.0))


class Session:
    """`deaf_restarts` counts restarts of workers that missed an offer."""

    def __init__(self, recovered: Iterable[Recovered] = ()) -> None:
        self.is_stopped = False
        self.deaf_restarts = 0
        self._hello = _Retry(HELLO_SECONDS)
        self._is_hello_wanted = False
        self._look: int | None = None
        self._was_greeted = False
        self._refused_since: float | None = None
        self._beat = _Retry(10.0, due_at=inf)
        self._heartbeat_number = 0
        self._is_heartbeat_wanted = False
        self._worker = _Retry(30.0, first_seconds=1.0)
        self._worker_started_at = -inf
        self._offers: dict[tuple[int, int], _Retry] = {}
        self._held = {found.order_id: _HeldOrder(found.fence, found.stage) for found in recovered}
        self._done: deque[tuple[int, int]] = deque(maxlen=_REMEMBERED_ORDERS)

    def handle(self, event: Event, now: float) -> list[Action]:
        if self.is_stopped:
            return []
        return [*self._react(event, now), *self._due(now)]

    def next_at(self) -> float:
        retries = [self._hello, self._beat]
        if self._was_greeted:
            retries += [self._worker, *self._offers.values()]
            retries += (held.upload for held in self._held.values() if held.stage is Stage.UPLOADING)
        return min((retry.due_at for retry in retries if not retry.is_under_way), default=inf)

    def holds(self) -> tuple[tuple[int, int], ...]:
        return tuple((order_id, held.fence) for order_id, held in self._held.items())

    def stages(self) -> tuple[tuple[int, Stage], ...]:
        return tuple((order_id, held.stage) for order_id, held in self._held.items())

    def _react(self, event: Event, now: float) -> Iterator[Action]:
        match event:
            case Greeted() | GreetingRefused() | GreetingUnanswered() | FactsChanged():
                yield from self._on_greeting(event, now)
            case HeartbeatAnswered() | HeartbeatRefused() | HeartbeatUnanswered():
                if event.number == self._heartbeat_number and self._beat.is_under_way:
                    yield from self._on_heartbeat_answer(event, now)
            case OfferSeen() | ClaimRefused() | ClaimUnanswered():
                yield from self._on_offer(event, now)
            case Claimed(order=order):
                yield from self._on_claimed(order)
            case WorkerEnded():
                if now - self._worker_started_at > WORKER_CHANCE_SECONDS:
                    self._worker.failures = 0
                self._worker.fail(now)
            case Tick():
                pass
            case _:
                yield from self._on_order_event(event, now)

    def _on_greeting(self, event: OnGreeting, now: float) -> Iterator[Action]:
        match event:
            case Greeted():
                self._hello.succeed(inf)
                self._was_greeted = True
                self._refused_since = None
                self._is_heartbeat_wanted = True
            case GreetingRefused(code=code, message=message):
                self._hello.longest_seconds = STRANGER_SECONDS if code == STRANGE_VERSION else HELLO_SECONDS
                self._hello.fail(now)
                yield from self._on_refusal(code, message, now)
            case GreetingUnanswered():
                self._hello.fail(now)
            case FactsChanged():
                self._is_hello_wanted = True

    def _on_refusal(self, code: str, message: str, now: float) -> Iterator[Action]:
        self._refused_since = now if self._refused_since is None else self._refused_since
        is_patient = code == "agent_already_running" and now - self._refused_since < PATIENCE_SECONDS
        if code == "agent_superseded":
            # A copy of this agent took over, and the server gave up its orders.
            yield self._stop(code, message, end_loads=True)
        elif not is_patient and code not in _PATIENT and not self._held:
            # Results of held orders are worth more than a clean exit: the refusal may be resolved.
            yield self._stop(code, message, end_loads=False)

    def _on_heartbeat_answer(self, event: OnHeartbeat, now: float) -> Iterator[Action]:
        match event:
            case HeartbeatAnswered(reply=reply, is_rotated=is_rotated):
                self._refused_since = None
                yield from self._on_beaten(reply, now)
                if is_rotated:
                    self._worker.succeed(now)
            case HeartbeatRefused(code=code) if code in _MISUNDERSTOOD:
                self._beat.fail(now)
                self._is_hello_wanted = True
            case HeartbeatRefused(code=code) if code in CURVES_REFUSED:
                self._beat.fail(now)  # the next heartbeat is sent without them
            case HeartbeatRefused(code=code, message=message):
                self._beat.fail(now)
                yield from self._on_refusal(code, message, now)
            case HeartbeatUnanswered():
                self._beat.fail(now)

    def _on_beaten(self, reply: HeartbeatReply, now: float) -> Iterator[Action]:
        for word in reply.orders:
            yield from self._on_word(word)
        self._beat.succeed(now + max(MIN_HEARTBEAT_SECONDS, reply.beat_seconds))
        # A request that arrives during an answer is repeated after it.
        self._is_hello_wanted |= reply.hello_wanted or reply.look not in {None, self._look}
        self._look = reply.look
        is_deaf = (reply.oldest_offer_seconds or 0.0) > DEAF_SECONDS and not self._offers
        if is_deaf and now - self._worker_started_at > WORKER_CHANCE_SECONDS:
            self.deaf_restarts += 1
            self._worker.succeed(now)

    def _on_word(self, word: OrderWord) -> Iterator[Action]:
        held = self._held.get(word.order_id)
        if held is None or held.fence != word.fence:
            return
        is_ours_to_end = held.stage not in {Stage.COLLECTING, Stage.UPLOADING}
        match word.word:
            case Word.CONTINUE if word.go_at is not None and held.stage is Stage.READY and word.go_at != held.go_heard:
                # Sent at once: the start is valid only after each node of the gang has confirmed it.
                held.go_heard = word.go_at
                self._is_heartbeat_wanted = True
            case Word.GO if held.stage is Stage.READY and not held.is_cancelled:
                held.stage = Stage.RELEASED
                yield Release(word.order_id, word.go_at, word.endpoint, word.members)
            case Word.CANCEL if is_ours_to_end and not held.is_cancelled:
                held.is_cancelled = True
                yield Cancel(word.order_id, "cancelled by the server")
            case Word.UNKNOWN if is_ours_to_end and not held.is_unwanted:
                # A finished result is still sent: the server keeps it as evidence, then lets the agent forget it.
                held.is_unwanted = True
                if not held.is_cancelled:
                    held.is_cancelled = True
                    yield Cancel(word.order_id, "the server no longer knows this order")
            case _:
                pass

    def _on_offer(self, event: OnOffer, now: float) -> Iterator[Action]:
        key = (event.order_id, event.fence)
        match event:
            case OfferSeen() if event.order_id in self._held or key in self._done:
                # The offer is a copy, or the server's request for an immediate heartbeat: a cancel may wait for it.
                self._is_heartbeat_wanted = True
                yield DropOffer(*key)
            case OfferSeen():
                self._offers.setdefault(key, _Retry(10.0))
            case ClaimRefused() if key in self._offers:
                del self._offers[key]
                yield DropOffer(*key)
            case ClaimUnanswered() if key in self._offers:
                self._offers[key].fail(now)
            case _:
                pass

    def _on_claimed(self, order: Order) -> Iterator[Action]:
        key = (order.order_id, order.fence)
        self._offers.pop(key, None)
        if order.order_id in self._held or key in self._done:
            return
        self._held[order.order_id] = _HeldOrder(order.fence, first_stage(order))
        yield Prepare(order)
        yield DropOffer(*key)

    def _on_order_event(self, event: OnOrder, now: float) -> Iterator[Action]:
        held = self._held.get(event.order_id)
        if held is None:
            return
        match event:
            case Prepared() if held.stage is Stage.PREPARING:
                held.stage = Stage.READY
                self._is_heartbeat_wanted = True
            case LoadStarted() if held.stage is Stage.RELEASED:
                held.stage = Stage.RUNNING
                self._is_heartbeat_wanted = True
            case RunnerEnded() if held.stage not in {Stage.COLLECTING, Stage.UPLOADING}:
                yield from self._on_runner_ended(event.order_id, held)
            case ResultReady() if held.stage is not Stage.UPLOADING:
                held.stage = Stage.UPLOADING
            case UploadFailed() if held.stage is Stage.UPLOADING:
                held.upload.fail(now)
            case Acknowledged() if held.stage is Stage.UPLOADING:
                yield self._forget(event.order_id, held)
            case _:
                pass

    def _on_runner_ended(self, order_id: int, held: _HeldOrder) -> Iterator[Action]:
        if held.is_unwanted:
            yield self._forget(order_id, held)
            return
        held.stage = Stage.COLLECTING
        yield Collect(order_id)

    def _due(self, now: float) -> Iterator[Action]:
        if self.is_stopped:
            return
        if self._hello.is_due(now) or (self._is_hello_wanted and not self._hello.is_under_way):
            self._is_hello_wanted = False
            self._hello.begin()
            holds, look = self.holds(), self._look
            yield Greet(holds, look=None if holds else look)
        if not self._was_greeted:
            # No worker either: a refused copy's worker would take the original's wake-ups.
            return
        if self._worker.is_due(now):
            self._worker.begin()
            self._worker_started_at = now
            yield StartWorker()
        for key, claim in self._offers.items():
            if claim.is_due(now):
                claim.begin()
                yield Claim(*key)
        for order_id, held in self._held.items():
            if held.stage is Stage.UPLOADING and held.upload.is_due(now):
                held.upload.begin()
                yield Upload(order_id)
        yield from self._send_heartbeat_if_due(now)

    def _send_heartbeat_if_due(self, now: float) -> Iterator[Action]:
        if self._beat.is_under_way or not (self._is_heartbeat_wanted or self._beat.is_due(now)):
            return
        self._is_heartbeat_wanted = False
        self._beat.begin()
        self._heartbeat_number += 1
        orders = (ReportedOrder(order_id, held.stage, held.go_heard) for order_id, held in self._held.items())
        yield SendHeartbeat(self._heartbeat_number, tuple(orders))

    def _forget(self, order_id: int, held: _HeldOrder) -> Forget:
        del self._held[order_id]
        self._done.append((order_id, held.fence))
        return Forget(order_id)

    def _stop(self, code: str, message: str, *, end_loads: bool) -> Stop:
        self.is_stopped = True
        return Stop(code, message, end_loads)
