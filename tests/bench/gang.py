"""Start skew of the loads of eight agents in a gang, and the start delay of a single load.

Both are measured by this machine's clock, at each load's entry (`watched_loads`). All agents share this machine's
CPUs, unlike eight nodes.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from local_stack import LocalStack
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rig import running_stack
from watched_loads import WatchedLoads

NODES: Final = 8
ROUNDS: Final = 40
WARM_UP_ROUNDS: Final = 3
MOST_SKEW_MS: Final = 25.0
MOST_SINGLE_MS: Final = 400.0
_LOAD: Final = {"file_size_bytes": 1024**2, "block_size_bytes": 1024**2, "operations": ["write"]}


class Gang:
    """Agents that share one target, and the loads of each."""

    def __init__(self, stack: LocalStack, directory: Path) -> None:
        self._stack = stack
        self.names = [f"node{number}" for number in range(1, NODES + 1)]
        cluster_id = stack.add_cluster("gang")
        target = directory / "target"
        self._loads = [WatchedLoads(directory / "watched" / name, is_paced=False) for name in self.names]
        agents = [
            stack.add_agent(cluster_id, name, [target], loads.environment)
            for name, loads in zip(self.names, self._loads, strict=True)
        ]
        body = {"cluster_id": cluster_id, "name": "shared", "path": str(target), "scope": "shared"}
        stack.post("/targets", {**body, "nodes": [agent.node_id for agent in agents]})

    def starts(self, name: str, nodes: list[str]) -> tuple[float, list[float]]:
        """Submit one run on these nodes together and wait for its end; return the times of submission and of each
        load's start.
        """
        plan: dict[str, Any] = {
            "name": name,
            "cluster": "gang",
            "nodes": nodes,
            "nodes_at_once": True,
            "targets": ["shared"],
            "workloads": [{"workload": "dd", "options": _LOAD}],
            "repeats": 1,
            "quiet": "ignore",  # else a node that was not idle for 5 s would wait
        }
        submitted = time.time()
        ended = self._stack.wait_campaign(self._stack.post("/campaigns", plan)["id"])
        if ended["state"] != "finished":
            raise SystemExit(f"gang: campaign {name} ended {ended['state']}; see the agents' logs")
        return submitted, [loads.starts()[-1].epoch_seconds for loads in self._loads[: len(nodes)]]


def measure(gang: Gang, rounds: int) -> tuple[list[float], list[float]]:
    """Return the start skew of all nodes together and the time from the POST to a single node's start, alternating, in
    ms.
    """
    skews: list[float] = []
    singles: list[float] = []
    for number in track(range(WARM_UP_ROUNDS + rounds), "starting", console=Console(stderr=True), transient=True):
        _, starts = gang.starts(f"all-{number}", gang.names)
        # Let the system become idle again, for a random time, so that its timers do not run in step with the bench.
        time.sleep(random.uniform(0.3, 1.3))  # noqa: S311 - no secret
        submitted, (start,) = gang.starts(f"one-{number}", gang.names[:1])
        time.sleep(random.uniform(0.3, 1.3))  # noqa: S311 - no secret
        skews.append((max(starts) - min(starts)) * 1000)
        singles.append((start - submitted) * 1000)
    return skews[WARM_UP_ROUNDS:], singles[WARM_UP_ROUNDS:]


def report(skews: list[float], singles: list[float]) -> bool:
    """Print the table and the last line; return whether both limits hold."""
    table = Table(title=f"Starts of {NODES} agents on one machine, in milliseconds")
    for heading in ("what", "n", "p50", "p95", "lowest", "highest", "p50 at most"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    rows = ((f"first to last load of {NODES}", skews, MOST_SKEW_MS), ("POST to load of one", singles, MOST_SINGLE_MS))
    for what, values, most in rows:
        p95 = sorted(values)[round(0.95 * (len(values) - 1))]
        numbers = (median(values), p95, min(values), max(values), most)
        table.add_row(what, str(len(values)), *(f"{number:.1f}" for number in numbers))
    Console().print(table)
    print(f"gang: skew_p50_ms={median(skews):.1f} single_p50_ms={median(singles):.1f}")
    return median(skews) <= MOST_SKEW_MS and median(singles) <= MOST_SINGLE_MS


def main() -> None:
    """Run the bench; exit 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="./dev bench gang", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each, after some warm-up runs")
    asked = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="iotide-gang-", dir="/dev/shm"))
    try:
        with running_stack() as stack:
            if not report(*measure(Gang(stack, directory), asked.rounds)):
                sys.exit(1)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
