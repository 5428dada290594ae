"""The odd one out among equals, by the newest runs of each."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
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
from iotide_server.trends.changes.words import peer_words, unjudged_peers_words
from iotide_server.trends.peers import repository
from iotide_server.trends.peers.groups import EqualSeries as Group
from iotide_server.trends.peers.groups import PeerFilter, PeerKind, equal_series
from iotide_server.trends.peers.schemas import Peer, PeerGroup, Peers
from iotide_server.trends.points.levels import Level, run_levels

NEWEST_CELLS: Final = 10  # of each series; since its last change, if that was later
MOST_LEVELS: Final = 1_000_000  # of a group; 10,000 nodes with ten cells of ten runs each have as many
MOST_SHOWN: Final = 50_000  # members of the groups on a page

_SERIES_AT_ONCE: Final = 2_000

NewestRuns = Mapping[int, Mapping[int, Level]]  # by series and run

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PeerChoice:
    """Which groups are wanted, as query parameters."""

    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["throughput"])] = None
    kind: Annotated[PeerKind | None, Query(description="Compare these alone")] = None
    only_odd: Annotated[bool, Query(description="Groups with an odd one alone")] = False
    limit: Annotated[int, Query(ge=1, le=1000, description="Groups at most")] = 100


def cluster_peers(session: Session, principal: Principal, cluster_id: int, wanted: PeerChoice) -> Peers:
    """Return groups of equals, odd ones first and those with too few runs last, or raise CLUSTER_NOT_FOUND."""
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
    """Yield the groups in a cluster that are large enough to be judged."""
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
    """Yield each group with its newest valid runs at the level of now, or of just before a moment.

    A group with more than `MOST_LEVELS` of them is logged and left out.
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
    """Return the levels by series and run; None where they are too many to be held."""
    changed_at = repository.last_changes(session, series_ids, before)
    found: dict[int, dict[int, Level]] = defaultdict(dict)
    cell_ids = repository.newest_cells(session, series_ids, NEWEST_CELLS, before)
    count = 0
    for of_run in values_by_run(session, cell_ids, series_ids):
        levels = run_levels(
            value for value in of_run if (since := changed_at.get(value.series_id)) is None or value.started_at >= since
        )
        count += len(levels)
        if count > MOST_LEVELS:
            return None
        for level in levels:
            found[level.series_id][level.run_id] = level
    return found


def judged_peers(group: Group, runs: NewestRuns) -> dict[str, statistics.ComparedPeer]:
    """The members of a group that can be judged, each by the medians of its runs."""
    return statistics.odd_ones(
        {name: [level.value for level in runs.get(series.id, {}).values()] for name, series in group.series.items()}
    )


def _judged(group: Group, runs: NewestRuns) -> tuple[int, PeerGroup]:
    """Return the id of the first of its series, too; its options are still to come."""
    found = judged_peers(group, runs)
    enough = {name for name, one in group.series.items() if len(runs.get(one.id, {})) >= statistics.FEWEST_RUNS}
    first = next(iter(group.series.values()))
    members = [
        Peer.of_row(
            peer,
            name=name,
            series_id=group.series[name].id,
            n=peer.run_count,
            words=peer_words(peer.difference_ratio, len(found) - 1, first.better, is_odd=peer.is_odd),
        )
        for name, peer in found.items()
    ]
    return first.id, PeerGroup.of_row(
        first,
        kind=group.kind,
        alike=group.alike,
        options={},
        members=sorted(members, key=lambda peer: (not peer.is_odd, peer.name)),
        too_few=sorted(group.series.keys() - enough),
        not_judged=None if found else unjudged_peers_words(len(enough), len(group.series)),
        has_odd=any(peer.is_odd for peer in members),
    )
