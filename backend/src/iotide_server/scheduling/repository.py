"""SQL of a pass: the heads of the lines, what they need, and the start of those that can have it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.blackouts import START_TAKES
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.wake import DRAIN_LOCK
from iotide_server.live import service as live
from iotide_server.runs.resources import Need, Occupancy, Resource, ResourceKind, needs
from iotide_server.scheduling.matching import Waiting
from iotide_wire.plan import Exclusivity

FIRST_REPEAT_AFTER = timedelta(seconds=1)

HEADS_OF_A_LINE = 4
"""So many runs at the head of a node's line a pass looks at: behind one that waits for other nodes, others go first."""

_KINDS: Final = {kind.value: kind for kind in ResourceKind}

_CANDIDATES = text(
    # A node's line is read up to its first few runs that could start, so that a pass mostly costs what is free and not
    # what waits. It is one line for each owner, since how far an owner stands back changes and the index stays. What
    # cannot start for a while hides none behind it: it is skipped in the index alone, whose columns say all of it.
    """
    WITH RECURSIVE blackouts AS MATERIALIZED (
        SELECT cluster_id, min(starts_at) AS starts_at FROM blackout WHERE ends_at > :now GROUP BY cluster_id
    ),
    owner AS (
        SELECT min(owner_id) AS id FROM line_place
        UNION ALL
        SELECT (SELECT min(owner_id) FROM line_place WHERE owner_id > owner.id) FROM owner WHERE owner.id IS NOT NULL
    ),
    -- What is common to all nodes of a cluster: whose runs wait, how far they stand back, which targets are blocked.
    share AS MATERIALIZED (
        SELECT cluster.id AS cluster_id, owner.id AS owner_id,
               coalesce(fair_share.stands_back_seconds, 0) AS stands_back_seconds,
               ARRAY(SELECT id FROM target WHERE exclusive_leases > 0 OR cooling_until > :now
                     UNION SELECT subject_id FROM drain WHERE kind = 'target') AS blocked_target_ids,
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
        SELECT node.id, node.cluster_id,
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
        SELECT node_now.id AS node_id, first.*
        FROM node_now CROSS JOIN LATERAL (
            SELECT own.run_id, own.shared_target_ids, own.sort_key + share.stands_back_seconds AS place_key
            FROM share CROSS JOIN LATERAL (
                SELECT place.run_id, place.sort_key, place.shared_target_ids FROM line_place AS place
                WHERE place.node_id = node_now.id AND place.owner_id = share.owner_id
                  AND (place.not_before IS NULL OR place.not_before <= :now)
                  AND NOT place.target_ids && share.blocked_target_ids
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
    wanted AS MATERIALIZED (
        SELECT run.id, run.cluster_id, run.exclusive, run.time_limit_seconds, run.cool_down_seconds,
               least((SELECT start_by FROM campaign_window WHERE campaign_window.campaign_id = run.campaign_id),
                     (SELECT starts_at - (run.time_limit_seconds + :start_seconds) * interval '1 s' FROM blackouts
                      WHERE blackouts.cluster_id = run.cluster_id)) AS start_by,
               array_agg(node_id) AS node_ids,
               bool_and(node_id IN (SELECT id FROM node_now WHERE has_room)) AS has_room
        FROM (SELECT DISTINCT run_id FROM head) AS heads JOIN run ON run.id = heads.run_id
        JOIN cell_node ON cell_node.cell_id = run.cell_id
        WHERE run.state = 'waiting' GROUP BY run.id
    )
    -- A gang that waits for a node is of no account in a line in which an earlier one does, and keeps the line's node
    -- already from no later moment.
    SELECT wanted.*, kept.place_key, kept.shared_target_ids
    FROM wanted JOIN (
        SELECT run_id, min(place_key) AS place_key, min(shared_target_ids) AS shared_target_ids
        FROM (
            SELECT head.*, wanted.has_room, count(*) FILTER (WHERE NOT wanted.has_room) OVER (
                PARTITION BY node_id ORDER BY place_key, run_id ROWS UNBOUNDED PRECEDING) AS waiting_gangs
            FROM head JOIN wanted ON wanted.id = head.run_id
        ) AS ranked
        WHERE has_room OR waiting_gangs = 1 GROUP BY run_id
    ) AS kept ON kept.run_id = wanted.id
    """
)
_LOCK_STARTABLE = text(
    # Asked again although the pass asked before: between the two somebody may have drained something.
    """
    SELECT id FROM run WHERE id = ANY(:run_ids) AND state = 'waiting'
      AND NOT EXISTS (SELECT FROM drain WHERE kind = 'all' OR (kind = 'cluster' AND subject_id = run.cluster_id))
      AND NOT EXISTS (SELECT FROM cell_node JOIN drain ON kind = 'node' AND subject_id = node_id
                      WHERE cell_node.cell_id = run.cell_id)
      AND NOT EXISTS (SELECT FROM cell_target JOIN drain ON kind = 'target' AND subject_id = target_id
                      WHERE cell_target.cell_id = run.cell_id)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    """
)
_OCCUPANCY = text(
    """
    SELECT 'node' AS kind, id, shared_leases, exclusive_leases, slots, cooling_until,
           retired_at IS NULL AND problem IS NULL AND coalesce(seen_at >= :heard_after, false) AS usable
    FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id WHERE id = ANY(:node_ids)
    UNION ALL
    SELECT 'target', id, shared_leases, exclusive_leases, NULL, cooling_until, true
    FROM target WHERE id = ANY(:target_ids)
    UNION ALL
    SELECT 'cluster', id, shared_leases, exclusive_leases, NULL, cooling_until, true
    FROM cluster WHERE id = ANY(:cluster_ids)
    """
)
_FREE_FROM = text(
    """
    SELECT resource_kind AS kind, resource_id AS id,
           CASE WHEN NOT bool_or(run.overdue OR node_order.silent_since IS NOT NULL) THEN
               max(coalesce(node_order.started_at, node_order.offered_at)
                   + (run.time_limit_seconds + run.cool_down_seconds) * interval '1 s')
           END AS free_from
    FROM unnest(CAST(:kinds AS text[]), CAST(:ids AS bigint[])) AS contested (kind, id)
    JOIN lease ON lease.active AND resource_kind = contested.kind AND resource_id = contested.id
    JOIN node_order ON node_order.id = lease.order_id
    JOIN run ON run.id = node_order.run_id
    GROUP BY resource_kind, resource_id
    """
)


