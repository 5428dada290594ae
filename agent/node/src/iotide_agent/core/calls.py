"""Talks to the server for the driver, off its thread: each call gives back the event that its answer amounts to."""

import logging
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from iotide_agent.core.clock import ServerClock
from iotide_agent.core.protocol import (
    Acknowledged,
    Beaten,
    BeatRefused,
    BeatUnanswered,
    Claimed,
    ClaimRefused,
    ClaimUnanswered,
    Event,
    Greeted,
    GreetingRefused,
    GreetingUnanswered,
    UploadFailed,
)
from iotide_agent.core.spool import Spool
from iotide_agent.core.transport import Refusal, Transport, Unreachable
from iotide_agent.node.host import disk_problem
from iotide_agent.node.inventory import AGENT_VERSION, Inventory
from iotide_agent.node.rotation import Rotation
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.results import RESULT_REFUSED, refusal
from iotide_agent.runner.headroom import is_full
from iotide_agent.runner.processes import boottime
from iotide_wire import WIRE_VERSION
from iotide_wire.messages import (
    BeatRequest,
    ClaimRequest,
    FinishRequest,
    HeldOrder,
    HelloRequest,
    OrderBeat,
    Outcome,
    StuckLoad,
)
from iotide_wire.nodes import ClockReading

_UNAUTHENTICATED: Final = frozenset({401, 403})
_GONE: Final = frozenset({404, 409, 410})
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Contact:
    """Says whether the server answered last time, even with a refusal, and when it last did, by the time of day."""

    is_answered: bool = False
    last_seconds: float | None = None

    def note(self, *, is_answered: bool) -> None:
        """It did or did not answer now."""
        self.is_answered = is_answered
        if is_answered:
            self.last_seconds = time.time()


