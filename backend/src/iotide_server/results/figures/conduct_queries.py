from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.results.figures.conduct import RunConduct
from iotide_server.results.ingest.unjudged import KnownOfRun

_MEASURED_RUNS = text(
    # Leases are kept forever, so select those of the campaign's time once, not per run.
    """
    WITH span AS (
        SELECT min(started_at) AS since, max(ended_at) AS until FROM run
        WHERE campaign_id = :campaign_id AND state = 'finished'
    ), held AS MATERIALIZED (
        SELECT lease.resource_kind, lease.resource_id, node_order.run_id, node_order.started_at,
               coalesce(node_order.ended_at, now()) AS ended_at
        FROM span
        JOIN run ON run.cluster_id = (SELECT cluster_id FROM campaign WHERE id = :campaign_id)
             AND run.started_at < span.until AND coalesce(run.ended_at, now()) > span.since
        JOIN node_order ON node_order.run_id = run.id
        JOIN lease ON lease.order_id = node_order.id AND lease.resource_kind <> 'cluster'
    )
    SELECT run.id, run.not_judged,
           ARRAY(SELECT DISTINCT flag ->> 'code' FROM jsonb_array_elements(run.flags) AS flag) AS flags,
           ARRAY(SELECT DISTINCT fact.value FROM environment, jsonb_each_text(environment.facts) AS fact
                 WHERE environment.sha256 = run.environment_sha256 AND fact.key LIKE '%mount.fstype') AS fstypes,
           ended.steps, ended.foreign_loads,
           ARRAY(SELECT DISTINCT lease.resource_kind || ' ' || lease.mode
                 FROM lease JOIN node_order ON node_order.id = lease.order_id
                 WHERE node_order.attempt_id = ended.attempt_id) AS leases,
           ARRAY(SELECT node.name FROM node_order JOIN node ON node.id = node_order.node_id
                 WHERE node_order.attempt_id = ended.attempt_id AND node_order.role = 'observe'
                 ORDER BY node.name) AS observers,
           (SELECT count(DISTINCT other.run_id)
            FROM held AS own JOIN held AS other USING (resource_kind, resource_id)
            WHERE own.run_id = run.id AND other.run_id <> run.id
              AND other.started_at < run.ended_at AND other.ended_at > run.started_at) AS overlapping
    FROM run
    JOIN LATERAL (
        SELECT node_order.attempt_id,
               jsonb_agg(node_order.foreign_load ORDER BY node_order.id) AS foreign_loads,
               jsonb_agg((SELECT coalesce(jsonb_agg(jsonb_build_object(
                              'name', step -> 'name', 'phase', step -> 'phase', 'before_done', step -> 'before_done'
                          )), '[]') FROM jsonb_array_elements(node_order.steps) AS step)
                         ORDER BY node_order.id) AS steps
        FROM node_order JOIN attempt ON attempt.id = node_order.attempt_id AND attempt.state = 'finished'
        WHERE node_order.run_id = run.id AND node_order.role = 'load'
        GROUP BY node_order.attempt_id ORDER BY node_order.attempt_id DESC LIMIT 1
    ) AS ended ON true
    WHERE run.campaign_id = :campaign_id AND run.state = 'finished'
      AND NOT EXISTS (SELECT FROM cell JOIN campaign_stage ON campaign_stage.campaign_id = cell.campaign_id
                      AND campaign_stage.ordinal = cell.stage AND does <> 'measure' WHERE cell.id = run.cell_id)
    ORDER BY run.id
    """
)
_KNOWN = text(
    """
    SELECT (SELECT count(*) FROM run AS equal WHERE equal.cell_id = run.cell_id AND equal.state = 'finished'
            AND equal.validity = 'valid') AS finished_runs,
           EXISTS (
               SELECT FROM sample AS own JOIN sample AS before ON before.series_id = own.series_id
               JOIN run AS earlier ON earlier.id = before.run_id
               WHERE own.run_id = run.id
                 AND own.series_id = (SELECT min(series_id) FROM sample WHERE run_id = run.id)
                 AND earlier.state = 'finished' AND earlier.validity = 'valid'
                 AND (earlier.started_at, earlier.id) < (run.started_at, run.id)
           ) AS has_earlier,
           ARRAY(SELECT node.name FROM node_order JOIN attempt ON attempt.id = node_order.attempt_id
                 JOIN node ON node.id = node_order.node_id
                 WHERE node_order.run_id = run.id AND node_order.role = 'load' AND attempt.state = 'finished'
                   AND node_order.started_at IS NULL ORDER BY node.name) AS unstarted,
           coalesce((SELECT facts FROM environment WHERE sha256 = run.environment_sha256), '{}') AS facts
    FROM run WHERE run.id = :run_id AND run.state = 'finished'
    """
)


def measured_runs(session: Session, campaign_id: int) -> list[RunConduct]:
    """Return the finished runs that measure, oldest first."""
    rows = session.execute(_MEASURED_RUNS, {"campaign_id": campaign_id})
    return [
        RunConduct(
            *(row.id, frozenset(row.flags), row.not_judged, frozenset(row.fstypes)),
            [step for of_node in row.steps for step in of_node],
            row.foreign_loads,
            frozenset((kind, mode) for kind, _, mode in (lease.partition(" ") for lease in row.leases)),
            row.overlapping,
            row.observers,
        )
        for row in rows
    ]


def known(session: Session, run_id: int) -> KnownOfRun | None:
    """Return the facts for the server's checks of a run; None before its end."""
    row = session.execute(_KNOWN, {"run_id": run_id}).one_or_none()
    if row is None:
        return None
    return KnownOfRun(row.finished_runs, row.has_earlier, row.facts, row.unstarted)
