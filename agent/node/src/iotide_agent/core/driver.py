"""The agent's loop: turn changes on the node and the server's answers into events, and execute the session's actions.

One thread decides and starts processes; network calls and reads of large files run in other threads.
"""

import logging
import os
import queue
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from iotide_agent.admission.admission import Admission
from iotide_agent.admission.neighbours import COMMAND_SECONDS, look_around, own_ancestors
from iotide_agent.admission.sample import IdleSample
from iotide_agent.core.calls import Speaker
from iotide_agent.core.listener import Listener
from iotide_agent.core.protocol import (
    Action,
    Cancel,
    Claim,
    Claimed,
    ClaimUnanswered,
    Collect,
    DropOffer,
    Event,
    FactsChanged,
    Forget,
    Greet,
    Greeted,
    GreetingUnanswered,
    HeartbeatAnswered,
    HeartbeatRefused,
    HeartbeatUnanswered,
    OfferSeen,
    Prepare,
    Release,
    ResultReady,
    SendHeartbeat,
    StartWorker,
    Stop,
    Tick,
    Upload,
    UploadFailed,
    WorkerEnded,
)
from iotide_agent.core.session import CURVES_REFUSED, Session
from iotide_agent.core.spool import Offer, Spool
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.host import node_name
from iotide_agent.node.inventory import AGENT_VERSION, Inventory, Looks, take_inventory
from iotide_agent.node.textfile import AgentFacts, Textfile
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.runs import Runs
from iotide_agent.orders.stuck import StuckLoads
from iotide_agent.probes.mounts import MountinfoError
from iotide_agent.probes.reader import SystemReader
from iotide_agent.probes.registry import MountsUnknownError
from iotide_agent.runner.doorbell import Doorbell
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime
from iotide_wire.messages import OrderHeartbeat, OrderRole, Outcome

INVENTORY_SECONDS: Final = 600.0
SETTLE_SECONDS: Final = 2.0
"""Wait after a change: more mounts and unmounts often follow."""
RENEWAL_SECONDS: Final = 30.0
END_SECONDS: Final = 30.0
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentEnding:
    """The code is None if the agent was stopped."""

    code: str | None
    sentence: str


