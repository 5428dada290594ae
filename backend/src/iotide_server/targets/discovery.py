"""Discovery of targets; pure."""

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
    node_id: int
    node_name: str
    path: str
    mount: MountFacts
    target_id: int | None


@dataclass(frozen=True, slots=True)
class FoundCandidate:
    scope: str
    seen: Sequence[Sighting]
    joins: int | None  # target with the same directory of the same file system on other nodes
    suggested_name: str


def is_shared(mount: MountFacts) -> bool:
    """Return whether other nodes may mount the same file system; agents of old releases do not report it."""
    scope = mount.facts.get("fs.identity_scope")
    return Frozen.of(mount).names_server if scope is None else scope == "shared"


def find_candidates(sightings: Sequence[Sighting], target_names: Iterable[str]) -> list[FoundCandidate]:
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
    """Return `scratch` for `/scratch` and `/scratch/iotide`, the directory that the documentation proposes there."""
    path = path.removesuffix("/iotide") or path
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
    """Return names of a shared file system, with the directory. Private ones at the same path are measured alike."""
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
