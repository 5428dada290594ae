from types import SimpleNamespace
from typing import Any

import pytest

from iotide_server.overview.outliers import of_outliers
from iotide_wire.measured import FlagCode, FlagEffect

BELOW = {"kind": "targets", "metric": "throughput", "peer_count": 3, "difference_ratio": -0.143}


def row(peers: dict[str, object] | None, **changes: object) -> Any:  # noqa: ANN401 - a row of a query
    flag = {
        "code": FlagCode.PEER_ODD,
        "effect": FlagEffect.MARKED,
        "measured": "Throughput: 983 MB/s, 50 % above the 1.15 GB/s of 9 nodes",  # words are never read
        "limit": "5 %",
        "peers": peers,
    }
    known: dict[str, object] = {
        "cluster_id": 1,
        "workload": "dd",
        "metric": "throughput",
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
    reads = row(BELOW | {"difference_ratio": -0.091}, labels={"operation": "read"})
    (item,) = of_outliers([row(BELOW), reads])
    assert (item.kind, item.target_id, item.node_id, item.workload) == ("outlier_target", 7, None, "dd")
    assert item.words == "raid-b: dd write throughput 14.3 % below the median of 3 targets"


def test_nodes_and_osts_are_named() -> None:
    (node,) = of_outliers([row(BELOW | {"kind": "nodes"})])
    assert (node.kind, node.node_id) == ("outlier_node", 4)
    assert node.words == "c03: dd write throughput 14.3 % below the median of 3 nodes"
    (ost,) = of_outliers([row(BELOW | {"kind": "osts"}, labels={"ost": 12})])
    assert (ost.kind, ost.words) == (
        "outlier_target",
        "raid-b OST 12: dd throughput 14.3 % below the median of 3 OSTs",
    )


def test_a_longer_time_than_that_of_the_peers_needs_attention() -> None:
    longer = BELOW | {"metric": "latency", "difference_ratio": 0.2}
    (item,) = of_outliers([row(longer, metric="latency", title="Latency", better="lower")])
    assert item.words == "raid-b: dd write latency 20.0 % above the median of 3 targets"


@pytest.mark.parametrize(
    "changes",
    [{"better": "lower"}, {"better": "neither"}, {"metric": "iops"}, {"target_id": None}],
)
def test_better_peers_and_other_metrics_need_no_attention(changes: dict[str, object]) -> None:
    assert of_outliers([row(BELOW, **changes)]) == []


def test_flags_of_a_release_that_stored_only_words_are_left_out() -> None:
    assert of_outliers([row(None)]) == []