def candidates(session: Session, now: datetime) -> list[Waiting]:
    """The runs at the heads of the lines of nodes that have room."""
    values = {
        "now": now,
        "heard_after": now - SILENT_AFTER,
        "start_seconds": START_TAKES.total_seconds(),
        "heads": HEADS_OF_A_LINE,
    }
    rows = session.execute(_CANDIDATES, values).all()
    return [
        Waiting(
            run_id=row.id,
            sort_key=row.place_key,
            time_limit_seconds=row.time_limit_seconds,
            cool_down_seconds=row.cool_down_seconds,
            needs=needs(Exclusivity(row.exclusive), row.node_ids, row.shared_target_ids, row.cluster_id),
            start_by=row.start_by,
        )
        for row in rows
    ]


def occupancy(session: Session, waiting: Sequence[Waiting], now: datetime) -> dict[Resource, Occupancy]:
    """How everything that these runs need is taken now; `free_from` is that of what only cools down, else left open."""
    wanted = {need.resource for need in set[Need]().union(*(run.needs for run in waiting))}
    ids = {kind: [resource.id for resource in wanted if resource.kind is kind] for kind in ResourceKind}
    rows = session.execute(
        _OCCUPANCY,
        {
            "heard_after": now - SILENT_AFTER,
            "node_ids": ids[ResourceKind.NODE],
            "target_ids": ids[ResourceKind.TARGET],
            "cluster_ids": ids[ResourceKind.CLUSTER],
        },
    )
    # Of most nodes the same is taken: one object for all of these, and their rows compared without their kind and id.
    known: dict[tuple[Any, ...], Occupancy] = {}
    return {
        Resource(_KINDS[kind], resource_id): known.get(taken) or known.setdefault(taken, _occupancy(taken, now))
        for kind, resource_id, *rest in rows.all()
        if (taken := tuple(rest))
    }


