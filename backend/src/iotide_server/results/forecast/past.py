from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.results.forecast.pace import PastCell
from iotide_wire.power import RepeatedRuns

_NEWEST_CELLS: Final = 60  # per target
_NEWEST_SERIES: Final = 200
_NEWEST_POINTS: Final = 20  # per series

# Totals of all writers and nodes if available: no part must be mistaken for the whole.
_LAST_RATES: Final = text(
    """
    WITH newest AS (
        SELECT wanted.target_id, found.cell_id, found.workload
        FROM unnest(CAST(:target_ids AS bigint[])) AS wanted (target_id)
        CROSS JOIN LATERAL (
            SELECT last.cell_id, series.workload FROM series
            CROSS JOIN LATERAL (
                SELECT cell_id, at FROM point WHERE series_id = series.id AND median BETWEEN 1e-30 AND 1e30
                ORDER BY at DESC LIMIT 1
            ) AS last
            WHERE series.unit = 'bytes_per_second' AND series.superseded = ''
              AND series.target_ids @> ARRAY[wanted.target_id]
            ORDER BY series.workload = :workload DESC, last.at DESC
            LIMIT 1
        ) AS found
    ), rated AS (
        SELECT newest.target_id, newest.workload, point.median, whole.rank,
               max(whole.rank) OVER (PARTITION BY newest.target_id) AS best
        FROM newest
        JOIN point ON point.cell_id = newest.cell_id
        JOIN series ON series.id = point.series_id
        CROSS JOIN LATERAL (
            SELECT (series.labels ? 'nodes')::int * 2 + (series.metric = 'total_throughput')::int AS rank) AS whole
        WHERE series.unit = 'bytes_per_second' AND series.superseded = '' AND point.median BETWEEN 1e-30 AND 1e30
          AND NOT series.labels ? 'writer'
    )
    SELECT target_id, workload, count(*) / sum(1 / median) AS bytes_per_second
    FROM rated WHERE rank = best GROUP BY target_id, workload
    """
)
_PAST_CELLS: Final = text(
    """
    SELECT wanted.target_id, past.*
    FROM unnest(CAST(:target_ids AS bigint[])) AS wanted (target_id)
    CROSS JOIN LATERAL (
        SELECT newest.id AS cell_id, newest.options_sha256, newest.bytes_moved,
               (SELECT count(*) FROM cell_node WHERE cell_id = newest.id) AS node_count,
               (SELECT count(*) FROM cell_target WHERE cell_id = newest.id) AS target_count,
               EXISTS (SELECT FROM cell_node WHERE cell_id = newest.id AND step_role = 'head') AS is_one_program,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM run.ended_at - run.started_at)) AS seconds
        FROM (
            SELECT cell.* FROM cell_target JOIN cell ON cell.id = cell_target.cell_id
            JOIN workload ON workload.id = cell.workload_id AND workload.name = :workload
            WHERE cell_target.target_id = wanted.target_id ORDER BY cell.id DESC LIMIT :most
        ) AS newest
        JOIN run ON run.cell_id = newest.id AND run.state = 'finished' AND run.started_at IS NOT NULL
        GROUP BY newest.id, newest.options_sha256, newest.bytes_moved
    ) AS past
    ORDER BY past.cell_id DESC
    """
)
_REPEATED: Final = text(
    """
    WITH alike AS (
        SELECT id, options_sha256, node_ids, target_ids, metric, labels FROM series
        WHERE cluster_id = :cluster_id AND workload = :workload AND metric = ANY(:metrics) AND superseded = ''
          AND (:is_any OR options_sha256 = ANY(:digests) AND target_ids && CAST(:target_ids AS bigint[]))
        ORDER BY id DESC LIMIT :most_series
    )
    SELECT alike.options_sha256, alike.node_ids, alike.target_ids, alike.metric, alike.labels, newest.*
    FROM alike
    CROSS JOIN LATERAL (
        SELECT array_agg(run_count) AS run_counts, array_agg(median) AS medians, array_agg(low) AS lows,
               array_agg(high) AS highs, array_agg(variation_ratio) AS variation_ratios
        FROM (
            SELECT * FROM point WHERE series_id = alike.id AND run_count > 1 ORDER BY at DESC LIMIT :most_points
        ) AS repeated
        HAVING count(*) > 0
    ) AS newest
    """
)


def last_rates(session: Session, target_ids: Collection[int], workload: str) -> dict[int, Row[Any]]:
    """Return `workload` and `bytes_per_second` of each measured target.

    The rate is from the newest cell of `workload`, else of any workload. Its harmonic mean makes bytes / rate the
    time.
    """
    rows = session.execute(_LAST_RATES, {"target_ids": list(target_ids), "workload": workload})
    return {row.target_id: row for row in rows}


def past_cells(session: Session, target_ids: Collection[int], workload: str) -> Mapping[int, list[PastCell]]:
    values = {"target_ids": list(target_ids), "workload": workload, "most": _NEWEST_CELLS}
    by_target: defaultdict[int, list[PastCell]] = defaultdict(list)
    for row in session.execute(_PAST_CELLS, values):
        by_target[row.target_id].append(
            PastCell(
                row.options_sha256,
                row.node_count,
                row.target_count,
                row.bytes_moved,
                float(row.seconds),
                is_one_program=row.is_one_program,
            )
        )
    return by_target


@dataclass(frozen=True, slots=True)
class RepeatedSeries:
    """Newest points of a series with repeated runs.

    Attributes:
        configuration: options, nodes and targets.
        labels: names.
    """

    configuration: tuple[object, ...]
    metric: str
    labels: frozenset[str]
    points: Sequence[RepeatedRuns]


def repeated_series(
    session: Session,
    cluster_id: int,
    workload: str,
    metrics: Collection[str],
    measured: tuple[Collection[str], Collection[int]] | None,
) -> list[RepeatedSeries]:
    """Return the newest series of a workload with repeated runs.

    Args:
        measured: only series with one of these digests of options and one of these targets; None: all.
    """
    digests, target_ids = measured or ((), ())
    values = {
        "cluster_id": cluster_id,
        "workload": workload,
        "metrics": list(metrics),
        "is_any": measured is None,
        "digests": list(digests),
        "target_ids": list(target_ids),
        "most_series": _NEWEST_SERIES,
        "most_points": _NEWEST_POINTS,
    }
    return [
        RepeatedSeries(
            (row.options_sha256, tuple(row.node_ids), tuple(row.target_ids)),
            row.metric,
            frozenset(row.labels),
            [
                RepeatedRuns(*point)
                for point in zip(row.run_counts, row.medians, row.lows, row.highs, row.variation_ratios, strict=True)
            ],
        )
        for row in session.execute(_REPEATED, values)
    ]
