"""Outliers among peers, by their newest runs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Annotated, Final

import structlog
from fastapi import Query
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.kit.db import in_parts
from iotide_server.results.values import values_by_run
from iotide_server.statistics import peers as statistics
from iotide_server.trends.changes.words import peer_basis_words, peer_words, unjudged_peers_words
from iotide_server.trends.peers import repository
from iotide_server.trends.peers.groups import EqualSeries as Group
from iotide_server.trends.peers.groups import PeerFilter, equal_series
from iotide_server.trends.peers.schemas import Peer, PeerCampaign, PeerGroup, Peers
from iotide_server.trends.points.levels import Level, run_levels
from iotide_wire.measured import PeerKind

NEWEST_CELLS: Final = 10  # per series, since its last change
MOST_LEVELS: Final = 1_000_000  # per group: 10,000 nodes with ten cells of ten runs
MOST_SHOWN: Final = 50_000
MOST_WITH_CAMPAIGNS: Final = 200  # members; no figure shows the campaigns of more

_SERIES_AT_ONCE: Final = 2_000

NewestRuns = Mapping[int, Mapping[int, Sequence[Level]]]
"""Levels of runs by series and campaign."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PeerChoice:
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["throughput"])] = None
    kind: Annotated[PeerKind | None, Query(description="Compare only this kind of peers")] = None
    only_odd: Annotated[bool, Query(description="Return only groups with an outlier")] = False
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of groups")] = 100


def cluster_peers(session: Session, principal: Principal, cluster_id: int, wanted: PeerChoice) -> Peers:
    """Return peer groups, outliers first, too few runs last; raises CLUSTER_NOT_FOUND."""
    clusters.cluster(session, principal, cluster_id)
    workloads = None if wanted.workload is None else [wanted.workload]
    kinds = list(PeerKind) if wanted.kind is None else [wanted.kind]
    groups = groups_of_equals(session, cluster_id, PeerFilter(workloads, wanted.metric), kinds)
    judged = (_judged(group, runs) for group, runs in with_newest_runs(session, groups))
    shown: list[tuple[int, PeerGroup]] = []
    count = 0
    for some in in_parts((one for one in judged if one[1].has_odd or not wanted.only_odd), wanted.limit):
        count += len(some)
        shown = _first([*shown, *some], wanted.limit)
    options = repository.options(session, [series_id for series_id, _ in shown])
    named = [group.model_copy(update={"options": options[series_id]}) for series_id, group in shown]
    return Peers(cluster_id=cluster_id, groups=named, left_out=count - len(named))


def _first(judged: list[tuple[int, PeerGroup]], limit: int) -> list[tuple[int, PeerGroup]]:
    judged.sort(key=lambda one: _place(one[1]))
    members = accumulate(len(group.members) + len(group.too_few) for _, group in judged)
    return judged[: min(limit, max(1, sum(count <= MOST_SHOWN for count in members)))]


def _place(group: PeerGroup) -> tuple[object, ...]:
    return not group.has_odd, not group.members, group.kind, group.workload, group.metric, group.alike


def groups_of_equals(
    session: Session, cluster_id: int, wanted: PeerFilter, kinds: Iterable[PeerKind] = PeerKind
) -> Iterator[Group]:
    known = {
        PeerKind.NODES: repository.known_nodes(session, cluster_id),
        PeerKind.TARGETS: repository.known_targets(session, cluster_id),
        PeerKind.OSTS: {},
    }
    for kind in kinds:
        for alike in repository.alike(session, kind, cluster_id, wanted):
            for group in equal_series(kind, alike, known[kind]):
                is_wanted = any(series.is_of_cells for series in group.series.values())
                if is_wanted and len(group.series) >= statistics.FEWEST_PEERS:
                    yield group


def with_newest_runs(
    session: Session, groups: Iterable[Group], before: datetime | None = None
) -> Iterator[tuple[Group, NewestRuns]]:
    """Yield each group with its newest valid runs since the last change, optionally before a time.

    Groups above `MOST_LEVELS` are logged and skipped.
    """
    for some in _together(groups):
        runs = _newest_runs(session, {series.id for group in some for series in group.series.values()}, before)
        if runs is not None:
            yield from ((group, runs) for group in some)
        elif len(some) > 1:
            for group in some:
                yield from with_newest_runs(session, [group], before)
        else:
            first = next(iter(some[0].series.values()))
            _log.warning("peers_not_compared", kind=some[0].kind, series_id=first.id, most_runs=MOST_LEVELS)


def _together(groups: Iterable[Group]) -> Iterator[list[Group]]:
    some: list[Group] = []
    for group in groups:
        if some and sum(len(one.series) for one in some) + len(group.series) > _SERIES_AT_ONCE:
            yield some
            some = []
        some.append(group)
    if some:
        yield some


def _newest_runs(session: Session, series_ids: Collection[int], before: datetime | None) -> NewestRuns | None:
    changed_at = repository.last_changes(session, series_ids, before)
    found: dict[int, dict[int, list[Level]]] = defaultdict(lambda: defaultdict(list))
    cell_ids = repository.newest_cells(session, series_ids, NEWEST_CELLS, before)
    campaigns = repository.campaigns_of(session, cell_ids)
    count = 0
    for of_run in values_by_run(session, cell_ids, series_ids):
        levels = run_levels(
            value for value in of_run if (since := changed_at.get(value.series_id)) is None or value.started_at >= since
        )
        count += len(levels)
        if count > MOST_LEVELS:
            return None
        for level in levels:
            found[level.series_id][campaigns[of_run[0].cell_id]].append(level)
    return found


def judged_peers(group: Group, runs: NewestRuns) -> statistics.ComparedPeers | None:
    return statistics.compared_peers(
        {
            name: {at: [level.value for level in levels] for at, levels in runs.get(series.id, {}).items()}
            for name, series in group.series.items()
        }
    )


def _judged(group: Group, runs: NewestRuns) -> tuple[int, PeerGroup]:
    found = judged_peers(group, runs)
    judged = {} if found is None else found.members
    enough = {name for name, one in group.series.items() if _run_count(runs, one.id) >= statistics.FEWEST_RUNS}
    first = next(iter(group.series.values()))
    members = [
        Peer.of_row(
            peer,
            name=name,
            series_id=group.series[name].id,
            n=peer.run_count,
            campaigns=peer.campaign_count,
            by_campaign=_by_campaign(peer) if len(judged) <= MOST_WITH_CAMPAIGNS else [],
            words=peer_words(peer.difference_ratio, len(judged), first.better, is_odd=peer.is_odd),
        )
        for name, peer in judged.items()
    ]
    return first.id, PeerGroup.of_row(
        first,
        kind=group.kind,
        alike=group.alike,
        options={},
        members=sorted(members, key=lambda peer: (not peer.is_odd, peer.name)),
        too_few=sorted(group.series.keys() - (judged.keys() or enough)),
        not_judged=None if found else unjudged_peers_words(len(enough), len(group.series)),
        z_limit=None if found is None else found.z_limit,
        basis=None if found is None else found.basis,
        basis_words=None if found is None else peer_basis_words(found.basis),
        has_odd=any(peer.is_odd for peer in members),
    )


def _by_campaign(peer: statistics.ComparedPeer) -> list[PeerCampaign]:
    ordered = sorted(peer.campaign_ratios.items())
    return [PeerCampaign(campaign_id=campaign_id, difference_ratio=ratio) for campaign_id, ratio in ordered]


def _run_count(runs: NewestRuns, series_id: int) -> int:
    return sum(map(len, runs.get(series_id, {}).values()))
