"""`iotide` in a user's script: output and exit status."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from local_stack import BIN
from rig import FIO_SMALL, Rig

SMALL = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}
LONG = {**FIO_SMALL, "rw": "write", "runtime_seconds": 60}


def iotide(rig: Rig, *arguments: str | Path, token: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "IOTIDE_URL": rig.stack.url, "IOTIDE_TOKEN": token or rig.stack.token}
    command = [str(BIN / "iotide"), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)


def answer(done: subprocess.CompletedProcess[str]) -> Any:  # noqa: ANN401 - whatever JSON the command prints
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plan_file(directory: Path, plan: dict[str, Any]) -> Path:
    file = directory / "plan.yaml"
    file.write_text(yaml.safe_dump(plan))
    return file


def test_submit_and_watch_ends_with_0_when_every_run_finished(rig: Rig, tmp_path: Path) -> None:
    done = iotide(rig, "campaign", "submit", plan_file(tmp_path, rig.plan("dd", SMALL, repeats=3)), "--watch")
    assert done.returncode == 0, done.stderr
    assert "3 runs finished, 0 failed" in done.stdout
    # Wait for the number computed some seconds after the last run: no number covers fewer runs.
    numbers = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("  Throughput")]
    assert numbers == ["3", "3"]
    assert "do not include all runs" not in done.stderr


def test_submit_and_watch_ends_with_1_when_a_run_failed(rig: Rig, tmp_path: Path) -> None:
    plan = rig.plan("fio", LONG, time_limit_seconds=1)
    done = iotide(rig, "campaign", "submit", plan_file(tmp_path, plan), "--watch")
    assert done.returncode == 1
    assert "1 failed" in done.stdout


MISTAKES: dict[str, tuple[str, str, str]] = {
    # wrong text, place, offending value
    "wrong node": ("node-1|node-l", "nodes[0]", "node-l"),
    "wrong target": ("targets: [scratch]|targets: [scrtch]", "targets[0]", "scrtch"),
    "unknown workload": ("workload: dd|workload: ddd", "workloads[0].workload", "ddd"),
    "unknown option": ("block_size_bytes|blocksize_bytes", "workloads[0].options.blocksize_bytes", "blocksize_bytes"),
    "unknown key": ("repeats: 1|repeat: 1", "plan.yaml:6:1", "repeat"),
    "size 0": ("1 MiB|0 MiB", "workloads[0].options.file_size_bytes", "0"),
    "size of dd": ("1 MiB|64M", "workloads[0].options.file_size_bytes", "64M"),
    "broken YAML": ("[node-1]|[node-1", "plan.yaml:4:", "YAML"),
    "twice the same key": ("repeats: 1|name: again", "plan.yaml:6:1", "name"),
}
PLAN = """\
name: mistaken
cluster: {cluster}
nodes: [node-1]
targets: [scratch]
workloads: [{{workload: dd, options: {{file_size_bytes: 1 MiB, block_size_bytes: 64 KiB}}}}]
repeats: 1
"""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_plan_ends_with_2_and_names_place_and_remedy(rig: Rig, tmp_path: Path, mistake: str) -> None:
    change, place, offending = MISTAKES[mistake]
    right, wrong = change.split("|")
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN.format(cluster=rig.cluster).replace(right, wrong, 1))
    done = iotide(rig, "campaign", "submit", file)
    assert done.returncode == 2
    assert place in done.stderr
    assert offending in done.stderr
    assert "remedy" in done.stderr
    assert done.stdout == ""


def test_a_missing_plan_file_ends_with_2_and_names_it(rig: Rig, tmp_path: Path) -> None:
    done = iotide(rig, "campaign", "submit", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert "none.yaml" in done.stderr
    assert "remedy" in done.stderr


def test_a_wrong_token_ends_with_2(rig: Rig) -> None:
    done = iotide(rig, "campaign", "list", token="iot_wrong")
    assert done.returncode == 2
    assert "remedy" in done.stderr


def test_submitted_campaigns_can_be_listed_shown_and_cancelled(rig: Rig, tmp_path: Path) -> None:
    plan = rig.plan("fio", LONG)
    campaign = answer(iotide(rig, "campaign", "submit", plan_file(tmp_path, plan), "--json"))
    listed = answer(iotide(rig, "campaign", "list", "--json"))
    assert campaign["id"] in [item["id"] for item in listed]
    shown = answer(iotide(rig, "campaign", "show", str(campaign["id"]), "--json"))
    assert shown["plan"]["name"] == plan["name"]
    assert iotide(rig, "campaign", "cancel", str(campaign["id"])).returncode == 0
    assert rig.stack.wait_campaign(campaign["id"])["state"] == "cancelled"


def test_a_run_can_be_shown_read_and_exported(rig: Rig) -> None:
    run_id = rig.submit_one("dd", SMALL)
    rig.wait_ended(run_id)
    run = answer(iotide(rig, "run", "show", str(run_id), "--json"))
    assert run["state"] == "finished"
    assert run_id in [item["id"] for item in answer(iotide(rig, "run", "list", "--json"))]
    log = iotide(rig, "run", "log", str(run_id), "--raw")
    assert "records out" in log.stdout
    exported = answer(iotide(rig, "run", "export", str(run_id), "--format", "json"))
    assert {sample["metric"] for sample in exported} == {"throughput", "duration"}
    lines = iotide(rig, "run", "export", str(run_id)).stdout.splitlines()
    assert len(lines) == 1 + len(exported)


@pytest.fixture(scope="module")
def ended_run(rig: Rig) -> dict[str, Any]:
    return rig.wait_ended(rig.submit_one("dd", SMALL))


@pytest.mark.parametrize(
    "command",
    [("campaign", "list"), ("run", "list"), ("campaign", "show", "{campaign_id}"), ("run", "show", "{id}")],
)
def test_people_get_tables(rig: Rig, ended_run: dict[str, Any], command: tuple[str, ...]) -> None:
    done = iotide(rig, *(word.format_map(ended_run) for word in command))
    assert done.returncode == 0, done.stderr
    assert "contract" in done.stdout or "dd" in done.stdout
