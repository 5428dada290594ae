"""SQL that reads what ends when an operator declares a node dead."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.runs.blame import OF_OTHERS
from iotide_server.runs.death import DoomedOrder, DoomedRun
from iotide_server.runs.lifecycle import OrderEnd, Tries
from iotide_server.runs.service import CANCELLED_BY_PERSON
from iotide_wire.messages import OrderState

_ORDERS: Final = text(
    """
    SELECT own.id, own.state, own.started_at, own.run_id, run.campaign_id, campaign.name AS campaign_name,
           workload.name AS workload, run.attempts_made, run.attempts_allowed, run.declines, run.time_limit_seconds,
           CASE WHEN attempt.go_agreed_at IS NOT NULL THEN attempt.go_at END AS go_at, attempt.reason_code,
           -- A failure that only this node may have caused gives way to its loss.
           ARRAY(SELECT CASE WHEN other.outcome = 'failed' AND other.reason_code = ANY(:of_others) THEN 'cancelled'
                             ELSE coalesce(other.outcome, 'cancelled') END FROM node_order AS other
                 WHERE other.attempt_id = own.attempt_id AND other.role = 'load' AND other.state IN ('offered', 'ended')
                   AND (other.node_id <> own.node_id OR other.state = 'ended')) AS ended,
           ARRAY(SELECT DISTINCT node.name FROM node_order AS other JOIN node ON node.id = other.node_id
                 WHERE other.attempt_id = own.attempt_id AND other.role = 'load'
                   AND other.node_id <> own.node_id AND other.state NOT IN ('offered', 'ended')
                 ORDER BY node.name) AS others,
           loaded.targets, loaded.shared,
           ARRAY(SELECT lease.resource_kind || ' ' || coalesce(target.name, cluster.name)
                 FROM node_order AS other JOIN lease ON lease.order_id = other.id AND lease.active
                 LEFT JOIN target ON lease.resource_kind = 'target' AND target.id = lease.resource_id
                 LEFT JOIN cluster ON lease.resource_kind = 'cluster' AND cluster.id = lease.resource_id
                 WHERE other.attempt_id = own.attempt_id AND lease.resource_kind <> 'node' AND NOT EXISTS (
                     SELECT FROM node_order AS stuck
                     WHERE stuck.attempt_id = own.attempt_id AND stuck.stuck_since IS NOT NULL)
                 ORDER BY lease.resource_kind DESC, 1) AS also_held
    FROM node_order AS own
    JOIN attempt ON attempt.id = own.attempt_id
    JOIN run ON run.id = own.run_id
    JOIN campaign ON campaign.id = run.campaign_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(name ORDER BY name), '{}') AS targets,
               coalesce(array_agg(name ORDER BY name) FILTER (WHERE scope = 'shared'), '{}') AS shared
        FROM cell_target JOIN target ON target.id = target_id WHERE cell_target.cell_id = run.cell_id
    ) AS loaded
    WHERE own.node_id = :node_id AND own.role = 'load' AND own.state <> 'ended'
    ORDER BY own.run_id, own.id
    """
)
_WAITING: Final = text("SELECT count(*) FROM line_place WHERE node_id = :node_id")


def doomed_runs(session: Session, node_id: int) -> list[DoomedRun]:
    rows = session.execute(_ORDERS, {"node_id": node_id, "of_others": list(OF_OTHERS)}).all()
    return [_doomed(list(orders)) for _, orders in groupby(rows, key=lambda row: row.run_id)]


def waiting_count(session: Session, node_id: int) -> int:
    return int(session.execute(_WAITING, {"node_id": node_id}).scalar_one())


def _doomed(rows: Sequence[Row[Any]]) -> DoomedRun:
    first = rows[0]
    return DoomedRun(
        run_id=first.run_id,
        campaign_id=first.campaign_id,
        campaign_name=first.campaign_name,
        workload=first.workload,
        orders=[DoomedOrder(row.id, OrderState(row.state), row.started_at) for row in rows],
        ended=[OrderEnd(outcome) for outcome in first.ended],
        others=first.others,
        tries=Tries(first.attempts_made, first.attempts_allowed, first.declines),
        is_cancelled=first.reason_code == CANCELLED_BY_PERSON,
        go_at=first.go_at,
        time_limit=timedelta(seconds=first.time_limit_seconds),
        targets=first.targets,
        shared=first.shared,
        also_held=first.also_held,
    )
