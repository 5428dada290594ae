"""SQL of a forecast: how fast targets were, and how long the runs of a workload took there."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.results.forecast.pace import PastCell

_NEWEST_CELLS: Final = 60  # newest cells of a target that are searched for one like the planned one

# What all writers and nodes of a cell did together, where it tells that, so that no part is taken for the whole.
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
    ), told AS (
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
    FROM told WHERE rank = best GROUP BY target_id, workload
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


def last_rates(session: Session, target_ids: Collection[int], workload: str) -> dict[int, Row[Any]]:
    """Return `workload` and `bytes_per_second` of the last rate of each target; none where nothing was measured.

    It is that of the newest cell of `workload` there, else of the newest of any: the harmonic mean of its rates, so
    that bytes over rate is the time that those bytes took.
    """
    rows = session.execute(_LAST_RATES, {"target_ids": list(target_ids), "workload": workload})
    return {row.target_id: row for row in rows}


def past_cells(session: Session, target_ids: Collection[int], workload: str) -> Mapping[int, list[PastCell]]:
    """Return the finished cells of a workload by target, the newest first."""
    values = {"target_ids": list(target_ids), "workload": workload, "most": _NEWEST_CELLS}
    by_target: defaultdict[int, list[PastCell]] = defaultdict(list)
    for row in session.execute(_PAST_CELLS, values):
        by_target[row.target_id].append(
            PastCell(row.options_sha256, row.node_count, row.target_count, row.bytes_moved, float(row.seconds))
        )
    return by_target