def _occupancy(taken: tuple[Any, ...], now: datetime) -> Occupancy:
    shared, exclusive, slots, cooling_until, is_usable = taken
    until = cooling_until if cooling_until is not None and cooling_until > now else None
    free_from = None if shared or exclusive else until
    return Occupancy(shared, exclusive, slots, is_usable, free_from, cooling_until=until)


def free_from(session: Session, contested: Collection[Resource]) -> dict[Resource, datetime]:
    """When the present leases on these resources end at the latest; without those of which nobody can say it."""
    rows = session.execute(
        _FREE_FROM,
        {"kinds": [resource.kind for resource in contested], "ids": [resource.id for resource in contested]},
    )
    return {Resource(_KINDS[kind], resource_id): end for kind, resource_id, end in rows.all() if end is not None}


_OBSERVERS = text(
    """
    WITH observing AS (
        SELECT attempt.id AS attempt_id, attempt.run_id, attempt.fence, node.id AS node_id, node.name,
               node.retired_at IS NOT NULL AS is_retired, coalesce(node_beat.seen_at < :heard_after, true) AS is_silent
        FROM run JOIN attempt ON attempt.run_id = run.id AND attempt.state = 'open'
        JOIN cell_observer ON cell_observer.cell_id = run.cell_id
        JOIN node ON node.id = cell_observer.node_id
        LEFT JOIN node_beat ON node_beat.node_id = node.id
        WHERE run.id = ANY(:run_ids)
    ), offered AS (
        INSERT INTO node_order (attempt_id, run_id, node_id, role, offers_made, offered_at, next_offer_at)
        SELECT attempt_id, run_id, node_id, 'observe', 1, :now, :next_offer_at
        FROM observing WHERE NOT is_retired ORDER BY run_id, node_id
        RETURNING id, run_id, node_id
    ), logged AS (
        INSERT INTO run_event (run_id, order_id, at, kind, text)
        SELECT run_id, offered.id, :now, 'observed',
               CASE WHEN is_retired THEN 'not observed by ' || name || ', which was retired'
                    WHEN is_silent THEN 'to be observed by ' || name || ', which is silent and not waited for'
                    ELSE 'to be observed by ' || name END
        FROM observing LEFT JOIN offered USING (run_id, node_id)
    )
    SELECT offered.id, node_id, fence FROM offered JOIN observing USING (run_id, node_id) ORDER BY offered.id
    """
)


@dataclass(frozen=True, slots=True)
class Offer:
    """An order that its node has to hear of."""

    order_id: int
    node_id: int
    fence: int


def start(session: Session, runs: Sequence[Waiting], fences: Mapping[int, int], now: datetime) -> list[Offer]:
    """Open an attempt for each run that still waits and is not drained: orders, leases and all, or an error and none.

    Nodes that only observe get their orders besides, whatever runs there and whether they are heard of or not.

    Args:
        fences: by run id.

    Raises:
        IntegrityError: the database counted a resource as taken, or a run as active.
    """
    session.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": DRAIN_LOCK})
    locked = session.scalars(_LOCK_STARTABLE, {"run_ids": [run.run_id for run in runs]}).all()
    if not locked:
        return []
    started = {run.run_id: run for run in runs if run.run_id in set(locked)}
    offers = _open_attempts(session, locked, fences, now)
    _take_leases(session, started, offers, now)
    observing = _offer_to_observers(session, locked, now)
    _announce(session, locked)
    return [*(offer for of_run in offers.values() for offer in of_run), *observing]


