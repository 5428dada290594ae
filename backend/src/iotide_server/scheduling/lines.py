"""SQL of the first half of a pass: the heads of the lines of nodes that have room, and how what they need is taken."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.blackouts import START_TAKES
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.runs.resources import Mode, Occupancy, Resource, ResourceKind, needs
from iotide_server.scheduling.matching import Waiting
from iotide_wire.plan import Exclusivity

HEADS_OF_A_LINE = 4
"""So many runs at the head of a node's line a pass looks at: behind one that waits for other nodes, others go first."""

_KINDS: Final = {kind.value: kind for kind in ResourceKind}
_EXCLUSIVITIES: Final = {exclusivity.value: exclusivity for exclusivity in Exclusivity}

_UNTIL: Final = """
    CASE WHEN NOT bool_or(run.overdue OR node_order.silent_since IS NOT NULL) THEN
        max(coalesce(node_order.started_at, node_order.offered_at)
            + (run.time_limit_seconds + run.cool_down_seconds) * interval '1 s')
    END AS until
"""
_CANDIDATES = text(
    # A node's line is read up to its first few runs that could start, so that a pass mostly costs what is free and not
    # what waits. It is one line for each owner, since how far an owner stands back changes and the index stays. What
    # cannot start for a while hides none behind it: it is skipped in the index alone, whose columns say all of it.
    """
    WITH RECURSIVE blackouts AS MATERIALIZED (
        SELECT cluster_id, min(starts_at) AS starts_at FROM blackout WHERE ends_at > :now GROUP BY cluster_id
    ),
    blocked_target AS MATERIALIZED (
        SELECT id FROM target WHERE exclusive_leases > 0 OR cooling_until > :now
        UNION SELECT subject_id FROM drain WHERE kind = 'target'
    ),
    owner AS (
        SELECT min(owner_id) AS id FROM line_place
        UNION ALL
        SELECT (SELECT min(owner_id) FROM line_place WHERE owner_id > owner.id) FROM owner WHERE owner.id IS NOT NULL
    ),
    -- What is common to all nodes of a cluster: whose runs wait, and how far they stand back.
    share AS MATERIALIZED (
        SELECT cluster.id AS cluster_id, owner.id AS owner_id,
               coalesce(fair_share.stands_back_seconds, 0) AS stands_back_seconds,
               blackouts.starts_at AS blackout_at
        FROM cluster CROSS JOIN owner LEFT JOIN blackouts ON blackouts.cluster_id = cluster.id
        LEFT JOIN fair_share ON fair_share.cluster_id = cluster.id AND fair_share.owner_id = owner.id
        WHERE owner.id IS NOT NULL AND cluster.exclusive_leases = 0
          AND (cluster.cooling_until IS NULL OR cluster.cooling_until <= :now)
          AND (blackouts.starts_at IS NULL OR blackouts.starts_at > :now)
          AND NOT EXISTS (SELECT FROM drain WHERE kind = 'all' OR (kind = 'cluster' AND subject_id = cluster.id))
    ),
    -- A comparison with the clock as a value: as a condition the planner, whose statistics are always older, expects
    -- that it holds for no row.
    node_now AS MATERIALIZED (
        SELECT node.id, node.cluster_id, slots,
               retired_at IS NULL AND problem IS NULL AND coalesce(seen_at >= :heard_after, false)
                   AND drain.subject_id IS NULL AS is_usable,
               exclusive_leases = 0 AND shared_leases < slots AND coalesce(cooling_until <= :now, true) AS has_room
        FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
        LEFT JOIN drain ON drain.kind = 'node' AND drain.subject_id = node.id
    ),
    -- Nodes on which nothing starts, or of which nobody knows when their run ends (no targets named), and those on
    -- which nothing that loads these targets does; a gang is skipped in the lines of its other nodes too.
    unfit AS MATERIALIZED (
        SELECT id AS node_id, CAST(NULL AS bigint[]) AS target_ids FROM node_now WHERE NOT is_usable
        UNION ALL
        SELECT node_id, NULL FROM node_order JOIN node_now ON node_now.id = node_id AND NOT has_room
        WHERE silent_since IS NOT NULL AND role = 'load'
        UNION ALL
        SELECT node_id, NULL FROM run JOIN node_order ON node_order.run_id = run.id AND node_order.state <> 'ended'
             AND role = 'load'
        JOIN node_now ON node_now.id = node_id AND NOT has_room
        WHERE run.overdue
        UNION ALL
        SELECT node_id, array_agg(target_id) FROM target_mount WHERE problem IS NOT NULL GROUP BY node_id
    ),
    head AS MATERIALIZED (
        SELECT node_now.id AS node_id, node_now.slots = 1 AS is_idle, first.*
        FROM node_now CROSS JOIN LATERAL (
            SELECT own.run_id, own.node_count, own.shared_target_ids,
                   own.sort_key + share.stands_back_seconds AS place_key
            FROM share CROSS JOIN LATERAL (
                SELECT place.run_id, place.sort_key, place.node_count, place.shared_target_ids
                FROM line_place AS place
                WHERE place.node_id = node_now.id AND place.owner_id = share.owner_id
                  AND (place.not_before IS NULL OR place.not_before <= :now)
                  -- Most runs load one target, and that is looked up by its hash; to compare arrays costs far more.
                  AND coalesce(place.target_ids[1], 0) NOT IN (SELECT id FROM blocked_target)
                  AND (cardinality(place.target_ids) < 2
                       OR NOT place.target_ids && ARRAY(SELECT id FROM blocked_target))
                  AND (NOT EXISTS (SELECT FROM unfit) OR NOT EXISTS (
                      SELECT FROM unfit JOIN line_place AS other ON other.node_id = unfit.node_id
                      WHERE other.run_id = place.run_id
                        AND (unfit.target_ids IS NULL OR other.target_ids && unfit.target_ids)))
                  AND (share.blackout_at IS NULL OR EXISTS (
                      SELECT FROM run WHERE run.id = place.run_id
                      AND :now + (run.time_limit_seconds + :start_seconds) * interval '1 s' < share.blackout_at))
                ORDER BY place.sort_key, place.run_id LIMIT :heads
            ) AS own
            WHERE share.cluster_id = node_now.cluster_id ORDER BY place_key, own.run_id LIMIT :heads
        ) AS first
        WHERE node_now.is_usable AND node_now.has_room
    ),
    -- Runs of several nodes, or of whom the place does not say of how many.
    gang AS MATERIALIZED (
        SELECT place.*, loaded.*
        FROM (
            SELECT run_id, min(place_key) AS place_key, min(shared_target_ids) AS shared_target_ids
            FROM head WHERE node_count <> 1 GROUP BY run_id
        ) AS place JOIN run ON run.id = place.run_id CROSS JOIN LATERAL (
            SELECT array_agg(node_id) AS node_ids,
                   array_agg(node_id) FILTER (
                       WHERE node_id NOT IN (SELECT id FROM node_now WHERE has_room AND slots = 1)) AS counted_node_ids,
                   bool_and(node_id IN (SELECT id FROM node_now WHERE has_room)) AS has_room
            FROM cell_node WHERE cell_node.cell_id = run.cell_id
        ) AS loaded
    ),
    -- A gang that waits for a node is of no account in a line in which an earlier one does, and keeps the line's node
    -- already from no later moment.
    first_waiting AS MATERIALIZED (
        SELECT DISTINCT ON (head.node_id) head.run_id FROM head JOIN gang ON gang.run_id = head.run_id
        WHERE NOT gang.has_room ORDER BY head.node_id, head.place_key, head.run_id
    ),
    candidate AS (
        SELECT run_id, place_key, shared_target_ids, ARRAY[node_id] AS node_ids,
               CASE WHEN NOT is_idle THEN ARRAY[node_id] END AS counted_node_ids
        FROM head WHERE node_count = 1
        UNION ALL
        SELECT run_id, place_key, shared_target_ids, node_ids, counted_node_ids
        FROM gang WHERE has_room OR run_id IN (SELECT run_id FROM first_waiting)
    )
    SELECT run.id, candidate.place_key, run.time_limit_seconds, run.cool_down_seconds,
           least(campaign_window.start_by,
                 blackouts.starts_at - (run.time_limit_seconds + :start_seconds) * interval '1 s') AS start_by,
           run.exclusive, run.cluster_id, candidate.node_ids, candidate.shared_target_ids, candidate.counted_node_ids
    FROM candidate JOIN run ON run.id = candidate.run_id AND run.state = 'waiting'
    LEFT JOIN campaign_window ON campaign_window.campaign_id = run.campaign_id
    LEFT JOIN blackouts ON blackouts.cluster_id = run.cluster_id
    """
)
_OCCUPANCY = text(
    # A node has a lease for each order that loads it. Of targets and clusters, which many share, the ends of leases are
    # read only where somebody wants to be alone there.
    f"""
    SELECT 'node', node.id, shared_leases, exclusive_leases, slots,
           CASE WHEN cooling_until > :now THEN cooling_until END, leased.until
    FROM node CROSS JOIN LATERAL (
        SELECT {_UNTIL} FROM node_order JOIN run ON run.id = node_order.run_id
        WHERE node_order.node_id = node.id AND node_order.state <> 'ended' AND role = 'load'
    ) AS leased
    WHERE node.id = ANY(:node_ids)
    UNION ALL
    SELECT counted.kind, counted.id, shared_leases, exclusive_leases, NULL,
           CASE WHEN cooling_until > :now THEN cooling_until END, leased.until
    FROM (
        SELECT 'target' AS kind, id, shared_leases, exclusive_leases, cooling_until FROM target
        WHERE id = ANY(:target_ids)
        UNION ALL
        SELECT 'cluster', id, shared_leases, exclusive_leases, cooling_until FROM cluster WHERE id = ANY(:cluster_ids)
    ) AS counted CROSS JOIN LATERAL (
        SELECT {_UNTIL} FROM lease
        JOIN node_order ON node_order.id = lease.order_id JOIN run ON run.id = node_order.run_id
        WHERE lease.active AND resource_kind = counted.kind AND resource_id = counted.id
          AND (exclusive_leases > 0 OR counted.id = ANY(CASE counted.kind WHEN 'target' THEN
               CAST(:target_ids_alone AS bigint[]) ELSE CAST(:cluster_ids_alone AS bigint[]) END))
    ) AS leased
    """  # noqa: S608 - made of the constant above
)
# Sorts and joins of ten thousand lines stay in memory; the usual 4 MB would spill them.
_MEMORY = text("SET LOCAL work_mem = '64MB'")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The runs that a pass looks at.

    Attributes:
        counted_node_ids: those of their nodes that are taken or have several slots; the others are free for one.
    """

    waiting: Sequence[Waiting]
    counted_node_ids: Collection[int]


def candidates(session: Session, now: datetime) -> Candidates:
    """The runs at the heads of the lines of nodes that have room."""
    values = {
        "now": now,
        "heard_after": now - SILENT_AFTER,
        "start_seconds": START_TAKES.total_seconds(),
        "heads": HEADS_OF_A_LINE,
    }
    session.execute(_MEMORY)
    rows = session.execute(_CANDIDATES, values).all()
    waiting = [
        Waiting(run_id, key, limit, cool_down, needs(_EXCLUSIVITIES[exclusive], nodes, targets, cluster_id), start_by)
        for run_id, key, limit, cool_down, start_by, exclusive, cluster_id, nodes, targets, _ in rows
    ]
    return Candidates(waiting, set[int]().union(*(row[-1] or () for row in rows)))


def occupancy(session: Session, found: Candidates, now: datetime) -> dict[Resource, Occupancy]:
    """How what these runs need is taken now, and until when at the latest; without the nodes that are simply free.

    All of it is usable, or its runs would be no candidates.
    """
    shared = {need for run in found.waiting for need in run.needs if need.resource.kind is not ResourceKind.NODE}
    ids = {kind: {need.resource.id for need in shared if need.resource.kind is kind} for kind in ResourceKind}
    alone = [need.resource for need in shared if need.mode is Mode.EXCLUSIVE]
    rows = session.execute(
        _OCCUPANCY,
        {
            "now": now,
            "node_ids": list(found.counted_node_ids),
            "target_ids": list(ids[ResourceKind.TARGET]),
            "cluster_ids": list(ids[ResourceKind.CLUSTER]),
            "target_ids_alone": [resource.id for resource in alone if resource.kind is ResourceKind.TARGET],
            "cluster_ids_alone": [resource.id for resource in alone if resource.kind is ResourceKind.CLUSTER],
        },
    )
    return {
        Resource(_KINDS[kind], resource_id): Occupancy(
            shared, exclusive, slots, True, _free_from(shared or exclusive, cooling_until, leased_until), cooling_until
        )
        for kind, resource_id, shared, exclusive, slots, cooling_until, leased_until in rows.all()
    }


def _free_from(leases: int, cooling_until: datetime | None, leased_until: datetime | None) -> datetime | None:
    if not leases or leased_until is None:
        return None if leases else cooling_until
    return leased_until if cooling_until is None else max(leased_until, cooling_until)
