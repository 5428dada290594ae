"""Orders for things that this node's administrator did not allow: no process is started for them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from agent.node_rig import NodeRig
from attacks.agent.canary import Canary, names

from iotide_agent.orders.declined import DeclinedError
from iotide_agent.runner import processes
from iotide_wire.messages import Order, Outcome


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> NodeRig:
    """Return a node with one approved directory and two commands of its own."""
    base = tmp_path_factory.mktemp("orders")
    (base / "approved").mkdir(mode=0o700)
    return NodeRig(base / "state", [base / "approved"])


@pytest.fixture
def target(node: NodeRig) -> Path:
    """Return the only approved directory."""
    return Path(node.executor.inventory.approved_directories[0])


def refused_at_the_door(node: NodeRig, order: Order) -> DeclinedError:
    before = {stat.pid for stat in processes.descendants(os.getpid())}
    with pytest.raises(DeclinedError) as refused:
        node.executor.begin(order, active_orders=0)
    assert {stat.pid for stat in processes.descendants(os.getpid())} == before
    return refused.value


@pytest.mark.parametrize(
    "options",
    [
        {"command": "rm"},
        {"command": "/bin/sh"},
        {"command": "json; touch canary"},
        {"command": "json", "argv": ["touch", "canary"]},
        {"command": "json", "arguments": ["canary"]},
        {"command": "json", "directory": "/etc"},
        {"command": "json", "metrics": {}},
        {"command": ["sh", "-c", "touch canary"]},
        {"command": "JSON"},
        {"command": ""},
    ],
)
def test_command_that_agent_toml_does_not_list_or_further_arguments_of_one_that_it_lists_are_refused(
    node: NodeRig, target: Path, options: Mapping[str, Any]
) -> None:
    refused = refused_at_the_door(node, node.order("command", options, target))
    assert (refused.verdict.outcome, refused.verdict.code) == (Outcome.FAILED, "invalid_options")
    assert names(target) == []


@pytest.mark.parametrize("name", ["sh", "command-json", "python3"])
def test_workload_that_is_not_installed_is_refused(node: NodeRig, target: Path, name: str) -> None:
    order = node.order("command", {"command": "json"}, target).model_copy(update={"workload": name})
    assert refused_at_the_door(node, order).verdict.code == "workload_missing"


@pytest.mark.parametrize("path", ["{target}/../outside", "{outside}", "/etc", "/", "{target}\0", "relative"])
def test_order_for_a_directory_that_is_not_approved_makes_nothing(
    node: NodeRig, target: Path, tmp_path: Path, path: str
) -> None:
    canary = Canary(tmp_path / "outside")
    order = node.order("dd", {"file_size_bytes": 2**20, "block_size_bytes": 2**16}, target)
    said = path.format(target=target, outside=canary.top)
    order = order.model_copy(update={"targets": (order.targets[0].model_copy(update={"path": said}),)})
    node.begin(order)
    result = node.finish(order)
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "directory_not_approved")
    assert result.steps == ()
    assert names(target) == []
    canary.require_untouched()
