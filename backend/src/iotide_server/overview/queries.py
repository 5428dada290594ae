"""SQL of the overview's plots and outliers, each bounded whatever is stored."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger, Text

from iotide_server.overview.cell_trends import MOST_POINTS, DrawnPoint
from iotide_server.workloads.primary import WRITER
from iotide_wire.measured import FlagCode

AnyRow = Row[*tuple[Any, ...]]

MOST_OF_A_SPAN: Final = 20  # newest points behind each drawn one
MOST_FLAGGED_RUNS: Final = 2_000

_DRAWN: Final = text(
    # One short index scan for each span, so that a series measured every minute costs no more than a daily one.
    """
    SELECT wanted.series_id, span.at_seconds, span.median
    FROM unnest(CAST(:series_ids AS bigint[])) AS wanted (series_id)
    CROSS JOIN generate_series(0, :spans - 1) AS number
    CROSS JOIN LATERAL (
        SELECT CAST(avg(extract(epoch FROM at - :since)) AS float8) AS at_seconds,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY median) AS median
        FROM (
            SELECT at, median FROM point
            WHERE series_id = wanted.series_id AND at >= :since + number * CAST(:width AS interval)
              AND at < :since + (number + 1) * CAST(:width AS interval)
            ORDER BY at DESC LIMIT :most
        ) AS newest
    ) AS span
    WHERE span.median IS NOT NULL
    ORDER BY wanted.series_id, number
    """
)
_FLAGGED: Final = text(
    f"""
    SELECT series.cluster_id, series.workload, series.metric, series.title, series.better, series.labels,
           node.id AS node_id, node.name AS node_name, target.id AS target_id, target.name AS target_name,
           jsonb_path_query_array(run.flags, '$[*] ? (@.code == "{FlagCode.PEER_ODD}")') AS flags
    FROM unnest(CAST(:series_ids AS bigint[]), CAST(:cell_ids AS bigint[])) AS odd (series_id, cell_id)
    JOIN series ON series.id = odd.series_id
    JOIN run ON run.cell_id = odd.cell_id AND run.state = 'finished' AND run.flags @> CAST(:flag AS jsonb)
    LEFT JOIN node ON node.id = series.node_ids[1]
    LEFT JOIN target ON target.id = series.target_ids[1]
    ORDER BY run.id DESC, series.id LIMIT :most
    """  # noqa: S608 - a constant
)
_COUNTED: Final = f"""
    cluster.origin <> 'published' AND (CAST(:visible AS bigint[]) IS NULL OR series.cluster_id = ANY(:visible))
    AND series.better <> 'neither' AND series.superseded = ''
    AND NOT jsonb_exists(series.labels, '{WRITER}') AND NOT jsonb_exists(series.labels, 'ost')
"""
"""Series of whole runs in visible clusters; no published ones, which have no days."""
_MEASURES: Final = text(
    f"""
    SELECT series.workload, series.metric, coalesce(series.labels ->> 'operation', '') AS operation,
           min(series.title) AS title, series.unit, min(series.better) AS better,
           count(DISTINCT series.cluster_id) AS clusters, count(*) AS series
    FROM series JOIN cluster ON cluster.id = series.cluster_id
    WHERE {_COUNTED}
    GROUP BY series.workload, series.metric, operation, series.unit
    ORDER BY clusters DESC, series DESC, series.workload, series.metric, operation
    LIMIT :most
    """  # noqa: S608 - constants
)
_OF_MEASURE: Final = f"""
    known AS (
        SELECT series.id, series.cluster_id, kind.fstype,
               row_number() OVER (PARTITION BY series.cluster_id ORDER BY series.id DESC) AS place
        FROM series
        JOIN cluster ON cluster.id = series.cluster_id
        LEFT JOIN LATERAL (
            SELECT min(fstype) AS fstype FROM target_mount WHERE target_id = series.target_ids[1]
        ) AS kind ON true
        WHERE {_COUNTED} AND series.workload = :workload AND series.metric = :metric AND series.unit = :unit
          AND coalesce(series.labels ->> 'operation', '') = :operation
          AND (CAST(:kind AS text) IS NULL OR kind.fstype = :kind)
    )
