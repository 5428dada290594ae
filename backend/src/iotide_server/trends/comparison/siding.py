"""Which cells stand beside each other where many are compared, a side for each value of what varies; pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from iotide_server.kit.digests import canonical_sha256

OPTION: Final = "options."
CELL: Final = "cell"
"""What cells that were named one by one are compared by: each is a side."""

_PLACES: Final = ("target", "variant", "cluster", "node")
"""Mostly asked for, the first most; options come after them, and campaigns last."""
_LOOSER: Final[Sequence[frozenset[str]]] = (
    frozenset(),
    frozenset({"node"}),
    frozenset({"node", "target"}),
    frozenset({"node", "node_count", "target", "variant"}),
)
"""What cells of one row may be unlike in, the least first."""
_IMPLIED: Final = frozenset({"cluster", "campaign"})
"""What is no likeness of its own: what ran where."""

Parts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SideCell:
    """A cell with what tells it from others, by name."""

    id: int
    campaign_id: int
    parts: Parts


def dimensions(cells: Sequence[SideCell]) -> list[str]:
    """By what the cells can be compared: what varies among those of a workload, what is mostly asked for first."""
    varying: set[str] = set()
    by_workload: defaultdict[Hashable, list[SideCell]] = defaultdict(list)
    for cell in cells:
        by_workload[cell.parts["workload"]].append(cell)
    for alike in by_workload.values():
        names = {name for cell in alike for name in cell.parts}
        varying |= {name for name in names if len({side_key(cell.parts.get(name)) for cell in alike}) > 1}
    options = sorted(name for name in varying if name.startswith(OPTION))
    known = [*_PLACES, *options, "campaign"]
    return [name for name in known if name in varying]


def sides(cells: Iterable[SideCell], by: str) -> list[Any]:
    """The values that the sides stand for, in the order of the cells."""
    return list({side_key(value): value for cell in cells if (value := side_of(cell, by)) is not None}.values())


def side_of(cell: SideCell, by: str) -> Any:  # noqa: ANN401 - whatever an option may be
    """The value of the side that the cell belongs to; None where it has none."""
    return cell.id if by == CELL else cell.parts.get(by)


def rows(cells: Sequence[SideCell], by: str) -> list[dict[str, SideCell]]:
    """Cells that differ in `by` and as little else as can be, by the key of their side; each in one row at most.

    Of cells of several campaigns that are alike the newest campaign's stands for its side. Where several of one
    campaign are, it is not clear which one is meant, and none is taken.
    """
    if by == CELL:
        return [{side_key(cell.id): cell for cell in cells}]
    found: list[dict[str, SideCell]] = []
    left = [cell for cell in cells if side_of(cell, by) is not None]
    for loosened in _LOOSER:
        found += (row for row in _alike(left, by, loosened) if len(row) > 1)
        taken = {cell.id for row in found for cell in row.values()}
        left = [cell for cell in left if cell.id not in taken]
    place = {cell.id: index for index, cell in enumerate(cells)}
    return sorted(found, key=lambda row: min(place[cell.id] for cell in row.values()))


def _alike(cells: Sequence[SideCell], by: str, loosened: frozenset[str]) -> list[dict[str, SideCell]]:
    groups: defaultdict[str, defaultdict[str, list[SideCell]]] = defaultdict(lambda: defaultdict(list))
    passed_over = loosened | _IMPLIED | _compared(by)
    for cell in cells:
        rest = {name: value for name, value in cell.parts.items() if name not in passed_over}
        groups[side_key(rest)][side_key(side_of(cell, by))].append(cell)
    return [
        {side: newest for side, alike in group.items() if (newest := _newest(alike)) is not None}
        for group in groups.values()
    ]


def _compared(by: str) -> frozenset[str]:
    """What is compared, with what follows from it."""
    return frozenset({"node", "node_count"}) if by == "node" else frozenset({by})


def _newest(cells: Sequence[SideCell]) -> SideCell | None:
    last = max(cell.campaign_id for cell in cells)
    newest = [cell for cell in cells if cell.campaign_id == last]
    return newest[0] if len(newest) == 1 else None


def differences(cells: Sequence[SideCell], by: str) -> list[str]:
    """What else the cells of a row are unlike in."""
    names = dict.fromkeys(name for cell in cells for name in cell.parts)
    return [name for name in names if name != by and len({side_key(cell.parts.get(name)) for cell in cells}) > 1]


def ran_the_same(a: SideCell, b: SideCell, by: str) -> bool:
    """Whether a ratio between them says something: all that was run is alike, but for what they are compared by."""
    names = {name for name in {*a.parts, *b.parts} if name.startswith(OPTION)} | {"workload", "node_count"}
    return all(side_key(a.parts.get(name)) == side_key(b.parts.get(name)) for name in names - _compared(by))


def side_key(value: object) -> str:
    """Return the key that equal values share."""
    return canonical_sha256(value)
