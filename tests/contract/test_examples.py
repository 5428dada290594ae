"""The programs in examples/rest, as somebody would start them who has nothing but curl, or nothing but Python."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rig import TARGET, Rig

REST = Path(__file__).parents[2] / "examples/rest"
PROGRAMS = {"curl": [str(REST / "curl.sh")], "python": [sys.executable, str(REST / "submit_and_wait.py")]}
SMALL = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}


def run_example(name: str, rig: Rig, plan: dict[str, object], directory: Path) -> subprocess.CompletedProcess[str]:
    file = directory / "plan.json"
    file.write_text(json.dumps(plan))
    environment = {**os.environ, "IOTIDE_URL": rig.stack.url, "IOTIDE_TOKEN": rig.stack.token}
    command = [*PROGRAMS[name], str(file)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_submits_waits_and_fetches_the_samples(name: str, rig: Rig, tmp_path: Path) -> None:
    done = run_example(name, rig, rig.plan("dd", SMALL, repeats=2), tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    rates = [row for row in rows if row["metric"] == "throughput"]
    assert len(rates) == 2 * 2
    assert all(float(row["value"]) > 0 for row in rates)


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_ends_with_1_when_a_run_failed(name: str, rig: Rig, tmp_path: Path) -> None:
    endless = {"file_size_bytes": "4 MiB", "block_size_bytes": "4 KiB", "runtime_seconds": 60}
    done = run_example(name, rig, rig.plan("fio", endless, time_limit_seconds=1), tmp_path)
    assert done.returncode == 1, done.stderr
    assert "failed" in done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_ends_with_2_and_names_what_was_refused(name: str, rig: Rig, tmp_path: Path) -> None:
    done = run_example(name, rig, rig.plan("dd", SMALL, targets=[f"{TARGET}-other"]), tmp_path)
    assert done.returncode == 2
    assert "targets[0]: " in done.stderr
    assert done.stdout == ""
