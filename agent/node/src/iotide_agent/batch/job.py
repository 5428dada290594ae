"""The agent inside a batch job: claims and runs the job's one order, sends its result and ends."""

import logging
from math import inf
from typing import Final

from iotide_agent.core.calls import Speaker
from iotide_agent.core.driver import AgentEnding, Driver
from iotide_agent.core.protocol import Action, Claimed, Event, Greeted, Prepare, StartWorker
from iotide_agent.core.spool import Offer, Spool
from iotide_agent.node.config import AgentConfig
from iotide_agent.orders.parsing import Verdict
from iotide_agent.runner.processes import boottime
from iotide_wire.messages import Outcome
from iotide_wire.units import format_seconds

UNANSWERED_SECONDS: Final = 180.0
"""Longest time that a job without work from the server keeps its nodes."""
_ENDED_BY_BATCH: Final = Verdict(
    Outcome.CANCELLED,
    "batch_ended",
    "the batch system ended the job: it was cancelled there, or it reached its time limit",
)
_logger = logging.getLogger(__name__)


class JobDriver(Driver):
    """Agent without a worker that ends as soon as it holds nothing. Without an order it only reports its node."""

    def __init__(self, config: AgentConfig, agent: str, spool: Spool, speaker: Speaker, offer: Offer | None) -> None:
        for stale in spool.offers():
            spool.drop_offer(stale)
        if offer is not None:
            spool.write_offer(offer)
        super().__init__(config, agent, spool, speaker)
        self._offer = offer
        self._gives_up_at = boottime() + UNANSWERED_SECONDS
        self._was_greeted = False
        self._has_claimed = False
        self._is_ending = False

    def _goes_on(self) -> bool:
        if self._signal is not None and not self._is_ending:
            self._is_ending = True
            _logger.warning("job_ended_by_batch signal=%s", self._signal.name)
            for offer in self._spool.offers():
                self._spool.drop_offer(offer)
            self._runs.end_all(_ENDED_BY_BATCH)
        return not (self._session.is_stopped or self._is_done() or self._is_in_vain())

    def _is_done(self) -> bool:
        may_end = self._was_greeted or self._is_ending
        return may_end and not self._session.holds() and not self._spool.offers()

    def _is_in_vain(self) -> bool:
        return not self._session.holds() and boottime() >= self._gives_up_at

    def _handle(self, event: Event) -> None:
        super()._handle(event)
        self._was_greeted |= isinstance(event, Greeted)
        if isinstance(event, Claimed) and self._offer is not None:
            self._has_claimed |= event.order.order_id == self._offer.order_id

    def _perform(self, action: Action) -> None:
        if isinstance(action, StartWorker):
            return  # wake-ups go to the gateway, and a worker would disturb the measurement
        super()._perform(action)
        if self._is_ending and isinstance(action, Prepare):
            self._runs.end_all(_ENDED_BY_BATCH)  # the batch system ended the job during the claim

    def _next_at(self) -> float:
        if self._is_done():
            return boottime()
        gives_up_at = inf if self._session.holds() else self._gives_up_at
        return min(super()._next_at(), gives_up_at)

    def _finish(self) -> AgentEnding:
        self._runs.stop_search()
        if self._ending is not None:
            return self._ending
        if not self._is_done():
            return AgentEnding(
                "unanswered", f"the server gave this job nothing to do for {format_seconds(UNANSWERED_SECONDS)}"
            )
        if self._is_ending:
            return AgentEnding(None, _ENDED_BY_BATCH.reason or "")
        if self._offer is None:
            return AgentEnding(None, "the server knows what this node has")
        if not self._has_claimed:
            words = "was claimed before or is no longer needed, so it does not run"
            return AgentEnding(None, f"order {self._offer.order_id} {words}")
        return AgentEnding(None, f"order {self._offer.order_id} has ended, and the server has its result")
