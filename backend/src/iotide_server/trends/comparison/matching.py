"""Matching of cells into rows of a comparison."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from iotide_server.kit.digests import canonical_sha256

side_key: Final = canonical_sha256  # equal values have one key
OPTION: Final = "options."
CELL: Final = "cell"
PAIR: Final = "pair"

_PLACES: Final = ("target", "variant", "cluster", "node")
"""In order of preference; options follow, campaigns come last."""
_NODES: Final = frozenset({"node", "node_count"})
_PLACE_FREE: Final = _NODES | {"target", "variant"}
_LADDER: Final = (frozenset[str](), frozenset({"node"}), frozenset({"node", "target"}), _PLACE_FREE)
"""Dimensions that may differ within a row, strictest first."""
_PAIR_LADDER: Final = (
    frozenset[str](),
    frozenset({"variant"}),
    _NODES | {"variant"},
    frozenset({"target", "variant"}),
    _PLACE_FREE,
    _PLACE_FREE | {"options"},
)
_IMPLIED: Final = frozenset({"cluster", "campaign"})  # may always differ


@dataclass(frozen=True, slots=True)
class SideCell:
    id: int
    campaign_id: int
    parts: Mapping[str, Any]


CellT = TypeVar("CellT", bound=SideCell)


def dimensions(cells: Sequence[SideCell]) -> list[str]:
    """Return what varies among cells of a workload, in order of preference."""
    by_workload: defaultdict[str, list[SideCell]] = defaultdict(list)
    for cell in cells:
        by_workload[cell.parts["workload"]].append(cell)
    varying = {name for alike in by_workload.values() for name in differences(alike)}
    options = sorted(name for name in varying if name.startswith(OPTION))
    return [name for name in (*_PLACES, *options, "campaign") if name in varying]


def sides(cells: Iterable[SideCell], by: str) -> list[Any]:
    return list({side_key(value): value for cell in cells if (value := _side_of(cell, by)) is not None}.values())


def _side_of(cell: SideCell, by: str) -> Any:  # noqa: ANN401 - whatever an option may be
    return cell.id if by == CELL else cell.parts.get(by)


def rows(cells: Sequence[CellT], by: str, ladder: Sequence[frozenset[str]] = _LADDER) -> list[dict[str, CellT]]:
    """Return rows of cells that differ in little but `by`, keyed by side.

    A cell is in one row at most. The newest campaign represents its side, unless several of its cells match.
    """
    if by == CELL:
        return [{side_key(cell.id): cell for cell in cells}]
    found: list[dict[str, CellT]] = []
    left = [cell for cell in cells if _side_of(cell, by) is not None]
    for loosened in ladder:
        found += (row for row in _alike(left, by, loosened | _IMPLIED | _compared(by)) if len(row) > 1)
        taken = {cell.id for row in found for cell in row.values()}
        left = [cell for cell in left if cell.id not in taken]
    place = {cell.id: index for index, cell in enumerate(cells)}
    return sorted(found, key=lambda row: min(place[cell.id] for cell in row.values()))


def pair_cells(a: Sequence[CellT], b: Sequence[CellT]) -> list[tuple[CellT, ...]]:
    """Return the unambiguous pairs in the order of A; two single cells are always a pair."""
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    cells = [replace(cell, parts={**cell.parts, PAIR: side}) for side, own in enumerate((a, b)) for cell in own]
    return [tuple(row.values()) for row in rows(cells, PAIR, _PAIR_LADDER)]


def _alike(cells: Sequence[CellT], by: str, passed_over: frozenset[str]) -> Iterable[dict[str, CellT]]:
    groups: defaultdict[str, defaultdict[str, list[CellT]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        rest = {
            name: value
            for name, value in cell.parts.items()
            if name not in passed_over and name.partition(".")[0] not in passed_over
        }
        groups[side_key(rest)][side_key(_side_of(cell, by))].append(cell)
    for group in groups.values():
        yield {side: newest for side, alike in group.items() if (newest := _newest(alike)) is not None}


def _compared(by: str) -> frozenset[str]:
    return _NODES if by == "node" else frozenset({by})


def _newest(cells: Sequence[CellT]) -> CellT | None:
    last = max(cell.campaign_id for cell in cells)
    newest = [cell for cell in cells if cell.campaign_id == last]
    return newest[0] if len(newest) == 1 else None


def differences(cells: Sequence[SideCell], by: str = "") -> list[str]:
    first, *others = (cell.parts for cell in cells)
    names = dict.fromkeys(name for cell in cells for name in cell.parts)
    return [name for name in names if name != by and any(one.get(name) != first.get(name) for one in others)]


def ran_the_same(a: SideCell, b: SideCell, by: str) -> bool:
    """Return true if both ran the same except for what is compared, so that a ratio is meaningful."""
    names = {name for name in {*a.parts, *b.parts} if name.startswith(OPTION)} | {"workload", "node_count"}
    return all(a.parts.get(name) == b.parts.get(name) for name in names - _compared(by))
