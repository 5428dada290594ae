"""One node with a level read from a file, and a schedule that measures it: a regression on demand."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_stack import Launch, LocalStack

# Alternately high and low, and no number twice: the scatter decides how soon a change is confirmed, which is not
# tested here.
_PROGRAM = """
import json, pathlib, sys, time
level = pathlib.Path(sys.argv[1])
with level.with_name("runs").open("ab+") as runs:
    runs.write(b".")
    turn = runs.tell() % 2
scatter = 1 + 0.002 * turn + 0.001 * (time.time_ns() % 1_000_003) / 1_000_003
rate = float(level.read_text()) * scatter
print(json.dumps({"rate": rate, "wait": 1 / rate}))
"""
_METRICS = """
[workloads.command.commands.probe.metrics.rate]
title = "Rate"
unit = "bytes_per_second"
better = "higher"
json_path = "rate"

[workloads.command.commands.probe.metrics.wait]
title = "Wait"
unit = "seconds"
better = "lower"
json_path = "wait"
"""


@dataclass
class LevelledSite:
    """A node alone in its cluster with a target that allows confirmation runs.

    Attributes:
        level: a file with the bytes per second that it measures.
    """

    stack: LocalStack
    level: Path
    cluster_id: int
    target_id: int
    schedule_id: int

    def fire(self, count: int = 1) -> None:
        """Fire the schedule that often, and wait for the results."""
        campaigns = [self.stack.post(f"/schedules/{self.schedule_id}/run", {})["campaign_id"] for _ in range(count)]
        for campaign_id in campaigns:
            assert self.stack.wait_campaign(campaign_id)["state"] == "finished"

    def alerts(self, metric: str, *states: str) -> list[dict[str, Any]]:
        """Return the alerts of a metric in these states."""
        items = self.stack.api.get("/alerts", params={"cluster_id": self.cluster_id, "state": states}).json()["items"]
        return [alert for alert in items if alert["series"]["metric"] == metric]


def found_site(stack: LocalStack, cluster: str) -> LevelledSite:
    """Make a cluster of that name with its node, target and schedule; its metrics are `rate` and `wait`."""
    home = stack.directory / cluster
    home.mkdir()
    program, level = home / "program.py", home / "level"
    program.write_text(_PROGRAM)
    argv = json.dumps([sys.executable, str(program), str(level)])
    configuration = f"[workloads.command.commands.probe]\nargv = {argv}\n{_METRICS}"
    cluster_id = stack.add_cluster(cluster)
    agent = stack.add_agent(cluster_id, "n1", [home / "target"], launch=Launch(configuration=configuration))
    target_id = stack.add_target(cluster_id, "disk", home / "target", [agent.node_id])
    assert stack.api.patch(f"/targets/{target_id}", json={"confirms_suspects": True}).is_success
    plan = {
        "name": "nightly",
        "cluster": cluster,
        "nodes": ["n1"],
        "targets": ["disk"],
        "workloads": [{"workload": "command", "options": {"command": "probe", "space_bytes": 4096}}],
        "repeats": 1,
        "quiet": "ignore",
        "cache": "none",
    }
    schedule = stack.post("/schedules", {"name": "nightly", "cron": "0 0 1 1 *", "time_zone": "UTC", "plan": plan})
    return LevelledSite(stack, level, cluster_id, target_id, schedule["id"])
