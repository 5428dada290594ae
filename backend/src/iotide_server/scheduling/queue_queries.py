"""SQL of a scheduler pass: heads of the node queues, needs of these runs, and current leases."""

from typing import Final

from sqlalchemy import text

from iotide_server.runs.declines import DECLINED, MEETS_UNFIT

_NEXT_MAINTENANCE: Final = """
    SELECT cluster_id, min(starts_at) AS starts_at FROM blackout WHERE ends_at > :now GROUP BY cluster_id
"""

# Attempts with an unknown end: a batch job that has not started, and a stuck load.
_ENDLESS: Final = """
    queued_job AS MATERIALIZED (SELECT attempt_id FROM batch_job WHERE NOT is_over AND started_at IS NULL),
    stuck_order AS MATERIALIZED (SELECT run_id, attempt_id FROM node_order WHERE stuck_since IS NOT NULL)
"""

# Targets that no run may load now. A stuck load may write to its shared targets as soon as their storage answers.
_BLOCKED_TARGETS: Final = """
    blocked_target AS MATERIALIZED (
        SELECT id FROM target WHERE exclusive_leases > 0 OR cooling_until > :now
        UNION SELECT subject_id FROM drain WHERE kind = 'target'
        UNION SELECT target_id FROM stuck_order JOIN run ON run.id = run_id JOIN cell_target USING (cell_id)
              JOIN target ON target.id = target_id WHERE scope = 'shared'
    )
"""

# Owners of waiting runs, each found by one index step. With several owners, each may have fewer heads.
_OWNERS: Final = """
    owner AS (
        SELECT min(owner_id) AS id FROM line_place
        UNION ALL
        SELECT (SELECT min(owner_id) FROM line_place WHERE owner_id > owner.id) FROM owner WHERE owner.id IS NOT NULL
    ),
    each_owner AS MATERIALIZED (
        SELECT CASE WHEN count(id) > 1 THEN :heads_of_owner ELSE :heads END AS heads FROM owner
    )
"""

# One row for each cluster that may start runs and each owner: the owner's fair-share delay, and the cluster's next
# maintenance window.
_SHARES: Final = """
    share AS MATERIALIZED (
        SELECT cluster.id AS cluster_id, owner.id AS owner_id,
               coalesce(fair_share.stands_back_seconds, 0) AS stands_back_seconds,
               maintenance.starts_at AS blackout_at
        FROM cluster CROSS JOIN owner LEFT JOIN maintenance ON maintenance.cluster_id = cluster.id
        LEFT JOIN fair_share ON fair_share.cluster_id = cluster.id AND fair_share.owner_id = owner.id
        WHERE owner.id IS NOT NULL AND cluster.exclusive_leases = 0
          AND (cluster.cooling_until IS NULL OR cluster.cooling_until <= :now)
          AND (maintenance.starts_at IS NULL OR maintenance.starts_at > :now)
          AND NOT EXISTS (SELECT FROM drain WHERE kind = 'all' OR (kind = 'cluster' AND subject_id = cluster.id))
    )
"""

# Columns instead of conditions: the planner's statistics are always stale, and it would expect no matching row.
_NODES: Final = """
    node_now AS MATERIALIZED (
        SELECT node.id, node.cluster_id, slots,
               retired_at IS NULL AND problem IS NULL AND stuck IS NULL AND coalesce(seen_at >= :seen_after, false)
                   AND drain.subject_id IS NULL AS is_usable,
               exclusive_leases = 0 AND shared_leases < slots AND coalesce(cooling_until <= :now, true) AS has_room
        FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
        LEFT JOIN drain ON drain.kind = 'node' AND drain.subject_id = node.id
    )
"""

# Nodes on which nothing starts, and full nodes with an unknown end: the agent is silent, the run is overdue, or its
# batch job has not started.
_UNUSABLE: Final = """
    unusable AS MATERIALIZED (
        SELECT id AS node_id FROM node_now WHERE NOT is_usable
        UNION ALL
        SELECT node_id FROM node_order JOIN node_now ON node_now.id = node_id AND NOT has_room
        WHERE silent_since IS NOT NULL AND role = 'load'
        UNION ALL
        SELECT node_id FROM run JOIN node_order ON node_order.run_id = run.id AND node_order.state <> 'ended'
             AND role = 'load'
        JOIN node_now ON node_now.id = node_id AND NOT has_room WHERE run.overdue
        UNION ALL
        SELECT node_id FROM queued_job JOIN node_order ON node_order.attempt_id = queued_job.attempt_id
             AND node_order.state <> 'ended' AND role = 'load'
        JOIN node_now ON node_now.id = node_id AND NOT has_room
    )
"""

