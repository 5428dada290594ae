"""Rules that must hold for the rows after every transaction."""

from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

_VIOLATIONS: Final = {
    "a lease of a node outlives its order": """
        SELECT lease.id FROM lease JOIN node_order ON node_order.id = lease.order_id
        WHERE lease.active AND lease.resource_kind = 'node' AND node_order.state = 'ended'
        AND node_order.stuck_since IS NULL""",
    "a lease outlives its attempt": """
        SELECT lease.id FROM lease JOIN node_order ON node_order.id = lease.order_id
        JOIN attempt ON attempt.id = node_order.attempt_id WHERE lease.active AND attempt.state <> 'open'
        AND NOT EXISTS (
            SELECT FROM node_order AS stuck WHERE stuck.attempt_id = attempt.id AND stuck_since IS NOT NULL)""",
    "a stuck load's order has not ended, or its node is not stuck": """
        SELECT node_order.id FROM node_order JOIN node ON node.id = node_id
        WHERE stuck_since IS NOT NULL AND (state <> 'ended' OR node.stuck IS NULL)""",
    "an active order has no lease on its node": """
        SELECT node_order.id FROM node_order WHERE state <> 'ended' AND role = 'load' AND NOT EXISTS (
            SELECT FROM lease WHERE lease.order_id = node_order.id AND active AND resource_kind = 'node')""",
    "a counter differs from its leases": """
        SELECT counted.id FROM (
            SELECT 'node' AS kind, id, shared_leases, exclusive_leases FROM node
            UNION ALL SELECT 'target', id, shared_leases, exclusive_leases FROM target
            UNION ALL SELECT 'cluster', id, shared_leases, exclusive_leases FROM cluster) AS counted
        LEFT JOIN lease ON lease.active AND resource_kind = counted.kind AND resource_id = counted.id
        GROUP BY counted.kind, counted.id, shared_leases, exclusive_leases
        HAVING count(*) FILTER (WHERE mode = 'shared') <> shared_leases
            OR count(*) FILTER (WHERE mode = 'exclusive') <> exclusive_leases""",
    "an exclusive lease is not alone": """
        SELECT resource_id FROM lease WHERE active GROUP BY resource_kind, resource_id
        HAVING count(*) FILTER (WHERE mode = 'exclusive') > 0 AND count(*) > 1""",
    "a run is active without an open attempt, or has one without being active": """
        SELECT run.id FROM run WHERE (run.state = 'active') <>
            EXISTS (SELECT FROM attempt WHERE run_id = run.id AND state = 'open')""",
    "an open attempt has no load left, or an ended one has": """
        SELECT attempt.id FROM attempt WHERE (state = 'open') <> EXISTS (
            SELECT FROM node_order WHERE attempt_id = attempt.id AND role = 'load' AND state <> 'ended')""",
    "an order that only observes has a lease": """
        SELECT lease.id FROM lease JOIN node_order ON node_order.id = lease.order_id WHERE role = 'observe'""",
    "an observer of an ended attempt is not cancelled": """
        SELECT node_order.id FROM node_order JOIN attempt ON attempt.id = node_order.attempt_id
        WHERE role = 'observe' AND node_order.state <> 'ended' AND attempt.state <> 'open'
        AND cancel_wanted_at IS NULL""",
    "an attempt lacks an order on a node of its run": """
        SELECT attempt.id FROM attempt JOIN run ON run.id = attempt.run_id
        WHERE (SELECT count(*) FROM node_order WHERE attempt_id = attempt.id AND role = 'load')
            <> (SELECT count(*) FROM cell_node WHERE cell_id = run.cell_id)""",
    "a run waits outside its queues, or is in one without waiting": """
        SELECT run.id FROM run WHERE (SELECT count(*) FROM line_place WHERE run_id = run.id)
            <> CASE WHEN run.state = 'waiting' AND NOT EXISTS (
                SELECT FROM cell JOIN campaign_stage USING (campaign_id) WHERE cell.id = run.cell_id
                AND campaign_stage.ordinal = cell.stage AND campaign_stage.state <> 'open')
            AND NOT EXISTS (
                SELECT FROM campaign_window WHERE campaign_window.campaign_id = run.campaign_id AND NOT is_open)
            THEN (SELECT count(*) FROM cell_node WHERE cell_id = run.cell_id) ELSE 0 END""",
    "an order is due although its node needs no update": """
        SELECT id FROM node_order WHERE next_offer_at IS NOT NULL
            AND (state = 'ended' OR (state <> 'offered' AND cancel_wanted_at IS NULL))""",
    "an ended run has no end": "SELECT id FROM run WHERE (state IN ('waiting', 'active')) <> (ended_at IS NULL)",
}


def violations(session: Session) -> dict[str, list[int]]:
    """Return the broken rules, each with the ids of the rows that break it."""
    found = {rule: list(session.scalars(text(statement))) for rule, statement in _VIOLATIONS.items()}
    return {rule: ids for rule, ids in found.items() if ids}
