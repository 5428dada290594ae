"""Attempts of clusters with a batch system: their jobs are written down, and its gateway is woken instead of nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.scheduling.repository import Offer

_HAND_OVER: Final = text(
    # A gateway asks for its jobs by itself, again and again: nothing is offered twice, and nothing withdrawn for that.
    """
    WITH handed AS (
        INSERT INTO batch_job (attempt_id, cluster_id, system)
        SELECT attempt.id, cluster.id, cluster.launcher
        FROM run JOIN cluster ON cluster.id = run.cluster_id AND cluster.launcher <> 'direct'
        JOIN attempt ON attempt.run_id = run.id AND attempt.state = 'open'
        WHERE run.id = ANY(:run_ids) ORDER BY attempt.id
        RETURNING attempt_id, cluster_id
    )
    UPDATE node_order SET next_offer_at = NULL FROM handed
    WHERE node_order.attempt_id = handed.attempt_id AND node_order.role = 'load'
    RETURNING node_order.id, (
        SELECT node.id FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
        WHERE node.cluster_id = handed.cluster_id AND node.role = 'gateway' AND node.retired_at IS NULL
        ORDER BY node_beat.seen_at DESC NULLS LAST, node.id LIMIT 1) AS gateway_id
    """
)


def hand_over(session: Session, run_ids: Sequence[int], offers: Sequence[Offer]) -> list[Offer]:
    """Give those of the runs that were just started to their cluster's batch system, if it has one.

    Returns:
        Whom to wake: of an attempt that was handed over its gateway, once, or nobody where there is none.
    """
    rows = session.execute(_HAND_OVER, {"run_ids": list(run_ids)})
    return _to_gateways(offers, {row.id: row.gateway_id for row in rows})


def _to_gateways(offers: Sequence[Offer], gateways: Mapping[int, int | None]) -> list[Offer]:
    woken: dict[tuple[int, int], Offer] = {}
    for offer in offers:
        if offer.order_id not in gateways:
            woken[offer.order_id, offer.node_id] = offer
        elif (gateway_id := gateways[offer.order_id]) is not None:
            woken.setdefault((offer.fence, gateway_id), replace(offer, gateway_id=gateway_id))
    return list(woken.values())
