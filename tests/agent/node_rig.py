"""The agent's own executor and runner on real targets, without a server: an order goes in, a result comes out."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from agent.made_orders import make_order
from agent.order_rig import target_card
from factories.tiny_runs import SETTINGS

from iotide_agent.core.protocol import Event, Prepared, ResultReady, RunnerEnded
from iotide_agent.core.spool import Spool
from iotide_agent.node.config import parse_config
from iotide_agent.node.inventory import take_inventory
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.runs import Runs
from iotide_agent.runner import processes
from iotide_agent.runner.doorbell import Doorbell
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.record import read_phase
from iotide_wire.messages import FinishRequest, Order, OrderTarget, Outcome

LIMIT_SECONDS = 60.0
_numbers = count(1)


class NodeRig:
    """Node with these targets as its approved directories."""

    def __init__(self, state: Path, targets: Sequence[Path], **settings: object) -> None:
        values = {"state_directory": str(state), "approved_directories": list(map(str, targets)), "workloads": SETTINGS}
        self._config = parse_config(values | settings)
        self.spool = Spool(self._config.state_directory)
        self.spool.prepare()
        self._bell = Doorbell(self.spool.wake_bell)
        self._former_children: list[subprocess.Popen[bytes]] = []
        self.executor = Executor(self._config, f"test/{state}", self.spool, take_inventory(self._config))
        self._begin_agent()

    def order(self, workload: str, options: Mapping[str, Any], target: Path, **changes: object) -> Order:
        """Return an order for a target as it is mounted now."""
        number = next(_numbers)
        card = target_card(target)
        announced = self.executor.inventory.workloads[workload]
        wanted = OrderTarget(
            target_id=1, name="scratch", path=card.path, fstype=card.fstype, source=card.source, reserve_bytes=0
        )
        return make_order(
            number,
            workload=workload,
            workload_revision=announced.revision,
            schema_sha256=announced.schema_sha256,
            options=dict(options),
            targets=(wanted,),
            **changes,
        )

    def begin(self, order: Order) -> None:
        """Start an order as the supervisor does after claiming it."""
        self.spool.keep_order(order)
        self.runs.begin(order)

    def measure(self, workload: str, options: Mapping[str, Any], target: Path) -> FinishRequest:
        """Run an order from its start to its result."""
        order = self.order(workload, options, target)
        self.begin(order)
        self.release(order)
        return self.finish(order)

    def until_ready(self, order: Order) -> None:
        """Wait until its working directories exist or it has ended."""
        self.until(lambda: {Prepared(order.order_id), *_ends(order)} & set(self._events))

    def release(self, order: Order, at_boottime_seconds: float | None = None) -> None:
        """Start its load once its working directories exist, at once or at that time."""
        self.until_ready(order)
        self.release_if_ready(order, at_boottime_seconds)

    def release_if_ready(self, order: Order, at_boottime_seconds: float | None = None) -> None:
        """Start its load if its working directories exist; once is enough."""
        if Prepared(order.order_id) in self._events:
            self._events.remove(Prepared(order.order_id))
            self.runs.release(order.order_id, at_boottime_seconds)

    def finish(self, order: Order) -> FinishRequest:
        """Wait for its result, then forget it as if the server had accepted the result."""
        self.until(lambda: _ends(order) & set(self._events))
        if ResultReady(order.order_id) not in self._events:
            self.runs.collect(order.order_id)
        result = self.spool.result(order.order_id)
        self.runs.forget(order.order_id)
        while self._former_children:
            self._former_children.pop().wait(LIMIT_SECONDS)
        return result

    def cancel(self, order: Order) -> None:
        self.runs.cancel(order.order_id, Verdict(Outcome.CANCELLED, "cancelled", "cancelled by the user"))

    def runner_pid(self, order: Order) -> int:
        process = self.runs._active[order.order_id].process
        assert process is not None
        return process.pid

    def phase(self, order: Order) -> dict[str, Any]:
        """Return the phase that its runner recorded last."""
        return read_phase(self.spool.files(order.order_id).directory)

    def clean_leftovers(self) -> None:
        """Remove orphaned directories, as the agent does at its start and while it is idle."""
        self.runs.clean_leftovers()
        self.until(lambda: self.spool.leftovers() == [])

    def restart(self) -> None:
        """Restart the agent as after a kill: its memory is lost, its disk and its runners remain."""
        known = [run.process for run in self.runs._active.values() if run.process]
        for process in known:
            os.close(process.pidfd)
        self._former_children += [process.child for process in known if process.child]
        self._begin_agent()
        self.runs.recover()

    def until(self, is_so: Callable[[], object]) -> None:
        """Run the supervisor's loop until the condition holds."""
        ends_at = processes.boottime() + LIMIT_SECONDS
        while not is_so():
            assert processes.boottime() < ends_at, self._events
            self._loop.turn(processes.boottime() + 0.05)

    def _begin_agent(self) -> None:
        self._loop = Loop()
        self._loop.watch(self._bell.fileno(), self._on_bell)
        self._events: list[Event] = []
        self.runs = Runs(self.spool, self.executor, "instance-1", self._loop, self._events.append)

    def _on_bell(self) -> None:
        self._bell.quiet()
        self.runs.look()


def _ends(order: Order) -> set[Event]:
    return {RunnerEnded(order.order_id), ResultReady(order.order_id)}