# Recent declines, and targets with a problem on a node. A gang that one node declines is skipped in all its queues.
_UNFIT: Final = f"""
    unfit AS MATERIALIZED (
        SELECT node_id, scope, target_ids, exclusive, workload_id, cell_id FROM ({DECLINED}) AS declined
        UNION ALL
        SELECT node_id, 'targets', ARRAY[target_id], NULL, NULL, NULL FROM target_mount WHERE problem IS NOT NULL
    )
"""  # noqa: S608 - made of the constants above

# First startable runs of one owner in a node's queue. The columns of the index suffice to skip runs that cannot
# start, so they hide no run behind them.
_HEADS_OF_OWNER: Final = f"""
    SELECT place.run_id, place.sort_key FROM line_place AS place
    WHERE place.node_id = line.id AND place.owner_id = share.owner_id
      AND place.sort_key <= :horizon - share.stands_back_seconds
      AND (place.not_before IS NULL OR place.not_before <= :now)
      -- Most runs load one target, found by hash; comparing arrays costs far more.
      AND coalesce(place.target_ids[1], 0) NOT IN (SELECT id FROM blocked_target)
      AND (cardinality(place.target_ids) < 2 OR NOT place.target_ids && ARRAY(SELECT id FROM blocked_target))
      AND (CAST(:all_fit AS boolean) OR NOT (EXISTS (SELECT FROM unusable) OR EXISTS (SELECT FROM unfit))
          OR NOT EXISTS (SELECT FROM line_place AS other WHERE other.run_id = place.run_id
            AND (other.node_id IN (SELECT node_id FROM unusable) OR {MEETS_UNFIT})))
      -- The run must end before its cluster's next maintenance window.
      AND (share.blackout_at IS NULL OR EXISTS (
          SELECT FROM run WHERE run.id = place.run_id
          AND :now + (run.time_limit_seconds + :start_seconds) * interval '1 s' < share.blackout_at))
    ORDER BY place.sort_key, place.run_id LIMIT (SELECT heads FROM each_owner)
"""  # noqa: S608 - made of the constants above

# Heads of each queue: the first runs of each owner, merged by key. Each queue is read only up to its first startable
# runs, so the cost depends on free nodes, not on waiting runs. The result is one row of arrays, because fetching
# that many rows would take longer than finding them.
_HEADS: Final = f"""
    WITH RECURSIVE {_ENDLESS}, maintenance AS MATERIALIZED ({_NEXT_MAINTENANCE}),
    {_BLOCKED_TARGETS}, {_OWNERS}, {_SHARES}, {_NODES}, {_UNUSABLE}, {_UNFIT}
    SELECT array_agg(line.id), array_agg(line.slots = 1), array_agg(first.run_id), array_agg(first.place_key)
           {{besides}}
    FROM {{queues}} AS line CROSS JOIN LATERAL (
        SELECT own.run_id, own.sort_key + share.stands_back_seconds AS place_key
        FROM share CROSS JOIN LATERAL ({_HEADS_OF_OWNER}) AS own
        WHERE share.cluster_id = line.cluster_id ORDER BY place_key, own.run_id LIMIT :heads
    ) AS first
"""  # noqa: S608 - made of the constants above

ALL_HEADS: Final = text(
    _HEADS.format(
        queues="(SELECT * FROM node_now WHERE is_usable AND has_room)",
        besides=", (SELECT array_agg(id) FROM node_now WHERE is_usable AND has_room),"
        " NOT EXISTS (SELECT FROM unusable) AND NOT EXISTS (SELECT FROM unfit)",
    )
)
"""Heads of all queues, ids of all nodes with room, and whether every node can start every run."""

HEADS_OF_SOME: Final = text(_HEADS.format(queues="(SELECT * FROM node WHERE id = ANY(:node_ids))", besides=""))

