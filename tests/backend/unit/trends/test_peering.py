from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from iotide_server.trends.peers.groups import SAME_SIZE_RATIO, AnyRow, PeerName, equal_series, size_classes
from iotide_wire.measured import PeerKind

NODES = {1: PeerName("n1", "compute"), 2: PeerName("n2", "compute"), 3: PeerName("s1", "storage")}
TARGETS = {7: PeerName("raid1", "xfs of 12 TB"), 8: PeerName("raid2", "xfs of 12 TB"), 9: PeerName("home", "nfs")}


def members(kind: PeerKind, series: Iterable[object], known: Mapping[int, PeerName]) -> list[list[str]]:
    return [list(group.series) for group in equal_series(kind, cast("Iterable[AnyRow]", series), known)]


def test_nodes_and_targets_of_one_kind_are_peers_and_what_is_unknown_has_none() -> None:
    on_nodes = [SimpleNamespace(node_ids=[node], target_ids=[7], labels={}) for node in (1, 2, 3, 99)]
    assert members(PeerKind.NODES, on_nodes, NODES) == [["n1", "n2"], ["s1"]]
    on_targets = [SimpleNamespace(node_ids=[1, 2], target_ids=[target], labels={}) for target in (7, 9, 8)]
    assert members(PeerKind.TARGETS, on_targets, TARGETS) == [["raid1", "raid2"], ["home"]]


def test_osts_are_peers_by_their_label() -> None:
    numbers = [SimpleNamespace(node_ids=[1], target_ids=[7], labels={"ost": f"OST000{number}"}) for number in range(3)]
    assert members(PeerKind.OSTS, numbers, {}) == [["OST0000", "OST0001", "OST0002"]]


@given(st.lists(st.integers(1, 10**15), max_size=30))
def test_sizes_within_a_tenth_of_the_next_are_one_class(sizes: list[int]) -> None:
    classes = size_classes(sizes)
    ordered = sorted(set(sizes))
    for smaller, larger in pairwise(ordered):
        assert (classes[smaller] == classes[larger]) == (larger <= smaller * SAME_SIZE_RATIO)
