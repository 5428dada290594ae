"""Real agent, its Celery worker and a real Redis against the gateway double."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Self

from agent.gateway_double import GatewayDouble, OrderRecord
from agent.made_orders import make_order
from agent.order_rig import target_card
from celery import Celery
from redis import Redis
from watched_loads import WatchedLoads

from iotide_agent.node.config import load_config
from iotide_agent.node.enrolment import enroll
from iotide_agent.probes.reader import SystemReader
from iotide_agent.workloads.registry import announcements
from iotide_server.bundled.acl import NodeAccess, grant_node, node_queue, node_username
from iotide_server.bundled.redis import PrivateRedis
from iotide_wire.messages import OrderRole, OrderTarget
from iotide_wire.nodes import BrokerAccess

JOIN_TOKEN = "0123456789abcdef.-"
PASSWORD = "node-password"
COMMAND = Path(sys.executable).parent / "iotide-agent"
_numbers = count(1)
_node_ids = count(1)


class AgentRig:
    """Enrolled agent.

    Attributes:
        target: its approved directory; empty unless a run works there.
        queue: its own, so that rigs can share a Redis.
    """

    def __init__(self, base: Path, redis: PrivateRedis) -> None:
        self.base = base
        self.target = base / "target"
        self.target.mkdir(mode=0o700)
        self.state = base / "state"
        node_id = next(_node_ids)
        with Redis.from_url(redis.admin_url) as admin:
            grant_node(admin, NodeAccess(node_id, hashlib.sha256(PASSWORD.encode()).hexdigest()))
        url = f"redis://{node_username(node_id)}:{PASSWORD}@127.0.0.1:{redis.port}/0"
        self.queue = node_queue(node_id)
        self.gateway = GatewayDouble(BrokerAccess(url=url, queue=self.queue, ca_pem=None), node_id)
        self.gateway.start()
        self.config = base / "agent.toml"
        self.write_config()
        # Its fio loads are rate-limited.
        self._environment = {**os.environ, **WatchedLoads(base / "watched").environment}
        self._celery = Celery("test", broker=redis.url, task_ignore_result=True)
        self._announced = {found.name: found for found in announcements(SystemReader(), {})}
        self.process: subprocess.Popen[bytes] | None = None

    def write_config(self, **settings: str) -> None:
        """Write agent.toml; values are TOML."""
        values = {
            "server": f'"{self.gateway.url}"',
            "node_name": '"node-1"',
            "state_directory": f'"{self.state}"',
            "approved_directories": f'["{self.target}"]',
        }
        self.config.write_text("".join(f"{name} = {value}\n" for name, value in (values | settings).items()))

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an `iotide-agent` command to its end."""
        argv = [str(COMMAND), *arguments, "--config", str(self.config)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    def __enter__(self) -> Self:
        try:
            self.enroll()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def enroll(self) -> None:
        enroll(load_config(self.config), None, JOIN_TOKEN, replace=False)

    def log(self) -> str:
        return (self.base / "agent.log").read_text()

    def start(self) -> None:
        """Start the agent and wait for its hello."""
        hellos = len(self.gateway.hellos)
        with (self.base / "agent.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(COMMAND), "run", "--config", str(self.config)],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=self._environment,
            )
        self.gateway.until(lambda: len(self.gateway.hellos) > hellos)

    def kill(self) -> None:
        """Kill the supervisor with -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def order(self, workload: str, options: Mapping[str, Any], **changes: object) -> int:
        """Add an order to the gateway without offering it."""
        number = next(_numbers)
        card = target_card(self.target)
        target = OrderTarget(
            target_id=1, name="scratch", path=card.path, fstype=card.fstype, source=card.source, reserve_bytes=0
        )
        announced = self._announced[workload]
        order = make_order(
            number,
            fence=10**18 + number,
            workload=workload,
            workload_revision=announced.revision,
            schema_sha256=announced.schema_sha256,
            options=dict(options),
            targets=(target,),
            **changes,
        )
        self.gateway.orders[number] = OrderRecord(order)
        return number

    def offer_to_observe(self) -> int:
        """Offer an order that only samples the node."""
        number = next(_numbers)
        order = make_order(number, fence=10**18 + number, role=OrderRole.OBSERVE, targets=())
        self.gateway.orders[number] = OrderRecord(order)
        self.wake(number)
        return number

    def wake(self, order_id: int, fence: int | None = None) -> None:
        """Send the Celery message."""
        wanted = fence or self.gateway.orders[order_id].order.fence
        self._celery.send_task("iotide.wake", args=[order_id, wanted], queue=self.queue, retry=False)

    def offer(self, workload: str, options: Mapping[str, Any], **changes: object) -> int:
        """Add an order and offer it."""
        order_id = self.order(workload, options, **changes)
        self.wake(order_id)
        return order_id

    def worker_pids(self) -> list[int]:
        return [pid for pid, line in _command_lines().items() if f"iotide_agent.core.worker\0{self.state}" in line]

    def runner_pids(self) -> list[int]:
        return [pid for pid, line in _command_lines().items() if f"__main__.py\0{self.state}/orders" in line]

    def load_pids(self) -> list[int]:
        """Return the processes that name the target in their arguments."""
        return [pid for pid, line in _command_lines().items() if str(self.target / "iotide-run-") in line]

    def until_loading(self, order_id: int) -> list[int]:
        """Wait until the order runs and its load's command line names the target; return the load's processes.

        An order counts as running once its process exists, shortly before that process executes the tool.
        """
        self.gateway.until_running(order_id)
        return self.gateway.until(self.load_pids)

    def until_order_gone(self, order_id: int) -> None:
        self.gateway.until(lambda: not (self.state / "orders" / str(order_id)).exists())

    def close(self) -> None:
        for pids in ([self.process.pid] if self.process else [], self.runner_pids(), self.load_pids()):
            for pid in pids:
                _kill(pid)
        if self.process:
            self.process.wait()
        for pid in self.worker_pids():
            _kill(pid)
        self._celery.close()
        self.gateway.close()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _command_lines() -> dict[int, str]:
    lines = {}
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines[int(file.parent.name)] = file.read_text(errors="replace")
        except OSError:
            continue
    return lines
