from types import SimpleNamespace
from typing import Any

import pytest

from iotide_server.overview.outliers import of_outliers
from iotide_wire.measured import FlagCode, FlagEffect

BELOW = "Throughput: 983 MB/s, 14.3 % below the 1.15 GB/s of 3 targets (20 runs, z 5.1)"


def row(measured: str, **changes: object) -> Any:  # noqa: ANN401 - a row of a query
    flag = {"code": FlagCode.PEER_ODD, "effect": FlagEffect.MARKED, "measured": measured, "limit": "5 %"}
    known: dict[str, object] = {
        "cluster_id": 1,
        "workload": "dd",
        "title": "Throughput",
        "better": "higher",
        "labels": {"operation": "write"},
        "node_id": 4,
        "node_name": "c03",
        "target_id": 7,
        "target_name": "raid-b",
        "flags": [flag],
    }
    return SimpleNamespace(**known | changes)


def test_a_target_below_its_peers_is_named_once_by_its_worst_metric() -> None:
    reads = row(BELOW.replace("14.3", "9.1"), labels={"operation": "read"})
    (item,) = of_outliers([row(BELOW), reads])
    assert (item.kind, item.target_id, item.node_id, item.workload) == ("outlier_target", 7, None, "dd")
    assert item.words == "raid-b: dd write throughput 14.3 % below the median of 3 targets"


def test_nodes_and_osts_are_named() -> None:
    (node,) = of_outliers([row(BELOW.replace("targets", "nodes"))])
    assert (node.kind, node.node_id) == ("outlier_node", 4)
    assert node.words == "c03: dd write throughput 14.3 % below the median of 3 nodes"
    (ost,) = of_outliers([row(BELOW.replace("targets", "OSTs"), labels={"ost": 12})])
    assert (ost.kind, ost.words) == (
        "outlier_target",
        "raid-b OST 12: dd throughput 14.3 % below the median of 3 OSTs",
    )


@pytest.mark.parametrize(
    "changes",
    [{"better": "lower"}, {"better": "neither"}, {"title": "IOPS"}, {"target_id": None}],
)
def test_better_peers_and_other_metrics_need_no_attention(changes: dict[str, object]) -> None:
    assert of_outliers([row(BELOW, **changes)]) == []


def test_words_that_are_not_known_are_left_out() -> None:
    assert of_outliers([row("an earlier release worded it differently")]) == []
