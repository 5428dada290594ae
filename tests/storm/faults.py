"""Faults of a storm, each followed by the repair of an operator or the service manager."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bring_up import StackError
from local_stack import BIN, RefusedError
from redis import Redis, RedisError
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from iotide_server.bundled.acl import node_queue
from iotide_server.kit.db import open_engine
from iotide_server.kit.queue import Broker, BrokerAwayError
from storm.network import CutNetwork
from storm.site import TIME_LIMIT_SECONDS, StormSite, persistently

CUT_SECONDS: Final = 30.0
FROZEN_SECONDS: Final = 12.0
FULL_SECONDS: Final = 60.0
_PAST_THE_LIMIT_SECONDS: Final = TIME_LIMIT_SECONDS + 10.0
_WAKE_UPS: Final = text(
    "SELECT node_order.id, node_order.node_id, fence FROM node_order"
    " JOIN attempt ON attempt.id = node_order.attempt_id ORDER BY node_order.id"
)


@dataclass
class Storm:
    """A site with the equipment of the faults.

    Attributes:
        network: of the first agent; None if it cannot be cut.
        second_scheduler: stands by, as a second server's would.
    """

    site: StormSite
    network: CutNetwork | None
    second_scheduler: subprocess.Popen[bytes]


def start_scheduler(site: StormSite) -> subprocess.Popen[bytes]:
    """Start a second scheduler next to the server's own."""
    with (site.directory / "scheduler.log").open("ab") as log:
        return subprocess.Popen(
            [str(BIN / "iotide-server"), "scheduler"],
            env={**os.environ, **site.stack.settings},
            stdout=log,
            stderr=log,
        )


def _kill_part(name: str, number: signal.Signals = signal.SIGKILL) -> Callable[[Storm, random.Random], None]:
    def strike(storm: Storm, _: random.Random) -> None:
        with suppress(StackError):  # another fault was faster, and it is being restarted
            os.kill(storm.site.stack.part_pid(name), number)

    return strike


def _empty_redis(storm: Storm, _: random.Random) -> None:
    with Redis.from_url(storm.site.stack.settings["IOTIDE_REDIS_ADMIN_URL"]) as redis, suppress(RedisError):
        redis.flushall()


def _kill_schedulers(storm: Storm, chance: random.Random) -> None:
    storm.second_scheduler.kill()
    storm.second_scheduler.wait()
    _kill_part("scheduler")(storm, chance)
    storm.second_scheduler = start_scheduler(storm.site)


def _kill_agents(storm: Storm, chance: random.Random) -> None:
    """Kill agents and Celery workers of some nodes; their runners and loads continue."""
    agents = chance.sample(storm.site.agents, max(1, len(storm.site.agents) // 3))
    for agent in agents:
        signal_all(storm.site.processes_of(agent, with_loads=False), signal.SIGKILL)
    time.sleep(chance.uniform(0.5, 3))
    for agent in agents:
        storm.site.stack.restart_agent(agent)


def _freeze_agent(storm: Storm, chance: random.Random) -> None:
    processes = storm.site.processes_of(chance.choice(storm.site.agents), with_loads=False)
    signal_all(processes, signal.SIGSTOP)
    time.sleep(FROZEN_SECONDS)
    signal_all(processes, signal.SIGCONT)


def _freeze_node_past_the_limit(storm: Storm, chance: random.Random) -> None:
    """Freeze agent, runner and load of a node until the runs' time limit is over, then let them continue."""
    agent = chance.choice(storm.site.agents)
    frozen: set[int] = set()
    # A scan may miss a process that is starting; a frozen process starts none.
    while more := set(storm.site.processes_of(agent, with_loads=True)) - frozen:
        signal_all(more, signal.SIGSTOP)
        frozen |= more
    for run in storm.site.open_runs():
        if agent.name in run["node_names"]:
            storm.site.frozen[run["id"]].add(agent.name)
    time.sleep(_PAST_THE_LIMIT_SECONDS)
    signal_all(frozen, signal.SIGCONT)


def _fill_agent_disk(storm: Storm, _: random.Random) -> None:
    if storm.site.agent_disk is None:
        raise RuntimeError("no agent of this storm has a separate disk")
    _fill(storm.site.agent_disk)


def _fill_server_disk(storm: Storm, _: random.Random) -> None:
    disk = storm.site.stack.directory / "server"
    if not disk.is_mount():
        raise RuntimeError("the server of this storm has no separate disk")
    _fill(disk)


def _fill(disk: Path) -> None:
    """Fill a disk for a minute, including space that becomes free, as another program may."""
    ballast, until = disk / "ballast", time.monotonic() + FULL_SECONDS
    try:
        with ballast.open("wb", buffering=0) as file:
            while time.monotonic() < until:
                for size_bytes in (1024**2, 4096):
                    with suppress(OSError):
                        while file.write(bytes(size_bytes)) == size_bytes:
                            pass
                time.sleep(0.1)
    finally:
        ballast.unlink()


def signal_all(processes: Iterable[int], number: signal.Signals) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _cut_network(storm: Storm, _: random.Random) -> None:
    if storm.network is None:
        raise RuntimeError("this storm has no network to cut")
    storm.network.cut()
    time.sleep(CUT_SECONDS)
    storm.network.repair()


def _replay_wake_ups(storm: Storm, _: random.Random) -> None:
    """Send every wake-up of the storm again, twice."""
    engine = open_engine(storm.site.stack.settings["IOTIDE_DATABASE_URL"], pool_size=1)
    broker = Broker(storm.site.stack.settings["IOTIDE_REDIS_URL"])
    try:
        with suppress(BrokerAwayError, DBAPIError):
            with engine.connect() as connection:
                rows = connection.execute(_WAKE_UPS).all()
            for row in [*rows, *rows]:
                broker.send_wake(node_queue(row.node_id), row.id, row.fence)
    finally:
        broker.close()
        engine.dispose()


def _cancel_run(storm: Storm, chance: random.Random) -> None:
    runs = storm.site.open_runs()
    if runs:
        run_id = chance.choice(runs)["id"]
        storm.site.cancelled.add(run_id)
        with suppress(RefusedError):  # it has ended meanwhile
            persistently(lambda: storm.site.stack.post(f"/runs/{run_id}/cancel", {}))


FAULTS: Final[Mapping[str, Callable[[Storm, random.Random], None]]] = {
    "redis emptied": _empty_redis,
    "redis killed": _kill_part("redis"),
    "api killed": _kill_part("api"),
    "worker killed": _kill_part("worker"),
    "schedulers killed": _kill_schedulers,
    "agents killed": _kill_agents,
    "postgres stopped immediately": _kill_part("postgres", signal.SIGQUIT),
    "agent frozen": _freeze_agent,
    "node frozen past the limit": _freeze_node_past_the_limit,
    "network cut": _cut_network,
    "wake-ups replayed": _replay_wake_ups,
    "run cancelled": _cancel_run,
    "agent's disk full": _fill_agent_disk,
    "server's disk full": _fill_server_disk,
}
"""By name, in no order; a clock that is an hour ahead is not struck, one agent has it from the start."""

LASTS_LONG: Final = frozenset({"agent's disk full", "server's disk full"})
"""Each lasts a minute with hardly any starts or ends. They strike only in every third round, or others would meet an
idle site.
"""
