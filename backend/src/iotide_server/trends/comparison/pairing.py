"""Which cell of one campaign is compared with which of another; pure."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from iotide_server.kit.digests import canonical_sha256
from iotide_server.results.schemas import MeasuredCell

_Key = Callable[[MeasuredCell], Hashable]


def _work(cell: MeasuredCell) -> Hashable:
    return (cell.workload, canonical_sha256(cell.options))


_LIKENESSES: Final[Sequence[_Key]] = (
    lambda cell: (_work(cell), tuple(cell.node_names), tuple(cell.target_names), cell.variant),
    lambda cell: (_work(cell), tuple(cell.node_names), tuple(cell.target_names)),
    lambda cell: (_work(cell), tuple(cell.target_names)),
    lambda cell: (_work(cell), tuple(cell.node_names)),
    _work,
    lambda cell: cell.workload,
)
"""What two cells may have in common, the most first."""


def pair_cells(a: Sequence[MeasuredCell], b: Sequence[MeasuredCell]) -> list[tuple[MeasuredCell, MeasuredCell]]:
    """The pairs, in the order of A: of cells that have most in common first, and of those only where it is clear which.

    Two cells that are alone on their sides are a pair whatever they have in common.
    """
    pairs = {}
    left_a, left_b = list(a), list(b)
    for likeness in _LIKENESSES:
        for cell, other in _clear_pairs(left_a, left_b, likeness):
            pairs[cell.id] = (cell, other)
            left_a.remove(cell)
            left_b.remove(other)
    if len(a) == len(b) == len(left_a) == 1:
        pairs[a[0].id] = (a[0], b[0])
    return [pairs[cell.id] for cell in a if cell.id in pairs]


def _clear_pairs(
    a: Sequence[MeasuredCell], b: Sequence[MeasuredCell], likeness: _Key
) -> list[tuple[MeasuredCell, MeasuredCell]]:
    alike: defaultdict[Hashable, tuple[list[MeasuredCell], list[MeasuredCell]]] = defaultdict(lambda: ([], []))
    for side, cells in enumerate((a, b)):
        for cell in cells:
            alike[likeness(cell)][side].append(cell)
    return [(own[0], others[0]) for own, others in alike.values() if len(own) == len(others) == 1]
