"""Cluster of a storm: agents on one machine, private and shared targets, the log of the loads."""

import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx2
from bring_up import wait_for
from local_stack import Agent, Launch, LocalStack, RefusedError

from storm.checker import ENDED, AskedRun

TIME_LIMIT_SECONDS: Final = 20.0
CLUSTER: Final = "storm"
PRIVATE: Final = "private"
_LOAD: Final = Path(__file__).with_name("load.py")
_METRIC: Final = '{title = "Rate", unit = "operations_per_second", better = "higher", json_path = "rate"}'
_AWAY_SECONDS: Final = 300.0
_SERVER_FAULT: Final = 500
_names = count(1)

T = TypeVar("T")


def persistently(ask: Callable[[], T]) -> T:
    """Return the answer; repeat the request while a part of the server is down.

    Raises:
        RefusedError: the server rejected the request.
    """

    def answer() -> tuple[T] | None:
        try:
            return (ask(),)
        except httpx2.HTTPError:
            return None
        except RefusedError as error:
            if error.status < _SERVER_FAULT:
                raise
            return None

    return wait_for("an answer of the server", answer, seconds=_AWAY_SECONDS)[0]


@dataclass
class StormSite:
    """Cluster of `node1` and up with one private and some shared targets.

    Attributes:
        seconds: duration of a load, at least and at most.
        asked: by run id, the nodes of each run that was submitted.
        cancelled: runs that a fault cancelled.
        frozen: by run, its nodes that were frozen past its time limit.
        agent_disk: separate disk for the state of the last agent; None if it has none.
    """

    stack: LocalStack
    directory: Path
    node_count: int
    shared_count: int
    seconds: tuple[float, float]
    agents: list[Agent] = field(default_factory=list)
    asked: dict[int, frozenset[str]] = field(default_factory=dict)
    cancelled: set[int] = field(default_factory=set)
    frozen: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    agent_disk: Path | None = None

    def __post_init__(self) -> None:
        self.log = self.directory / "loads.log"
        self.log.touch()
        self._locks = self.directory / "locks"
        self._locks.mkdir()
        self.shared = [f"shared{number}" for number in range(1, self.shared_count + 1)]
        self.cluster_id = self.stack.add_cluster(CLUSTER)

    def add_agent(self, *, environment: dict[str, str] | None = None, within: Sequence[str] = ()) -> Agent:
        """Add a node.

        Args:
            within: a command that runs the agent, such as `ip netns exec NAME`.
        """
        name = f"node{len(self.agents) + 1}"
        home = self.directory / "targets"
        private = home / name / PRIVATE
        agent = self.stack.add_agent(
            self.cluster_id,
            name,
            [private, *(home / shared for shared in self.shared)],
            environment,
            launch=Launch(configuration=self._commands(name), within=within),
        )
        self.agents.append(agent)
        return agent

    def _commands(self, name: str) -> str:
        """Return the node's list of commands: one load that needs its target exclusively, one that shares it."""
        lock = self._locks / f"node-{name}"
        return "".join(
            f"[workloads.command.commands.{mode}]\nargv = {json.dumps(self._argv(name, lock, mode))}\n"
            f"metrics.rate = {_METRIC}\n"
            for mode in ("exclusive", "shared")
        )

    def _argv(self, name: str, lock: Path, mode: str) -> list[str]:
        start = [sys.executable, "-I", "-S", str(_LOAD), str(self.log), name, str(lock), str(self._locks)]
        return [*start, mode, "{directory}", *map(str, self.seconds)]

    def add_targets(self) -> None:
        """Define the targets on all nodes: the private one at a different path on each node."""
        home = self.directory / "targets"
        node_ids = [agent.node_id for agent in self.agents]
        for name in self.shared:
            self._add_target(name, home / name, "shared", node_ids, [])
        elsewhere = [{"node_id": agent.node_id, "path": str(home / agent.name / PRIVATE)} for agent in self.agents[1:]]
        self._add_target(PRIVATE, home / self.agents[0].name / PRIVATE, "node", node_ids[:1], elsewhere)

    def _add_target(self, name: str, path: Path, scope: str, nodes: list[int], elsewhere: list[dict[str, Any]]) -> None:
        body = {"cluster_id": self.cluster_id, "name": name, "path": str(path), "scope": scope}
        self.stack.post("/targets", {**body, "nodes": nodes, "elsewhere": elsewhere, "reserve_bytes": None})

    def submit(self, chance: random.Random, run_count: int) -> None:
        """Submit campaigns of this many runs in all: of 1 to 8 nodes, 40 % on shared targets, a third of these
        exclusive.
        """
        submitted = 0
        while submitted < run_count:
            repeats = min(chance.randint(1, 4), run_count - submitted)
            size = min(chance.choice((1, 1, 1, 1, 2, 2, 3, 4, 6, 8)), len(self.agents))
            nodes = chance.sample([agent.name for agent in self.agents], size)
            on_shared = bool(self.shared) and chance.random() < 0.4
            alone = on_shared and chance.random() < 1 / 3
            self._submit_one(nodes, chance.choice(self.shared) if on_shared else PRIVATE, repeats, alone=alone)
            submitted += repeats

    def _submit_one(self, nodes: list[str], target: str, repeats: int, *, alone: bool) -> None:
        plan = {
            "name": f"storm-{next(_names)}",
            "cluster": CLUSTER,
            "nodes": nodes,
            "nodes_at_once": True,
            "targets": [target],
            "workloads": [
                {
                    "workload": "command",
                    "options": {"command": "exclusive" if alone else "shared", "space_bytes": 65_536},
                }
            ],
            "repeats": repeats,
            "cache": "none",
            # A killed agent has no sample of its node; waiting for one would only make the storm longer.
            "quiet": "ignore",
            "exclusive": "node+target" if alone else "node",
            "time_limit_seconds": TIME_LIMIT_SECONDS,
            "attempts_allowed": 4,
        }
        # Only the key shows whether a request without an answer was carried out.
        key = {"Idempotency-Key": str(plan["name"])}
        campaign_id = persistently(lambda: self.stack.post("/campaigns", plan, **key))["id"]
        for run in persistently(lambda: self.stack.get("/runs", campaign_id=campaign_id, limit=500))["items"]:
            self.asked[run["id"]] = frozenset(nodes)

    def open_runs(self) -> list[dict[str, Any]]:
        return persistently(lambda: self._runs("active")) + persistently(lambda: self._runs("waiting"))

    def unended(self) -> list[int]:
        """Ask each run individually which have not ended; between two lists, a run may move from one to the other."""
        return [run_id for run_id in self.asked if self._run(run_id)["state"] not in ENDED]

    def _run(self, run_id: int) -> dict[str, Any]:
        return persistently(lambda: self.stack.get(f"/runs/{run_id}"))

    def _runs(self, state: str) -> list[dict[str, Any]]:
        page = self.stack.get("/runs", cluster_id=self.cluster_id, state=state, limit=500)
        found: list[dict[str, Any]] = page["items"]
        return found

    def results(self) -> list[AskedRun]:
        """Return every submitted run, as the server has it now."""
        return [self._result(run_id, nodes) for run_id, nodes in sorted(self.asked.items())]

    def _result(self, run_id: int, nodes: frozenset[str]) -> AskedRun:
        run = self._run(run_id)
        samples = persistently(lambda: self.stack.get("/samples", run_id=run_id, limit=500))["items"]
        last = {order["id"] for order in run["attempts"][-1]["orders"]} if run["attempts"] else set()
        with_numbers = {sample["order_id"] for sample in samples} & last
        frozen = frozenset(self.frozen.get(run_id, ()))
        is_cancelled = run_id in self.cancelled
        return AskedRun(run_id, nodes, run["state"], run["reason"], len(with_numbers), is_cancelled, frozen)

    def log_of(self, run_id: int) -> list[str]:
        """Return the server's log of a run, line by line."""
        events = persistently(lambda: self.stack.get(f"/runs/{run_id}/events", limit=500))["items"]
        run = self._run(run_id)
        fields = ("node_name", "state", "outcome", "claimed_at", "started_at", "ended_at", "silent_since")
        orders = [
            f"run {run_id}, attempt {attempt['ordinal']}, go {attempt['go_at']}: {[order[name] for name in fields]}"
            for attempt in run["attempts"]
            for order in attempt["orders"]
        ]
        return [f"run {run_id}: {event['at']} {event['kind']}: {event['text']}" for event in events] + orders

    def processes_of(self, agent: Agent, *, with_loads: bool) -> list[int]:
        """Return the processes of the node: its agent and Celery worker, with their runners and loads or without."""
        found = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = file.read_text()
            except OSError:  # it ended meanwhile
                continue
            is_load = str(self._locks / f"node-{agent.name}\0") in command
            is_runner = "iotide_agent/runner" in command and str(agent.directory) in command
            is_agent = str(agent.directory) in command and not is_runner
            if is_agent or (with_loads and (is_load or is_runner)):
                found.append(int(file.parent.name))
        return found
