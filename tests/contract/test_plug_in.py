"""Third-party package on a node: the server, without the package, shows its form, runs it and draws its numbers."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bring_up import wait_for
from factories.plug_ins import install_template
from local_stack import LocalStack
from made_mounts import FILE_SYSTEMS, made_mount
from rig import Rig, add_rig

from iotide_sha256.workload import Sha256Workload

FILE_BYTES = 8 * 1024**2


@pytest.fixture(scope="module")
def plugged(stack: LocalStack) -> Iterator[Rig]:
    """Return a node with the package; its target is a separate file system, for which the kernel keeps a read-ahead."""
    environment = install_template(stack.directory / "plug-ins")
    with made_mount(FILE_SYSTEMS["ext4"], stack.directory / "plugged") as mount:
        rig = add_rig(stack, "plugged", target=mount.point / "target", environment=environment)
        yield rig
        stack.stop_agent(rig.agent)


@pytest.fixture(scope="module")
def run(plugged: Rig) -> dict[str, Any]:
    """Return a run of the package's workload, planned with a size such as `4 MiB`."""
    return plugged.wait_ended(plugged.submit_one("sha256", {"file_size_bytes": "8 MiB"}))


def catalogue(rig: Rig) -> dict[str, dict[str, Any]]:
    items = rig.stack.get("/workloads", cluster_id=rig.cluster_id, limit=500)["items"]
    return {item["name"]: item for item in items}


def read_ahead_bytes(directory: Path) -> int:
    device = directory.stat().st_dev
    setting = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
    return int(setting.read_text()) * 1024


def test_its_form_and_metrics_are_in_the_catalogue_of_its_cluster_alone(plugged: Rig, rig: Rig) -> None:
    found = catalogue(plugged)["sha256"]
    assert found["options_schema"] == Sha256Workload().options_schema()
    assert [(metric["name"], metric["unit"]) for metric in found["metrics"]] == [("throughput", "bytes_per_second")]
    assert "sha256" not in catalogue(rig)
    assert "dd" in catalogue(rig)


def test_its_options_are_checked_by_its_own_schema(plugged: Rig) -> None:
    refused = plugged.stack.api.post("/campaigns", json=plugged.plan("sha256", {"file_size_bytes": 1}))
    assert refused.status_code == 422
    assert "file_size_bytes" in refused.text


def test_its_commands_run_and_its_number_is_that_of_the_step(plugged: Rig, run: dict[str, Any]) -> None:
    assert (run["state"], run["reason"]) == ("finished", None)
    steps = run["attempts"][0]["orders"][0]["steps"]
    assert [(step["name"], step["argv"][0]) for step in steps] == [("write", "dd"), ("hash", "sha256sum")]
    [sample] = plugged.stack.get("/samples", run_id=run["id"])["items"]
    assert sample["metric"] == "throughput"
    assert sample["value"] == pytest.approx(FILE_BYTES / steps[1]["wall_seconds"], rel=1e-3)
    assert {"ZEROES", "DURATION"} <= {flag["code"] for flag in run["flags"]}


def test_its_number_is_a_point_on_a_trend(plugged: Rig, run: dict[str, Any]) -> None:
    [sample] = plugged.stack.get("/samples", run_id=run["id"])["items"]
    path = f"/series/{sample['series_id']}/points"
    points = wait_for("the point", lambda: found if (found := plugged.stack.get(path))["n"] else None)
    assert points["median"] == [pytest.approx(sample["value"])]


def test_what_its_probe_found_is_with_the_node_and_with_the_run(plugged: Rig, run: dict[str, Any]) -> None:
    expected = read_ahead_bytes(plugged.target)
    assert run["environment"]["read_ahead.bytes"] == expected
    node = plugged.stack.get(f"/nodes/{plugged.agent.node_id}")
    [mount] = [mount for mount in node["mounts"] if mount["path"] == str(plugged.target)]
    assert mount["facts"]["read_ahead.bytes"] == expected


@pytest.mark.usefixtures("run")
def test_nothing_of_it_stays(plugged: Rig) -> None:
    plugged.wait_clean()
