from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from iotide_server.trends.peers.groups import SAME_SIZE_RATIO, PeerKind, PeerName, PeerSeries, peer_groups, size_classes

NODES = {1: PeerName("n1", "compute"), 2: PeerName("n2", "compute"), 3: PeerName("s1", "storage")}
TARGETS = {7: PeerName("raid1", "xfs of 12 TB"), 8: PeerName("raid2", "xfs of 12 TB"), 9: PeerName("home", "nfs")}


def series(
    number: int, node: int, target: int, labels: Mapping[str, object] | None = None, metric: str = "a"
) -> PeerSeries:
    return PeerSeries(
        id=number,
        node_ids=[node],
        target_ids=[target],
        workload="dd",
        series_revision=1,
        options_sha256="",
        metric=metric,
        title="",
        unit="",
        better="",
        variant="",
        labels=dict(labels or {}),
    )


def members(*given_series: PeerSeries) -> dict[PeerKind, list[set[str]]]:
    found: dict[PeerKind, list[set[str]]] = {}
    for group in peer_groups(given_series, NODES, TARGETS):
        if len(group.series) > 1:
            found.setdefault(group.kind, []).append(set(group.series))
    return found


def test_nodes_of_one_kind_on_one_target_are_peers_and_targets_of_one_kind_on_one_node() -> None:
    grid = [series(10 * node + target, node, target) for node in NODES for target in TARGETS]
    assert members(*grid) == {
        PeerKind.NODES: [{"n1", "n2"}] * 3,
        PeerKind.TARGETS: [{"raid1", "raid2"}] * 3,
    }


def test_another_metric_or_label_is_another_group_and_what_is_unknown_has_no_peers() -> None:
    assert members(series(1, 1, 7), series(2, 2, 7, metric="b"), series(3, 2, 7, {"operation": "read"})) == {}
    assert members(series(1, 1, 7), series(2, 99, 7)) == {}


def test_osts_are_peers_by_their_label_and_by_nothing_else() -> None:
    numbers = [series(number, 1, 7, {"ost": f"OST000{number}", "operation": "write"}) for number in range(3)]
    numbers.append(series(9, 2, 7, {"ost": "OST0000", "operation": "write"}))
    assert members(*numbers) == {PeerKind.OSTS: [{"OST0000", "OST0001", "OST0002"}]}


@given(st.lists(st.integers(1, 10**15), max_size=30))
def test_sizes_within_a_tenth_of_the_next_are_one_class(sizes: list[int]) -> None:
    classes = size_classes(sizes)
    ordered = sorted(set(sizes))
    for smaller, larger in pairwise(ordered):
        assert (classes[smaller] == classes[larger]) == (larger <= smaller * SAME_SIZE_RATIO)
