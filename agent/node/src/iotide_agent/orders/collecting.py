"""Create the result of an ended order; waits while the agent's disk is full."""

import logging
import time
from typing import Any, Final

from iotide_agent.orders.active_run import ActiveRun, raw_output, read_before
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.parsing import RunReader, Verdict
from iotide_agent.orders.progress import read_started_at
from iotide_agent.orders.results import Collector, environment_of, observed, refusal
from iotide_agent.orders.witness import end_witness
from iotide_agent.runner.headroom import give_back, is_full
from iotide_wire.messages import CurvePiece, FinishRequest, Outcome

ROOM_SECONDS: Final = 5.0
_logger = logging.getLogger(__name__)


class UnrecordedError(Exception):
    pass


class Collecting:
    def __init__(self, executor: Executor, instance: str) -> None:
        self._executor = executor
        self._instance = instance

    def result(self, run: ActiveRun) -> FinishRequest:
        """Return the result, with its artefacts in the order's directory; may wait for disk space."""
        while (result := self._try(run)) is None:
            time.sleep(ROOM_SECONDS)
        return result

    def _try(self, run: ActiveRun) -> FinishRequest | None:
        try:
            return self._result(run)
        except Exception as error:
            if isinstance(error, OSError) and is_full(error):
                if not give_back(run.files.directory):
                    _logger.warning("result_waits_for_room order_id=%d error=%s", run.order.order_id, error)
                return None
            # An internal error must not keep the server waiting; the raw output can be parsed later.
            _logger.exception("collect_failed run_id=%d", run.order.run_id)
            said = str(error) if isinstance(error, UnrecordedError) else repr(error)
            verdict = Verdict(Outcome.FAILED, "agent_fault", f"the agent could not parse the run's output: {said}")
            return refusal(run.order, self._instance, verdict, raw_output(run))

    def _result(self, run: ActiveRun) -> FinishRequest:
        ended = run.ended()
        if ended is None:
            raise UnrecordedError("the runner left no record of how the run ended")
        if run.ended_for is not None and ended.get("outcome") == Outcome.FAILED and ended.get("code") != "stuck":
            verdict = run.ended_for
            ended |= {"outcome": verdict.outcome.value, "code": verdict.code, "reason": verdict.reason}
        if run.observes:
            return self._observed(run, ended)
        plan = run.plan
        if plan is None and ended.get("steps"):
            raise ValueError("the stored plan cannot be read; it may be from another version of the agent")
        work = self._executor.work(run.order)
        started_at = read_started_at(ended)
        curves: list[CurvePiece] = []
        if plan is not None and started_at is not None:
            run.watch.look(plan, work.workload)
            curves = run.watch.rest(started_at)
        announced = self._executor.inventory.workloads.get(run.order.workload)
        version = announced.tool_version if announced else None
        environment = environment_of(plan, run.order, version)
        reader = RunReader(ended, plan, work.workload, work.options, run.watch.reached, version)
        collector = Collector(run.files, reader, end_witness(run.files, ended, plan), read_before(run.files))
        return collector.result(run.order, self._instance, environment, curves)

    def _observed(self, run: ActiveRun, ended: dict[str, Any]) -> FinishRequest:
        started_at = read_started_at(ended)
        run.watch.read()
        curves = run.watch.rest(started_at) if started_at is not None else []
        return observed(run.order, self._instance, ended, self._executor.inventory.facts, curves)
