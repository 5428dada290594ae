"""A metric of all clusters over time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Annotated, Final

from fastapi import Query
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.db import array_of
from iotide_server.overview import queries
from iotide_server.overview.queries import AnyRow, Extent, Measure
from iotide_server.overview.schemas import ClusterThroughput, Throughput, ThroughputMeasure
from iotide_wire.units import Unit

MOST_CLUSTERS: Final = 50
MOST_SERIES: Final = 200  # of all clusters
MOST_SPANS: Final = 92  # the days of a quarter; a longer period has spans of several days
MOST_POINTS: Final = 5  # newest of a series in a span
MOST_MEASURES: Final = 200


@dataclass(frozen=True, slots=True)
class ThroughputChoice:
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["throughput"])] = None
    operation: Annotated[str | None, Query(max_length=100, description="Label of the metric")] = None
    kind: Annotated[str | None, Query(max_length=100, description="File system of the targets")] = None
    days: Annotated[int, Query(ge=7, le=365, description="Length of the period")] = 90


def throughput(session: Session, principal: Principal, wanted: ThroughputChoice, now: datetime) -> Throughput:
    """Return the chosen metric by cluster and span; what the choice leaves open is the most widespread."""
    visible = array_of(principal.visible_clusters())
    measures = queries.measures(session, visible, MOST_MEASURES)
    chosen = _chosen(measures, wanted)
    named = [ThroughputMeasure.model_validate(row) for row in measures]
    if chosen is None:
        nothing = {"clusters": [], "target_kinds": [], "clusters_left_out": 0, "series_left_out": 0}
        return Throughput.model_validate({"drawn": None, "measures": named} | nothing)
    measure = Measure(chosen.workload, chosen.metric, chosen.operation, chosen.unit, None)
    found = queries.measured_clusters(session, visible, measure)
    kinds = sorted({kind for row in found for kind in row.kinds if kind is not None})
    if wanted.kind is not None:
        measure = Measure(chosen.workload, chosen.metric, chosen.operation, chosen.unit, wanted.kind)
        found = queries.measured_clusters(session, visible, measure)
    shown = found[:MOST_CLUSTERS]
    most = max(1, MOST_SERIES // max(1, len(shown)))
    return Throughput(
        drawn=ThroughputMeasure.model_validate(chosen),
        measures=named,
        target_kinds=kinds,
        clusters=_lines(session, visible, measure, shown, _extent(wanted.days, most, now)),
        clusters_left_out=len(found) - len(shown),
        series_left_out=sum(max(0, row.series - most) for row in shown),
    )


def _chosen(measures: Sequence[AnyRow], wanted: ThroughputChoice) -> AnyRow | None:
    """Prefer rates in bytes; fall back to what is there, such as after the workload was changed alone."""

    def place(row: AnyRow) -> tuple[bool, ...]:
        return (
            wanted.workload is not None and row.workload != wanted.workload,
            wanted.metric is not None and row.metric != wanted.metric,
            wanted.operation is not None and row.operation != wanted.operation,
            row.unit != Unit.BYTES_PER_SECOND,
        )

    return min(measures, key=place, default=None)


def _extent(days: int, most_series: int, now: datetime) -> Extent:
    """Return spans of whole days in UTC."""
    since = (now - timedelta(days=days)).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    width = ceil((days + 1) / MOST_SPANS)
    return Extent(since, timedelta(days=width), ceil((days + 1) / width), most_series, MOST_POINTS)


def _lines(
    session: Session, visible: list[int] | None, measure: Measure, shown: Sequence[AnyRow], extent: Extent
) -> list[ClusterThroughput]:
    spans: defaultdict[int, list[AnyRow]] = defaultdict(list)
    for row in queries.span_medians(session, visible, measure, [row.cluster_id for row in shown], extent):
        spans[row.cluster_id].append(row)
    return [
        ClusterThroughput(
            cluster_id=row.cluster_id,
            name=row.name,
            days=[one.at.astimezone(UTC).date() for one in spans[row.cluster_id]],
            medians=[one.median for one in spans[row.cluster_id]],
            series=[one.series for one in spans[row.cluster_id]],
        )
        for row in shown
        if spans[row.cluster_id]
    ]
