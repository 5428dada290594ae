from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.trends.comparison.matching import (
    CELL,
    SideCell,
    differences,
    dimensions,
    pair_cells,
    ran_the_same,
    rows,
    side_key,
    sides,
)


def cell(number: int, campaign: int = 1, **parts: Any) -> SideCell:  # noqa: ANN401 - whatever an option may be
    places = {"workload": "dd", "campaign": f"c ({campaign})", "cluster": "blade", "node": "n1", "node_count": 1}
    named = {name.replace("__", "."): value for name, value in parts.items()}
    return SideCell(number, campaign, places | named)


def ids(found: list[dict[str, SideCell]]) -> list[list[int]]:
    return [[one.id for one in row.values()] for row in found]


MATRIX = [
    cell(1, target="ext4", options__size=1),
    cell(2, target="xfs", options__size=1),
    cell(3, target="ext4", options__size=2),
    cell(4, target="xfs", options__size=2),
]


def test_targets_of_a_campaign_are_compared_option_by_option() -> None:
    assert dimensions(MATRIX) == ["target", "options.size"]
    assert sides(MATRIX, "target") == ["ext4", "xfs"]
    assert ids(rows(MATRIX, "target")) == [[1, 2], [3, 4]]


def test_an_option_is_compared_target_by_target_and_is_no_difference_then() -> None:
    assert ids(rows(MATRIX, "options.size")) == [[1, 3], [2, 4]]
    assert differences([MATRIX[0], MATRIX[2]], "options.size") == []
    assert ran_the_same(MATRIX[0], MATRIX[2], "options.size")
    assert not ran_the_same(MATRIX[0], MATRIX[2], "target")


def test_cells_of_two_clusters_belong_together_although_they_ran_elsewhere() -> None:
    here = cell(1, target="ext4", options__size=1)
    there = cell(2, campaign=2, cluster="grid", node="g1", target="lustre", options__size=1)
    assert ids(rows([here, there], "cluster")) == [[1, 2]]
    assert differences([here, there], "cluster") == ["campaign", "node", "target"]
    assert ran_the_same(here, there, "cluster")


def test_the_newest_campaign_represents_its_side_and_unclear_cells_are_left_out() -> None:
    old, new, other = cell(1, target="ext4"), cell(2, campaign=2, target="ext4"), cell(3, target="xfs")
    assert ids(rows([old, new, other], "target")) == [[2, 3]]
    twice = [cell(1, target="ext4", node="a"), cell(2, target="ext4", node="b"), cell(3, target="xfs", node="c")]
    assert rows(twice, "target") == []


def test_more_nodes_are_another_side_and_the_same_work() -> None:
    one, four = cell(1, node="n1", node_count=1), cell(2, node="n1 + n2", node_count=2)
    assert ids(rows([one, four], "node")) == [[1, 2]]
    assert ran_the_same(one, four, "node")
    assert not ran_the_same(one, four, "target")


def test_cells_that_were_named_are_one_row_and_judged_by_all_of_it() -> None:
    one, other = named = [MATRIX[0], MATRIX[3]]
    assert ids(rows(named, CELL)) == [[1, 4]]
    assert not ran_the_same(one, other, CELL)
    assert differences(named, CELL) == ["target", "options.size"]


def test_equal_numbers_are_one_side_however_they_are_written() -> None:
    assert sides([cell(1, options__size=64), cell(2, options__size=64.0)], "options.size") == [64.0]
    assert side_key(64) == side_key(64.0) != side_key(True)


CELLS = st.lists(
    st.builds(
        lambda number, campaign, target, node, size: cell(
            number, campaign, target=target, node=node, options__size=size
        ),
        st.integers(1, 10**6),
        st.integers(1, 3),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["n1", "n2"]),
        st.integers(1, 3),
    ),
    unique_by=lambda one: one.id,
    max_size=20,
)


@given(CELLS, st.sampled_from(["target", "node", "options.size", "campaign"]))
def test_a_cell_is_in_one_row_at_most_on_its_own_side(cells: list[SideCell], by: str) -> None:
    found = rows(cells, by)
    placed = [one.id for row in found for one in row.values()]
    assert len(placed) == len(set(placed))
    assert all(side == side_key(one.parts[by]) for row in found for side, one in row.items())
    assert all(len(row) > 1 for row in found)


@pytest.mark.parametrize("by", ["target", "cluster"])
def test_nothing_is_compared_where_nothing_varies(by: str) -> None:
    alike = [cell(1, target="ext4")]
    assert (dimensions(alike), rows(alike, by)) == ([], [])


def pairs(a: Sequence[SideCell], b: Sequence[SideCell]) -> list[tuple[int, ...]]:
    return [tuple(one.id for one in pair) for pair in pair_cells(a, b)]


def test_the_same_cells_of_two_campaigns_belong_together_in_the_order_of_the_first() -> None:
    a = [cell(1, options__size=1), cell(2, options__size=2), cell(3, target="lustre", options__size=1)]
    b = [cell(11, 2, target="lustre", options__size=1), cell(12, 2, options__size=2), cell(13, 2, options__size=1)]
    assert pairs(a, b) == [(1, 13), (2, 12), (3, 11)]
    assert pairs(a, a) == [(1, 1), (2, 2), (3, 3)]


def test_the_same_work_on_other_targets_nodes_or_variants_belongs_together() -> None:
    a = [cell(1, options__size=1), cell(2, options__size=2)]
    b = [cell(11, 2, target="xfs", options__size=2), cell(12, 2, node="n9", options__size=1)]
    assert pairs(a, b) == [(1, 12), (2, 11)]
    assert pairs([cell(1, variant="ext3"), cell(2, options__size=2)], [cell(11, 2, variant="xfs")]) == [(1, 11)]


def test_ambiguous_cells_are_no_pair() -> None:
    a = [cell(1, target="nfs", options__size=1)]
    b = [cell(11, 2, target="xfs", options__size=1), cell(12, 2, target="ext4", options__size=1)]
    assert pairs(a, b) == []
    a = [cell(1, options__size=1), cell(2, options__size=2)]
    assert pairs(a, [cell(11, 2, options__size=1), cell(12, 2, options__size=3)]) == [(1, 11), (2, 12)]


def test_two_single_cells_are_always_a_pair() -> None:
    assert pairs([cell(1, workload="dd")], [cell(11, 2, workload="fio")]) == [(1, 11)]
    assert pairs([], [cell(11, 2)]) == []
