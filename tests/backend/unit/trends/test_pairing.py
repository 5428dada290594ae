from collections.abc import Sequence

from iotide_server.results.schemas import MeasuredCell
from iotide_server.trends.comparison.pairing import pair_cells


def cell(number: int, *, node: str = "n1", target: str = "nfs", variant: str = "", **options: object) -> MeasuredCell:
    return MeasuredCell(
        id=number,
        ordinal=number,
        stage=1,
        variant=variant,
        node_names=[node],
        target_names=[target],
        workload=str(options.pop("workload", "dd")),
        options=options,
        runs=[],
        measurements=[],
    )


def pairs(a: Sequence[MeasuredCell], b: Sequence[MeasuredCell]) -> list[tuple[int, int]]:
    return [(of_a.id, of_b.id) for of_a, of_b in pair_cells(a, b)]


def test_the_same_cells_of_two_campaigns_belong_together_in_the_order_of_the_first() -> None:
    a = [cell(1, size=1), cell(2, size=2), cell(3, target="lustre", size=1)]
    b = [cell(11, target="lustre", size=1), cell(12, size=2), cell(13, size=1)]
    assert pairs(a, b) == [(1, 13), (2, 12), (3, 11)]


def test_of_other_targets_nodes_or_variants_the_same_work_belongs_together() -> None:
    assert pairs([cell(1, size=1), cell(2, size=2)], [cell(11, target="xfs", size=2), cell(12, node="n9", size=1)]) == [
        (1, 12),
        (2, 11),
    ]
    assert pairs([cell(1, variant="ext3")], [cell(11, variant="xfs")]) == [(1, 11)]


def test_what_is_not_clear_is_no_pair() -> None:
    a = [cell(1, target="nfs", size=1)]
    b = [cell(11, target="xfs", size=1), cell(12, target="ext4", size=1)]
    assert pairs(a, b) == []
    assert pairs([cell(1, size=1), cell(2, size=2)], [cell(11, size=1), cell(12, size=3)]) == [(1, 11), (2, 12)]


def test_two_cells_alone_are_a_pair_whatever_they_are() -> None:
    assert pairs([cell(1, workload="dd")], [cell(11, workload="fio")]) == [(1, 11)]
    assert pairs([], [cell(11)]) == []
