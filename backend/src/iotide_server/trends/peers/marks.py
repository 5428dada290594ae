"""PEER_ODD: the flags of runs that are odd among those of equal nodes, targets or OSTs, after their points."""

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
from iotide_server.results.schemas import Labels
from iotide_server.statistics.peers import LEAST_RATIO, MOST_FALSE, ComparedPeer
from iotide_server.trends.peers import repository as peer_repository
from iotide_server.trends.peers.groups import EqualSeries, PeerFilter, PeerKind
from iotide_server.trends.peers.outliers import FewFlags
from iotide_server.trends.peers.service import NewestRuns, groups_of_equals, judged_peers, with_newest_runs
from iotide_server.trends.points import repository
from iotide_server.trends.points.levels import Level
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit, format_distance, format_number, format_p, format_percent, format_value

_KINDS: Final = (PeerKind.OSTS, PeerKind.NODES, PeerKind.TARGETS)
"""In the order in which a series with flags of several kinds lists them."""

_SERIES_AT_ONCE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Marked:
    """What was judged: these cells, by what was known before that moment; and which of them changed."""

    cell_ids: AbstractSet[int] = frozenset()
    before: datetime | None = None
    changed: list[int] = field(default_factory=list)


def judge_peers(session: Session, campaign_id: int) -> None:
    """Mark the odd ones of a campaign, and have the points of cells with other marks computed again; safe to repeat."""
    judge_together(session, [campaign_id])


def judge_together(session: Session, campaign_ids: Sequence[int]) -> list[int]:
    """As `judge_peers` of the first and of those that measure its equals; return the others."""
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
    """Flag the runs of a campaign that are odd among their equals, and those of the equals' newest cells.

    Equals may be measured by campaigns of their own; then the last of these finds the odd one, whichever it is. A
    campaign is judged by what was known until the first of its series was measured again: what is mended, or breaks,
    later changes nothing about it.
    """
    campaign = session.get(Campaign, campaign_id)
    if campaign is None:
        return Marked()
    before = peer_repository.measured_again_at(session, campaign_id)
    cell_ids, workloads = peer_repository.campaign_work(session, campaign_id)
    equals = groups_of_equals(session, campaign.cluster_id, PeerFilter(workloads, cell_ids=set(cell_ids)))
    for some in in_parts((series.id for group in equals for series in group.series.values()), _SERIES_AT_ONCE):
        cell_ids |= set(peer_repository.newest_cells(session, some, 1, before))
    # An equal's cell may be among others' equals besides, which the campaign has no part in.
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
    """Yield the runs of odd members that are on the odd side themselves, how far they are there, and their flags."""
    found = judged_peers(group, runs)
    peers = "OSTs" if group.kind is PeerKind.OSTS else group.kind.value
    for name, peer in found.items():
        series = group.series[name]
        for level in runs[series.id].values() if peer.is_odd else ():
            difference = level.value / peer.usual - 1
            if abs(difference) >= LEAST_RATIO and (difference > 0) == (peer.difference_ratio > 0):
                among = f"{len(found) - 1} equal {peers} ({_evidence(peer)})"
                measured = f"{series.title}: {_measured(level.value, peer, Unit(series.unit))} of {among}"
                yield level, abs(difference), _flag(series.labels, level.target_id, measured)


def _measured(value: float, peer: ComparedPeer, unit: Unit) -> str:
    side = "above" if peer.difference_ratio > 0 else "below"
    distance, usual = format_distance(value / peer.usual), format_value(peer.usual, unit)
    return f"{format_value(value, unit)}, {distance} {side} the {usual}"


def _evidence(peer: ComparedPeer) -> str:
    z = "" if peer.robust_z is None else f"z {format_number(peer.robust_z)}, "
    return f"{peer.run_count} runs, {z}p {format_p(peer.p_value)}"


def _flag(labels: Labels, target_id: int | None, measured: str) -> Flag:
    limit = f"{format_percent(LEAST_RATIO)} from its equals, and p {MOST_FALSE} adjusted for their number"
    code, effect = FlagCode.PEER_ODD, FlagEffect.MARKED
    return Flag(code=code, effect=effect, measured=measured, limit=limit, labels=dict(labels), target_id=target_id)


def _mark(session: Session, cell_id: int, flags: Mapping[int, Sequence[Flag]]) -> None:
    """The cell is kept from those who compute its points meanwhile."""
    repository.lock_cell(session, cell_id)
    runs = repository.lock_finished_runs(session, cell_id)
    repository.put_flags(session, FlagCode.PEER_ODD, {run.id: flags.get(run.id, ()) for run in runs})
    for run in runs:
        live.publish(session, "run", run.id, run.cluster_id)
