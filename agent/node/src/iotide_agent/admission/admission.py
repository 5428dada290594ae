"""Between the claim and the start of a run: orders are held back, started or turned away by how quiet the node is."""

import logging
from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Final

from iotide_agent.admission.sample import IdleSample
from iotide_agent.judging.quiet import NODE_BUSY, Idle, Neighbours, Seen, Start, TurnAway, Wait, decide, excess_of
from iotide_agent.node.config import QuietLimits
from iotide_agent.orders.active_run import HeldOrder
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.runs import Runs
from iotide_wire.foreign import ForeignBefore
from iotide_wire.messages import Order, OrderRole
from iotide_wire.plan import QuietPolicy

PERIOD_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 10.0
"""How old what is known of others on the node may be, before they are asked for again for a run that is held back."""
_logger = logging.getLogger(__name__)


class Admission:
    """The node's door. All but `look` is called by the agent's own thread, a reading a second while nothing loads."""

    def __init__(
        self,
        runs: Runs,
        sample: IdleSample,
        limits: QuietLimits,
        ask: Callable[[], Neighbours],
        beside: Callable[[Callable[[], None]], None],
    ) -> None:
        """`ask` finds out who else is on the node, in seconds; `beside` works beside the agent's own thread."""
        self._runs = runs
        self._sample = sample
        self._limits = limits
        self._ask = ask
        self._beside = beside
        self._neighbours: Neighbours | None = None
        self._looked_at = -inf
        self._is_looking = False

    def look(self) -> None:
        """Finds out who else is on the node, in whatever thread it is called."""
        try:
            self._neighbours = self._ask()
        except Exception:
            # A fault of ours in looking at others must not keep a claimed order from its end.
            _logger.exception("neighbours_unknown")
            self._neighbours = Neighbours(None, None)
        finally:
            self._looked_at = self._sample.now()
            self._is_looking = False

    def take(self, order: Order) -> None:
        """Lets a claimed order in at once, or as soon as its campaign's policy is content."""
        if order.role is OrderRole.OBSERVE:
            self._runs.begin(order)
            return
        self._runs.hold(order, self._sample.now())
        for held in self._runs.held():
            self._decide(held)

    def tick(self) -> float:
        """Samples the node and looks at what is held back; says when it wants to be called again."""
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
        # The agent sleeps while its load runs; what ends it begins the sample anew.
        return inf if self._runs.is_at_work and not self._runs.held() else now + PERIOD_SECONDS

    def _decide(self, held: HeldOrder) -> None:
        order, waited_seconds = held.order, self._sample.now() - held.since
        # Who waits for a quiet node, or refuses a busy one, decides by what others do now; a mark is about the minute.
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
                self._runs.let_in(order.order_id, before)
                # Now and not with the next tick, which may come only after the run: it is no part of the sample.
                self._sample.stop()
            case TurnAway(outcome=outcome, reason=reason):
                self._runs.turn_away(order.order_id, Verdict(outcome, NODE_BUSY, reason), before)
            case Wait(words=words):
                self._runs.tell(order.order_id, words)
                self._look_if_due()

    def _look_if_due(self) -> None:
        if not self._is_looking and self._sample.now() - self._looked_at > LOOK_SECONDS:
            self._is_looking = True
            self._beside(self.look)


def _before(idle: Idle | None, neighbours: Neighbours | None, seen: Seen) -> ForeignBefore:
    known = idle or Idle(0.0, 0)
    return ForeignBefore(
        **asdict(known),
        waited_seconds=max(0.0, seen.waited_seconds),
        sessions=neighbours.sessions if neighbours else None,
        jobs=neighbours.jobs if neighbours else None,
        excess=seen.excess,
    )
