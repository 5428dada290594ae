"""Admission check between claim and start of a run: holds orders back, starts or rejects them."""

import logging
from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Final

from iotide_agent.admission.sample import IdleSample
from iotide_agent.judging.quiet import NODE_BUSY, Idle, Neighbours, Reject, Seen, Start, Wait, decide, excess_of
from iotide_agent.node.config import QuietLimits
from iotide_agent.orders.active_run import HeldOrder
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.runs import Runs
from iotide_wire.foreign import ForeignBefore
from iotide_wire.messages import Order, OrderRole
from iotide_wire.plan import QuietPolicy

PERIOD_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 10.0
"""Maximum age of the information on sessions and jobs while a run is held back."""
_logger = logging.getLogger(__name__)


class Admission:
    """Only `look` runs outside the agent's own thread."""

    def __init__(
        self,
        runs: Runs,
        sample: IdleSample,
        limits: QuietLimits,
        ask: Callable[[], Neighbours],
        in_thread: Callable[[Callable[[], None]], None],
    ) -> None:
        """`ask` takes seconds; `in_thread` runs it in another thread."""
        self._runs = runs
        self._sample = sample
        self._limits = limits
        self._ask = ask
        self._in_thread = in_thread
        self._neighbours: Neighbours | None = None
        self._looked_at = -inf
        self._is_looking = False

    def look(self) -> None:
        try:
            self._neighbours = self._ask()
        except Exception:
            # A fault here must not keep a claimed order from its end.
            _logger.exception("neighbours_unknown")
            self._neighbours = Neighbours(None, None)
        finally:
            self._looked_at = self._sample.now()
            self._is_looking = False

    def take(self, order: Order) -> None:
        if order.role is OrderRole.OBSERVE:
            self._runs.begin(order)
            return
        self._runs.hold(order, self._sample.now())
        for held in self._runs.held():
            self._decide(held)

    def tick(self) -> float:
        """Sample the node and check held orders; return when to call again."""
        now = self._sample.now()
        if self._runs.is_at_work:
            self._sample.stop()
        elif self._runs.is_cleaning:
            self._sample.begin()
        else:
            self._sample.take()
        held = self._runs.held()
        for one in held:
            self._decide(one)
        # The agent sleeps while its load runs. The load's end begins a new sample.
        return inf if self._runs.is_at_work and not self._runs.held() else now + PERIOD_SECONDS

    def _decide(self, held: HeldOrder) -> None:
        order, waited_seconds = held.order, self._sample.now() - held.since
        # WAIT and REFUSE judge the present load, FLAG the last minute.
        is_fresh = order.quiet in {QuietPolicy.WAIT, QuietPolicy.REFUSE}
        is_at_work = self._runs.is_at_work
        idle = None if is_fresh and is_at_work else self._sample.measured(is_fresh=is_fresh)
        neighbours = self._neighbours
        excess = excess_of(idle, neighbours, self._limits)
        is_shared = is_at_work and order.node_mode == "shared"
        seen = Seen(idle, neighbours is not None, excess, waited_seconds, is_shared)
        before = _before(idle, neighbours, seen)
        match decide(order.quiet, order.quiet_wait_seconds, seen):
            case Start():
                self._runs.start_held(order.order_id, before)
                # Sampled now, because the next tick may come after the run, whose time does not count.
                self._sample.stop()
            case Reject(outcome=outcome, reason=reason):
                self._runs.reject_held(order.order_id, Verdict(outcome, NODE_BUSY, reason), before)
            case Wait(words=words):
                self._runs.set_phase(order.order_id, words)
                self._look_if_due()

    def _look_if_due(self) -> None:
        if not self._is_looking and self._sample.now() - self._looked_at > LOOK_SECONDS:
            self._is_looking = True
            self._in_thread(self.look)


def _before(idle: Idle | None, neighbours: Neighbours | None, seen: Seen) -> ForeignBefore:
    known = idle or Idle(0.0, 0)
    return ForeignBefore(
        **asdict(known),
        waited_seconds=max(0.0, seen.waited_seconds),
        sessions=neighbours.sessions if neighbours else None,
        jobs=neighbours.jobs if neighbours else None,
        excess=seen.excess,
    )
