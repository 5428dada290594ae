"""SQL of everything that is due at some moment: offers, work, silence, time limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.kit.work import BEGUN, UNENDED
from iotide_server.runs.service import ASKED_ANEW
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
    # 1, 2, 4, ... 32 s after the first, the second, ... offer. A cancel is told as often and then left to the answers
    # to the node's beats, or the list of a dead node would grow for ever.
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
        -- As whoever starts runs chooses it: the one that was heard of last.
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
          AND node_beat.seen_at < :heard_before
        ORDER BY node_order.id FOR NO KEY UPDATE OF node_order SKIP LOCKED
    )
    UPDATE node_order SET silent_since = fell_silent.seen_at
    FROM fell_silent JOIN run ON run.id = fell_silent.run_id
    WHERE node_order.id = fell_silent.id
    RETURNING run.id, run.cluster_id
    """
)
_NOT_TOGETHER: Final = text(
    """
    SELECT attempt.run_id, string_agg(node.name, ', ' ORDER BY node.name)
               FILTER (WHERE node_order.state IN ('offered', 'claimed', 'preflight')
                       OR (node_order.state = 'ready'
                           AND node_order.go_heard_at IS DISTINCT FROM attempt.go_at)) AS missing
    FROM attempt
    JOIN node_order ON node_order.attempt_id = attempt.id AND node_order.role = 'load'
    JOIN node ON node.id = node_order.node_id
    JOIN run ON run.id = attempt.run_id JOIN campaign ON campaign.id = run.campaign_id
    LEFT JOIN batch_job ON batch_job.attempt_id = attempt.id
    -- A node of it may wait to become quiet, by the policy of its campaign; the time in which a batch system's job
    -- waits to be started does not count.
    WHERE attempt.state = 'open' AND attempt.go_agreed_at IS NULL
      AND (batch_job.attempt_id IS NULL OR batch_job.started_at IS NOT NULL)
      AND coalesce(batch_job.started_at, attempt.opened_at) + CASE campaign.plan ->> 'quiet'
          WHEN 'wait' THEN CAST(campaign.plan ->> 'quiet_wait_seconds' AS float8) ELSE 0 END * interval '1 s'
          < :opened_before
    -- After the return of a backup its loads may run already, agreed on since: their nodes are asked first.
    GROUP BY attempt.id HAVING count(*) > 1 AND bool_and(node_order.claimed_by IS DISTINCT FROM :asked_anew)
    ORDER BY attempt.run_id
    """
)
_UNENDED_OBSERVERS: Final = text(
    """
    SELECT id FROM node_order
    WHERE role = 'observe' AND state <> 'ended' AND cancel_wanted_at < :told_before ORDER BY id
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
    # An average over time of which the weight halves again and again. A node with slots is used by each of its runs in
    # part. Who is new is taken to have used what is used now since the last look. What is next to nothing is made
    # nothing, since PostgreSQL refuses to multiply numbers until they are too small for it.
    """
    WITH used AS (
        SELECT run.cluster_id, coalesce(campaign.owner_id, 0) AS owner_id,
               sum(CASE lease.mode WHEN 'exclusive' THEN 1.0 ELSE 1.0 / node.slots END) AS nodes
        FROM lease JOIN node ON node.id = lease.resource_id
        JOIN node_order ON node_order.id = lease.order_id
        JOIN run ON run.id = node_order.run_id JOIN campaign ON campaign.id = run.campaign_id
        -- What a load holds that no signal ends is nothing that its owner uses.
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
    """When the next offer, the next work, the next run that waits for a time, and the next firing are due.

    A run waits for its own time, for what cools down, for its window, or for the end of a drain or of a blackout. None
    for what there is not.
    """
    return session.execute(_NEXT, {"now": now}).one()


def take_offers(session: Session, most_offers: int, now: datetime) -> list[Offer]:
    """The orders of which their nodes have to hear again now, counted as offered once more."""
    values = {"now": now, "most_offers": most_offers, "limit": _LARGEST_BATCH}
    return [Offer(*row) for row in session.execute(_OFFERS, values)]


def give_offers_back(session: Session, offers: Sequence[Offer], again_at: datetime) -> None:
    """These were not sent: they do not count and are due again then."""
    values = {"order_ids": [offer.order_id for offer in offers], "again_at": again_at}
    session.execute(_OFFERS_UNSENT, values)


def unclaimed_orders(session: Session, most_offers: int, now: datetime) -> Sequence[int]:
    """The ids of orders that were offered often enough."""
    return session.scalars(_UNCLAIMED, {"now": now, "most_offers": most_offers}).all()


def take_work(session: Session, now: datetime) -> list[tuple[str, int, bool]]:
    """Return kind, key and whether it fails of due work, which is due again after ever longer pauses."""
    # The longest is 5 minutes, and 6 hours for work that fails: it may take the worker along.
    return [tuple(row) for row in session.execute(_WORK, {"now": now, "limit": _LARGEST_BATCH})]


def give_work_back(session: Session, work: Sequence[tuple[str, Sequence[int]]], again_at: datetime) -> None:
    """These kinds and keys were not sent: they do not count and are due again then."""
    values = [{"kind": kind, "keys": list(keys), "again_at": again_at} for kind, keys in work]
    session.execute(_WORK_UNSENT, values)


def flag_silent_orders(session: Session, heard_before: datetime) -> Sequence[Row[Any]]:
    """Flag the orders of nodes last heard of before; id and cluster of their runs."""
    return session.execute(_SILENCE, {"heard_before": heard_before}).all()


def runs_not_together(session: Session, opened_before: datetime) -> Sequence[Row[Any]]:
    """Return runs of which a gang's attempt was opened before and has no moment to go, with the nodes that lack."""
    # The time that a batch system's job waits to be started does not count.
    values = {"opened_before": opened_before, "asked_anew": ASKED_ANEW}
    return session.execute(_NOT_TOGETHER, values).all()


def unended_observers(session: Session, told_before: datetime) -> Sequence[int]:
    """The ids of orders that observe and were told before that the loads have ended."""
    return session.scalars(_UNENDED_OBSERVERS, {"told_before": told_before}).all()


def flag_overdue_runs(session: Session, limit_before: datetime) -> Sequence[Row[Any]]:
    """Flag the active runs whose time limit passed before; their id and cluster."""
    return session.execute(_OVERDUE, {"limit_before": limit_before}).all()


@dataclass(frozen=True, slots=True)
class FairShareTerms:
    """How owners whose runs used much of a cluster lately stand back behind the others."""

    # so far stand the runs of an owner back who used all nodes all the time, and in proportion who used less: among
    # what was submitted within that time who used less goes first, and nothing waits for ever. Zero: the order of
    # submission alone counts.
    most: timedelta = timedelta(days=1)
    half_life: timedelta = timedelta(days=1)  # what was used so long ago counts half


def sample_shares(session: Session, fair_share: FairShareTerms, last_at: datetime, now: datetime) -> None:
    """Weigh in what each owner's runs hold now, as if it had been so since the last look."""
    session.execute(
        _SHARES,
        {
            "most_seconds": fair_share.most.total_seconds(),
            "half_life_seconds": fair_share.half_life.total_seconds(),
            "last_at": last_at,
            "now": now,
        },
    )
