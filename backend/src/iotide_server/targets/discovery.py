"""What could become a target, or join one: the mounts of all nodes, those of one file system together; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

from iotide_server.targets.mounts import Frozen
from iotide_wire.facts import MountFacts

_LONGEST_NAME = 63
_LONGEST_TYPE = 16
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """An approved directory on a node."""

    node_id: int
    node_name: str
    path: str
    mount: MountFacts
    target_id: int | None  # of the living target that it belongs to already


@dataclass(frozen=True, slots=True)
class FoundCandidate:
    """The directories of one file system that belong to no target yet."""

    scope: str  # `shared` or `node`, see `models.Target`
    seen: Sequence[Sighting]
    joins: int | None  # the target that has the same directory of the same file system on other nodes
    suggested_name: str  # of a new target


def is_shared(mount: MountFacts) -> bool:
    """Whether other nodes may have the same file system mounted; an old agent does not say."""
    scope = mount.facts.get("fs.identity_scope")
    return Frozen.of(mount).names_server if scope is None else scope == "shared"


def find_candidates(sightings: Sequence[Sighting], target_names: Iterable[str]) -> list[FoundCandidate]:
    """By path; each with a name that no other has."""
    taken = set(target_names)
    found: list[FoundCandidate] = []
    for group in sorted(_groups(sightings), key=lambda group: (group[0].path, group[0].mount.fstype)):
        new = [seen for seen in group if seen.target_id is None]
        if new:
            joins = min((seen.target_id for seen in group if seen.target_id is not None), default=None)
            scope = "shared" if is_shared(new[0].mount) else "node"
            found.append(FoundCandidate(scope, new, joins, _free_name(new[0], taken)))
    return found


def suggest_name(path: str) -> str:
    """`/srv/bench` becomes `srv-bench`: letters, digits, dots, dashes and underscores only."""
    name = re.sub(r"^[^A-Za-z0-9]+|-+$", "", re.sub(r"[^A-Za-z0-9._]+", "-", path))
    return name[:_LONGEST_NAME] or "root"


def _groups(sightings: Iterable[Sighting]) -> list[list[Sighting]]:
    by_key: dict[Key, list[Sighting]] = {}
    for seen in sightings:
        together = {id(group): group for key in _keys(seen) if (group := by_key.get(key))}
        group = [*chain.from_iterable(together.values()), seen]
        by_key |= dict.fromkeys(chain.from_iterable(map(_keys, group)), group)
    return list({id(group): group for group in by_key.values()}.values())


def _keys(seen: Sighting) -> set[Key]:
    """Of a shared file system its names with the directory; private ones at the same path are measured alike."""
    if not is_shared(seen.mount):
        return {("node", seen.path, seen.mount.fstype)}
    frozen = Frozen.of(seen.mount)
    return {(*name, frozen.directory(seen.path) or "") for name in frozen.names}


def _free_name(seen: Sighting, taken: set[str]) -> str:
    name = suggest_name(seen.path)
    typed = suggest_name(f"{name[: _LONGEST_NAME - _LONGEST_TYPE]}-{seen.mount.fstype}")
    numbered = (f"{typed[: _LONGEST_NAME - 4]}-{number}" for number in count(2))
    free = next(choice for choice in chain((name, typed), numbered) if choice not in taken)
    taken.add(free)
    return free
