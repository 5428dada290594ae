"""`./dev gallery`: runs small versions of the nine experiments on loop devices and takes a picture of each figure.

Needs root for loop devices, and its own network and mount namespaces, as provided by `./dev gallery`. The pictures go
to docs/gallery and appear in the README.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bring_up import StackError, wait_for
from experiments import DISKS, EXPERIMENTS, RE_FORMATTED, VOLUME, Experiment
from gluster_volume import gluster_volume
from local_stack import LocalStack
from loop_disks import Disk, LoopMount, as_root, loop_mount

from iotide_agent.cli.plan_file import read_plan

ROOT = Path(__file__).parents[2]
PLANS = ROOT / "examples/small"
PICTURES = ROOT / "docs/gallery"
PACKAGES = ROOT / "frontend/node_modules"
CLUSTER, NODE = "gallery", "node07"
LONGEST_CAMPAIGN_SECONDS = 900.0


def main() -> int:
    """Run the experiments. The exit status is 0 only if every run finished."""
    parser = argparse.ArgumentParser(description="Run small versions of the nine experiments and take their pictures.")
    parser.add_argument("numbers", nargs="*", type=int, help="numbers of the experiments; default all nine")
    numbers = parser.parse_args().numbers
    chosen = [experiment for experiment in EXPERIMENTS if not numbers or experiment.number in numbers]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    directory = Path(tempfile.mkdtemp(prefix="iotide-"))
    directory.chmod(0o755)
    try:
        return run_all(directory, chosen)
    except StackError as error:
        print(f"gallery: {error}", file=sys.stderr)  # noqa: T201 - error for the user
        return 1
    finally:
        shutil.rmtree(directory)


def run_all(directory: Path, chosen: Sequence[Experiment]) -> int:
    as_root("ip", "link", "set", "lo", "up")
    mount_points = directory / "mnt"
    mount_points.mkdir(mode=0o755)
    with ExitStack() as stays:
        disks = needed_disks(chosen)
        if VOLUME in disks:
            stays.enter_context(gluster_volume(mount_points / VOLUME, disks.pop(VOLUME)))
        mounts = {name: stays.enter_context(loop_mount(mount_points / name, disk)) for name, disk in disks.items()}
        stack = stays.enter_context(LocalStack(directory))
        cluster_id = stack.add_cluster(CLUSTER)
        agent = stack.add_agent(cluster_id, NODE, [mount_points])
        for mount_point in mount_points.iterdir():
            stack.add_target(cluster_id, mount_point.name, mount_point, [agent.node_id])
        return sum(show(stack, directory, experiment, mounts) for experiment in chosen) and 1


def show(stack: LocalStack, directory: Path, experiment: Experiment, mounts: Mapping[str, LoopMount]) -> int:
    """Run an experiment, take its pictures and return the number of failed runs."""
    campaign = run_campaign(stack, experiment, mounts)
    finished, failed = campaign["counts"]["finished"], campaign["counts"]["failed"]
    say(f"experiment {experiment.number}: {finished} runs finished, {failed} failed")
    pictures = [
        {"path": path_of(campaign["id"], view), "file": str(PICTURES / f"{name}.png")}
        for name, view in experiment.figures.items()
    ]
    take_pictures(directory, stack, pictures)
    return int(failed)


def path_of(campaign_id: int, view: Mapping[str, Any]) -> str:
    """Return the address of a campaign's figure."""
    return f"/campaigns/{campaign_id}?figure={json.dumps(view)}"


def say(text: str) -> None:
    print(f"gallery: {text}", flush=True)  # noqa: T201 - the only output of this program


def needed_disks(chosen: Sequence[Experiment]) -> dict[str, Disk]:
    """Return the file systems that the experiments use, by target."""
    names = {name for experiment in chosen for name in read_plan(plan_file(experiment)).targets}
    return {name: disk for name, disk in DISKS.items() if name in names}


def plan_file(experiment: Experiment) -> Path:
    """Return the plan of the small version."""
    return PLANS / f"experiment-{experiment.number}.yaml"


def run_campaign(stack: LocalStack, experiment: Experiment, mounts: Mapping[str, LoopMount]) -> dict[str, Any]:
    """Run the campaign to its end, preparing and confirming each stage."""
    plan = read_plan(plan_file(experiment)).model_dump(mode="json")
    campaign_id = stack.post("/campaigns", plan)["id"]
    while (campaign := still(stack, campaign_id))["state"] == "paused":
        variant = next(stage["variant"] for stage in campaign["stages"] if stage["state"] == "paused")
        mounts[RE_FORMATTED].replace(experiment.variants[variant])
        confirm(stack, campaign_id)
    return campaign


def still(stack: LocalStack, campaign_id: int) -> dict[str, Any]:
    """Return the campaign once it has ended or waits for an operator."""

    def stands() -> dict[str, Any] | None:
        campaign: dict[str, Any] = stack.get(f"/campaigns/{campaign_id}")
        return campaign if campaign["state"] in {"finished", "failed", "cancelled", "paused"} else None

    return wait_for(f"campaign {campaign_id}", stands, seconds=LONGEST_CAMPAIGN_SECONDS, pause_seconds=0.5)


def confirm(stack: LocalStack, campaign_id: int) -> None:
    """Let the node probe its mounts again, then confirm the stage."""
    stack.post(f"/campaigns/{campaign_id}/pause/look", {})

    def seen() -> str | None:
        pause = stack.get(f"/campaigns/{campaign_id}/pause")
        return None if pause["waiting_for"] else str(pause["found_sha256"])

    found_sha256 = wait_for("the node's report of its mounts", seen)
    stack.post(f"/campaigns/{campaign_id}/confirm", {"found_sha256": found_sha256})


def take_pictures(directory: Path, stack: LocalStack, pictures: Sequence[Mapping[str, str]]) -> None:
    """Draw each figure in Chromium and save it as PNG.

    Raises:
        StackError: it failed.
    """
    PICTURES.mkdir(parents=True, exist_ok=True)
    wanted = directory / "pictures.json"
    wanted.write_text(
        json.dumps({"address": stack.url, "session": stack.browser_session(), "pictures": list(pictures)})
    )
    environment = {**os.environ, "NODE_PATH": str(PACKAGES), "IOTIDE_CHROMIUM": shutil.which("chromium") or ""}
    command = ["node", str(Path(__file__).with_name("shoot.mjs")), str(wanted)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"no pictures: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
