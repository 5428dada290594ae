"""A packaged agent as a node of a server, from its setup to an upgrade under a load."""

import signal
import subprocess
import time
from typing import Any, Final

from bring_up import wait_for
from local_stack import LocalStack
from packaged.debian_root import CONFIG, PROGRAM, DebianRoot, require

from iotide_wire.units import MIB

LOAD_SECONDS: Final = 60
"""Length of the load during the upgrade."""
_LOAD: Final = "/usr/local/bin/dd-for-a-minute"
_LOAD_TEXT: Final = f"""\
#!/bin/sh
# Writes a file again and again with dd, for {LOAD_SECONDS} s.
set -e
end=$(($(date +%s) + {LOAD_SECONDS})) count=0
while [ "$(date +%s)" -lt "$end" ]; do
  dd if=/dev/zero of="$1/file" bs=64k count=16 conv=fsync 2>/dev/null
  count=$((count + 1))
done
echo "files: $count"
"""
_SETTINGS: Final = f"""
[workloads.command.commands.minute]
argv = ["{_LOAD}", "{{directory}}"]
expected_seconds = {LOAD_SECONDS}
[workloads.command.commands.minute.metrics.files]
title = "Files written"
unit = "count"
better = "higher"
pattern = "^files: (?P<value>[0-9]+)$"
"""
_TARGET: Final = "scratch"
_ENDED: Final = {"finished", "failed", "cancelled"}


class Node:
    """Node of a cluster of its own, with a running agent."""

    def __init__(self, root: DebianRoot, stack: LocalStack) -> None:
        self._root = root
        self._stack = stack
        cluster = stack.add_cluster(root.name)
        join = stack.post(f"/clusters/{cluster}/join-tokens", {"uses": 1, "expires_in_seconds": 600})
        setup = (PROGRAM, "setup", stack.url, "--directory", "/scratch/iotide")
        printed = root.run(*setup, typed=f"{join['token']}\n")
        config = root.path(CONFIG).read_text()
        require(f'server = "{stack.url}"' in config, f"{root.name}: setup left {CONFIG} as the package has it")
        own_unit = root.path("/etc/systemd/system/iotide-agent.service")
        require(not own_unit.exists(), f"{root.name}: setup wrote a second unit")
        with root.path(CONFIG).open("a") as file:
            file.write(_SETTINGS)
        root.path(_LOAD).write_text(_LOAD_TEXT)
        root.path(_LOAD).chmod(0o755)
        self._start = printed.partition("start the agent with: ")[2].split("\n")[0].split()
        self._agent = self._started()
        self._node = wait_for(f"agent on {root.name}", self._online, seconds=60)
        body = {
            "cluster_id": cluster,
            "name": _TARGET,
            "path": "/scratch/iotide",
            "scope": "node",
            "reserve_bytes": None,
        }
        stack.post("/targets", {**body, "nodes": [self._node["id"]]})

    def campaign(self) -> str:
        """Run dd and create; return the number of valid runs."""
        dd: dict[str, object] = {"workload": "dd", "options": {"file_size_bytes": 64 * MIB}}
        runs = self._runs_of([dd, {"workload": "create", "options": {"file_count": 2000}}])
        for run in runs:
            self._require_valid(run)
        return f"{len(runs)} valid runs"

    def upgrade_under_load(self, package: str) -> str:
        """Upgrade while a load runs, and restart the agent as its unit does; return what the load did."""
        campaign = self._submit([{"workload": "command", "options": {"command": "minute"}}])
        run_id = self._stack.get("/runs", campaign_id=campaign)["items"][0]["id"]
        wait_for(f"the load of run {run_id}", lambda: self._progress(run_id), seconds=120)
        self._root.run("dpkg", "--install", package)
        require(self._state(run_id) not in _ENDED, f"{self._root.name}: the load ended before the upgrade did")
        self.stop()
        self._agent = self._started()
        self._stack.wait_campaign(campaign, seconds=600)
        run = self._stack.get(f"/runs/{run_id}")
        self._require_valid(run)
        files = next(sample["value"] for sample in run["samples"] if sample["metric"] == "files")
        return f"valid, {files:.0f} files written in {LOAD_SECONDS} s"

    def downgrade(self, package: str) -> str:
        """Install an older package over the newer one, restart the agent, and return what a campaign gives."""
        printed = self._root.run("dpkg", "--install", package)
        require("downgrading" in printed, f"{self._root.name}: dpkg printed {printed}")
        self.stop()
        self._agent = self._started()
        return self.campaign()

    def stop(self) -> None:
        """Stop the agent, and not its load, as systemd does by the unit's KillMode=process."""
        self._agent.send_signal(signal.SIGTERM)
        self._agent.wait(60)

    def _started(self) -> subprocess.Popen[bytes]:
        return self._root.start(*self._start)

    def _online(self) -> dict[str, Any] | None:
        require(self._agent.poll() is None, f"{self._root.name}: the agent ended with {self._agent.returncode}")
        nodes = self._stack.get("/nodes", limit=500)["items"]
        return next((node for node in nodes if node["name"] == self._root.name and node["state"] == "online"), None)

    def _submit(self, workloads: list[dict[str, object]]) -> int:
        plan = {
            "name": f"packages-{time.monotonic_ns()}",
            "cluster": self._root.name,
            "nodes": [self._root.name],
            "targets": [_TARGET],
            "workloads": workloads,
            "repeats": 1,
        }
        campaign: int = self._stack.post("/campaigns", plan)["id"]
        return campaign

    def _runs_of(self, workloads: list[dict[str, object]]) -> list[dict[str, Any]]:
        campaign = self._submit(workloads)
        self._stack.wait_campaign(campaign, seconds=300)
        return [
            self._stack.get(f"/runs/{run['id']}") for run in self._stack.get("/runs", campaign_id=campaign)["items"]
        ]

    def _progress(self, run_id: int) -> bool | None:
        run = self._stack.get(f"/runs/{run_id}")
        require(run["state"] not in _ENDED, f"{self._root.name}: run {run_id} ended early: {run['reason']}")
        return True if run["progress"] else None

    def _state(self, run_id: int) -> str:
        state: str = self._stack.get(f"/runs/{run_id}")["state"]
        return state

    def _require_valid(self, run: dict[str, Any]) -> None:
        found = (run["state"], run["validity"])
        require(found == ("finished", "valid"), f"{self._root.name}: run {run['id']} is {found}: {run['reason']}")
