"""Nodes that carry out one run together on a shared target."""

from pathlib import Path

from agent.made_orders import DD_OPTIONS
from agent.node_rig import NodeRig

from iotide_wire.messages import Outcome


def test_two_nodes_of_one_run_share_a_target_without_meeting(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o700)
    nodes = [NodeRig(tmp_path / name, [shared]) for name in ("a", "b")]
    orders = [node.order("dd", DD_OPTIONS, shared, run_id=7, attempt=1) for node in nodes]
    for node, order in zip(nodes, orders, strict=True):
        node.begin(order)
        node.until_ready(order)
    assert len(list(shared.glob("iotide-run-7-1-*"))) == len(nodes)
    for node, order in zip(nodes, orders, strict=True):
        node.release(order)
        assert node.finish(order).outcome is Outcome.FINISHED
    assert list(shared.iterdir()) == []
