"""Examples work: the REST scripts run as a user runs them, and the plans are valid."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from rig import FIO_SMALL, NODE, Rig
from submitting import TARGET

from iotide_server.campaigns.resolved import resolve
from iotide_wire.plan import CampaignPlan

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(set(EXAMPLES.rglob("*.yaml")) - set(EXAMPLES.glob("schedules/*")))
PLANS = [str(file.relative_to(EXAMPLES)) for file in FILES]
SCRIPTS = {"curl": ["bash", "curl.sh"], "python": [sys.executable, "submit_and_wait.py"]}


@pytest.fixture(params=SCRIPTS)
def script(request: pytest.FixtureRequest) -> list[str]:
    interpreter, name = SCRIPTS[request.param]
    return [interpreter, str(EXAMPLES / "rest" / name)]


def run(rig: Rig, script: list[str], directory: Path, plan: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    file = directory / "plan.json"
    file.write_text(json.dumps(plan))
    environment = {**os.environ, "IOTIDE_URL": rig.stack.url, "IOTIDE_TOKEN": rig.stack.token}
    return subprocess.run(
        [*script, str(file)], env=environment, capture_output=True, text=True, timeout=100, check=False
    )


def example_plan() -> dict[str, Any]:
    plan: dict[str, Any] = json.loads((EXAMPLES / "rest/plan.json").read_text())
    plan["workloads"][0]["options"]["file_size_bytes"] = "1 MiB"
    return plan | {"cluster": "contract", "nodes": [NODE], "targets": [TARGET], "repeats": 2}


def test_a_script_waits_for_the_end_and_prints_the_samples(rig: Rig, script: list[str], tmp_path: Path) -> None:
    done = run(rig, script, tmp_path, example_plan())
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    rates = [row for row in rows if row["metric"] == "throughput"]
    assert len(rates) == 2 * 2  # write and read, twice


def test_a_script_ends_with_1_when_a_run_failed(rig: Rig, script: list[str], tmp_path: Path) -> None:
    endless = {"workload": "fio", "options": {**FIO_SMALL, "rw": "write", "runtime_seconds": 60}}
    plan = example_plan() | {"workloads": [endless], "repeats": 1, "time_limit_seconds": 1}
    assert run(rig, script, tmp_path, plan).returncode == 1


def test_a_script_ends_with_2_and_says_what_was_wrong(rig: Rig, script: list[str], tmp_path: Path) -> None:
    done = run(rig, script, tmp_path, example_plan() | {"targets": ["nfs9"]})
    assert done.returncode == 2
    assert "nfs9" in done.stderr
    assert "remedy" in done.stderr


@pytest.mark.parametrize("file", PLANS)
def test_the_workloads_of_a_plan_are_run_with_what_it_names(file: str) -> None:
    resolve(CampaignPlan.model_validate(yaml.safe_load((EXAMPLES / file).read_text())))


@pytest.mark.parametrize("file", PLANS)
def test_a_plan_is_understood(rig: Rig, file: str) -> None:
    plan = yaml.safe_load((EXAMPLES / file).read_text()) | {"cluster": "contract", "nodes": [NODE], "targets": [TARGET]}
    plan.pop("nodes_at_once", None)  # of the example's own directories
    for choice in plan["workloads"]:
        choice.pop("nodes", None)
        choice.pop("roles", None)
        choice.pop("targets", None)
    if "scratch" in plan:
        # The rig's node has no scratch disks; `test_scratch.py` expands the block of each example.
        given = plan | {"scratch": plan["scratch"] | {"node": NODE}}
        refused = rig.stack.api.post("/campaigns/preview", json=given).json()
        assert refused["error"]["code"] == "scratch_set_unknown", refused
        del plan["scratch"]
    response = rig.stack.api.post("/campaigns/preview", json=plan)
    # A machine with less room than the example needs is not a fault of the example.
    assert response.is_success or response.json()["error"]["code"] == "not_enough_space", response.text