DEMANDS: Final = text(
    """
    SELECT run.id, run.exclusive, run.cluster_id, run.time_limit_seconds, run.cool_down_seconds,
           CASE WHEN campaign_window.campaign_id IS NOT NULL THEN run.campaign_id END, nodes.ids, target.ids
    FROM run
    CROSS JOIN LATERAL (SELECT array_agg(node_id) AS ids FROM cell_node WHERE cell_node.cell_id = run.cell_id) AS nodes
    CROSS JOIN LATERAL (
        SELECT shared_target_ids AS ids FROM line_place WHERE line_place.run_id = run.id LIMIT 1
    ) AS target
    LEFT JOIN campaign_window ON campaign_window.campaign_id = run.campaign_id
    WHERE run.id = ANY(:run_ids)
    """
)
"""Needs of runs: nodes, shared targets, and durations."""

START_BY: Final = text("SELECT campaign_id, start_by FROM campaign_window WHERE campaign_id = ANY(:campaign_ids)")
"""Latest start of runs in campaigns with windows."""

MAINTENANCE_WINDOWS: Final = text(_NEXT_MAINTENANCE)

_UNTIL: Final = """
    CASE WHEN NOT bool_or(run.overdue OR node_order.silent_since IS NOT NULL
                          OR node_order.attempt_id IN (SELECT attempt_id FROM queued_job)
                          OR node_order.attempt_id IN (SELECT attempt_id FROM stuck_order)) THEN
        max(coalesce(node_order.started_at, node_order.offered_at)
            + (run.time_limit_seconds + run.cool_down_seconds) * interval '1 s')
    END AS until
"""

# A node has one lease for each load order, so its orders show when it is free.
_TAKEN_NODES: Final = f"""
    SELECT 'node' AS kind, node.id, shared_leases, exclusive_leases, slots,
           CASE WHEN cooling_until > :now THEN cooling_until END AS cooling_until, leased.until
    FROM node CROSS JOIN LATERAL (
        SELECT {_UNTIL} FROM node_order JOIN run ON run.id = node_order.run_id
        WHERE node_order.node_id = node.id AND node_order.state <> 'ended' AND role = 'load'
    ) AS leased
    WHERE node.id = ANY(:node_ids)
"""  # noqa: S608 - made of the constants above

# Many runs share a target or a cluster. The end of their leases is read only if a run needs it exclusively.
_TAKEN_ELSEWHERE: Final = f"""
    SELECT counted.kind, counted.id, shared_leases, exclusive_leases, NULL,
           CASE WHEN cooling_until > :now THEN cooling_until END, leased.until
    FROM (
        SELECT 'target' AS kind, id, shared_leases, exclusive_leases, cooling_until FROM target
        WHERE id = ANY(:target_ids)
        UNION ALL
        SELECT 'cluster', id, shared_leases, exclusive_leases, cooling_until FROM cluster
        WHERE id = ANY(:cluster_ids)
    ) AS counted CROSS JOIN LATERAL (
        SELECT {_UNTIL} FROM lease
        JOIN node_order ON node_order.id = lease.order_id JOIN run ON run.id = node_order.run_id
        WHERE lease.active AND resource_kind = counted.kind AND resource_id = counted.id
          AND (exclusive_leases > 0 OR counted.id = ANY(CASE counted.kind WHEN 'target' THEN
               CAST(:target_ids_alone AS bigint[]) ELSE CAST(:cluster_ids_alone AS bigint[]) END))
    ) AS leased
"""  # noqa: S608 - made of the constants above

OCCUPANCY: Final = text(
    f"""
    WITH {_ENDLESS}
    SELECT array_agg(kind), array_agg(id), array_agg(shared_leases), array_agg(exclusive_leases), array_agg(slots),
           array_agg(CASE WHEN shared_leases + exclusive_leases = 0 THEN cooling_until
                          WHEN until IS NOT NULL THEN greatest(until, cooling_until) END),
           array_agg(cooling_until)
    FROM ({_TAKEN_NODES} UNION ALL {_TAKEN_ELSEWHERE}) AS taken
    """  # noqa: S608 - made of the constants above
)
"""Occupancy of resources: leases, slots, latest end and cool-down."""

MEMORY: Final = text("SET LOCAL work_mem = '64MB'")
"""Keeps sorts and joins of ten thousand queues in memory; the default of 4 MB would spill to disk."""
