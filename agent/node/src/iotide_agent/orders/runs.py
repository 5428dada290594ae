"""Orders of this node: starts, watches and adopts their runners, and collects their results."""

import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from iotide_agent.core.protocol import (
    WIRE_STATES,
    Event,
    LoadStarted,
    Prepared,
    Recovered,
    ReportedOrder,
    ResultReady,
    RunnerEnded,
    SendHeartbeat,
    Stage,
    first_stage,
)
from iotide_agent.core.spool import Spool
from iotide_agent.orders.active_run import (
    ActiveRun,
    HeldOrder,
    MembersMissingError,
    give_members,
    give_up,
    keep_before,
    stage_of,
)
from iotide_agent.orders.collecting import Collecting
from iotide_agent.orders.declined import DeclinedError
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.orphaned import Leftovers, log_removed, shown
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.plan import read_plan, write_endpoint
from iotide_agent.orders.progress import RunWatch, read_started_at
from iotide_agent.orders.results import RESULT_REFUSED, refusal
from iotide_agent.orders.runner_process import RunnerProcess
from iotide_agent.orders.witness import begin_witness
from iotide_agent.runner import processes
from iotide_agent.runner.doorbell import ring
from iotide_agent.runner.files import read_json
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.record import read_phase, unkilled
from iotide_agent.workloads.base import Workload
from iotide_wire.endpoint import Endpoint, NamedEndpoint
from iotide_wire.foreign import ForeignBefore, ForeignLoad
from iotide_wire.measured import StepRole
from iotide_wire.messages import CurvePiece, Order, OrderHeartbeat, OrderRole, Outcome

_MAX_AFTERMATHS: Final = 3
_LOADS_ENDED: Final = Verdict(Outcome.FINISHED, "loads_ended", "the benchmark has ended")
_logger = logging.getLogger(__name__)


