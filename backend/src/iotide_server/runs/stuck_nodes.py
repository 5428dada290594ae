"""Free what a stuck load holds: list the effects, then do exactly that."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.clusters.agents import stuck as node_stuck
from iotide_server.clusters.errors import HELD_DIFFERS, NODE_NOT_STUCK
from iotide_server.clusters.schemas import NodeOutput
from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_sha256
from iotide_server.runs import stuck
from iotide_server.runs.dead_nodes import living_node
from iotide_server.runs.death import listed
from iotide_server.runs.schemas import HeldRunOutput, StuckStatement

_HELD: Final = text(
    """
    SELECT own.id, own.run_id, own.phase, own.stuck_since, run.campaign_id, campaign.name AS campaign_name,
           workload.name AS workload,
           ARRAY(SELECT target.name FROM cell_target JOIN target ON target.id = target_id
                 WHERE cell_target.cell_id = run.cell_id AND target.scope = 'shared' ORDER BY target.name) AS shared,
           ARRAY(SELECT lease.resource_kind || ' ' || coalesce(node.name, target.name, cluster.name)
                 FROM node_order AS other JOIN lease ON lease.order_id = other.id AND lease.active
                 LEFT JOIN node ON lease.resource_kind = 'node' AND node.id = lease.resource_id
                 LEFT JOIN target ON lease.resource_kind = 'target' AND target.id = lease.resource_id
                 LEFT JOIN cluster ON lease.resource_kind = 'cluster' AND cluster.id = lease.resource_id
                 WHERE other.attempt_id = own.attempt_id
                   AND (other.id = own.id OR (lease.resource_kind <> 'node' AND NOT EXISTS (
                       SELECT FROM node_order AS also WHERE also.attempt_id = own.attempt_id
                         AND also.stuck_since IS NOT NULL AND also.node_id <> own.node_id)))
                 ORDER BY lease.resource_kind DESC, 1) AS held
    FROM node_order AS own
    JOIN run ON run.id = own.run_id JOIN campaign ON campaign.id = run.campaign_id
    JOIN cell ON cell.id = run.cell_id JOIN workload ON workload.id = cell.workload_id
    WHERE own.node_id = :node_id AND own.stuck_since IS NOT NULL ORDER BY own.run_id, own.id
    """
)


def statement(session: Session, principal: Principal, node_id: int, now: datetime) -> StuckStatement:
    """State what freeing the node would do; raise NODE_NOT_FOUND, CLUSTER_IS_SAMPLE_DATA or NODE_NOT_STUCK."""
    return _statement(session, _found(session, principal, node_id, now))


def free(session: Session, principal: Principal, node_id: int, seen_sha256: str, now: datetime) -> NodeOutput:
    """Release what stuck loads hold, although they may still run; raise as `statement`, or HELD_DIFFERS."""
    _found(session, principal, node_id, now)
    node = node_stuck.locked_node(session, node_id)
    view = _found(session, principal, node_id, now)
    stated = _statement(session, view)
    if stated.statement_sha256 != seen_sha256:
        raise HELD_DIFFERS(seen_sha256=seen_sha256)
    words = f"{node.name}: an operator freed everything that its load held, although the load may still run"
    stuck.release(session, node_id, words, now, actor=principal.actor)
    if not _is_reported(session, view):
        node_stuck.write(session, node, [])
    after: Json = {
        "runs": {run.run_id: run.frees for run in stated.runs},
        "statement_sha256": stated.statement_sha256,
        **stuck.orders_of(session, node_id),
    }
    action = Action("node_freed", "node", node_id, node.cluster_id, {"name": node.name}, after)
    audit.record(session, principal, action)
    return clusters.node(session, principal, node_id, now)


def _found(session: Session, principal: Principal, node_id: int, now: datetime) -> NodeOutput:
    found = living_node(session, principal, node_id, now)
    is_cleared = not _is_reported(session, found)
    if not stuck.is_holding(session, node_id) and not (is_cleared and found.stuck):
        raise NODE_NOT_STUCK(node=found.name)
    return found


def _is_reported(session: Session, view: NodeOutput) -> bool:
    return stuck.is_reported(*clusters.node_and_cluster(session, view.id))


def _statement(session: Session, view: NodeOutput) -> StuckStatement:
    name = view.name
    if _is_reported(session, view):
        afterwards = f"No run starts on {name} until its agent reports that the load is gone."
    else:
        afterwards = (
            f"The server offers {name} runs again at once, because its agent does not report whether the load is gone. "
            "The agent declines them while the load holds the node. These declines do not count."
        )
    runs = [_held(name, row) for row in session.execute(_HELD, {"node_id": view.id})]
    effects = [{"run": run.run_id, "frees": run.frees, "risk": run.risk} for run in runs]
    return StuckStatement(
        node_id=view.id,
        node_name=name,
        runs=runs,
        afterwards=afterwards,
        statement_sha256=canonical_sha256({"node": view.id, "runs": effects, "then": afterwards}),
    )


def _held(node: str, row: Row[Any]) -> HeldRunOutput:
    held = listed(row.held) if row.held else ""
    frees = f"{held} {'is' if len(row.held) == 1 else 'are'} free at once" if held else "it no longer holds anything"
    wakes = f"{row.phase} may continue writing when its storage responds."
    if row.shared:
        names = listed([f"target {name}" for name in row.shared])
        risk = f"{wakes} This may affect the results of other runs on {names}."
    else:
        risk = f"{wakes} Only {node} has its targets. This may affect the results of later runs there."
    return HeldRunOutput.of_row(row, process=row.phase, since=row.stuck_since, frees=frees, risk=risk)
