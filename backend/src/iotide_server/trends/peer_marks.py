"""PEER_ODD: the flags of runs that are odd among those of equal nodes, targets or OSTs, after their points."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Campaign
from iotide_server.kit.work import want_all
from iotide_server.live import service as live
from iotide_server.results.service import POINTS
from iotide_server.results.values import RunValue
from iotide_server.statistics.peers import LEAST_RATIO, MOST_FALSE, Peer
from iotide_server.trends import peer_repository, repository
from iotide_server.trends.outliers import few_told
from iotide_server.trends.peering import PeerGroup, PeerKind
from iotide_server.trends.peers import NewestRuns, groups_of_equals, judged_peers, newest_runs, run_level
from iotide_server.trends.service import replace_flags
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit, format_distance, format_number, format_p, format_percent, format_value

_GROUPS_AT_ONCE: Final = 50
"""A cluster has hundreds of groups with hundreds of series each, and their runs are not all held at the same time."""


def judge_peers(session: Session, campaign_id: int) -> None:
    """Mark the odd ones of a campaign, and have the points of cells computed again whose marks changed.

    Harmless to do twice, also at once: what is found does not depend on the marks, so that the second time nothing
    changes, and nothing more is wanted.
    """
    judge_together(session, [campaign_id])


def judge_together(session: Session, campaign_ids: Sequence[int]) -> list[int]:
    """As `judge_peers` of the first, and of those that measure its equals: their newest cells were judged with it.

    Returns:
        The others.
    """
    first, *others = campaign_ids
    marked = _mark_odd_runs(session, first)
    want_all(session, POINTS, marked.changed, repository.transaction_time(session))
    return [
        one
        for one in others
        if peer_repository.measured_again_at(session, one) != marked.before
        or not set(peer_repository.measured_cells(session, one)) <= marked.cell_ids
    ]


def mark_odd_runs(session: Session, campaign_id: int) -> list[int]:
    """Flag the runs of a campaign that are odd among their equals, and those of the equals' newest cells.

    Equals may be measured by campaigns of their own; then the last of these finds the odd one, whichever it is. A
    campaign is judged by what was known until the first of its series was measured again: what is mended, or breaks,
    later changes nothing about it.

    Returns:
        Cells of which a run's flags changed.
    """
    return _mark_odd_runs(session, campaign_id).changed


@dataclass(frozen=True, slots=True)
class _Marked:
    """What was judged: these cells, by what was known before that moment; and which of them changed."""

    cell_ids: AbstractSet[int] = frozenset()
    before: datetime | None = None
    changed: list[int] = field(default_factory=list)


def _mark_odd_runs(session: Session, campaign_id: int) -> _Marked:
    campaign = session.get(Campaign, campaign_id)
    if campaign is None:
        return _Marked()
    own_cells = set(peer_repository.campaign_cells(session, campaign_id))
    before = peer_repository.measured_again_at(session, campaign_id)
    own_series = peer_repository.series_in_cells(session, own_cells)
    groups = [
        group
        for workload in sorted(set(own_series.values()))
        for group in groups_of_equals(session, campaign.cluster_id, workload)
    ]
    equals = _touching(groups, own_series.keys())
    equal_ids = {series.id for group in equals for series in group.series.values()}
    cell_ids = own_cells | set(peer_repository.newest_cells(session, equal_ids, 1, before))
    # An equal's cell may be among others' equals besides, which the campaign has no part in.
    judged = _touching(groups, peer_repository.series_in_cells(session, cell_ids).keys())
    flags: dict[int, list[tuple[float, Flag]]] = defaultdict(list)
    for first in range(0, len(judged), _GROUPS_AT_ONCE):
        some = judged[first : first + _GROUPS_AT_ONCE]
        runs = newest_runs(session, [series for group in some for series in group.series.values()], before)
        for group in some:
            for run_id, distance, flag in _odd_runs(group, runs):
                flags[run_id].append((distance, flag))
    told = {run_id: few_told(found) for run_id, found in flags.items()}
    changed = peer_repository.cells_with_other_flags(session, cell_ids, FlagCode.PEER_ODD, told)
    for cell_id in changed:
        _mark(session, cell_id, told)
    return _Marked(cell_ids, before, changed)


def _touching(groups: list[PeerGroup], series_ids: AbstractSet[int]) -> list[PeerGroup]:
    return [group for group in groups if any(series.id in series_ids for series in group.series.values())]


def _odd_runs(group: PeerGroup, runs: NewestRuns) -> Iterator[tuple[int, float, Flag]]:
    """The runs of odd members that are on the odd side themselves, how far they are there, and the flag of each."""
    found = judged_peers(group, runs)
    for name, peer in found.items():
        if not peer.is_odd:
            continue
        usual = median(other.median for others_name, other in found.items() if others_name != name)
        series = group.series[name]
        for run_id, values in runs[series.id].items():
            difference = run_level(values) / usual - 1
            if abs(difference) >= LEAST_RATIO and (difference > 0) == (peer.difference_ratio > 0):
                measured = _measured(run_level(values), usual, peer, Unit(series.unit))
                among = f"{len(found) - 1} equal {_plural(group.kind)} ({_evidence(peer)})"
                yield run_id, abs(difference), _flag(values[0], f"{series.title}: {measured} of {among}")


def _measured(value: float, usual: float, peer: Peer, unit: Unit) -> str:
    side = "above" if peer.difference_ratio > 0 else "below"
    return f"{format_value(value, unit)}, {format_distance(value / usual)} {side} the {format_value(usual, unit)}"


def _plural(kind: PeerKind) -> str:
    return "OSTs" if kind is PeerKind.OSTS else kind.value


def _evidence(peer: Peer) -> str:
    z = "" if peer.robust_z is None else f"z {format_number(peer.robust_z)}, "
    return f"{peer.run_count} runs, {z}p {format_p(peer.p_value)}"


def _flag(value: RunValue, measured: str) -> Flag:
    return Flag(
        code=FlagCode.PEER_ODD,
        effect=FlagEffect.MARKED,
        measured=measured,
        limit=f"{format_percent(LEAST_RATIO)} from its equals, and p {MOST_FALSE} adjusted for their number",
        labels=dict(value.labels),
        target_id=value.target_id,
    )


def _mark(session: Session, cell_id: int, flags: Mapping[int, Sequence[Flag]]) -> None:
    """The cell is kept from those who compute its points meanwhile."""
    repository.lock_cell(session, cell_id)
    for run in repository.lock_finished_runs(session, cell_id):
        replace_flags(run, FlagCode.PEER_ODD, flags.get(run.id, []))
        live.publish(session, "run", run.id, run.cluster_id)
    session.flush()
