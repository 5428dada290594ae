"""Runs ended at a random moment by the user or by kill -9: the load is gone and no file is left."""

import os
import random
import signal
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest
from agent.node_rig import NodeRig
from factories.tiny_runs import MADE_BEFORE, WHOLE, real_workloads
from made_mounts import FILE_SYSTEMS, MadeMount, made_mount

from iotide_agent.runner import processes
from iotide_agent.workloads.registry import all_workloads
from iotide_wire.messages import Order, Outcome
from iotide_wire.units import MIB

SEED = os.environ.get("IOTIDE_CANCEL_SEED") or os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid4().hex)[:6]
"""Seed of the random moments, shared by pytest's workers. Test names contain it, so that a failure can be repeated."""
CANCELS, KILLS = 20, 4
LATEST_SECONDS = 0.6
LONG: dict[str, dict[str, Any]] = {
    "dd": {"file_size_bytes": 16 * MIB, "block_size_bytes": 512, "flush": "dsync", "writers": 2},
    "create": {"file_count": 1500, "mode": "fork-touch"},
    "fill": {"file_size_bytes": 4 * MIB, "block_size_bytes": 512, "flush": "dsync", "reserve_bytes": 0},
    "fio": {"rw": "randrw", "block_size_bytes": 4096, "file_size_bytes": 4 * MIB, "runtime_seconds": 60},
    "iozone": {"file_size_bytes": 16 * MIB, "min_record_size_bytes": 4096},
    "bonnie": {"tests": ["files"], "file_count": 1024, "sync_files": True},
    "stream": {
        "duration_seconds": 8,
        "rate_bytes_per_second": 8_000_000,
        "file_size_bytes": 32 * MIB,
        "kept_files": 2,
    },
    "rawread": {"path": MADE_BEFORE["rawread"], "runtime_seconds": 60},
    "command": {"command": "endless", "space_bytes": MIB},
    "ior": {"tasks": 2, "transfers_per_block": 64, "operations": ["write"]},
    "mdtest": {"tasks": 2, "item_count": 15_000},
    "io500": {"tasks": 2, "stonewall_seconds": 5},
}
"""Runs that last longer than the latest moment of a kill."""
ALL_STEPS = WHOLE | {"bonnie": {"tests": ["block", "files"], "file_size_bytes": 4 * MIB, "file_count": 1024}}
"""Runs that pass through every step."""


def numbers(first: int, count: int) -> list[str]:
    """Return names of random moments, each with the workload to run."""
    return [f"{SEED}-{number}" for number in range(first, first + count)]


@pytest.fixture(scope="module")
def mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeMount]:
    with made_mount(FILE_SYSTEMS["ext4"], tmp_path_factory.mktemp("mounts") / "target") as made:
        for name in MADE_BEFORE.values():
            (made.point / name).write_bytes(bytes(4 * MIB))
        yield made


@pytest.fixture(scope="module")
def node(mount: MadeMount, tmp_path_factory: pytest.TempPathFactory) -> NodeRig:
    return NodeRig(tmp_path_factory.mktemp("node") / "state", [mount.point])


@pytest.fixture(scope="module")
def whole_seconds(mount: MadeMount, node: NodeRig) -> dict[str, float]:
    """Measure how long a whole small run of each takes on this machine, from its order to its end."""
    seconds = {}
    for name in real_workloads():
        started = processes.boottime()
        assert node.measure(name, ALL_STEPS[name], mount.point).outcome is Outcome.FINISHED
        seconds[name] = processes.boottime() - started
    return seconds


def test_every_workload_has_its_turn() -> None:
    assert LONG.keys() == all_workloads().keys()
    assert len(real_workloads()) <= min(CANCELS, 3 * KILLS)


