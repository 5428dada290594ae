"""Targets that disappear under a real load: the run fails with a message, and the disk below the mount is never
measured.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent.node_rig import NodeRig
from factories.tiny_runs import MADE_BEFORE, WHOLE, real_workloads
from made_mounts import SMALL, MadeMount, made_mount, run_as_root

from iotide_agent.runner.workspace import MARKER
from iotide_wire.measured import FlagCode
from iotide_wire.messages import FinishRequest, Order, Outcome
from iotide_wire.units import MIB

LONG: dict[str, dict[str, Any]] = {
    "dd": {"file_size_bytes": 16 * MIB, "block_size_bytes": 512, "flush": "dsync"},
    "create": {"file_count": 1500, "mode": "fork-touch"},
    "fio": {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * MIB, "runtime_seconds": 60},
}
"""Loads of some seconds: through one open file, by the path of each new file, and with several threads."""


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[MadeMount]:
    with made_mount(replace(SMALL, options=("errors=remount-ro",)), tmp_path / "target") as made:
        yield made


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MadeMount, NodeRig]]:
    """Return a target that tests leave unchanged, and its node."""
    base = tmp_path_factory.mktemp("lasting")
    with made_mount(SMALL, base / "target") as made:
        for name in MADE_BEFORE.values():
            (made.point / name).write_bytes(bytes(4 * MIB))
        yield made, NodeRig(base / "state", [made.point])


@pytest.fixture
def node(mount: MadeMount, tmp_path: Path) -> NodeRig:
    return NodeRig(tmp_path / "state", [mount.point])


def unmount_lazily(mount: MadeMount) -> None:
    mount.unmount("--lazy")


def mount_over(mount: MadeMount) -> None:
    run_as_root("mount", "-t", "tmpfs", "-o", "mode=0777", "another", mount.point)


def break_it(mount: MadeMount) -> None:
    """Make ext4 find an error. It then turns read-only, also for files being written."""
    device = Path(mount.line().source).name
    run_as_root("sh", "-c", f"echo broken by a test >/sys/fs/ext4/{device}/trigger_fs_error")


@pytest.mark.parametrize("workload", LONG)
@pytest.mark.parametrize(
    ("lose", "code"),
    [(unmount_lazily, "wrong_mount"), (mount_over, "wrong_mount"), (break_it, "target_read_only")],
)
def test_target_lost_under_a_load_fails_its_run(
    mount: MadeMount, node: NodeRig, workload: str, lose: Callable[[MadeMount], None], code: str
) -> None:
    order = running(node, workload, mount)
    lose(mount)
    result = node.finish(order)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, code), result.reason
    assert str(mount.point) in str(result.reason)
    assert not result.samples or FlagCode.ERRORS in {flag.code for flag in result.flags}
    if lose is mount_over:
        assert names(mount) == []
        mount.unmount()
    if mount.point.is_mount():
        mount.unmount()
    assert names(mount) == [], "the disk below was written to"
    mount.mount()
    node.clean_leftovers()
    assert names(mount) == []


def test_a_file_system_that_turned_read_only_by_an_error_puts_the_next_run_off(mount: MadeMount, node: NodeRig) -> None:
    order = node.order("dd", LONG["dd"], mount.point)
    break_it(mount)
    node.begin(order)
    result = node.finish(order)
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "target_fails"), result.reason
    assert "Read-only file system" in str(result.reason)


@pytest.mark.parametrize("workload", real_workloads())
def test_target_that_is_not_mounted_is_not_loaded(lasting: tuple[MadeMount, NodeRig], workload: str) -> None:
    mount, node = lasting
    order = node.order(workload, WHOLE[workload], mount.point)
    with unmounted(mount):
        node.begin(order)
        assert_refused(node.finish(order), Outcome.DECLINED)
        assert names(mount) == []


@pytest.mark.parametrize("workload", real_workloads())
def test_target_unmounted_just_before_the_load_is_not_loaded(lasting: tuple[MadeMount, NodeRig], workload: str) -> None:
    mount, node = lasting
    before = names(mount)
    order = node.order(workload, WHOLE[workload], mount.point)
    node.begin(order)
    node.until_ready(order)
    with unmounted(mount):
        node.release(order)
        assert_refused(node.finish(order), Outcome.FAILED)
        assert names(mount) == []
    assert names(mount) == before
    assert node.spool.leftovers() == []


@contextmanager
def unmounted(mount: MadeMount) -> Iterator[None]:
    mount.unmount("--lazy")
    try:
        yield
    finally:
        mount.mount()


def assert_refused(result: FinishRequest, outcome: Outcome) -> None:
    assert (result.outcome, result.reason_code) == (outcome, "wrong_mount")
    assert (result.steps, result.samples) == ((), ())


def running(node: NodeRig, workload: str, mount: MadeMount) -> Order:
    """Return an order whose load has begun to write."""
    order = node.order(workload, LONG[workload], mount.point)
    node.begin(order)
    node.release(order)
    node.until(lambda: any(file.name != MARKER for file in mount.point.glob("iotide-run-*/*")))
    return order


def names(mount: MadeMount) -> list[str]:
    return [path.name for path in mount.point.iterdir() if path.name != "lost+found"]
