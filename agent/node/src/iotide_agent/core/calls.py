"""Calls to the server, outside the driver's thread; each returns its answer as an event."""

import logging
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from iotide_agent.core.clock import ServerClock
from iotide_agent.core.protocol import (
    Acknowledged,
    Claimed,
    ClaimRefused,
    ClaimUnanswered,
    Event,
    Greeted,
    GreetingRefused,
    GreetingUnanswered,
    HeartbeatAnswered,
    HeartbeatRefused,
    HeartbeatUnanswered,
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
from iotide_wire.messages import (
    ClaimRequest,
    FinishRequest,
    HeartbeatRequest,
    HeldOrder,
    HelloRequest,
    OrderHeartbeat,
    Outcome,
    StuckLoad,
)
from iotide_wire.nodes import ClockReading
from iotide_wire.versions import WIRE_VERSION

_UNAUTHENTICATED: Final = frozenset({401, 403})
_GONE: Final = frozenset({404, 409, 410})
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Contact:
    """Contact with the server: if it answered the last call, even with a refusal, and when it last did."""

    is_answered: bool = False
    last_seconds: float | None = None

    def note(self, *, is_answered: bool) -> None:
        self.is_answered = is_answered
        if is_answered:
            self.last_seconds = time.time()


@dataclass(slots=True)
class Speaker:
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
        """True if the server did not support the newest version; it may have been upgraded since."""
        return self.transport.version < WIRE_VERSION

    def greet(self, inventory: Inventory, look: int | None, holds: tuple[tuple[int, int], ...]) -> Event:
        """Send hello with an inventory for the server's request `look`; record if the server accepts it."""
        request = HelloRequest(
            agent_instance=self.instance,
            previous_instance=self.spool.last_instance(),
            boot_id=self.boot_id,
            agent_version=AGENT_VERSION,
            wire_version=WIRE_VERSION,
            sent_at=datetime.now(UTC),
            facts=inventory.announced_facts,
            mounts=inventory.mounts,
            approved_directories=inventory.approved_directories,
            workloads=tuple(inventory.workloads.values()),
            look=look,
            holds=tuple(HeldOrder(order_id=order_id, fence=fence) for order_id, fence in holds),
            clock=self._clock_reading(),
            scratch_sets=inventory.scratch_sets,
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
            if error.code != self._refused_with:  # logged once per wait
                _logger.warning("hello_refused code=%s error=%s", error.code, error)
            self._refused_with = error.code
            return GreetingRefused(error.code, error.sentence)
        self.contact.note(is_answered=True)
        self._refused_with = None
        self.clock.learn(reply.server_time, sent_at, boottime())
        self._is_kept = self.spool.keep_instance(self.instance)
        _logger.info("greeted node_id=%d node=%s", reply.node_id, reply.node_name)
        return Greeted()

    def heartbeat(
        self, number: int, orders: tuple[OrderHeartbeat, ...], stuck: tuple[StuckLoad, ...] | None = None
    ) -> Event:
        """Send a heartbeat. `stuck` has loads of ended orders that occupy the node; None if not checked."""
        problem = self._disk_problem(tries=self._was_full)
        request = HeartbeatRequest(
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
            reply = self.transport.heartbeat(request)
        except Unreachable as error:
            self.contact.note(is_answered=False)
            _logger.warning("beat_unanswered error=%s", error)
            return HeartbeatUnanswered(number)
        except Refusal as error:
            self.contact.note(is_answered=True)
            _logger.warning("beat_refused code=%s error=%s", error.code, error)
            return HeartbeatRefused(number, error.code, error.sentence)
        self.contact.note(is_answered=True)
        self.clock.learn(reply.server_time, sent_at, boottime())
        self._is_kept = self._is_kept or self.spool.keep_instance(self.instance)
        if reply.rotation_wanted:
            self.rotation.try_to_rotate(self.instance)
        return HeartbeatAnswered(number, reply, is_rotated=self.rotation.take_change())

    def claim(self, order_id: int, fence: int) -> Event:
        """Store the claimed order before anything else."""
        problem = self._disk_problem(tries=True)
        if problem is not None:
            # An order that cannot be stored would be lost; the next heartbeat has the reason.
            _logger.warning("claim_postponed order_id=%d because=%s", order_id, problem)
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
            # This process can claim it again; until then heartbeats have the reason.
            self._was_full = self._was_full or is_full(error)
            _logger.warning("claimed_not_kept order_id=%d error=%s", order_id, error)
            return ClaimUnanswered(order_id, fence)
        _logger.info("claimed order_id=%d run_id=%d workload=%s", order_id, order.run_id, order.workload)
        return Claimed(order)

    def upload(self, order_id: int) -> Event:
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
                # The numbers are worth sending without this file; the server rejects `finish` if it needs the file.
                _logger.warning("artefact_refused order_id=%d name=%s error=%s", order_id, artefact.name, error)

    def _after_refusal(self, order_id: int, result: FinishRequest, error: Refusal) -> Event:
        if error.status in _GONE:
            return Acknowledged(order_id)
        if error.status not in _UNAUTHENTICATED and result.reason_code != RESULT_REFUSED:
            # The server would never accept this result, and without one the run would occupy its node for ever.
            reason = f"the server refused the result: {error}"
            verdict = Verdict(Outcome.FAILED, RESULT_REFUSED, reason)
            self.spool.keep_result(order_id, refusal(self.spool.order(order_id), self.instance, verdict))
        return UploadFailed(order_id)
