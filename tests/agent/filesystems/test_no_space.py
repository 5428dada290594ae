"""Targets that fill up while a load writes: the run fails, gives the reason, and leaves no files."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent.node_rig import NodeRig
from factories.tiny_runs import real_workloads
from made_mounts import SMALL, MadeMount, made_mount

from iotide_agent.workloads.registry import all_workloads
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.messages import Outcome
from iotide_wire.units import MIB

LEFT_BYTES = 4 * MIB
IOZONE: dict[str, Any] = {"tests": ["write"], "file_size_bytes": 8 * MIB, "max_record_size_bytes": MIB}
TOO_MUCH: dict[str, list[dict[str, Any]]] = {
    "dd": [{"file_size_bytes": 16 * MIB, "block_size_bytes": MIB, "writers": writers} for writers in (1, 2)],
    "create": [{"file_count": 1000}, {"file_count": 500, "processes": 2}],
    "fill": [{"file_size_bytes": 4 * MIB, "block_size_bytes": 65536, "fill_percent": 95, "reserve_bytes": 0}],
    "bonnie": [{"tests": ["block"], "file_size_bytes": 16 * MIB}],
    "iozone": [IOZONE | {"min_record_size_bytes": MIB}, IOZONE | {"mode": "throughput", "processes": 4}],
    "fio": [{"file_size_bytes": 8 * MIB, "num_jobs": jobs, "direct": jobs == 1} for jobs in (1, 2)],
    "stream": [{"duration_seconds": 1, "rate_bytes_per_second": 8_000_000, "files": "single"}],
    "command": [{"command": "json", "space_bytes": 8 * MIB}],
    "ior": [{"tasks": 2, "transfers_per_block": 8}],
    "mdtest": [{"tasks": 2, "item_count": 500}],
    "io500": [{"tasks": 2, "stonewall_seconds": 1, "easy_block_size_bytes": 8 * MIB}],
}
"""Each needs more than is free at its start: bytes, or files (this file system has 2048 inodes)."""
LEFT_FILES = {"create": 300, "mdtest": 300, "fill": 2}
"""For workloads that run out of inodes; `fill` checks the free bytes before each file, but not the inodes."""
KEPT = {
    "dd": {"throughput"},
    "fill": {"throughput"},
    "fio": {"throughput", "iops", "latency"},
    "create": {"operation_rate"},
}
"""Metrics of the part before the failure, for tools that report them."""


@pytest.fixture(scope="module")
def mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeMount]:
    with made_mount(SMALL, tmp_path_factory.mktemp("mounts") / "small") as made:
        yield made


@pytest.fixture(scope="module")
def node(mount: MadeMount, tmp_path_factory: pytest.TempPathFactory) -> NodeRig:
    return NodeRig(tmp_path_factory.mktemp("node") / "state", [mount.point])


@pytest.fixture
def ballast(mount: MadeMount) -> Iterator[Path]:
    directory = mount.point / "ballast"
    directory.mkdir()
    yield directory
    shutil.rmtree(directory)


def test_every_workload_that_writes_is_tried() -> None:
    assert TOO_MUCH.keys() == {name for name, workload in all_workloads().items() if workload.writes}


@pytest.mark.parametrize(
    ("workload", "options"), [(name, options) for name in real_workloads() for options in TOO_MUCH.get(name, [])]
)
def test_run_on_a_target_that_becomes_full_fails_with_a_message(
    mount: MadeMount,
    node: NodeRig,
    ballast: Path,
    monkeypatch: pytest.MonkeyPatch,
    workload: str,
    options: dict[str, Any],
) -> None:
    # In throughput mode iozone waits for ever for its processes that died.
    monkeypatch.setattr("iotide_agent.workloads.iozone.COMPLAINED_STALL_SECONDS", 1.5)
    order = node.order(workload, options, mount.point)
    node.begin(order)
    node.until_ready(order)
    if workload in LEFT_FILES:
        take_files_but(LEFT_FILES[workload], ballast)
    else:
        take_bytes_but(LEFT_BYTES, ballast)
    node.release(order)
    result = node.finish(order)
    assert result.outcome is Outcome.FAILED
    assert "No space left on device" in str(result.reason)
    assert {sample.metric for sample in result.samples} >= KEPT.get(workload, set())
    rejected = {flag.code for flag in result.flags if flag.effect is FlagEffect.REJECTED and not flag.labels}
    assert not result.samples or FlagCode.ERRORS in rejected
    assert {path.name for path in mount.point.iterdir()} == {ballast.name, "lost+found"}
    assert node.spool.leftovers() == []


@pytest.mark.parametrize(
    ("workload", "options", "files"),
    [
        ("create", {"file_count": 1000, "processes": 2}, 2002),
        ("bonnie", {"tests": ["files"], "file_count": 2048}, 2048),
    ],
)
def test_run_that_would_use_up_the_files_that_a_target_can_hold_is_declined_before_it_makes_any(
    mount: MadeMount, node: NodeRig, workload: str, options: dict[str, Any], files: int
) -> None:
    free_files = os.statvfs(mount.point).f_favail
    result = node.measure(workload, options, mount.point)
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "no_files")
    assert f"has room for {free_files} more files; the run creates {files} and room for" in str(result.reason)
    assert os.statvfs(mount.point).f_favail == free_files


def take_bytes_but(left_bytes: int, ballast: Path) -> None:
    space = os.statvfs(ballast.parent)
    with (ballast / "bytes").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, space.f_bavail * space.f_frsize - left_bytes)


def take_files_but(left: int, ballast: Path) -> None:
    for number in range(os.statvfs(ballast).f_favail - left):
        (ballast / str(number)).touch()
