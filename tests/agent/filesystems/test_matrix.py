"""Every workload with its real tool on every kind of file system that this kernel supports."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from agent.node_rig import NodeRig
from factories.tiny_runs import MADE_BEFORE, WHOLE, real_workloads
from made_mounts import FILE_SYSTEMS, MadeMount, made_mount

from iotide_wire.measured import FlagCode
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.units import MIB

DATA_MODES = {"ext3-ordered": "ordered", "ext3-writeback": "writeback", "ext3-journal": "journal", "ext4": "ordered"}


@pytest.fixture(scope="module")
def mounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, MadeMount]]:
    base = tmp_path_factory.mktemp("mounts")
    with ExitStack() as stack:
        yield {name: stack.enter_context(made_mount(kind, base / name)) for name, kind in FILE_SYSTEMS.items()}


@pytest.fixture(scope="module")
def node(mounts: dict[str, MadeMount], tmp_path_factory: pytest.TempPathFactory) -> NodeRig:
    return NodeRig(tmp_path_factory.mktemp("node") / "state", [mount.point for mount in mounts.values()])


@pytest.mark.parametrize("workload", real_workloads())
@pytest.mark.parametrize("file_system", FILE_SYSTEMS)
def test_run_is_measured_and_leaves_nothing(
    mounts: dict[str, MadeMount], node: NodeRig, file_system: str, workload: str
) -> None:
    mount = mounts[file_system]
    announced = node.executor.inventory.workloads[workload]
    if workload in MADE_BEFORE:
        (mount.point / MADE_BEFORE[workload]).write_bytes(bytes(4 * MIB))
    before = sorted(mount.point.rglob("*"))
    result = node.measure(workload, WHOLE[workload], mount.point)
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert result.samples
    assert {sample.metric for sample in result.samples} <= {metric.name for metric in announced.metrics}
    assert not {FlagCode.WRONG_MOUNT, FlagCode.ERRORS, FlagCode.FSYNC} & flags_of(result)
    assert all(flag.measured and flag.limit for flag in result.flags)
    assert result.environment["mount.fstype"] == mount.file_system.fstype
    assert sorted(mount.point.rglob("*")) == before
    assert node.spool.leftovers() == []


@pytest.mark.parametrize("file_system", FILE_SYSTEMS)
def test_direct_means_that_the_cache_was_bypassed(
    mounts: dict[str, MadeMount], node: NodeRig, file_system: str
) -> None:
    mount = mounts[file_system]
    # With data=journal the kernel accepts the flag but uses the cache.
    expected = takes_direct(mount) and file_system != "ext3-journal"
    result = node.measure("dd", WHOLE["dd"], mount.point)
    direct = {sample.labels["operation"]: sample.labels["direct"] for sample in result.samples}
    if file_system == "btrfs":
        # Direct reads of btrfs may end short, and the kernel reads the rest through the cache. The run then reports it.
        assert (FlagCode.NO_DIRECT in flags_of(result)) is not direct.pop("read")
    else:
        assert (FlagCode.NO_DIRECT in flags_of(result)) is not expected
    assert set(direct.values()) == {expected}


@pytest.mark.parametrize("file_system", FILE_SYSTEMS)
def test_facts_are_those_of_the_mount_that_was_made(
    mounts: dict[str, MadeMount], node: NodeRig, file_system: str
) -> None:
    mount, line = mounts[file_system], mounts[file_system].line()
    found = next(found for found in node.executor.inventory.mounts if found.path == str(mount.point))
    facts = found.facts
    assert (found.fstype, found.source) == (mount.file_system.fstype, line.source)
    assert 0 < (found.free_bytes or 0) <= (found.total_bytes or 0) <= mount.file_system.size_bytes
    assert set(mount.file_system.options) - {"mode=0700"} <= set(found.mount_options.split(","))
    if mount.image is None:
        assert facts["tmpfs.size_bytes"] == mount.file_system.size_bytes
        assert "fs.identity" not in facts
        return
    assert facts["fs.identity"] == f"{found.fstype}:{mount.uuid}"
    assert facts["device.kind"] == "loop"
    # The ext4 driver serves all three, and shows the data mode only where it was set.
    effective = str(facts.get("ext.options", "")).split(",")
    assert [option for option in effective if option.startswith("data=")] == (
        [f"data={DATA_MODES[file_system]}"] if file_system in DATA_MODES else []
    )


def flags_of(result: FinishRequest) -> set[FlagCode]:
    return {flag.code for flag in result.flags}


def takes_direct(mount: MadeMount) -> bool:
    trial = mount.point / "trial"
    try:
        os.close(os.open(trial, os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError:
        return False
    else:
        return True
    finally:
        trial.unlink(missing_ok=True)