"""  # noqa: S608 - constants
_KINDS: Final = text(
    f"""
    WITH {_OF_MEASURE}
    SELECT cluster_id, cluster.name, count(*) AS series, array_agg(DISTINCT fstype) AS kinds
    FROM known JOIN cluster ON cluster.id = cluster_id
    GROUP BY cluster_id, cluster.name ORDER BY cluster.name
    """  # noqa: S608 - constants
)
# Each series counts relative to its own median, so that a day with fewer of them makes no step. Spans as in `_DRAWN`.
_SPANS: Final = text(
    f"""
    WITH {_OF_MEASURE}, chosen AS (
        SELECT id, cluster_id FROM known WHERE place <= :most_series AND cluster_id = ANY(:cluster_ids)
    ), measured AS (
        SELECT chosen.cluster_id, chosen.id, number, own.at, own.value
        FROM chosen
        CROSS JOIN generate_series(0, :spans - 1) AS number
        CROSS JOIN LATERAL (
            SELECT max(at) AS at, percentile_cont(0.5) WITHIN GROUP (ORDER BY median) AS value
            FROM (
                SELECT at, median FROM point
                WHERE series_id = chosen.id AND at >= :since + number * CAST(:width AS interval)
                  AND at < :since + (number + 1) * CAST(:width AS interval)
                ORDER BY at DESC LIMIT :most_points
            ) AS newest
        ) AS own
        WHERE own.value IS NOT NULL
    ), usual AS (
        SELECT cluster_id, id, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS level
        FROM measured GROUP BY cluster_id, id
    ), centre AS (
        SELECT cluster_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY level) AS level
        FROM usual WHERE level > 0 GROUP BY cluster_id
    )
    SELECT measured.cluster_id, max(measured.at) AS at,
           centre.level * percentile_cont(0.5) WITHIN GROUP (ORDER BY measured.value / usual.level) AS median,
           count(*) AS series
    FROM measured JOIN usual USING (id) JOIN centre ON centre.cluster_id = measured.cluster_id
    WHERE usual.level > 0
    GROUP BY measured.cluster_id, centre.level, number ORDER BY measured.cluster_id, number
    """  # noqa: S608 - constants
)
_VISIBLE: Final = bindparam("visible", type_=ARRAY(BigInteger))
_BOUND: Final = (_VISIBLE, bindparam("kind", type_=Text()))


@dataclass(frozen=True, slots=True)
class Measure:
    workload: str
    metric: str
    operation: str  # empty: the metric has none
    unit: str
    kind: str | None  # file system of the targets; None: any

    def parameters(self, visible: list[int] | None) -> dict[str, object]:
        named = ("workload", "metric", "operation", "unit", "kind")
        return {"visible": visible, **{name: getattr(self, name) for name in named}}


@dataclass(frozen=True, slots=True)
class Extent:
    since: datetime
    width: timedelta  # of a span
    spans: int
    most_series: int  # of a cluster
    most_points: int  # newest of a series in a span


def drawn_points(
    session: Session, series_ids: Collection[int], since: datetime, until: datetime
) -> Mapping[int, list[DrawnPoint]]:
    """Return at most MOST_POINTS points of each series: medians of equal spans of time."""
    values = {
        "series_ids": sorted(series_ids),
        "spans": MOST_POINTS,
        "since": since,
        "width": (until - since) / MOST_POINTS,
        "most": MOST_OF_A_SPAN,
    }
    found: defaultdict[int, list[DrawnPoint]] = defaultdict(list)
    for series_id, at_seconds, median in session.execute(_DRAWN, values):
        found[series_id].append(DrawnPoint(at_seconds, median))
    return found


def flagged_runs(session: Session, cells: Mapping[int, int]) -> Sequence[AnyRow]:
    """Return the flags of outliers among the runs of each series' cell, newest run first."""
    values = {
        "series_ids": list(cells),
        "cell_ids": list(cells.values()),
        "flag": f'[{{"code": "{FlagCode.PEER_ODD}"}}]',
        "most": MOST_FLAGGED_RUNS,
    }
    return session.execute(_FLAGGED, values).all()


def measures(session: Session, visible: list[int] | None, most: int) -> Sequence[AnyRow]:
    """Return what the visible clusters (None: all) measured, most widespread first."""
    return session.execute(_MEASURES.bindparams(_VISIBLE), {"visible": visible, "most": most}).all()


def measured_clusters(session: Session, visible: list[int] | None, measure: Measure) -> Sequence[AnyRow]:
    """Return the clusters with series of a measure, their number, and the file systems of their targets."""
    return session.execute(_KINDS.bindparams(*_BOUND), measure.parameters(visible)).all()


def span_medians(
    session: Session, visible: list[int] | None, measure: Measure, cluster_ids: Sequence[int], extent: Extent
) -> Sequence[AnyRow]:
    """Return cluster_id, time of the newest point, median and the number of series of each span, in time order."""
    values = measure.parameters(visible) | {"cluster_ids": list(cluster_ids)} | asdict(extent)
    return session.execute(_SPANS.bindparams(*_BOUND), values).all()
