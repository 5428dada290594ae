"""SQL of the forecast: the runs ahead in the cluster, what they need, and the current leases."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.people import are_shown
from iotide_server.runs.declines import declined_alike
from iotide_server.runs.forecast import MOST_AHEAD, Held, Holding, Queued
from iotide_server.runs.resources import Mode, Resource, ResourceKind, needs
from iotide_wire.plan import Exclusivity

_PAST_RUNS: Final = 20  # past runs that count for a workload's duration

# Last finished run of the cell, else average of the campaign's runs of the workload, else time limit.
_EXPECTED: Final = """
    coalesce(
        (SELECT extract(epoch FROM past.ended_at - past.started_at) FROM run AS past
         WHERE past.cell_id = run.cell_id AND past.state = 'finished' AND past.started_at IS NOT NULL
         ORDER BY past.repeat DESC LIMIT 1),
        (SELECT avg(extract(epoch FROM past.ended_at - past.started_at)) FROM (
             SELECT ended_at, started_at FROM run AS other JOIN cell AS like_it ON like_it.id = other.cell_id
             WHERE other.campaign_id = run.campaign_id AND other.state = 'finished' AND other.started_at IS NOT NULL
               AND like_it.workload_id = cell.workload_id LIMIT :past_runs) AS past),
        run.time_limit_seconds)::float8
"""
_QUEUE: Final = text(
    # Fair share only delays: runs ahead have a `sort_key` below this `place_key`, in index order.
    f"""
    WITH own AS (
        SELECT run.id, run.cluster_id, run.sort_key + coalesce(fair_share.stands_back_seconds, 0) AS place_key
        FROM run JOIN campaign ON campaign.id = run.campaign_id
        LEFT JOIN fair_share ON fair_share.cluster_id = run.cluster_id
             AND fair_share.owner_id = coalesce(campaign.owner_id, 0)
        WHERE run.id = :run_id
    ), queued AS (
        SELECT run.*, run.sort_key + coalesce(fair_share.stands_back_seconds, 0) AS place_key,
               place.shared_target_ids, own.place_key AS own_key
        FROM own JOIN run ON run.cluster_id = own.cluster_id AND run.state = 'waiting' AND run.sort_key <= own.place_key
             AND (run.sort_key, run.id) <= (own.place_key, own.id)
        CROSS JOIN LATERAL (SELECT * FROM line_place WHERE line_place.run_id = run.id LIMIT 1) AS place
        LEFT JOIN fair_share ON fair_share.cluster_id = run.cluster_id AND fair_share.owner_id = place.owner_id
        ORDER BY run.sort_key LIMIT :most
    )
    SELECT run.id, run.place_key, run.cluster_id, run.exclusive, run.not_before, run.cool_down_seconds,
           run.shared_target_ids, run.own_key, {_EXPECTED} AS expected_seconds,
           ARRAY(SELECT node_id FROM cell_node WHERE cell_node.cell_id = run.cell_id) AS node_ids,
           (SELECT 'target ' || target.name || ' on node ' || node.name || ': ' || target_mount.problem
            FROM cell_node JOIN cell_target USING (cell_id) JOIN target_mount USING (node_id, target_id)
            JOIN node ON node.id = node_id JOIN target ON target.id = target_id
            WHERE cell_id = run.cell_id AND target_mount.problem IS NOT NULL
              AND cell_node.step_role IS DISTINCT FROM 'sender'
            ORDER BY target.name, node.name LIMIT 1) AS obstacle
    FROM queued AS run JOIN cell ON cell.id = run.cell_id
    """  # noqa: S608 - made of the constant above
)
_HOLDINGS: Final = text(
    """
    SELECT 'node' AS kind, id, name, slots, cooling_until,
           CASE WHEN retired_at IS NOT NULL THEN 'retired' WHEN seen_at IS NULL THEN 'never contacted the server'
                WHEN seen_at < :seen_after THEN 'silent' WHEN stuck IS NOT NULL THEN 'stuck'
                ELSE worded(problem, problem_actor, :with_names) END AS problem
    FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id WHERE id = ANY(:node_ids)
    UNION ALL
    SELECT 'target', id, name, NULL, cooling_until, CASE WHEN EXISTS (
               SELECT FROM node_order JOIN run ON run.id = run_id JOIN cell_target USING (cell_id)
               WHERE stuck_since IS NOT NULL AND target_id = target.id) THEN 'a stuck load may still write there' END
    FROM target WHERE id = ANY(:target_ids)
    UNION ALL
    SELECT 'cluster', id, name, NULL, cooling_until, NULL FROM cluster WHERE id = ANY(:cluster_ids)
    """
)
_HELD: Final = text(
    f"""
    SELECT lease.resource_kind AS kind, lease.resource_id AS id, lease.mode, run.id AS run_id,
           CASE WHEN NOT run.overdue AND node_order.silent_since IS NULL AND NOT EXISTS (
               SELECT FROM batch_job WHERE batch_job.attempt_id = node_order.attempt_id AND started_at IS NULL)
             AND NOT EXISTS (SELECT FROM node_order AS stuck WHERE stuck.attempt_id = node_order.attempt_id
                             AND stuck.stuck_since IS NOT NULL) THEN
               coalesce(node_order.started_at, node_order.offered_at)
               + (expected.seconds + CASE WHEN lease.resource_kind = 'node' OR lease.mode = 'exclusive'
                                     THEN run.cool_down_seconds ELSE 0 END) * interval '1 s'
           END AS until
    FROM unnest(CAST(:kinds AS text[]), CAST(:ids AS bigint[])) AS wanted (kind, id)
    JOIN lease ON lease.active AND lease.resource_kind = wanted.kind AND lease.resource_id = wanted.id
    JOIN node_order ON node_order.id = lease.order_id
    JOIN run ON run.id = node_order.run_id JOIN cell ON cell.id = run.cell_id
    CROSS JOIN LATERAL (SELECT {_EXPECTED} AS seconds) AS expected
    """  # noqa: S608 - made of the constant above
)

_TURNOVER: Final = text(
    """
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY gap) FROM (
        SELECT extract(epoch FROM started_at - lag(ended_at) OVER earlier)::float8
               - lag(cool_down_seconds) OVER earlier AS gap
        FROM (SELECT id, campaign_id, cell_id, started_at, ended_at, cool_down_seconds FROM run
              WHERE cluster_id = :cluster_id AND state = 'finished' AND started_at IS NOT NULL
              ORDER BY id DESC LIMIT :most) AS newest
        JOIN cell_node USING (cell_id)
        WINDOW earlier AS (PARTITION BY campaign_id, node_id ORDER BY started_at)
    ) AS between_runs WHERE gap >= 0
    """
)
_TURNOVER_RUNS: Final = 200
_WERE_LOADED: Final = text(
    """
    SELECT coalesce(bool_or(state IN ('waiting', 'active') OR ended_at >= :since), false)
    FROM (SELECT cell_id, state, ended_at FROM run WHERE cluster_id = :cluster_id
          ORDER BY id DESC LIMIT :most) AS newest
    JOIN cell_node USING (cell_id) WHERE node_id = ANY(:node_ids)
    """
)


def turnover_seconds(session: Session, cluster_id: int) -> float | None:
    """Return the median gap between two runs on a node, without cool-down; None without runs.

    It covers cleanup, upload, scheduling, preparation and idle sample.
    """
    found: float | None = session.scalar(_TURNOVER, {"cluster_id": cluster_id, "most": _TURNOVER_RUNS})
    return found


def were_loaded(session: Session, cluster_id: int, node_ids: Collection[int], since: datetime) -> bool:
    """Return true if one of the cluster's newest runs waits for one of the nodes, or loads or recently loaded it."""
    values = {"cluster_id": cluster_id, "node_ids": list(node_ids), "since": since, "most": _TURNOVER_RUNS}
    return session.execute(_WERE_LOADED, values).scalar_one() is True


