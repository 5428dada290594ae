"""PEER_ODD flags: runs that deviate from their peers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Campaign
from iotide_server.change_feed import service as live
from iotide_server.kit.db import in_parts, transaction_time
from iotide_server.kit.work import want_all
from iotide_server.results.ingest.service import POINTS
from iotide_server.statistics.peers import LEAST_RATIO, ComparedPeer
from iotide_server.trends.peers import repository as peer_repository
from iotide_server.trends.peers.groups import EqualSeries, PeerFilter
from iotide_server.trends.peers.outliers import FewFlags
from iotide_server.trends.peers.service import NewestRuns, groups_of_equals, judged_peers, with_newest_runs
from iotide_server.trends.points import repository
from iotide_server.trends.points.levels import Level
from iotide_wire.measured import Flag, FlagCode, FlagEffect, PeerDistance, PeerKind
from iotide_wire.units import Unit, format_distance, format_number, format_percent, format_value

_KINDS: Final = (PeerKind.OSTS, PeerKind.NODES, PeerKind.TARGETS)
"""Order of flags of several kinds."""

_SERIES_AT_ONCE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Marked:
    cell_ids: AbstractSet[int] = frozenset()
    before: datetime | None = None
    changed: list[int] = field(default_factory=list)


def judge_peers(session: Session, campaign_id: int) -> None:
    """Flag the outliers of a campaign and request the points of changed cells. Safe to repeat."""
    judge_together(session, [campaign_id])


def judge_together(session: Session, campaign_ids: Sequence[int]) -> list[int]:
    """Judge the first campaign and those of its peers; return the others."""
    first, *others = campaign_ids
    marked = mark_odd_runs(session, first)
    want_all(session, POINTS, marked.changed, transaction_time(session))
    return [
        one
        for one in others
        if peer_repository.measured_again_at(session, one) != marked.before
        or not set(peer_repository.measured_cells(session, one)) <= marked.cell_ids
    ]


def mark_odd_runs(session: Session, campaign_id: int) -> Marked:
    """Flag the outliers among the runs of a campaign and its peers' newest runs.

    The peers' last campaign finds the outlier. Results from after the next point of a series do not count, so that
    later repairs and failures do not change the flags.
    """
    campaign = session.get(Campaign, campaign_id)
    if campaign is None:
        return Marked()
    before = peer_repository.measured_again_at(session, campaign_id)
    cell_ids, workloads = peer_repository.campaign_work(session, campaign_id)
    equals = groups_of_equals(session, campaign.cluster_id, PeerFilter(workloads, cell_ids=set(cell_ids)))
    for some in in_parts((series.id for group in equals for series in group.series.values()), _SERIES_AT_ONCE):
        cell_ids |= set(peer_repository.newest_cells(session, some, 1, before))
    # A peer's cell may also be in groups without this campaign.
    judged = groups_of_equals(session, campaign.cluster_id, PeerFilter(workloads, cell_ids=cell_ids))
    flags: dict[int, FewFlags] = defaultdict(FewFlags)
    for group, runs in with_newest_runs(session, judged, before):
        first_id = min(series.id for series in group.series.values())
        for level, distance, flag in _odd_runs(group, runs):
            flags[level.run_id].add(flag, distance, (first_id, _KINDS.index(group.kind), level.series_id))
    listed = {run_id: found.listed() for run_id, found in flags.items()}
    changed = peer_repository.cells_with_other_flags(session, cell_ids, FlagCode.PEER_ODD, listed)
    for cell_id in changed:
        _mark(session, cell_id, listed)
    return Marked(cell_ids, before, changed)


def _odd_runs(group: EqualSeries, runs: NewestRuns) -> Iterator[tuple[Level, float, Flag]]:
    found = judged_peers(group, runs)
    if found is None:
        return
    limit = f"{format_percent(LEAST_RATIO)} from the group's median, and z {format_number(found.z_limit)}"
    for name, peer in found.members.items():
        series = group.series[name]
        for campaign_id, levels in runs[series.id].items() if peer.is_odd else ():
            usual = found.usual.get(campaign_id, found.median)
            for level in levels:
                difference = level.value / usual - 1
                if abs(difference) >= LEAST_RATIO and (difference > 0) == (peer.difference_ratio > 0):
                    distance = PeerDistance(
                        kind=group.kind,
                        metric=series.metric,
                        peer_count=len(found.members),
                        difference_ratio=difference,
                    )
                    measured = f"{series.title}: {_measured(level.value, usual, Unit(series.unit))}"
                    flag = Flag(
                        code=FlagCode.PEER_ODD,
                        effect=FlagEffect.MARKED,
                        measured=f"{measured} of {peers_in_words(distance)} ({_evidence(peer)})",
                        limit=limit,
                        labels=dict(series.labels),
                        target_id=level.target_id,
                        peers=distance,
                    )
                    yield level, abs(difference), flag


def peers_in_words(distance: PeerDistance) -> str:
    """Return e.g. `3 nodes` or `12 OSTs`."""
    return f"{distance.peer_count} {'OSTs' if distance.kind is PeerKind.OSTS else distance.kind.value}"


def _measured(value: float, usual: float, unit: Unit) -> str:
    side = "above" if value > usual else "below"
    return f"{format_value(value, unit)}, {format_distance(value / usual)} {side} the {format_value(usual, unit)}"


def _evidence(peer: ComparedPeer) -> str:
    z = "" if peer.robust_z is None else f", z {format_number(peer.robust_z)}"
    return f"{peer.run_count} runs{z}"


def _mark(session: Session, cell_id: int, flags: Mapping[int, Sequence[Flag]]) -> None:
    """Lock the cell against updates of its points."""
    repository.lock_cell(session, cell_id)
    runs = repository.lock_finished_runs(session, cell_id)
    repository.put_flags(session, FlagCode.PEER_ODD, {run.id: flags.get(run.id, ()) for run in runs})
    for run in runs:
        live.publish(session, "run", run.id, run.cluster_id)
