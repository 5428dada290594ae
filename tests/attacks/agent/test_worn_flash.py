"""Orders that would write more than the node's administrator allows in a day."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from agent.node_rig import NodeRig

from iotide_wire.messages import Outcome
from iotide_wire.units import MIB

OPTIONS: Mapping[str, object] = {"file_size_bytes": 8 * MIB, "block_size_bytes": MIB, "operations": ["write"]}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return a directory on flash, approved by a name that is a link."""
    (tmp_path / "mnt" / "flash").mkdir(parents=True, mode=0o700)
    (tmp_path / "fast").symlink_to(tmp_path / "mnt" / "flash")
    return tmp_path / "mnt" / "flash"


def node_of(tmp_path: Path, limit_bytes: int) -> NodeRig:
    return NodeRig(tmp_path / "state", [tmp_path / "fast"], budget={str(tmp_path / "fast"): limit_bytes})


def test_order_beyond_the_day_is_declined_until_there_is_room_whatever_name_its_target_has(
    tmp_path: Path, target: Path
) -> None:
    node = node_of(tmp_path, 20 * MIB)
    for path in (target, tmp_path / "fast"):
        assert node.measure("dd", OPTIONS, path).outcome is Outcome.FINISHED
    node.restart()
    for path in (target, tmp_path / "fast"):
        refused = node.measure("dd", OPTIONS, path)
        assert (refused.outcome, refused.reason_code) == (Outcome.DECLINED, "budget_spent")
        assert f"runs may write 20 MiB per day below {target}; 16 MiB were written" in str(refused.reason)
        assert refused.not_before is not None
        assert refused.steps == ()
    assert list(target.iterdir()) == []


def test_order_that_needs_more_than_a_day_has_is_no_order_that_waits(tmp_path: Path, target: Path) -> None:
    refused = node_of(tmp_path, 7 * MIB).measure("dd", OPTIONS, target)
    assert (refused.outcome, refused.reason_code) == (Outcome.FAILED, "budget_too_small")
    assert "reduce its sizes, or raise the limit in [budget]" in str(refused.reason)


def test_order_that_its_target_rejected_has_written_nothing(tmp_path: Path, target: Path) -> None:
    node = node_of(tmp_path, 8 * MIB)
    order = node.order("dd", OPTIONS, target)
    elsewhere = order.targets[0].model_copy(update={"source": "/dev/elsewhere"})
    order = order.model_copy(update={"targets": (elsewhere,)})
    node.begin(order)
    assert node.finish(order).reason_code == "wrong_mount"
    assert node.measure("dd", OPTIONS, target).outcome is Outcome.FINISHED
