"""Puts the status board together: each series judged, those of a cluster and a workload summed up."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.principal import Principal
from iotide_server.board import repository
from iotide_server.board.repository import AnyRow
from iotide_server.board.schemas import Board, BoardCell, BoardCluster, BoardNodes, StandingCount
from iotide_server.board.standing import Gone, Judged, Spread, Step, Summed, judge, sum_up
from iotide_server.results import reading as results
from iotide_server.statistics.course import Course
from iotide_server.trends.drift import StoredDrift
from iotide_server.trends.lateness import late_series
from iotide_server.trends.noise import NoiseChange
from iotide_server.trends.words import noise_words

MOST_SERIES: Final = 20_000

Place = tuple[int, str]
"""A cluster and a workload."""


def board(session: Session, principal: Principal, since: datetime, now: datetime) -> Board:
    """What the caller may see of everything that was measured since then."""
    visible = principal.visible_clusters()
    late = {one.expected.series_id: one.words for one in late_series(session, now, visible)}
    rows = repository.measured_series(session, visible, since, late, MOST_SERIES)
    steps = repository.steps(session, [row.id for row in rows if row.course == Course.CHANGED], since)
    by_place: defaultdict[Place, list[AnyRow]] = defaultdict(list)
    for row in rows:
        by_place[row.cluster_id, row.workload].append(row)
    judged = {row.id: judge(_gone(row, since, steps.get(row.id, ()), late.get(row.id))) for row in rows}
    sums = {place: sum_up((row.id, judged[row.id], row.alike) for row in own) for place, own in by_place.items()}
    open_alerts = repository.open_alerts(session, visible)
    return Board(
        since=since,
        clusters=[_cluster(row, open_alerts) for row in repository.clusters(session, visible, now)],
        workloads=sorted({workload for _, workload in by_place}),
        cells=_cells(session, sums, by_place, open_alerts),
        is_cut=any(row.is_cut for row in rows),
    )


def _gone(row: AnyRow, since: datetime, steps: Sequence[Step], late_words: str | None) -> Gone:
    return Gone(
        course=None if row.course is None else Course(row.course),
        better=row.better,
        point_count=row.point_count or 0,
        missing_points=row.missing_points or 0,
        last_at=row.last_at,
        steps=steps,
        drift=StoredDrift.read(row.drift),
        noisy=_noisy(row, since),
        late_words=late_words,
    )


def _noisy(row: AnyRow, since: datetime) -> Spread | None:
    noise = None if row.noise is None else NoiseChange.model_validate(row.noise)
    if noise is None or not noise.is_noisier or noise.confirmed_at is None or noise.at < since:
        return None
    words = noise_words(noise.spread_before, noise.spread_after, noise.points_before, noise.points_after)
    return Spread(noise.at, words)


def _cluster(row: AnyRow, open_alerts: Mapping[Place, int]) -> BoardCluster:
    return BoardCluster(
        id=row.id,
        name=row.name,
        nodes=BoardNodes.model_validate(row),
        targets=row.targets,
        open_alerts=sum(count for (cluster_id, _), count in open_alerts.items() if cluster_id == row.id),
    )


def _cells(
    session: Session,
    sums: Mapping[Place, Summed],
    rows: Mapping[Place, Sequence[AnyRow]],
    open_alerts: Mapping[Place, int],
) -> list[BoardCell]:
    named = results.series_by_id(session, [one.worst for one in sums.values()])

    def cell(place: Place, summed: Summed) -> BoardCell:
        worst: Judged = summed.judged
        return BoardCell(
            cluster_id=place[0],
            workload=place[1],
            state=summed.state,
            since=worst.since,
            counts=[StandingCount(state=state, series=count) for state, count in summed.counts.items()],
            worst=named[summed.worst],
            since_cell_id=worst.cell_id,
            shift_ratio=worst.shift_ratio,
            words=worst.words,
            suspects=sum(row.is_suspect for row in rows[place]),
            open_alerts=open_alerts.get(place, 0),
            last_at=max(row.last_at for row in rows[place]),
        )

    return [cell(place, sums[place]) for place in sorted(sums)]
