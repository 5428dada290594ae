"""Collect the rules' input for a target or a campaign, and apply the rules."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.advice import repository
from iotide_server.advice.registry import advise
from iotide_server.advice.repository import AnyRow
from iotide_server.advice.scene import MountedTarget, Scene, SceneCell, ScenePoint
from iotide_server.advice.schemas import AdviceReport
from iotide_server.advice.sites import facts_by_node, sites_of
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.digests import canonical_sha256
from iotide_server.targets import backing
from iotide_server.targets import service as targets
from iotide_server.targets.backing import NodeTarget
from iotide_server.workloads.repository import option_titles
from iotide_wire.units import Unit

MOST_PLACES: Final = 50
"""Limit for places of a target and of everything that backs it. Other nodes mount it like the first ones."""


def target_advice(session: Session, principal: Principal, target_id: int) -> AdviceReport:
    """Advise from agents' last reports and the newest campaigns; raise TARGET_NOT_FOUND."""
    targets.target(session, principal, target_id)
    own = backing.places_of(session, [target_id], most=MOST_PLACES)
    below = backing.places_of(session, backing.all_below(session, [target_id]), most=MOST_PLACES)
    sites = [*(_site(place, is_below=False) for place in own), *(_site(place, is_below=True) for place in below)]
    rows = _newest_alike(repository.target_cells(session, target_id))
    cells = _cells(session, rows)
    points, is_cut = _points(session, rows, cells)
    is_full = MOST_PLACES in {len(own), len(below)}
    return advise(Scene(sites, points), cells=len(cells), is_cut=is_cut or is_full)


def campaign_advice(
    session: Session, principal: Principal, campaign_id: int, claimed_ratio: float | None
) -> AdviceReport:
    """Advise from runs, their facts and a claimed ratio; raise CAMPAIGN_NOT_FOUND."""
    campaigns.visible_campaign(session, principal, campaign_id)
    found = repository.campaign_cells(session, campaign_id)
    rows = found[: repository.MOST_CELLS]
    cells = _cells(session, rows)
    points, is_cut = _points(session, rows, cells)
    mounted = {
        (row.target, row.node): (row.mount_point or "", row.source)
        for row in repository.mounts(session, [row.id for row in rows])
    }
    sites = sites_of(cells, mounted)
    is_cut = is_cut or len(found) > len(rows)
    return advise(Scene(sites, points, claimed_ratio), cells=len(cells), is_cut=is_cut)


def _site(place: NodeTarget, *, is_below: bool) -> MountedTarget:
    mount = place.mount
    facts = {**place.node.facts, **(mount.facts if mount else {})}
    if mount:
        facts.setdefault("mount.fstype", mount.fstype)
    return MountedTarget(
        place.target.name,
        place.node.name,
        mount.mount_point if mount else place.path,
        mount.source if mount else "",
        facts,
        is_below=is_below,
    )


def _newest_alike(rows: Sequence[AnyRow]) -> list[AnyRow]:
    by_campaign: dict[int, list[AnyRow]] = {}
    for row in rows:
        by_campaign.setdefault(row.campaign_id, []).append(row)
    newest: dict[frozenset[object], list[AnyRow]] = {}
    for campaign_id in sorted(by_campaign, reverse=True):
        own = by_campaign[campaign_id]
        kind = frozenset(
            (row.workload, canonical_sha256(row.options), row.variant, *row.nodes, *row.targets) for row in own
        )
        newest.setdefault(kind, own)
    return [row for own in newest.values() for row in own]


def _cells(session: Session, rows: Sequence[AnyRow]) -> list[SceneCell]:
    environments = repository.environments(session, {row.environment_sha256 for row in rows} - {None})
    titles = option_titles(session, {row.workload for row in rows}, {row.cluster_id for row in rows})
    return [
        SceneCell(
            ordinal=row.ordinal,
            campaign_id=row.campaign_id,
            workload=row.workload,
            options=row.options,
            variant=row.variant,
            nodes=tuple(row.nodes),
            targets=tuple(row.targets),
            facts=facts_by_node(environments.get(row.environment_sha256, {}), row.nodes),
            run_ids=tuple(row.run_ids),
            free_bytes=row.free_bytes,
            titles=titles[row.workload],
            is_one_program=row.is_one_program,
        )
        for row in rows
    ]


def _points(session: Session, rows: Sequence[AnyRow], cells: Sequence[SceneCell]) -> tuple[list[ScenePoint], bool]:
    by_id = {row.id: cell for row, cell in zip(rows, cells, strict=True)}
    found = [_point(row, by_id[row.cell_id]) for row in repository.points(session, by_id.keys())]
    return found[: repository.MOST_POINTS], len(found) > repository.MOST_POINTS


def _point(row: AnyRow, cell: SceneCell) -> ScenePoint:
    said = row.run_count, row.median, row.low, row.high
    return ScenePoint(cell, row.metric, Unit(row.unit), row.labels, *said, frozenset(row.flags))
