"""Agent without its server: recovers, checks its directory, carries out orders and returns their results."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.made_orders import make_order

from iotide_agent.core.protocol import Event, Prepared, ResultReady, RunnerEnded
from iotide_agent.core.spool import Spool
from iotide_agent.node.config import parse_config
from iotide_agent.node.inventory import Inventory, take_inventory
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.runs import Runs
from iotide_agent.runner.doorbell import Doorbell
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime
from iotide_wire.facts import MountFacts
from iotide_wire.messages import FinishRequest, Order, OrderTarget

ERRAND_SECONDS: Final = 240.0
"""The longest that an agent may take for one order, whatever its target does."""
LEFTOVER_SECONDS: Final = 60.0
"""Additional time after a server's restart, until its client has noticed."""


@dataclass(frozen=True, slots=True)
class Job:
    """A workload with its options."""

    workload: str
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Errand:
    """Instructions for an agent.

    Attributes:
        first_order: number of the first order; each node counts from another, as the server gives each number once.
        target: the target that the orders expect in the directory; None: the mounted one.
    """

    state: Path
    directory: str
    first_order: int
    jobs: tuple[Job, ...] = ()
    target: OrderTarget | None = None
    time_limit_seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Results of an errand.

    Attributes:
        target: the target that the orders expected.
        results: one for each job, as the server would get them.
        leftovers: orders with files that a target has not released yet.
    """

    mount: MountFacts
    target: OrderTarget
    results: tuple[FinishRequest, ...]
    leftovers: int


class LateError(Exception):
    """The agent waited longer than any target may make it wait."""


class Agent:
    """The parts of an agent that act on the node."""

    def __init__(self, errand: Errand) -> None:
        config = parse_config({"state_directory": str(errand.state), "approved_directories": [errand.directory]})
        self.errand = errand
        self.spool = Spool(config.state_directory)
        self.spool.prepare()
        self.loop = Loop()
        self.bell = Doorbell(self.spool.wake_bell)
        self.events: list[Event] = []
        self.inventory: Inventory = take_inventory(config)
        self.executor = Executor(config, f"lab/{errand.state}", self.spool, self.inventory)
        self.runs = Runs(self.spool, self.executor, "lab-agent", self.loop, self.events.append)
        self.loop.watch(self.bell.fileno(), self._look)

    def carry_out(self, wait_for_leave: Callable[[], None]) -> Answer:
        """Recover the files of an earlier process of this state directory, then do one job after another.

        Args:
            wait_for_leave: called once the first job has its directory or was declined; the others follow
                automatically.
        """
        self.runs.recover()
        with suppress(LateError):
            self._until(self._has_nothing_left, LEFTOVER_SECONDS)
        mount = next(mount for mount in self.inventory.mounts if mount.path == self.errand.directory)
        target = self.errand.target or _target(mount)
        results = []
        for number, job in enumerate(self.errand.jobs, start=self.errand.first_order):
            results.append(self._result(self._order(number, job, target), wait_for_leave))
            wait_for_leave = _at_once
        return Answer(mount, target, tuple(results), len(self.spool.leftovers()))

    def _result(self, order: Order, wait_for_leave: Callable[[], None]) -> FinishRequest:
        number = order.order_id
        self.spool.keep_order(order)
        self.executor.look_at_targets(order)
        self.runs.begin(order)
        self._until(lambda: bool(self.events), ERRAND_SECONDS)
        wait_for_leave()
        if Prepared(number) in self.events:
            self.runs.release(number, None)
        self._until(lambda: bool({RunnerEnded(number), ResultReady(number)} & set(self.events)), ERRAND_SECONDS)
        if ResultReady(number) not in self.events:
            self.runs.collect(number)
        self.events.clear()
        result = self.spool.result(number)
        self.runs.forget(number)
        return result

    def _order(self, number: int, job: Job, target: OrderTarget) -> Order:
        announced = self.inventory.workloads[job.workload]
        return make_order(
            number,
            workload=job.workload,
            workload_revision=announced.revision,
            schema_sha256=announced.schema_sha256,
            options=job.options,
            targets=(target,),
            time_limit_seconds=self.errand.time_limit_seconds,
        )

    def _has_nothing_left(self) -> bool:
        # Retry as an idle agent does: processes that slept on a dead mount hold the node for a moment longer.
        self.runs.clean_leftovers()
        return not self.spool.leftovers()

    def _look(self) -> None:
        self.bell.quiet()
        self.runs.look()

    def _until(self, is_so: Callable[[], bool], limit_seconds: float) -> None:
        ends_at = boottime() + limit_seconds
        while not is_so():
            if boottime() >= ends_at:
                raise LateError(f"nothing within {limit_seconds:g} s; received {self.events}")
            self.loop.turn(min(ends_at, boottime() + 0.2))


def _target(mount: MountFacts) -> OrderTarget:
    """Return a target as the server makes it from a node's announcement."""
    identity = mount.facts.get("fs.identity")
    return OrderTarget(
        target_id=1,
        name="lab",
        path=mount.path,
        fstype=mount.fstype,
        source=mount.source,
        reserve_bytes=0,
        mount_point=mount.mount_point,
        root=str(mount.facts.get("mount.root", "/")),
        identity=str(identity) if identity and mount.source.startswith("/dev/") else None,
    )


def _at_once() -> None:
    """Only the first order of an errand waits for the others."""
