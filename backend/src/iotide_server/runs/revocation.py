"""Revoke a node's credentials, and end the orders that certainly do not run there."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.agents.credentials import own_node
from iotide_server.clusters.errors import NODE_NOT_FOUND
from iotide_server.clusters.schemas import NodeOutput
from iotide_server.clusters.views import NodeState
from iotide_server.kit.clock import written
from iotide_server.kit.db import Json
from iotide_server.kit.people import OPERATOR, Sentence
from iotide_server.runs import death_queries, service
from iotide_server.runs.death import DoomedRun, describe_end, describe_risk, may_still_load
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.schemas import RevocationOutput, TouchedRunOutput
from iotide_wire.messages import OrderRole

REASON_CODE = "node_revoked"


def statement(session: Session, principal: Principal, node_id: int, now: datetime) -> RevocationOutput:
    """State for an admin what a revocation would end, or raise NODE_NOT_FOUND."""
    found = clusters.node(session, principal, node_id, now)
    principal.require(Role.ADMIN, found.cluster_id)
    if found.state is NodeState.RETIRED:
        raise NODE_NOT_FOUND(node=node_id)
    doomed = death_queries.doomed_runs(session, node_id)
    return RevocationOutput(
        node_id=node_id,
        node_name=found.name,
        runs=[_touched(found.name, run) for run in doomed],
        waiting_count=death_queries.waiting_count(session, node_id),
    )


def revoke(session: Session, principal: Principal, node_id: int, access: AgentAccess, now: datetime) -> NodeOutput:
    """Revoke the node, here and in Redis; no effect if already revoked. Raise as `statement`.

    Orders whose load may run keep their leases: silence does not prove an end.
    """
    found = service.lock_orders_for_end(session, node_id)
    node = own_node(session, principal, node_id)
    if node.revoked_at is None:
        words = f"{OPERATOR} revoked {node.name} at {written(now)}"
        doomed = death_queries.doomed_runs(session, node_id)
        ends = {order.order_id: order.end for run in doomed if not may_still_load(run) for order in run.orders}
        ends |= {order.id: OrderEnd.LOST for order in found if order.role == OrderRole.OBSERVE}
        why = Ending(OrderEnd.LOST, now, REASON_CODE, words, actor=principal.actor)
        service.end_orders_of(session, found, ends, why)
        problem = Sentence(f"{words}; enroll its host again or retire the node", principal.actor)
        agents.revoke(session, node_id, problem, access, now)
        after: Json = {"runs": {run.run_id: _touched(node.name, run).words for run in doomed}}
        audit.record(session, principal, Action("node_revoked", "node", node_id, node.cluster_id, after=after))
    return clusters.node(session, principal, node_id, now)


def _touched(node_name: str, run: DoomedRun) -> TouchedRunOutput:
    is_kept = may_still_load(run)
    stays = f"Its order keeps everything that it holds until an operator declares {node_name} dead"
    return TouchedRunOutput.of_row(
        run,
        ends=not is_kept,
        words=f"{stays}. {describe_risk(node_name, run)}" if is_kept else f"{describe_end(node_name, run)}.",
    )
