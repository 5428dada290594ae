"""An unattended campaign, end to end: a server on this machine, agent and root program in the virtual machine."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any, Final

from bring_up import StackError, wait_for
from lab.lab import Tally
from local_stack import LocalStack
from rig import running_stack

from iotide_agent.scratch.mark import BLOCK_BYTES, mark_start_bytes, state_in

NODE: Final = "storage01"
NETWORK: Final = ("-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net")
ARRAY: Final = {"raid": 5, "disks": 3, "chunk": "64 KiB"}
PLAN: Final[dict[str, Any]] = {
    "name": "experiment-7-small",
    "nodes": [NODE],
    "targets": [f"{NODE}/bays"],
    "repeats": 1,
    "time_limit_seconds": 900,
    "workloads": [
        {
            "workload": "dd",
            "options": {
                "file_size_bytes": "16 MiB",
                "block_size_bytes": "1 MiB",
                "flush": "fsync",
                "operations": ["write"],
            },
        }
    ],
    "scratch": {
        "node": NODE,
        "set": "bays",
        "layouts": [
            ARRAY,
            {"lvm": "stripe", "chunk": "128 KiB", "arrays": 2, "on": ARRAY},
            {"lvm": "linear", "arrays": 2, "on": ARRAY},
        ],
        "filesystems": ["xfs"],
        "rounds": 1,
        "sync": "assume_clean",
    },
}
"""examples/unattended/experiment-7.yaml with two small arrays instead of three large ones, and one workload."""
DISKS: Final = 6
_JOIN_SECONDS: Final = 600.0
_CAMPAIGN_SECONDS: Final = 1800.0


def run_unattended(command: Sequence[str], disks: Mapping[str, Path], tally: Tally, prepare: Any) -> None:  # noqa: ANN401
    """Run the campaign without a hand, and print its scenario line. `command` starts the machine after `prepare`."""
    with running_stack() as stack:
        cluster_id = stack.add_cluster("unattended")
        join = stack.post(f"/clusters/{cluster_id}/join-tokens", {"uses": 1, "expires_in_seconds": 3600})
        ports = (str(stack.port), str(stack.redis_port))
        prepare(("scratch.inside.node", *ports, join["token"], str(DISKS)))
        machine = subprocess.Popen([*command, *NETWORK], stdout=subprocess.PIPE, text=True, errors="replace")
        follower = Thread(target=_print, args=(machine, tally))
        follower.start()
        try:
            problem = _campaign(stack, cluster_id, machine)
        except StackError as error:
            problem = str(error)
        finally:
            machine.kill()
            follower.join()
    problem = problem or "; ".join(f"{serial} is not clean" for serial in disks if not _is_clean(disks[serial]))
    tally.take(f"scenario: {'failed' if problem else 'passed'} unattended: experiment 7 in small {problem}\n")


def _print(machine: subprocess.Popen[str], tally: Tally) -> None:
    assert machine.stdout is not None
    for line in machine.stdout:
        tally.take(line)


def _campaign(stack: LocalStack, cluster_id: int, machine: subprocess.Popen[str]) -> str:
    """Enable the set, submit, wait; return what is wrong at the end, or nothing."""

    def announced() -> dict[str, Any] | None:
        if machine.poll() is not None:
            raise StackError("the machine ended")
        found = stack.get("/scratch-sets", cluster_id=cluster_id)["items"]
        return found[0] if found and found[0]["state"] == "clean" else None

    found = wait_for("the node's scratch set", announced, seconds=_JOIN_SECONDS)
    allowed = {"name": "bays", "disks_sha256": found["disks_sha256"], "target_name": "bays", "allows_tokens": True}
    bearer = stack.api.headers.pop("Authorization")  # a signed-in user alone may enable a set
    stack.api.cookies.set("iotide_session", stack.browser_session())
    stack.post(f"/scratch-sets/{found['id']}/enable", allowed)
    stack.api.cookies.clear()
    stack.api.headers["Authorization"] = bearer
    campaign_id = stack.post("/campaigns", {**PLAN, "cluster": "unattended"})["id"]
    campaign = stack.wait_campaign(campaign_id, seconds=_CAMPAIGN_SECONDS)
    shown = [(stage["does"], stage["variant"]) for stage in campaign["stages"]]
    runs = stack.get("/runs", campaign_id=campaign_id, limit=500)["items"]
    sys.stdout.write(f"unattended: {campaign['state']}, stages {shown}\n")
    wrong = [f"{run['state']} {run['reason']}" for run in runs if run["state"] != "finished"]
    makes = sum(does == "make" for does, _ in shown)
    return "; ".join(wrong) or ("" if (campaign["state"], makes) == ("finished", 3) else f"{campaign['state']} {shown}")


def _is_clean(image: Path) -> bool:
    with image.open("rb") as disk:
        disk.seek(mark_start_bytes(image.stat().st_size) + BLOCK_BYTES)
        return state_in(disk.read(BLOCK_BYTES)).is_clean