@pytest.mark.parametrize("number", numbers(0, CANCELS // 2))
def test_cancel_at_a_random_moment_ends_a_long_load_and_leaves_nothing(
    mount: MadeMount, node: NodeRig, number: str
) -> None:
    order = begun(mount, node, number)
    seen = loads_until_a_random_moment(node, order, number)
    node.cancel(order)
    result = node.finish(order)
    assert (result.outcome, result.reason_code) == (Outcome.CANCELLED, "cancelled")
    assert_nothing_is_left(mount, node, seen)


@pytest.mark.parametrize("number", numbers(0, CANCELS))
def test_cancel_at_any_moment_of_a_whole_run_leaves_nothing(
    mount: MadeMount, node: NodeRig, whole_seconds: dict[str, float], number: str
) -> None:
    order = begun(mount, node, number, ALL_STEPS)
    seen = loads_until_a_random_moment(node, order, number, whole_seconds[order.workload])
    node.cancel(order)
    result = node.finish(order)
    # The run may be faster than before and already over.
    assert (result.outcome, result.reason_code) in {(Outcome.CANCELLED, "cancelled"), (Outcome.FINISHED, None)}
    assert_nothing_is_left(mount, node, seen)


@pytest.mark.parametrize("number", numbers(CANCELS, KILLS))
def test_a_runner_killed_at_a_random_moment_is_cleaned_up_after(mount: MadeMount, node: NodeRig, number: str) -> None:
    order = begun(mount, node, number)
    seen = loads_until_a_random_moment(node, order, number)
    os.kill(node.runner_pid(order), signal.SIGKILL)
    result = node.finish(order)
    assert result.outcome is Outcome.FAILED
    assert result.reason_code in {"runner_died", "start_unknown"}
    assert_nothing_is_left(mount, node, seen)


@pytest.mark.parametrize("number", numbers(CANCELS + KILLS, KILLS))
def test_an_agent_killed_at_a_random_moment_finds_its_run_again(mount: MadeMount, node: NodeRig, number: str) -> None:
    order = begun(mount, node, number)
    seen = loads_until_a_random_moment(node, order, number)
    node.restart()
    node.cancel(order)
    result = node.finish(order)
    assert result.outcome is Outcome.CANCELLED
    assert_nothing_is_left(mount, node, seen)


@pytest.mark.parametrize("number", numbers(CANCELS + 2 * KILLS, KILLS))
def test_an_agent_killed_with_its_runner_cleans_up_at_its_next_start(
    mount: MadeMount, node: NodeRig, number: str
) -> None:
    order = begun(mount, node, number)
    seen = loads_until_a_random_moment(node, order, number)
    os.kill(node.runner_pid(order), signal.SIGKILL)
    node.restart()
    result = node.finish(order)
    assert result.outcome is Outcome.FAILED
    assert result.reason_code in {"runner_died", "start_unknown"}
    assert_nothing_is_left(mount, node, seen)


def begun(mount: MadeMount, node: NodeRig, number: str, runs: Mapping[str, Mapping[str, Any]] = LONG) -> Order:
    names = real_workloads()
    workload = names[int(number.partition("-")[2]) % len(names)]
    order = node.order(workload, runs[workload], mount.point)
    node.begin(order)
    return order


def loads_until_a_random_moment(
    node: NodeRig, order: Order, number: str, latest_seconds: float = LATEST_SECONDS
) -> dict[int, int]:
    """Wait until a random moment and return the loads seen so far, as pid and start time."""
    until = processes.boottime() + random.Random(number).uniform(0, latest_seconds)  # noqa: S311 - no secret
    seen: dict[int, int] = {}

    def is_late() -> bool:
        node.release_if_ready(order)
        seen.update({load["pid"]: load["start_ticks"] for load in node.phase(order).get("loads", [])})
        return processes.boottime() >= until

    node.until(is_late)
    return seen


def assert_nothing_is_left(mount: MadeMount, node: NodeRig, seen: dict[int, int]) -> None:
    assert {path.name for path in mount.point.iterdir()} == {"lost+found", *MADE_BEFORE.values()}
    assert processes.of_sessions(seen) == []
    assert node.spool.leftovers() == []
    assert node.spool.used_bytes() == 0
    assert list(node.spool.orders()) == []
