"""Split the facts that runs recorded by target and node. Pure functions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from iotide_server.advice.scene import MountedTarget, SceneCell
from iotide_wire.facts import Facts
from iotide_wire.scratch_vocabulary import LAYOUT_FACT

_BACKING: Final = "backing."
_PARTS_ALONE: Final = 4
"""Parts of `backing.NAME.md.level`; a node name precedes the last two if such a target is on several nodes."""


def facts_by_node(environment: Facts, nodes: Sequence[str]) -> dict[str, Facts]:
    """Return a run's facts by loading node; those of a gang have a `NODE/` prefix."""
    by_node: defaultdict[str, Facts] = defaultdict(dict)
    for name, value in environment.items():
        node, separator, fact = name.partition("/")
        if separator and node in nodes:
            by_node[node][fact] = value
    return {nodes[0]: environment} if len(nodes) == 1 and not by_node else dict(by_node)


def sites_of(cells: Sequence[SceneCell], mounted: Mapping[tuple[str, str], tuple[str, str]]) -> list[MountedTarget]:
    """Return targets on nodes, and what backs them, as the newest run that loaded only this target saw them.

    With several targets, facts name others only where they differ, so a missing fact is ambiguous. A target of scratch
    disks is another site for each variant that a plan made there.
    """
    found: dict[tuple[str, str, str], MountedTarget] = {}
    below: dict[tuple[str, str], MountedTarget] = {}
    for cell in cells:
        if len(cell.targets) == 1:
            for node, facts in cell.facts.items():
                place = cell.targets[0], node
                mount_point, device = mounted.get(place, ("", ""))
                own = {name: value for name, value in facts.items() if not name.startswith(_BACKING)}
                newest, variant = cell.run_ids[-1:], cell.variant if LAYOUT_FACT in facts else ""
                named = f"{place[0]} ({variant})" if variant else place[0]
                site = MountedTarget(named, node, mount_point, device, own, newest)
                found.setdefault((*place, variant), site)
                for site in _backing(facts, newest):
                    below.setdefault((site.target, site.node), site)
    return [*found.values(), *below.values()]


def _backing(facts: Facts, run_ids: tuple[int, ...]) -> Iterator[MountedTarget]:
    by_place: defaultdict[tuple[str, str], Facts] = defaultdict(dict)
    for name, value in facts.items():
        parts = name.split(".")
        if name.startswith(_BACKING) and len(parts) >= _PARTS_ALONE:
            node = parts[2] if len(parts) > _PARTS_ALONE else ""
            by_place[parts[1], node][".".join(parts[-2:])] = value
    for (target, node), own in by_place.items():
        yield MountedTarget(target, node, "", "", own, run_ids, is_below=True)