def _open_attempts(
    session: Session, run_ids: Sequence[int], fences: Mapping[int, int], now: datetime
) -> dict[int, list[Offer]]:
    rows = session.execute(
        text(
            """
            WITH activated AS (
                UPDATE run SET state = 'active', attempts_made = attempts_made + 1, not_before = NULL,
                       started_at = NULL
                WHERE id = ANY(:run_ids) RETURNING id
            ), opened AS (
                INSERT INTO attempt (run_id, ordinal, fence, opened_at)
                SELECT activated.id, 1 + (SELECT count(*) FROM attempt WHERE run_id = activated.id), fence, :now
                FROM unnest(CAST(:run_ids AS bigint[]), CAST(:fences AS bigint[])) AS fenced (run_id, fence)
                JOIN activated ON activated.id = fenced.run_id
                RETURNING id, run_id, fence
            ), left_lines AS (
                DELETE FROM line_place USING opened WHERE line_place.run_id = opened.run_id
                RETURNING line_place.run_id, line_place.node_id
            ), offered AS (
                INSERT INTO node_order (attempt_id, run_id, node_id, role, offers_made, offered_at, next_offer_at)
                SELECT opened.id, opened.run_id, left_lines.node_id, 'load', 1, :now, :next_offer_at
                FROM opened JOIN left_lines USING (run_id) ORDER BY opened.run_id, left_lines.node_id
                RETURNING id, run_id, node_id
            ), logged AS (
                INSERT INTO run_event (run_id, order_id, at, kind, text)
                SELECT offered.run_id, offered.id, :now, 'offered', 'offered to ' || node.name
                FROM offered JOIN node ON node.id = offered.node_id
            )
            SELECT offered.id, offered.run_id, offered.node_id, opened.fence
            FROM offered JOIN opened USING (run_id) ORDER BY offered.id
            """
        ),
        {
            "run_ids": list(run_ids),
            "fences": [fences[run_id] for run_id in run_ids],
            "now": now,
            "next_offer_at": now + FIRST_REPEAT_AFTER,
        },
    )
    offers: dict[int, list[Offer]] = {run_id: [] for run_id in run_ids}
    for row in rows:
        offers[row.run_id].append(Offer(row.id, row.node_id, row.fence))
    return offers


def _offer_to_observers(session: Session, run_ids: Sequence[int], now: datetime) -> list[Offer]:
    values = {
        "run_ids": list(run_ids),
        "now": now,
        "next_offer_at": now + FIRST_REPEAT_AFTER,
        "heard_after": now - SILENT_AFTER,
    }
    return [Offer(row.id, row.node_id, row.fence) for row in session.execute(_OBSERVERS, values)]


def _take_leases(
    session: Session, started: Mapping[int, Waiting], offers: Mapping[int, Sequence[Offer]], now: datetime
) -> None:
    """A node's lease belongs to its order; targets and the cluster are held once a run, by its first order."""
    leases = sorted(
        (
            (need, next((offer for offer in offers[run_id] if _is_of(offer, need.resource)), offers[run_id][0]))
            for run_id, run in started.items()
            for need in run.needs
        ),
        key=lambda lease: lease[0].resource.lock_order,
    )
    session.execute(
        text(
            "INSERT INTO lease (order_id, resource_kind, resource_id, mode, taken_at)"
            " SELECT order_id, kind, resource_id, mode, :now FROM unnest(CAST(:order_ids AS bigint[]),"
            " CAST(:kinds AS text[]), CAST(:resource_ids AS bigint[]), CAST(:modes AS text[]))"
            " WITH ORDINALITY AS lease (order_id, kind, resource_id, mode, place) ORDER BY place"
        ),
        {
            "order_ids": [offer.order_id for _, offer in leases],
            "kinds": [need.resource.kind for need, _ in leases],
            "resource_ids": [need.resource.id for need, _ in leases],
            "modes": [need.mode for need, _ in leases],
            "now": now,
        },
    )


def _is_of(offer: Offer, resource: Resource) -> bool:
    return resource.kind is ResourceKind.NODE and resource.id == offer.node_id


def _announce(session: Session, run_ids: Sequence[int]) -> None:
    """Tell browsers of the runs that became active, of their campaigns and their nodes."""
    rows = session.execute(
        text(
            "SELECT 'run' AS kind, id, cluster_id FROM run WHERE id = ANY(:run_ids)"
            " UNION SELECT 'campaign', campaign_id, cluster_id FROM run WHERE id = ANY(:run_ids)"
            " UNION SELECT 'node', node_id, cluster_id FROM node_order JOIN run ON run.id = node_order.run_id"
            " WHERE run.id = ANY(:run_ids) AND node_order.state <> 'ended'"
        ),
        {"run_ids": list(run_ids)},
    ).all()
    live.publish_all(session, [(row.kind, row.id, row.cluster_id) for row in rows])