@dataclass(slots=True)
class Speaker:
    """This agent process, as the server knows it."""

    transport: Transport
    spool: Spool
    clock: ServerClock
    instance: str
    boot_id: str
    contact: Contact = field(default_factory=Contact)
    rotation: Rotation = field(init=False)
    _refused_with: str | None = field(default=None, init=False)
    _is_kept: bool = field(default=True, init=False)
    _was_full: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.rotation = Rotation(self.spool.state_directory, self.transport)

    @property
    def speaks_older_version(self) -> bool:
        """Whether the server did not understand the newest one; it may have been upgraded since."""
        return self.transport.version < WIRE_VERSION

    def greet(self, inventory: Inventory, look: int | None, holds: tuple[tuple[int, int], ...]) -> Event:
        """Say hello, with an inventory taken for the server's request `look`; note where the server accepts it."""
        request = HelloRequest(
            agent_instance=self.instance,
            previous_instance=self.spool.last_instance(),
            boot_id=self.boot_id,
            agent_version=AGENT_VERSION,
            wire_version=WIRE_VERSION,
            sent_at=datetime.now(UTC),
            facts=inventory.told_facts,
            mounts=inventory.mounts,
            approved_directories=inventory.approved_directories,
            workloads=tuple(inventory.workloads.values()),
            look=look,
            holds=tuple(HeldOrder(order_id=order_id, fence=fence) for order_id, fence in holds),
            clock=self._clock_reading(),
        )
        try:
            self.rotation.settle()
            sent_at = boottime()
            reply = self.transport.hello(request)
        except Unreachable as error:
            self.contact.note(is_answered=False)
            _logger.warning("hello_unanswered error=%s", error)
            return GreetingUnanswered()
        except Refusal as error:
            self.contact.note(is_answered=True)
            if error.code != self._refused_with:  # said once, however long it is waited for
                _logger.warning("hello_refused code=%s error=%s", error.code, error)
            self._refused_with = error.code
            return GreetingRefused(error.code, error.sentence)
        self.contact.note(is_answered=True)
        self._refused_with = None
        self.clock.learn(reply.server_time, sent_at, boottime())
        self._is_kept = self.spool.keep_instance(self.instance)
        _logger.info("greeted node_id=%d node=%s", reply.node_id, reply.node_name)
        return Greeted()

    def beat(self, number: int, orders: tuple[OrderBeat, ...], stuck: tuple[StuckLoad, ...] | None = None) -> Event:
        """Send a heartbeat; `stuck` has the loads of ended orders that hold the node, None where nobody looked."""
        problem = self._disk_problem(tries=self._was_full)
        request = BeatRequest(
            agent_instance=self.instance,
            boot_id=self.boot_id,
            sent_at=datetime.now(UTC),
            orders=orders,
            spool_bytes=self.spool.used_bytes(),
            clock=self._clock_reading(),
            stuck=stuck,
            problem=problem,
        )
        try:
            self.rotation.settle()
            sent_at = boottime()
            reply = self.transport.beat(request)
        except Unreachable as error:
            self.contact.note(is_answered=False)
            _logger.warning("beat_unanswered error=%s", error)
            return BeatUnanswered(number)
        except Refusal as error:
            self.contact.note(is_answered=True)
            _logger.warning("beat_refused code=%s error=%s", error.code, error)
            return BeatRefused(number, error.code, error.sentence)
        self.contact.note(is_answered=True)
        self.clock.learn(reply.server_time, sent_at, boottime())
        self._is_kept = self._is_kept or self.spool.keep_instance(self.instance)
        if reply.rotation_wanted:
            self.rotation.try_to_rotate(self.instance)
        return Beaten(number, reply, is_rotated=self.rotation.take_news())

    def claim(self, order_id: int, fence: int) -> Event:
        """Claims an order and keeps it on disk before anything is done about it."""
        problem = self._disk_problem(tries=True)
        if problem is not None:
            # An order that cannot be kept would be lost; the next heartbeat has the words, and the server waits.
            _logger.warning("claim_put_off order_id=%d because=%s", order_id, problem)
            return ClaimUnanswered(order_id, fence)
        request = ClaimRequest(fence=fence, agent_instance=self.instance, boot_id=self.boot_id)
        try:
            order = self.transport.claim(order_id, request)
        except Unreachable as error:
            _logger.warning("claim_unanswered order_id=%d error=%s", order_id, error)
            return ClaimUnanswered(order_id, fence)
        except Refusal as error:
            if error.status in _UNAUTHENTICATED:
                return ClaimUnanswered(order_id, fence)
            _logger.info("claim_refused order_id=%d code=%s", order_id, error.code)
            return ClaimRefused(order_id, fence)
        try:
            self.spool.keep_order(order)
        except OSError as error:
            # Claimed again by this process, it is given again; until then heartbeats say why not.
            self._was_full = self._was_full or is_full(error)
            _logger.warning("claimed_not_kept order_id=%d error=%s", order_id, error)
            return ClaimUnanswered(order_id, fence)
        _logger.info("claimed order_id=%d run_id=%d workload=%s", order_id, order.run_id, order.workload)
        return Claimed(order)

    def upload(self, order_id: int) -> Event:
        """Sends raw output and then the result."""
        result = self.spool.result(order_id)
        try:
            self._put_artefacts(order_id, result)
            reply = self.transport.finish(order_id, result)
        except Unreachable as error:
            _logger.warning("upload_unanswered order_id=%d error=%s", order_id, error)
            return UploadFailed(order_id)
        except Refusal as error:
            _logger.warning("result_refused order_id=%d code=%s error=%s", order_id, error.code, error)
            return self._after_refusal(order_id, result, error)
        _logger.info("result_acknowledged order_id=%d accepted=%s", order_id, reply.accepted)
        return Acknowledged(order_id)

    def _disk_problem(self, *, tries: bool) -> str | None:
        """Return why the disk takes no order; from then on each heartbeat tries, until it does."""
        problem = disk_problem(self.spool.state_directory, tries=tries)
        self._was_full = problem is not None
        return problem

    def _clock_reading(self) -> ClockReading | None:
        return self.clock.reading(time.time(), boottime())

    def _put_artefacts(self, order_id: int, result: FinishRequest) -> None:
        directory = self.spool.files(order_id).artefacts
        for artefact in result.artefacts:
            try:
                content = (directory / artefact.name).read_bytes()
                self.transport.put_artefact(order_id, result.fence, artefact.name, content)
            except Refusal as error:
                if error.status in _UNAUTHENTICATED:
                    raise
                # The numbers are worth sending without this piece; the server says at `finish` if it disagrees.
                _logger.warning("artefact_refused order_id=%d name=%s error=%s", order_id, artefact.name, error)

    def _after_refusal(self, order_id: int, result: FinishRequest, error: Refusal) -> Event:
        if error.status in _GONE:
            return Acknowledged(order_id)
        if error.status not in _UNAUTHENTICATED and result.reason_code != RESULT_REFUSED:
            # Sending the same again would never succeed, and without any result the run would hold its node for ever.
            reason = f"the server refused the result: {error}"
            verdict = Verdict(Outcome.FAILED, RESULT_REFUSED, reason)
            self.spool.keep_result(order_id, refusal(self.spool.order(order_id), self.instance, verdict))
        return UploadFailed(order_id)
