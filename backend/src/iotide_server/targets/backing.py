"""Storage nodes' file systems that back a target. Their facts go with its runs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.targets import repository
from iotide_server.targets.errors import BACKING_REFUSED, TARGET_NOT_FOUND
from iotide_server.targets.models import Target, TargetBacking, TargetMount
from iotide_server.targets.mounts import is_at_or_below, mount_of
from iotide_wire.facts import Facts, MountFacts

_MOST_FACTS: Final = 400


@dataclass(frozen=True, slots=True)
class NodeTarget:
    target: Target
    node: Node
    path: str
    mount: MountFacts | None


def set_backing(session: Session, principal: Principal, target_id: int, backing_ids: Sequence[int]) -> None:
    """Replace the target's backing. Raise TARGET_NOT_FOUND, or BACKING_REFUSED for a cycle."""
    missing = TARGET_NOT_FOUND(target=target_id)
    found = principal.require_row(Role.OPERATOR, session.get(Target, target_id), missing)
    living = repository.lock_living_targets(session, found.cluster_id)
    if target_id not in living:
        raise missing
    for index, backing_id in enumerate(backing_ids):
        if backing_id not in living:
            raise TARGET_NOT_FOUND(target=backing_id, field=f"targets[{index}]")
    links = repository.backings(session)
    _refuse_cycle(living, target_id, backing_ids, links)
    before = [link for link in links if link.target_id == target_id]
    for link in before:
        session.delete(link)
    session.flush()
    session.add_all(TargetBacking(target_id=target_id, backing_id=backing_id) for backing_id in backing_ids)
    session.flush()
    names = repository.named(session, {link.backing_id for link in before})
    after: Json = {"backed_by": [living[backing_id].name for backing_id in backing_ids]}
    action = Action.on("target_backed", found, before={"backed_by": [*names.values()]}, after=after)
    audit.record(session, principal, action)
    live.publish(session, "target", target_id, found.cluster_id)


def places_of(session: Session, target_ids: Collection[int], most: int | None = None) -> list[NodeTarget]:
    return [
        NodeTarget(target, node, mount.path, mount_of(mount.path, map(MountFacts.model_validate, node.mounts)))
        for target, node, mount in repository.announced_mounts(session, target_ids, most)
    ]


def all_below(session: Session, target_ids: Collection[int]) -> set[int]:
    return _below(target_ids, _by_target(repository.backings(session)))


def backing_facts(session: Session, target_ids: Collection[int], own: Facts) -> Facts:
    """Return a run's facts and those of its backing, as `backing.NAME.FACT` or `backing.NAME.NODE.FACT`."""
    # So a change of the server's RAID is an event of its clients' series.
    below = all_below(session, target_ids)
    places = places_of(session, below) if below else []
    facts = dict(own)
    for place in places:
        is_alone = sum(other.target is place.target for other in places) == 1
        names = (place.target.name,) if is_alone else (place.target.name, place.node.name)
        prefix = ".".join(("backing", *map(_fact_name, names)))
        facts |= {f"{prefix}.{name}": value for name, value in (place.mount.facts if place.mount else {}).items()}
    return dict(islice(facts.items(), _MOST_FACTS))


def suggested_backing(session: Session, found: Target, mounts: Sequence[TargetMount]) -> list[Target]:
    """Return the targets that a server's export is on, if its host is named like a node of the cluster."""
    exports = [
        (host.partition(".")[0], f"/{path}".rstrip("/"))
        for mount in mounts
        for host, separator, path in [mount.source.partition(":/")]
        if separator
    ]
    known = {link.backing_id for link in repository.backings(session, [found.id])} | {found.id}
    mounted = repository.living_mounts(session, Target.cluster_id == found.cluster_id)
    living = [target for target, _ in mounted if target.id not in known]
    serving = {
        place.target.id
        for place in places_of(session, {target.id for target in living} if exports else ())
        if any(_serves(place, host, export) for host, export in exports)
    }
    return [target for target in dict.fromkeys(living) if target.id in serving]


def _serves(place: NodeTarget, host: str, export: str) -> bool:
    has_name = place.node.name.partition(".")[0] == host
    return has_name and place.mount is not None and is_at_or_below(export or "/", place.mount.mount_point)


def _refuse_cycle(
    living: Mapping[int, Target], target_id: int, backing_ids: Sequence[int], links: Sequence[TargetBacking]
) -> None:
    by_target = _by_target(links)
    for backing_id in backing_ids:
        if target_id in {backing_id, *_below([backing_id], by_target)}:
            name, own = living[backing_id].name, living[target_id].name
            problem = f"{name} is already backed by {own}" if backing_id != target_id else f"{own} cannot back itself"
            raise BACKING_REFUSED(
                name=name, problem=problem, remedy=f"omit {name}, or remove {own} from its backing first"
            )


def _by_target(links: Sequence[TargetBacking]) -> Mapping[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for link in links:
        found[link.target_id].append(link.backing_id)
    return found


def _below(target_ids: Collection[int], by_target: Mapping[int, Sequence[int]]) -> set[int]:
    found: set[int] = set()
    left = [backing_id for target_id in target_ids for backing_id in by_target.get(target_id, ())]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += by_target.get(one, ())
    return found


def _fact_name(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")