def queue_before(session: Session, run_id: int, now: datetime) -> list[Queued] | None:
    """Return a queued run and all ahead of it; None for more than MOST_AHEAD."""
    values = {"run_id": run_id, "most": MOST_AHEAD + 2, "past_runs": _PAST_RUNS}
    rows = session.execute(_QUEUE, values).all()
    if len(rows) > MOST_AHEAD + 1:
        return None
    turnover = (turnover_seconds(session, rows[0].cluster_id) or 0.0) if rows else 0.0
    put_off = {row_id: alike.until for row_id, alike in declined_alike(session, [row.id for row in rows], now).items()}
    return [
        Queued(
            run_id=row.id,
            place=(row.place_key, row.id),
            needs=needs(Exclusivity(row.exclusive), row.node_ids, row.shared_target_ids, row.cluster_id),
            expected_seconds=row.expected_seconds + turnover,
            cool_down_seconds=row.cool_down_seconds,
            not_before=max(filter(None, (row.not_before, put_off.get(row.id))), default=None),
            obstacle=row.obstacle,
        )
        for row in rows
        if (row.place_key, row.id) <= (row.own_key, run_id)
    ]


def holdings(session: Session, wanted: Collection[Resource], now: datetime) -> dict[Resource, Holding]:
    ids = {kind: [resource.id for resource in wanted if resource.kind is kind] for kind in ResourceKind}
    rows = session.execute(
        _HOLDINGS,
        {
            "seen_after": now - SILENT_AFTER,
            "with_names": are_shown(),
            "node_ids": ids[ResourceKind.NODE],
            "target_ids": ids[ResourceKind.TARGET],
            "cluster_ids": ids[ResourceKind.CLUSTER],
        },
    ).all()
    held = _held(session, wanted)
    return {
        (resource := Resource(ResourceKind(row.kind), row.id)): Holding(
            name=row.name,
            slots=row.slots,
            obstacle=None if row.problem is None else f"{row.kind} {row.name}: {row.problem}",
            held=[*held[resource], *_cooling(row, now)],
        )
        for row in rows
    }


def _cooling(row: Row[Any], now: datetime) -> list[Held]:
    is_cooling = row.cooling_until is not None and row.cooling_until > now
    return [Held(Mode.EXCLUSIVE, row.cooling_until, None)] if is_cooling else []


def _held(session: Session, wanted: Collection[Resource]) -> defaultdict[Resource, list[Held]]:
    values = {
        "kinds": [resource.kind for resource in wanted],
        "ids": [resource.id for resource in wanted],
        "past_runs": _PAST_RUNS,
    }
    held: defaultdict[Resource, list[Held]] = defaultdict(list)
    for row in session.execute(_HELD, values):
        held[Resource(ResourceKind(row.kind), row.id)].append(Held(Mode(row.mode), row.until, row.run_id))
    return held