class Driver:
    def __init__(self, config: AgentConfig, agent: str, spool: Spool, speaker: Speaker) -> None:
        """Recover an earlier process's orders; `agent` is the name in marks on targets."""
        self._config = config
        self._spool = spool
        self._speaker = speaker
        self._loop = Loop()
        self._bell = Doorbell(spool.wake_bell)
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._inventory_at = boottime()
        self._inventory_due_at = self._inventory_at + INVENTORY_SECONDS
        self._announced: Inventory = take_inventory(config)
        user = self._announced.load_user
        if user.remedy is None:
            _logger.info("load_user because=%s", user.sentence)
        else:
            _logger.warning("load_user because=%s remedy=%s", user.sentence, user.remedy)
        for reason in self._announced.exchangeable.values():
            _logger.error("directory_refused because=%s", reason)
        self._executor = Executor(config, agent, spool, self._announced)
        self._looks = Looks(self._take_inventory, self._keep_inventory)
        self._runs = Runs(spool, self._executor, speaker.instance, self._loop, self._events.put)
        self._listener = Listener(
            spool.state_directory, config.broker_address, self._loop, lambda: self._events.put(WorkerEnded())
        )
        ask = partial(
            look_around, SystemReader(command_seconds=COMMAND_SECONDS), node_name(), dict(os.environ), own_ancestors()
        )
        self._admission = Admission(self._runs, IdleSample(), config.quiet, ask, self._run_in_thread)
        self._session = Session(self._runs.recover())
        self._stuck = StuckLoads(spool)
        self._sent: dict[int, tuple[OrderHeartbeat, ...]] = {}
        self._signal: signal.Signals | None = None
        self._ending: AgentEnding | None = None
        self._textfile = Textfile(config.metrics_textfile) if config.metrics_textfile else None
        self._started_at = time.time()
        self._worker_starts = 0

    def run(self) -> AgentEnding:
        self._loop.watch(self._bell.fileno(), self._on_bell)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        with Path("/proc/self/mountinfo").open("rb") as mountinfo:
            self._loop.watch(mountinfo.fileno(), self._on_mount_change, select.POLLPRI)
            self._on_bell()
            self._loop.every(self._admission.tick)
            while self._goes_on():
                self._take_events()
                self._renew_inventory_if_due()
                self._write_metrics(is_up=True)
                self._loop.turn(self._next_at())
            self._loop.ignore(mountinfo.fileno())
        self._listener.stop()
        ending = self._finish()
        self._write_metrics(is_up=False)
        return ending

    def _goes_on(self) -> bool:
        return not self._session.is_stopped and self._signal is None

    def _take_events(self) -> None:
        self._handle(Tick())
        with suppress(queue.Empty):
            while True:
                self._handle(self._events.get_nowait())

    def _handle(self, event: Event) -> None:
        if isinstance(event, HeartbeatAnswered):
            self._runs.acknowledge(self._sent.pop(event.number, ()))
        if isinstance(event, HeartbeatRefused) and event.code in CURVES_REFUSED:
            self._runs.give_up_curves(self._sent.pop(event.number, ()), event.message)
        for action in self._session.handle(event, boottime()):
            self._perform(action)
        if isinstance(event, Greeted):
            # Not earlier: an agent and its copy have the same marks, and the server accepts one of them.
            self._runs.allow_search(is_idle=not self._session.holds())

    def _perform(self, action: Action) -> None:
        match action:
            case Greet(holds=holds, look=look):
                self._start_thread(lambda: self._greet(holds, look), GreetingUnanswered())
            case SendHeartbeat(number=number):
                self._send_heartbeat(number, self._runs.heartbeat_of(action))
            case Claim(order_id=order_id, fence=fence):
                self._start_thread(lambda: self._claim(order_id, fence), ClaimUnanswered(order_id, fence))
            case DropOffer(order_id=order_id, fence=fence):
                self._spool.drop_offer(Offer(order_id, fence))
            case StartWorker():
                self._worker_starts += 1
                self._listener.start()
            case Stop(code=code, message=message, end_loads=end_loads):
                self._ending = AgentEnding(code, message)
                if end_loads:
                    self._end_loads(Verdict(Outcome.FAILED, code, message))
            case _:
                self._perform_on_order(action)

    def _perform_on_order(self, action: Prepare | Release | Cancel | Collect | Upload | Forget) -> None:
        match action:
            case Prepare(order=order):
                self._admission.take(order)
                self._loop.every(self._admission.tick)
            case Release(order_id=order_id, go_at=go_at):
                at = self._speaker.clock.here(go_at) if go_at else None
                self._runs.release(order_id, at, action.endpoint, action.members)
            case Cancel(order_id=order_id, reason=reason):
                self._runs.cancel(order_id, Verdict(Outcome.CANCELLED, "cancelled", reason))
            case Collect(order_id=order_id):
                self._start_thread(lambda: self._runs.collect(order_id), ResultReady(order_id))
            case Upload(order_id=order_id):
                self._start_thread(lambda: self._speaker.upload(order_id), UploadFailed(order_id))
            case Forget(order_id=order_id):
                self._runs.forget(order_id)
                self._loop.every(self._admission.tick)  # it stopped when the load began

    def _greet(self, holds: tuple[tuple[int, int], ...], look: int | None) -> Event:
        # Announce this inventory: a claim may replace the executor's by one with only its own targets renewed.
        inventory = self._announced = self._looks.look() if look is not None else self._executor.inventory
        return self._speaker.greet(inventory, look, holds)

    def _claim(self, order_id: int, fence: int) -> Event:
        claimed = self._speaker.claim(order_id, fence)
        if isinstance(claimed, Claimed) and claimed.order.role is not OrderRole.OBSERVE:
            self._admission.look()
        if isinstance(claimed, Claimed) and claimed.order.targets:
            try:
                self._executor.look_at_targets(claimed.order)
            except (MountsUnknownError, MountinfoError):
                # the runner declines them with its own reason
                _logger.exception("targets_unseen order_id=%d", order_id)
        return claimed

    def _send_heartbeat(self, number: int, orders: tuple[OrderHeartbeat, ...]) -> None:
        self._sent = {number: orders}
        # Loads that legitimately occupy the node are not reported.
        stuck = None if self._runs.is_at_work or self._runs.is_cleaning else self._stuck.look()
        self._start_thread(lambda: self._speaker.heartbeat(number, orders, stuck), HeartbeatUnanswered(number))

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        def do() -> Event:
            work()
            return Tick()

        self._start_thread(do, Tick())

    def _start_thread(self, work: Callable[[], Event], otherwise: Event) -> None:
        """Run `work` in a thread and handle its event, or `otherwise` after an internal error."""

        def do() -> None:
            try:
                event = work()
            except Exception:
                _logger.exception("call_failed otherwise=%s", otherwise)
                event = otherwise
            self._events.put(event)
            self._bell.ring_self()

        # Daemons, because a call that hangs on a dead mount must not keep the agent alive.
        threading.Thread(target=do, daemon=True).start()

    def _on_bell(self) -> None:
        self._bell.quiet()
        for offer in self._spool.offers():
            self._events.put(OfferSeen(offer.order_id, offer.fence))
        self._runs.look()

    def _on_signal(self, number: int, _frame: object) -> None:
        self._signal = signal.Signals(number)
        self._bell.ring_self()

    def _on_mount_change(self) -> None:
        soon = max(boottime() + SETTLE_SECONDS, self._inventory_at + RENEWAL_SECONDS)
        self._inventory_due_at = min(self._inventory_due_at, soon)

    def _next_at(self) -> float:
        # An inventory would disturb the measurement, so it waits until the node is idle.
        is_idle = not self._session.holds()
        return min(self._session.next_at(), self._inventory_due_at) if is_idle else self._session.next_at()

    def _renew_inventory_if_due(self) -> None:
        if boottime() < self._inventory_due_at or self._session.holds():
            return
        self._inventory_at = boottime()
        self._inventory_due_at = self._inventory_at + INVENTORY_SECONDS
        self._runs.clean_leftovers()
        self._start_thread(self._renew_inventory, Tick())

    def _renew_inventory(self) -> Event:
        self._looks.look()
        is_announced = self._executor.inventory == self._announced and not self._speaker.speaks_older_version
        return Tick() if is_announced else FactsChanged()

    def _take_inventory(self) -> Inventory:
        return take_inventory(self._config, self._executor.inventory.load_user)

    def _keep_inventory(self, found: Inventory) -> None:
        self._executor.inventory = found

    def _write_metrics(self, *, is_up: bool) -> None:
        held, now = self._session.stages(), boottime()
        if self._textfile is None or (is_up and not self._textfile.is_due(now, held)):
            return
        contact, clock = self._speaker.contact, self._speaker.clock.reading(time.time(), now)
        facts = AgentFacts(
            node=self._config.node_name,
            version=AGENT_VERSION,
            is_up=is_up,
            started_seconds=self._started_at,
            is_connected=contact.is_answered,
            last_contact_seconds=contact.last_seconds,
            clock_offset_seconds=None if clock is None else clock.offset_seconds,
            stages=[stage for _, stage in held],
            spool_bytes=self._spool.used_bytes(),
            worker_starts=self._worker_starts,
            deaf_restarts=self._session.deaf_restarts,
        )
        self._textfile.write(facts, now, held)

    def _finish(self) -> AgentEnding:
        if self._ending is not None:
            return self._ending
        if self._signal is signal.SIGINT:
            # At a terminal, users expect that nothing continues in the background.
            self._end_loads(Verdict(Outcome.FAILED, "agent_stopped", "the agent was stopped at its terminal"))
        return AgentEnding(None, "stopped; a running benchmark continues and is adopted at the next start")

    def _end_loads(self, verdict: Verdict) -> None:
        ends_at = boottime() + END_SECONDS
        while self._runs.cancel_all(verdict) and boottime() < ends_at:
            self._loop.turn(min(ends_at, boottime() + 1.0))
