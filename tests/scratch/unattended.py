"""Unattended campaigns, end to end: a server on this machine, agent and root program in the virtual machine."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Final

from bring_up import StackError, wait_for
from gallery import path_of, take_pictures
from lab.lab import Tally
from local_stack import LocalStack
from rig import running_stack

from iotide_agent.cli.plan_file import read_plan
from iotide_agent.scratch.mark import BLOCK_BYTES, mark_start_bytes, state_in

CLUSTER: Final = "unattended"
NETWORK: Final = ("-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net")
PLANS: Final = Path(__file__).with_name("plans")
DISKS: Final = 6
_JOIN_SECONDS: Final = 1200.0
_CAMPAIGN_SECONDS: Final = 2 * 3600.0


@dataclass(frozen=True)
class Unattended:
    """Campaign that needs no operator.

    Attributes:
        variants: how many it makes.
        advice: code of a finding that its runs must have.
        figures: the figure's URL parameters by picture name.
    """

    number: int
    variants: int
    advice: str = ""
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


CAMPAIGNS: Final = (
    Unattended(
        7, 3, "linear_volume", {"unattended-7": {"workload": "dd", "show": "throughput", "x": "variant", "split": ""}}
    ),
    Unattended(2, 7, figures={"unattended-2": {"workload": "dd", "show": "duration"}}),
    Unattended(4, 8, figures={"unattended-4": {"workload": "bonnie", "show": "throughput"}}),
)


def run_unattended(
    command: Sequence[str],
    disks: Mapping[str, Path],
    tally: Tally,
    prepare: Callable[[Sequence[str]], None],
    pictures: Path | None,
) -> None:
    """Run the campaigns without a hand, and print a scenario line for each. `command` starts the machine."""
    with running_stack() as stack:
        cluster_id = stack.add_cluster(CLUSTER)
        join = stack.post(f"/clusters/{cluster_id}/join-tokens", {"uses": 1, "expires_in_seconds": 3600})
        ports = (str(stack.port), str(stack.redis_port))
        prepare(("scratch.inside.node", *ports, join["token"], str(DISKS)))
        machine = subprocess.Popen([*command, *NETWORK], stdout=subprocess.PIPE, text=True, errors="replace")
        follower = Thread(target=_print, args=(machine, tally))
        follower.start()
        try:
            _enable(stack, cluster_id, machine)
            problems = {campaign.number: _ran(stack, campaign, pictures) for campaign in CAMPAIGNS}
        except StackError as error:
            problems = {0: str(error)}
        finally:
            machine.kill()
            follower.join()
    dirty = [serial for serial, disk in disks.items() if not _is_clean(disk)]
    problems[0] = "; ".join([*filter(None, [problems.get(0)]), *(f"{serial} is not clean" for serial in dirty)])
    for number, problem in problems.items():
        what = f"experiment {number} in small" if number else "every disk is clean"
        tally.take(f"scenario: {'failed' if problem else 'passed'} unattended: {what} {problem}\n")


def _print(machine: subprocess.Popen[str], tally: Tally) -> None:
    assert machine.stdout is not None
    for line in machine.stdout:
        tally.take(line)


def _enable(stack: LocalStack, cluster_id: int, machine: subprocess.Popen[str]) -> None:
    """Enable the node's set once it is announced; raise StackError."""

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


def _ran(stack: LocalStack, unattended: Unattended, pictures: Path | None) -> str:
    """Submit, wait, take pictures; return what is wrong at the end, or nothing. Raise StackError."""
    plan = read_plan(PLANS / f"experiment-{unattended.number}.yaml").model_dump(mode="json")
    campaign_id = stack.post("/campaigns", plan)["id"]
    campaign = stack.wait_campaign(campaign_id, seconds=_CAMPAIGN_SECONDS)
    runs = stack.get("/runs", campaign_id=campaign_id, limit=500)["items"]
    made = {stage["variant"] for stage in campaign["stages"] if stage["does"] == "make"}
    advice = {finding["code"] for finding in stack.get(f"/campaigns/{campaign_id}/advice")["advice"]}
    sys.stdout.write(
        f"unattended: experiment {unattended.number}: {campaign['state']}, {len(runs)} runs, {len(made)} variants, "
        f"advice {sorted(advice)}\n"
    )
    if pictures is not None:
        wanted = [
            {"path": path_of(campaign_id, view), "file": str(pictures / f"{name}.png")}
            for name, view in unattended.figures.items()
        ]
        with tempfile.TemporaryDirectory() as directory:
            take_pictures(Path(directory), stack, wanted)
    wrong = [f"{run['state']} {run['reason']}" for run in runs if run["state"] != "finished"]
    wrong += [] if campaign["state"] == "finished" else [str(campaign["state"])]
    wrong += [] if len(made) == unattended.variants else [f"made {sorted(made)}"]
    wrong += [] if unattended.advice in {"", *advice} else [f"no advice {unattended.advice}"]
    return "; ".join(wrong)


def _is_clean(image: Path) -> bool:
    with image.open("rb") as disk:
        disk.seek(mark_start_bytes(image.stat().st_size) + BLOCK_BYTES)
        return state_in(disk.read(BLOCK_BYTES)).is_clean
