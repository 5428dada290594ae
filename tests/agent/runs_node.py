"""Node with orders that a test drives by hand, without server and agent process."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.made_orders import make_order
from agent.order_rig import order_card, target_card

from iotide_agent.core.protocol import Event
from iotide_agent.core.spool import OrderFiles, Spool
from iotide_agent.node.config import parse_config
from iotide_agent.node.inventory import take_inventory
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.runs import Runs
from iotide_agent.runner import processes
from iotide_agent.runner.card import write_card
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.record import read_phase
from iotide_agent.runner.workspace import make_place
from iotide_wire.messages import Order, OrderTarget

AGENT = "http://server/blade/n1@n1"


class Node:
    """An agent's state directory, its target, and its orders."""

    def __init__(self, base: Path, **settings: object) -> None:
        self._there_before = _below()  # such as a database of other tests
        self.target = base / "target"
        self.target.mkdir(mode=0o700)
        own = {"state_directory": str(base / "state"), "approved_directories": [str(self.target)]}
        config = parse_config({**own, **settings})
        self.spool = Spool(config.state_directory)
        self.spool.prepare()
        self.loop = Loop()
        self.events: list[Event] = []
        self.executor = Executor(config, AGENT, self.spool, take_inventory(config))
        self.runs = Runs(self.spool, self.executor, "instance-1", self.loop, self.events.append)

    def begun(self, order_id: int = 1) -> OrderFiles:
        """Write the files of an order that was killed after its runner had made the directory."""
        order = make_order(order_id)
        self.spool.keep_order(order)
        files = self.spool.files(order_id)
        target = target_card(self.target)
        card = order_card(
            self.target,
            order_id=order_id,
            fence=order.fence,
            directory_name=f"iotide-run-{order.run_id}-1",
            targets=(target,),
            agent_bell=str(self.spool.wake_bell),
            agent=AGENT,
        )
        write_card(files.directory, card)
        make_place(card, target)
        return files

    def order(self, **changes: object) -> Order:
        """Return an order for the node's own target, stored like a claimed one."""
        card = target_card(self.target)
        target = OrderTarget(
            target_id=1, name="t", path=card.path, fstype=card.fstype, source=card.source, reserve_bytes=0
        )
        announced = self.executor.inventory.workloads["dd"]
        values: dict[str, Any] = {"schema_sha256": announced.schema_sha256, "targets": (target,)}
        order = make_order(**(values | changes))
        self.spool.keep_order(order)
        return order

    def until_ready(self) -> None:
        """Begin a real order and wait until its runner has made its directory."""
        self.runs.begin(self.order())
        self.until(lambda: read_phase(self.spool.files(1).directory).get("phase") == "ready")

    def until(self, is_so: Callable[[], bool]) -> None:
        """Run the loop until the condition holds."""
        ends_at = processes.boottime() + 60.0
        while not is_so():
            assert processes.boottime() < ends_at
            self.loop.turn(processes.boottime() + 0.05)

    def close(self) -> None:
        """End the started processes and collect their ends."""
        processes.send(signal.SIGKILL, self._started())
        self.until(lambda: not self._started())

    def _started(self) -> set[int]:
        return _below() - self._there_before


def _below() -> set[int]:
    return {stat.pid for stat in processes.descendants(os.getpid())}