class Runs:
    def __init__(
        self, spool: Spool, executor: Executor, instance: str, loop: Loop, emit: Callable[[Event], None]
    ) -> None:
        self._spool = spool
        self._executor = executor
        self._instance = instance
        self._loop = loop
        self._emit = emit
        self._active: dict[int, ActiveRun] = {}
        self._collecting = Collecting(executor, instance)
        self._leftovers = Leftovers(spool, executor, loop, self._is_idle)

    def recover(self) -> list[Recovered]:
        """Adopt running loads and unsent results of an earlier agent process; end what a reboot interrupted."""
        recovered = [held for order in self._spool.orders() if (held := self._recover_safely(order))]
        self.clean_leftovers()
        return recovered

    def clean_leftovers(self) -> None:
        self._leftovers.clean()

    def allow_search(self, *, is_idle: bool) -> None:
        self._leftovers.allow_search()
        if is_idle:
            self._leftovers.clean()

    def hold(self, order: Order, since: float) -> None:
        """Hold a claimed order back from `since`, on the caller's clock, until it is started or rejected."""
        self._leftovers.stop_search()
        self._add(order).held_since = since

    def held(self) -> list[HeldOrder]:
        active = self._active.values()
        return [HeldOrder(run.order, run.held_since) for run in active if run.held_since is not None]

    def set_phase(self, order_id: int, words: str) -> None:
        self._active[order_id].watch.phase = words

    def start_held(self, order_id: int, before: ForeignBefore) -> None:
        run = self._active[order_id]
        run.held_since, run.watch.phase = None, ""
        keep_before(run.files, before)
        self._start(run)

    def reject_held(self, order_id: int, verdict: Verdict, before: ForeignBefore) -> None:
        run = self._active[order_id]
        run.held_since = None
        self._refuse(run, verdict, ForeignLoad(before=before, during=None))

    @property
    def is_at_work(self) -> bool:
        """True while a load is prepared or runs, or a result is collected or sent."""
        return any(run.held_since is None and not run.observes for run in self._active.values())

    @property
    def is_cleaning(self) -> bool:
        return self._leftovers.is_at_work

    def begin(self, order: Order) -> None:
        self._start(self._add(order))

    def _start(self, run: ActiveRun) -> None:
        self._leftovers.stop_search()
        order = run.order
        others = sum(other.process is not None and not other.observes for other in self._active.values())
        try:
            self._watch(run, self._executor.begin(order, others))
        except DeclinedError as error:
            self._refuse(run, error.verdict)
        except Exception as error:
            # An error in one order must not end the agent.
            _logger.exception("begin_failed order_id=%d run_id=%d", order.order_id, order.run_id)
            reason = f"the agent could not start the run: {error!r}"
            self._refuse(run, Verdict(Outcome.FAILED, "agent_fault", reason))

    def look(self) -> None:
        """Read each runner's progress; called when a runner rang the doorbell."""
        for run in self._active.values():
            if run.process is None or run.was_started:
                continue
            phase = run.phase()
            if run.plan is None and phase.get("phase") == "ready":
                self._plan(run)
            if phase.get("loads") or phase.get("steps") or (run.observes and phase.get("phase") == "running"):
                run.was_started = True
                self._emit(LoadStarted(run.order.order_id))

    def release(
        self,
        order_id: int,
        at_boottime_seconds: float | None,
        endpoint: Endpoint | None = None,
        members: tuple[NamedEndpoint, ...] = (),
    ) -> None:
        """Send the start signal for a prepared load.

        A sender also gets its receiver's endpoint, a head those of its members.
        """
        run = self._active[order_id]
        if run.plan is None:
            return
        try:
            if run.order.step_role is StepRole.HEAD:
                give_members(run, members)
            if run.order.step_role is StepRole.SENDER and endpoint is not None:
                write_endpoint(run.files, endpoint)
            self._executor.release(order_id, run.plan, at_boottime_seconds)
        except MembersMissingError as error:
            self.cancel(order_id, Verdict(Outcome.FAILED, "members_missing", str(error)))
        except OSError as error:
            reason = f"the start signal cannot be written: {error}"
            self.cancel(order_id, Verdict(Outcome.FAILED, "agent_fault", reason))

    def cancel(self, order_id: int, verdict: Verdict) -> None:
        """End a run with that verdict, or with the runner's own if the disk is too full to write it.

        This is the normal end of an observing order.
        """
        if self._active[order_id].held_since is not None:
            self._active[order_id].held_since = None
            self._refuse(self._active[order_id], verdict)
            return
        if verdict.outcome is Outcome.CANCELLED and self._active[order_id].observes:
            verdict = _LOADS_ENDED
        try:
            self._executor.cancel(order_id, verdict)
        except OSError:
            _logger.exception("cancel_unwritten order_id=%d code=%s", order_id, verdict.code)
            process = self._active[order_id].process
            if process is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(process.pidfd, signal.SIGTERM)

    def cancel_all(self, verdict: Verdict) -> bool:
        """Return false if no run has a runner."""
        running = [run for run in self._active.values() if run.process is not None]
        for run in running:
            self.cancel(run.order.order_id, verdict)
        return bool(running)

    def end_all(self, verdict: Verdict) -> None:
        """Like `cancel_all`, when another program ends all processes too; orders held back do not start."""
        for run in self._active.values():
            if run.process is not None:
                run.ended_for = verdict
        self.cancel_all(verdict)
        for held in self.held():
            self.cancel(held.order.order_id, verdict)

    def stop_search(self) -> None:
        self._leftovers.stop_search()

    def heartbeat_of(self, heartbeat: SendHeartbeat) -> tuple[OrderHeartbeat, ...]:
        return tuple(
            self._order_heartbeat(self._active[reported.order_id], reported)
            for reported in heartbeat.orders
            if reported.order_id in self._active
        )

    def acknowledge(self, orders: tuple[OrderHeartbeat, ...]) -> None:
        for order in orders:
            run = self._active.get(order.order_id)
            if run is not None:
                run.watch.acknowledge(order.curves)

    def give_up_curves(self, orders: tuple[OrderHeartbeat, ...], refusal: str) -> None:
        """Fail the orders whose curves the server refused."""
        for order in orders:
            run = self._active.get(order.order_id)
            if run is not None and order.curves:
                run.watch.acknowledge(order.curves)
                reason = f"the server refused the run's curves: {refusal}"
                self.cancel(order.order_id, Verdict(Outcome.FAILED, RESULT_REFUSED, reason))

    def collect(self, order_id: int) -> Event:
        """Create the result, outside the loop because it may take seconds."""
        run = self._active[order_id]
        result = self._collecting.result(run)
        self._spool.keep_result(order_id, result)
        self._executor.note_written(order_id)
        _logger.info("collected order_id=%d run_id=%d outcome=%s", order_id, run.order.run_id, result.outcome)
        return ResultReady(order_id)

    def forget(self, order_id: int) -> None:
        """Remove an order, except what is needed to remove files that remain on its target."""
        run = self._active.pop(order_id)
        ended = run.ended()
        # Without an exit record, files may be in the places on its card.
        unsaid = [f"those of {run.files.card}"] if run.files.card.exists() else []
        leftovers = ended["leftovers"] if ended else unsaid
        if leftovers:
            _logger.error("files_left order_id=%d paths=%s", order_id, shown(leftovers))
        if leftovers or unkilled(run.files.directory):
            self._spool.set_aside(order_id)
        else:
            self._spool.forget(order_id)

    def _is_idle(self) -> bool:
        return all(run.process is None for run in self._active.values())

    def _add(self, order: Order) -> ActiveRun:
        files = self._spool.files(order.order_id)
        run = ActiveRun(order, files, RunWatch(files))
        self._active[order.order_id] = run
        return run

    def _recover_safely(self, order: Order) -> Recovered | None:
        try:
            return self._recover_order(order)
        except Exception:
            # Whatever this order's files contain, the others continue.
            _logger.exception("recovery_failed order_id=%d", order.order_id)
            run = self._add(order)
            self._watch(run, self._executor.clean_up_after(run.files.directory))
            return Recovered(order.order_id, order.fence, Stage.RUNNING)

    def _recover_order(self, order: Order) -> Recovered | None:
        files = self._spool.files(order.order_id)
        phase = read_phase(files.directory)
        is_unfinished = not (files.result.exists() or files.exit.exists())
        if is_unfinished and phase and phase["boot_id"] != processes.boot_id():
            # hello does not name it, so the server counts it as lost.
            _logger.warning("lost_by_reboot order_id=%d run_id=%d", order.order_id, order.run_id)
            self._spool.set_aside(order.order_id)
            return None
        if is_unfinished and not files.card.exists():
            # The agent died before it started a runner, perhaps while waiting for an idle node.
            if order.role is OrderRole.OBSERVE:
                self.begin(order)
            else:
                self.hold(order, processes.boottime())
            return Recovered(order.order_id, order.fence, first_stage(order))
        return self._adopt(self._add(order), phase)

    def _adopt(self, run: ActiveRun, phase: dict[str, Any]) -> Recovered:
        try:
            run.plan = read_plan(run.files)
        except ValueError:
            # From another agent version: the load continues, and its raw output is kept.
            _logger.exception("plan_unreadable order_id=%d", run.order.order_id)
        stage = stage_of(run, phase)
        run.was_started = stage is Stage.RUNNING
        _logger.info("adopted order_id=%d run_id=%d stage=%s", run.order.order_id, run.order.run_id, stage)
        if stage is not Stage.UPLOADING and run.files.exit.exists():
            self._emit_end(run)
        elif stage is not Stage.UPLOADING:
            runner = self._executor.find_runner(run.files)
            self._watch(run, runner or self._executor.clean_up_after(run.files.directory))
        return Recovered(run.order.order_id, run.order.fence, stage)

    def _watch(self, run: ActiveRun, process: RunnerProcess) -> None:
        run.process = process
        self._loop.watch(process.pidfd, lambda: self._take_end(run, process))

    def _take_end(self, run: ActiveRun, process: RunnerProcess) -> None:
        self._loop.ignore(process.pidfd)
        process.close()
        run.process = None
        if not run.files.exit.exists():
            _logger.error("runner_died order_id=%d run_id=%d", run.order.order_id, run.order.run_id)
            if run.aftermaths < _MAX_AFTERMATHS:
                run.aftermaths += 1
                self._watch(run, self._executor.clean_up_after(run.files.directory))
                return
            give_up(run)
        self._emit_end(run)

    def _emit_end(self, run: ActiveRun) -> None:
        log_removed(run.order.order_id, read_json(run.files.exit))
        self._emit(RunnerEnded(run.order.order_id))

    def _plan(self, run: ActiveRun) -> None:
        try:
            run.plan = self._executor.plan(run.order)
        except DeclinedError as error:
            self.cancel(run.order.order_id, error.verdict)
        else:
            begin_witness(run.files, run.plan, lambda: self._emit_prepared(run.order.order_id))

    def _emit_prepared(self, order_id: int) -> None:
        self._emit(Prepared(order_id))
        ring(self._spool.wake_bell)

    def _refuse(self, run: ActiveRun, verdict: Verdict, foreign: ForeignLoad | None = None) -> None:
        order = run.order
        _logger.warning("declined order_id=%d run_id=%d code=%s", order.order_id, order.run_id, verdict.code)
        self._spool.keep_result(order.order_id, refusal(order, self._instance, verdict, foreign=foreign))
        self._emit(ResultReady(order.order_id))

    def _order_heartbeat(self, run: ActiveRun, reported: ReportedOrder) -> OrderHeartbeat:
        stage = reported.stage
        started_at = None
        curves: list[CurvePiece] = []
        if stage is Stage.RUNNING and (run.plan is not None or run.observes):
            self._look_at(run)
            started_at = read_started_at(run.phase())
            if started_at is not None:
                curves = run.watch.pieces(started_at)
        return OrderHeartbeat(
            order_id=run.order.order_id,
            fence=run.order.fence,
            state=WIRE_STATES[stage],
            progress=run.watch.progress,
            phase=(run.watch.phase if stage is Stage.RUNNING or run.held_since is not None else "") or stage.value,
            started_at=started_at,
            curves=tuple(curves),
            endpoint=run.endpoint() if stage is Stage.READY else None,
            go_heard=reported.go_heard,
        )

    def _look_at(self, run: ActiveRun) -> None:
        if run.plan is not None:
            run.watch.look(run.plan, self._workload(run))
        else:
            run.watch.read()
            run.watch.phase = "observing"

    def _workload(self, run: ActiveRun) -> Workload[Any] | None:
        try:
            return self._executor.work(run.order).workload
        except DeclinedError:
            return None  # the plug-in was removed or changed during the run
