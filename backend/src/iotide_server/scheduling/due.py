"""SQL of everything that becomes due: offers, work, silence, time limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.kit.work import BEGUN, UNENDED
from iotide_server.runs.service import ASKED_AGAIN
from iotide_server.scheduling.repository import Offer

_LARGEST_BATCH: Final = 1000

_NEXT: Final = text(
    """
    SELECT (SELECT min(next_offer_at) FROM node_order WHERE next_offer_at IS NOT NULL) AS offer_at,
           (SELECT min(due_at) FROM work WHERE done_version < version) AS work_at,
           least((SELECT min(not_before) FROM line_place WHERE not_before > :now),
                 (SELECT min(cooling_until) FROM node WHERE cooling_until > :now),
                 (SELECT min(cooling_until) FROM target WHERE cooling_until > :now),
                 (SELECT min(cooling_until) FROM cluster WHERE cooling_until > :now),
                 (SELECT min(until) FROM drain),
                 (SELECT min(turns_at) FROM campaign_window),
                 (SELECT min(ends_at) FROM blackout WHERE ends_at > :now)) AS retry_at,
           (SELECT min(due_at) FROM schedule WHERE state = 'active') AS firing_at
    """
)
_OFFERS: Final = text(
    # Delays of 1, 2, 4, ... 32 s after each offer. A cancel is sent as often, then only in heartbeat responses, so
    # that the list of a dead node stays bounded.
    """
    UPDATE node_order
    SET offers_made = offers_made + 1,
        next_offer_at = CASE WHEN node_order.state = 'offered' OR offers_made + 1 < :most_offers
                        THEN :now + 2 ^ least(offers_made, 5) * interval '1 s' END
    FROM attempt
    WHERE attempt.id = node_order.attempt_id AND node_order.id IN (
        SELECT id FROM node_order
        WHERE next_offer_at <= :now AND NOT (state = 'offered' AND offers_made >= :most_offers)
        ORDER BY next_offer_at LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING node_order.id, node_order.node_id, attempt.fence, (
        SELECT gateway.id FROM batch_job JOIN node AS gateway ON gateway.cluster_id = batch_job.cluster_id
        WHERE batch_job.attempt_id = node_order.attempt_id AND node_order.role = 'load'
          AND gateway.role = 'gateway' AND gateway.retired_at IS NULL
        -- As in `starting`: the gateway with the latest contact.
        ORDER BY (SELECT seen_at FROM node_beat WHERE node_id = gateway.id) DESC NULLS LAST, gateway.id LIMIT 1
    ) AS gateway_id
    """
)
_OFFERS_UNSENT: Final = text(
    """
    UPDATE node_order SET offers_made = greatest(0, offers_made - 1), next_offer_at = :again_at
    WHERE id IN (
        SELECT id FROM node_order
        WHERE id = ANY(:order_ids) AND (state = 'offered' OR (cancel_wanted_at IS NOT NULL AND state <> 'ended'))
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    )
    """
)
_UNCLAIMED: Final = text(
    """
    SELECT id FROM node_order
    WHERE next_offer_at <= :now AND state = 'offered' AND offers_made >= :most_offers ORDER BY id
    """
)
_WORK: Final = text(
    """
    UPDATE work SET sends = sends + 1, due_at = :now + interval '1 s' * least(
        CASE WHEN failure IS NULL THEN 300 ELSE 21600 END, 10 * 2 ^ least(sends, 12)
    ), failure = CASE failure WHEN :begun THEN :unended ELSE failure END
    WHERE (kind, key) IN (
        SELECT kind, key FROM work WHERE done_version < version AND due_at <= :now
        ORDER BY due_at LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING kind, key, failure IS NOT NULL AS fails
    """
).bindparams(begun=BEGUN, unended=UNENDED)
_WORK_UNSENT: Final = text(
    "UPDATE work SET sends = sends - 1, due_at = :again_at WHERE kind = :kind AND key = ANY(:keys)"
)
_SILENCE: Final = text(
    """
    WITH fell_silent AS (
        SELECT node_order.id, node_order.run_id, node_beat.seen_at
        FROM node_order JOIN node_beat ON node_beat.node_id = node_order.node_id
        WHERE node_order.state NOT IN ('offered', 'ended') AND node_order.silent_since IS NULL
          AND node_beat.seen_at < :seen_before
        ORDER BY node_order.id FOR NO KEY UPDATE OF node_order SKIP LOCKED
    )
    UPDATE node_order SET silent_since = fell_silent.seen_at
    FROM fell_silent JOIN run ON run.id = fell_silent.run_id
    WHERE node_order.id = fell_silent.id
    RETURNING run.id, run.cluster_id
    """
)
_WITHOUT_START: Final = text(
    """
    SELECT attempt.run_id, string_agg(node.name, ', ' ORDER BY node.name)
               FILTER (WHERE node_order.state IN ('offered', 'claimed', 'preflight')
                       OR (node_order.state = 'ready' AND (
                           node_order.go_heard_at IS DISTINCT FROM attempt.go_at
                           OR (node_order.endpoint IS NULL AND part.step_role = 'member')))) AS missing
    FROM attempt
    JOIN node_order ON node_order.attempt_id = attempt.id AND node_order.role = 'load'
    JOIN node ON node.id = node_order.node_id
    JOIN run ON run.id = attempt.run_id JOIN campaign ON campaign.id = run.campaign_id
    LEFT JOIN cell_node AS part ON part.cell_id = run.cell_id AND part.node_id = node_order.node_id
    LEFT JOIN batch_job ON batch_job.attempt_id = attempt.id
    -- The campaign's policy may let nodes wait for idleness. The time before a batch job starts does not count.
    WHERE attempt.state = 'open' AND attempt.go_agreed_at IS NULL
      AND (batch_job.attempt_id IS NULL OR batch_job.started_at IS NOT NULL)
      AND coalesce(batch_job.started_at, attempt.opened_at) + CASE campaign.plan ->> 'quiet'
          WHEN 'wait' THEN CAST(campaign.plan ->> 'quiet_wait_seconds' AS float8) ELSE 0 END * interval '1 s'
          < :opened_before
    -- After a restored backup, the nodes may have agreed since and its loads may run: ask its agents first.
    GROUP BY attempt.id HAVING count(*) > 1 AND bool_and(node_order.claimed_by IS DISTINCT FROM :asked_again)
    ORDER BY attempt.run_id
    """
)
_UNENDED_OBSERVERS: Final = text(
    """
    SELECT id FROM node_order
    WHERE role = 'observe' AND state <> 'ended' AND cancel_wanted_at < :cancelled_before ORDER BY id
    """
)
_OVERDUE: Final = text(
    """
    UPDATE run SET overdue = true
    WHERE id IN (
        SELECT run.id FROM run JOIN node_order ON node_order.run_id = run.id
        WHERE node_order.role = 'load' AND node_order.state <> 'ended'
          AND run.state = 'active' AND NOT run.overdue
          AND node_order.started_at + run.time_limit_seconds * interval '1 s' < :limit_before
        ORDER BY run.id FOR NO KEY UPDATE OF run SKIP LOCKED
    )
    RETURNING run.id, run.cluster_id
    """
)


_SHARES: Final = text(
    # Exponentially weighted average. A node with slots counts in part for each of its runs. A new owner's current use
    # counts from the last sample. Tiny values become 0: PostgreSQL raises an error on float underflow.
    """
    WITH used AS (
        SELECT run.cluster_id, coalesce(campaign.owner_id, 0) AS owner_id,
               sum(CASE lease.mode WHEN 'exclusive' THEN 1.0 ELSE 1.0 / node.slots END) AS nodes
        FROM lease JOIN node ON node.id = lease.resource_id
        JOIN node_order ON node_order.id = lease.order_id
        JOIN run ON run.id = node_order.run_id JOIN campaign ON campaign.id = run.campaign_id
        -- Leases of stuck loads are not use by the owner.
        WHERE lease.active AND lease.resource_kind = 'node' AND stuck_since IS NULL
        GROUP BY run.cluster_id, coalesce(campaign.owner_id, 0)
    ), living AS (
        SELECT cluster_id, count(*) AS nodes FROM node
        WHERE retired_at IS NULL AND role <> 'gateway' GROUP BY cluster_id
    ), weighed AS (
        SELECT cluster_id, owner_id, coalesce(fair_share.nodes_used, 0) AS before, coalesce(used.nodes, 0) AS now,
               2 ^ greatest(-50, -extract(epoch FROM :now - coalesce(sampled_at, CAST(:last_at AS timestamptz)))
                                 / CAST(:half_life_seconds AS float8)) AS weight
        FROM fair_share FULL JOIN used USING (cluster_id, owner_id)
    ), sampled AS (
        SELECT cluster_id, owner_id, CASE WHEN before + now < 1e-6 THEN 0
               ELSE before * weight + now * (1 - weight) END AS nodes_used
        FROM weighed
    )
    INSERT INTO fair_share (cluster_id, owner_id, nodes_used, stands_back_seconds, sampled_at)
    SELECT cluster_id, owner_id, nodes_used, :most_seconds * least(1, nodes_used / coalesce(living.nodes, 1)), :now
    FROM sampled LEFT JOIN living USING (cluster_id)
    ON CONFLICT (cluster_id, owner_id) DO UPDATE SET nodes_used = excluded.nodes_used,
        stands_back_seconds = excluded.stands_back_seconds, sampled_at = excluded.sampled_at
    """
)


def next_moments(session: Session, now: datetime) -> Row[Any]:
    """Return when the next offer, work, waiting run and firing are due; each may be None."""
    return session.execute(_NEXT, {"now": now}).one()


def take_offers(session: Session, most_offers: int, now: datetime) -> list[Offer]:
    """Return due orders and count their offers."""
    values = {"now": now, "most_offers": most_offers, "limit": _LARGEST_BATCH}
    return [Offer(*row) for row in session.execute(_OFFERS, values)]


def return_offers(session: Session, offers: Sequence[Offer], again_at: datetime) -> None:
    """Make unsent orders due at `again_at`, without counting the offers."""
    values = {"order_ids": [offer.order_id for offer in offers], "again_at": again_at}
    session.execute(_OFFERS_UNSENT, values)


def unclaimed_orders(session: Session, most_offers: int, now: datetime) -> Sequence[int]:
    return session.scalars(_UNCLAIMED, {"now": now, "most_offers": most_offers}).all()


def take_work(session: Session, now: datetime) -> list[tuple[str, int, bool]]:
    """Return kind and key of due work, and if it fails; postpone its next sending."""
    # At most 5 minutes, and 6 hours for failing work, which may crash the worker.
    return [tuple(row) for row in session.execute(_WORK, {"now": now, "limit": _LARGEST_BATCH})]


def return_work(session: Session, work: Sequence[tuple[str, Sequence[int]]], again_at: datetime) -> None:
    """Make unsent work due at `again_at`, without counting it."""
    values = [{"kind": kind, "keys": list(keys), "again_at": again_at} for kind, keys in work]
    session.execute(_WORK_UNSENT, values)


def flag_silent_orders(session: Session, seen_before: datetime) -> Sequence[Row[Any]]:
    return session.execute(_SILENCE, {"seen_before": seen_before}).all()


def runs_without_start(session: Session, opened_before: datetime) -> Sequence[Row[Any]]:
    """Return gang runs opened before that without an agreed start, with missing nodes."""
    # The time before a batch job starts does not count.
    values = {"opened_before": opened_before, "asked_again": ASKED_AGAIN}
    return session.execute(_WITHOUT_START, values).all()


def unended_observers(session: Session, cancelled_before: datetime) -> Sequence[int]:
    return session.scalars(_UNENDED_OBSERVERS, {"cancelled_before": cancelled_before}).all()


def flag_overdue_runs(session: Session, limit_before: datetime) -> Sequence[Row[Any]]:
    return session.execute(_OVERDUE, {"limit_before": limit_before}).all()


@dataclass(frozen=True, slots=True)
class FairShareTerms:
    """Delay of owners who used a cluster recently."""

    # delay of an owner who used all nodes all the time; less use is delayed in proportion. Among runs submitted
    # within it, lighter users go first, and every run starts eventually. Zero: order of submission only.
    most: timedelta = timedelta(days=1)
    half_life: timedelta = timedelta(days=1)  # use this long ago counts half


def sample_shares(session: Session, fair_share: FairShareTerms, last_at: datetime, now: datetime) -> None:
    """Add current use to the averages, as constant since `last_at`."""
    session.execute(
        _SHARES,
        {
            "most_seconds": fair_share.most.total_seconds(),
            "half_life_seconds": fair_share.half_life.total_seconds(),
            "last_at": last_at,
            "now": now,
        },
    )
