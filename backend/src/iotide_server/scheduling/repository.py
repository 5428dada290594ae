"""SQL that starts runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.db import limit_locks
from iotide_server.kit.wake import DRAIN_LOCK
from iotide_server.runs.resources import Resource, ResourceKind
from iotide_server.scheduling.matching import WaitingRun

FIRST_REPEAT_AFTER = timedelta(seconds=1)
_LOCK_SECONDS: Final = 0.1  # a run whose node or target stays locked for longer starts in a later pass

_LOCK_STARTABLE = text(
    # Checked again: since the pass read the queues, a drain may have started or a load may have got stuck.
    """
    SELECT id FROM run WHERE id = ANY(:run_ids) AND state = 'waiting'
      AND NOT EXISTS (SELECT FROM drain WHERE kind = 'all' OR (kind = 'cluster' AND subject_id = run.cluster_id))
      AND NOT EXISTS (SELECT FROM cell_node JOIN drain ON kind = 'node' AND subject_id = node_id
                      WHERE cell_node.cell_id = run.cell_id)
      AND NOT EXISTS (SELECT FROM cell_target JOIN drain ON kind = 'target' AND subject_id = target_id
                      WHERE cell_target.cell_id = run.cell_id)
      AND NOT EXISTS (SELECT FROM cell_node JOIN node ON node.id = node_id AND stuck IS NOT NULL
                      WHERE cell_node.cell_id = run.cell_id)
      AND NOT EXISTS (SELECT FROM node_order JOIN run AS other ON other.id = node_order.run_id
                      JOIN cell_target AS held ON held.cell_id = other.cell_id
                      JOIN cell_target AS own ON own.target_id = held.target_id AND own.cell_id = run.cell_id
                      JOIN target ON target.id = own.target_id AND target.scope = 'shared'
                      WHERE node_order.stuck_since IS NOT NULL)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    """
)
_OBSERVERS = text(
    """
    WITH observing AS (
        SELECT attempt.id AS attempt_id, attempt.run_id, attempt.fence, node.id AS node_id, node.name,
               node.retired_at IS NOT NULL AS is_retired, coalesce(node_beat.seen_at < :seen_after, true) AS is_silent
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
               CASE WHEN is_retired THEN 'not observed by ' || name || ' (retired)'
                    WHEN is_silent THEN 'to be observed by ' || name || ' (silent; the run does not wait for it)'
                    ELSE 'to be observed by ' || name END
        FROM observing LEFT JOIN offered USING (run_id, node_id)
    )
    SELECT offered.id, node_id, fence FROM offered JOIN observing USING (run_id, node_id) ORDER BY offered.id
    """
)


@dataclass(frozen=True, slots=True)
class Offer:
    order_id: int
    node_id: int
    fence: int
    gateway_id: int | None = None


def start(session: Session, runs: Sequence[WaitingRun], fences: Mapping[int, int], now: datetime) -> list[Offer]:
    """Open attempts of runs that still wait and are not drained: orders and leases, all or none."""
    # Raises IntegrityError if a resource is taken or a run is active, OperationalError if something is locked.
    limit_locks(session, _LOCK_SECONDS)
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
        "seen_after": now - SILENT_AFTER,
    }
    return [Offer(row.id, row.node_id, row.fence) for row in session.execute(_OBSERVERS, values)]


def _take_leases(
    session: Session, started: Mapping[int, WaitingRun], offers: Mapping[int, Sequence[Offer]], now: datetime
) -> None:
    """Node leases belong to the nodes' orders, others to the run's first order."""
    leases = sorted(
        (
            (need, next((offer for offer in offers[run_id] if _is_of(offer, need.resource)), offers[run_id][0]))
            for run_id, run in started.items()
            for need in run.demand.needs
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
    rows = session.execute(
        text(
            "SELECT 'run' AS kind, id, cluster_id FROM run WHERE id = ANY(:run_ids)"
            " UNION SELECT 'campaign', campaign_id, cluster_id FROM run WHERE id = ANY(:run_ids)"
            " UNION SELECT 'activity', node_id, cluster_id FROM node_order JOIN run ON run.id = node_order.run_id"
            " WHERE run.id = ANY(:run_ids) AND node_order.state <> 'ended'"
        ),
        {"run_ids": list(run_ids)},
    ).all()
    live.publish_all(session, [(row.kind, row.id, row.cluster_id) for row in rows])
