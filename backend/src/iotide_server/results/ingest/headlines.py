"""Headlines: the value that represents a run in lists."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

# The first primary metric in the order of the announcement. Workloads without primary metrics (agents below wire
# version 3): the total, else the first metric for which more is better, else the first. Of several series, such as
# write and read, the one measured first. Runs on several nodes: the sum of rates (see gangs.py), else the nodes'
# median.
_PUT: Final = text(
    """
    WITH chosen AS (
    SELECT DISTINCT ON (number.run_id) number.run_id, run.cell_id, series.workload, number.series_id, number.value
    FROM (
        SELECT sample.run_id, sample.series_id, min(sample.id) AS first_id,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY sample.value) AS value
        FROM run
        JOIN sample ON sample.run_id = run.id
        JOIN node_order ON node_order.id = sample.order_id
        JOIN attempt ON attempt.id = node_order.attempt_id AND attempt.state = 'finished'
        WHERE run.cell_id = ANY(:cell_ids) AND run.state = 'finished'
        GROUP BY sample.run_id, sample.series_id
    ) AS number
    JOIN series ON series.id = number.series_id AND series.superseded = ''
    JOIN run ON run.id = number.run_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    LEFT JOIN LATERAL jsonb_array_elements(workload.metrics) WITH ORDINALITY AS announced (metric, place)
           ON announced.metric ->> 'name' = series.metric
    ORDER BY number.run_id,
             CASE WHEN (announced.metric ->> 'primary')::boolean THEN announced.place END NULLS LAST,
             series.metric <> 'total_throughput', series.better <> 'higher', announced.place,
             number.first_id
    )
    INSERT INTO run_headline (run_id, workload, series_id, value)
    SELECT chosen.run_id, chosen.workload, coalesce(whole.series_id, chosen.series_id),
           coalesce(whole.value, chosen.value)
    FROM chosen
    LEFT JOIN LATERAL (
        SELECT total.id AS series_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY together.value) AS value
        FROM series AS own
        JOIN series AS total
          ON total.cluster_id = own.cluster_id AND total.node_ids = own.node_ids AND total.target_ids = own.target_ids
         AND total.workload = own.workload AND total.series_revision = own.series_revision
         AND total.options_sha256 = own.options_sha256 AND total.metric = own.metric AND total.variant = own.variant
         AND total.superseded = own.superseded AND total.labels = own.labels || '{"nodes": "all"}'
        CROSS JOIN (
            SELECT sum(of_node.value) AS value
            FROM (
                SELECT sample.target_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY sample.value) AS value
                FROM sample
                JOIN node_order ON node_order.id = sample.order_id
                JOIN attempt ON attempt.id = node_order.attempt_id AND attempt.state = 'finished'
                WHERE sample.run_id = chosen.run_id AND sample.series_id = chosen.series_id
                  AND sample.value BETWEEN -1e30 AND 1e30
                GROUP BY sample.target_id, sample.order_id
            ) AS of_node
            GROUP BY of_node.target_id
            HAVING count(*) >= (
                SELECT nullif(count(*), 0) FROM cell_node
                WHERE cell_node.cell_id = chosen.cell_id AND step_role IS NULL
            )
        ) AS together
        WHERE own.id = chosen.series_id AND cardinality(own.node_ids) > 1
        GROUP BY total.id
    ) AS whole ON true
    ON CONFLICT (run_id) DO UPDATE
        SET workload = excluded.workload, series_id = excluded.series_id, value = excluded.value
        WHERE (run_headline.series_id, run_headline.value) IS DISTINCT FROM (excluded.series_id, excluded.value)
    """
)


def put_headlines(session: Session, cell_ids: Sequence[int]) -> None:
    """Store headlines also for rejected runs. Safe to repeat."""
    session.execute(_PUT, {"cell_ids": list(cell_ids)})
