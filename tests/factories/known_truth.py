"""Changes that a detector found in a generated history, compared with the known ones."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Cluster, Node
from iotide_server.clusters.views import Origin
from iotide_server.demo_history.sites import SITES, Figure, SampleCluster, SampleLoad
from iotide_server.demo_history.truth import TRUTHS, TruthKind, first_day
from iotide_server.results.models import Point, Series
from iotide_server.targets.models import Target
from iotide_server.trends.models import ChangePoint

TOLERANCE_POINTS = 3
"""As in `./dev bench detector`."""
LEAST_POINTS = 5
"""On both sides; a shorter level is no change."""

Key = tuple[str, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class KnownChange:
    """A change of level that a detector should find in one series."""

    cluster: str
    node: str
    target: str
    workload: str
    metric: str
    operation: str
    at: datetime  # the first night after it
    ratio: float  # of the number to its value before


def known_changes(began_at: datetime, days: int) -> Iterator[KnownChange]:
    """Return every change of level in every series of a history that began then."""
    for truth in TRUTHS:
        if truth.kind is not TruthKind.LEVEL:
            continue
        turns = [(truth.since, truth.ratio)]
        if truth.until < 1:
            turns.append((truth.until, 1 / truth.ratio))
        for cluster, node, load, figure in _figures():
            if truth.scope.has(cluster, node, load.target) and truth.scope.has_figure(load, figure):
                for since, ratio in turns:
                    yield KnownChange(
                        *(cluster, node, load.target, load.workload, figure.metric, str(figure.labels["operation"])),
                        at=began_at + timedelta(days=first_day(since, days)),
                        ratio=1 / ratio if figure.is_time else ratio,
                    )


def _figures() -> Iterator[tuple[str, str, SampleLoad, Figure]]:
    for site in SITES:
        for load in (load for routine in site.routines for load in routine.loads):
            for node in load.nodes:
                for figure in load.figures:
                    yield site.name, node, load, figure


@dataclass(frozen=True, slots=True)
class Found:
    """A change that the detector reports.

    Attributes:
        key: cluster, node, target, workload, metric and operation of its series.
    """

    key: Key
    at: datetime
    ratio: float


@dataclass(frozen=True, slots=True)
class Score:
    """Score of a detector.

    Attributes:
        found: each known change with the one that was found for it.
        unknown: found changes that did not happen.
    """

    found: list[tuple[KnownChange, Found]]
    missed: list[KnownChange]
    unknown: list[Found]


def score(session: Session, sites: tuple[SampleCluster, ...], began_at: datetime, days: int) -> Score:
    """Compare confirmed changes with the known ones, within three points of their place."""
    series = _series(session)
    times: dict[Key, list[datetime]] = {
        key: list(session.scalars(select(Point.at).where(Point.series_id == series_id).order_by(Point.at)))
        for key, series_id in series.items()
    }
    reported = _reported(session, series)
    found: list[tuple[KnownChange, Found]] = []
    missed: list[KnownChange] = []
    for known in known_changes(began_at, days):
        key = (known.cluster, known.node, known.target, known.workload, known.metric, known.operation)
        at = times.get(key, [])
        place = bisect_left(at, known.at)
        if known.cluster not in {site.name for site in sites} or not _is_long(len(at), place):
            continue
        near = [change for change in reported[key] if abs(bisect_left(at, change.at) - place) <= TOLERANCE_POINTS]
        if near:
            reported[key].remove(near[0])
            found.append((known, near[0]))
        else:
            missed.append(known)
    return Score(found, missed, [change for changes in reported.values() for change in changes])


def _is_long(points: int, place: int) -> bool:
    return min(place, points - place) >= LEAST_POINTS


def _series(session: Session) -> dict[Key, int]:
    rows = session.execute(
        select(Series, Cluster.name, Node.name, Target.name)
        .join(Cluster, Cluster.id == Series.cluster_id)
        .join(Node, Node.id == Series.node_ids[1])
        .join(Target, Target.id == Series.target_ids[1])
        .where(Cluster.origin == Origin.SAMPLE_DATA)
    )
    return {
        (cluster, node, target, series.workload, series.metric, str(series.labels["operation"])): series.id
        for series, cluster, node, target in rows
    }


def _reported(session: Session, series: dict[Key, int]) -> dict[Key, list[Found]]:
    keys = {series_id: key for key, series_id in series.items()}
    reported: dict[Key, list[Found]] = defaultdict(list)
    confirmed = select(ChangePoint).where(ChangePoint.gone_at.is_(None), ChangePoint.confirmed_at.is_not(None))
    for row in session.scalars(confirmed.order_by(ChangePoint.at)):
        if row.series_id in keys:
            key = keys[row.series_id]
            reported[key].append(Found(key, row.at, 1 + (row.shift_ratio or 0.0)))
    return reported
