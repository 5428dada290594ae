"""The odd one out among equals, by the newest runs of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Annotated, Final

from fastapi import Query
from sqlalchemy.orm import Session

from iotide_server.accounts.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.results.models import Series
from iotide_server.results.values import RunValue, run_values
from iotide_server.statistics import peers as statistics
from iotide_server.trends import peer_repository as repository
from iotide_server.trends.peer_schemas import Peer, PeerGroup, Peers
from iotide_server.trends.peering import PeerGroup as Group
from iotide_server.trends.peering import PeerKind, peer_groups
from iotide_server.trends.words import peer_words, unjudged_peers_words

NEWEST_CELLS: Final = 10
"""Of each series; since its last change, if that was later."""

NewestRuns = Mapping[int, Mapping[int, Sequence[RunValue]]]
"""By series and run."""


@dataclass(frozen=True, slots=True)
class PeerChoice:
    """Which groups are wanted, as query parameters."""

    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["throughput"])] = None
    kind: Annotated[PeerKind | None, Query(description="Compare these alone")] = None
    only_odd: Annotated[bool, Query(description="Groups with an odd one alone")] = False
    limit: Annotated[int, Query(ge=1, le=1000, description="Groups at most")] = 100


def cluster_peers(session: Session, principal: Principal, cluster_id: int, wanted: PeerChoice) -> Peers:
    """Groups of equals, those with an odd one first; those with too few runs to be compared say so, and come last.

    Raises:
        ClusterNotFoundError: there is none that the caller may see.
    """
    clusters.cluster(session, principal, cluster_id)
    groups = [
        group
        for group in groups_of_equals(session, cluster_id, wanted.workload, wanted.metric)
        if wanted.kind in {None, group.kind}
    ]
    runs = newest_runs(session, [one for group in groups for one in group.series.values()])
    judged = [_judged(group, runs) for group in groups]
    shown = [group for group in judged if group.has_odd or not wanted.only_odd]
    shown.sort(
        key=lambda group: (not group.has_odd, not group.members, group.kind, group.workload, group.metric, group.alike)
    )
    return Peers(cluster_id=cluster_id, groups=shown[: wanted.limit], left_out=max(0, len(shown) - wanted.limit))


def groups_of_equals(
    session: Session, cluster_id: int, workload: str | None = None, metric: str | None = None
) -> list[Group]:
    """Groups in a cluster that are large enough to be judged, of one workload or metric where one is named."""
    series = repository.series_with_points(session, cluster_id, workload, metric)
    nodes, targets = repository.known_nodes(session, cluster_id), repository.known_targets(session, cluster_id)
    groups = peer_groups(series, nodes, targets)
    return [group for group in groups if len(group.series) >= statistics.FEWEST_PEERS]


def newest_runs(session: Session, series: Iterable[Series], before: datetime | None = None) -> NewestRuns:
    """What the newest valid runs of each series say, since it has been at the level of now.

    Args:
        before: as it was to be seen just before that moment; None: now.
    """
    series_ids = {one.id for one in series}
    changed_at = repository.last_changes(session, series_ids, before)
    by_run: dict[int, dict[int, list[RunValue]]] = defaultdict(lambda: defaultdict(list))
    cell_ids = repository.newest_cells(session, series_ids, NEWEST_CELLS, before)
    for value in run_values(session, cell_ids, series_ids=series_ids):
        since = changed_at.get(value.series_id)
        if since is None or value.started_at >= since:
            by_run[value.series_id][value.run_id].append(value)
    return by_run


def judged_peers(group: Group, runs: NewestRuns) -> dict[str, statistics.Peer]:
    """The members of a group that can be judged, each by the medians of its runs."""
    return statistics.odd_ones(
        {
            name: [run_level(values) for values in runs.get(series.id, {}).values()]
            for name, series in group.series.items()
        }
    )


def run_level(values: Iterable[RunValue]) -> float:
    """What stands for the numbers of one run in one series: their median."""
    return median(value.value for value in values)


def _judged(group: Group, runs: NewestRuns) -> PeerGroup:
    found = judged_peers(group, runs)
    enough = {name for name, one in group.series.items() if len(runs.get(one.id, {})) >= statistics.FEWEST_RUNS}
    first = next(iter(group.series.values()))
    members = [
        Peer(
            name=name,
            series_id=group.series[name].id,
            n=peer.run_count,
            median=peer.median,
            difference_ratio=peer.difference_ratio,
            robust_z=peer.robust_z,
            p_value=peer.p_value,
            is_odd=peer.is_odd,
            words=peer_words(peer.difference_ratio, len(found) - 1, first.better, is_odd=peer.is_odd),
        )
        for name, peer in found.items()
    ]
    return PeerGroup(
        kind=group.kind,
        alike=group.alike,
        workload=first.workload,
        options=first.options,
        metric=first.metric,
        title=first.title,
        unit=first.unit,
        better=first.better,
        labels=first.labels,
        members=sorted(members, key=lambda peer: (not peer.is_odd, peer.name)),
        too_few=sorted(group.series.keys() - enough),
        not_judged=None if found else unjudged_peers_words(len(enough), len(group.series)),
        has_odd=any(peer.is_odd for peer in members),
    )
