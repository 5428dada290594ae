"""Declare a silent node dead: list what that frees and ends, then do exactly that."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.errors import DEATH_DIFFERS, NODE_NOT_FOUND, NODE_NOT_SILENT
from iotide_server.clusters.schemas import NodeOutput
from iotide_server.clusters.views import SILENT_AFTER, NodeState
from iotide_server.kit.clock import written
from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import IotideError
from iotide_server.kit.people import OPERATOR, Sentence
from iotide_server.runs import death_queries, service
from iotide_server.runs.death import REASON_CODE, describe_end, describe_risk, following
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.schemas import DeathStatement, EndedRunOutput


def statement(session: Session, principal: Principal, node_id: int, now: datetime) -> DeathStatement:
    """State what declaring the node dead would end; raise NODE_NOT_FOUND, CLUSTER_IS_SAMPLE_DATA or NODE_NOT_SILENT."""
    return _statement(session, _silent_node(session, principal, node_id, now))


def declare_dead(session: Session, principal: Principal, node_id: int, seen_sha256: str, now: datetime) -> NodeOutput:
    """End every order of the node. Raise as `statement`, or DEATH_DIFFERS if that has changed since it was shown.

    The scheduler skips the node until its agent says hello again.
    """
    _silent_node(session, principal, node_id, now)
    found = service.lock_orders_for_end(session, node_id)
    silent = _silent_node(session, principal, node_id, now)
    stated = _statement(session, silent)
    if stated.statement_sha256 != seen_sha256:
        raise DEATH_DIFFERS(seen_sha256=seen_sha256)
    words = f"{OPERATOR} declared {stated.node_name} dead, silent since {written(stated.last_seen_at)}"
    ends = {order.order_id: order.end for run in stated.runs for order in run.orders}
    why = Ending(OrderEnd.LOST, now, REASON_CODE, words, actor=principal.actor)
    service.end_orders_of(session, found, ends, why)
    problem = Sentence(f"{words}; no run starts on it until its agent is back and idle", principal.actor)
    agents.declare_dead(session, node_id, problem, now)
    after: Json = {"runs": {run.run_id: run.ends for run in stated.runs}, "statement_sha256": stated.statement_sha256}
    before: Json = {"name": stated.node_name, "state": silent.state}
    action = Action("node_declared_dead", "node", node_id, silent.cluster_id, before, after)
    audit.record(session, principal, action)
    return clusters.node(session, principal, node_id, now)


def living_node(session: Session, principal: Principal, node_id: int, now: datetime) -> NodeOutput:
    """Return a node that is not retired, for an operator; raise NODE_NOT_FOUND or CLUSTER_IS_SAMPLE_DATA."""
    found = clusters.node(session, principal, node_id, now)
    principal.require(Role.OPERATOR, found.cluster_id)
    if found.state is NodeState.RETIRED:
        raise NODE_NOT_FOUND(node=node_id)
    clusters.require_real(session, found.cluster_id, field="node_id")
    return found


def _silent_node(session: Session, principal: Principal, node_id: int, now: datetime) -> NodeOutput:
    found = living_node(session, principal, node_id, now)
    # A revoked node may still send heartbeats; the server ignores them.
    if found.state not in {NodeState.SILENT, NodeState.REVOKED}:
        raise _not_silent(found)
    return found


def _not_silent(found: NodeOutput) -> IotideError:
    seen = found.last_seen_at
    contact = "has never contacted the server" if seen is None else f"last contacted the server at {written(seen)}"
    return NODE_NOT_SILENT(node=found.name, heard=contact, silent_after=SILENT_AFTER)


def _statement(session: Session, silent: NodeOutput) -> DeathStatement:
    if silent.last_seen_at is None:
        raise _not_silent(silent)
    runs = [
        EndedRunOutput.of_row(
            run,
            becomes=following(run).state,
            ends=describe_end(silent.name, run),
            risk=describe_risk(silent.name, run),
        )
        for run in death_queries.doomed_runs(session, silent.id)
    ]
    # Without waiting runs, which do not end.
    digest = {
        "node": silent.id,
        "last_seen_at": silent.last_seen_at.isoformat(),
        "runs": [{"run": run.run_id, "ends": run.ends, "risk": run.risk} for run in runs],
    }
    return DeathStatement(
        node_id=silent.id,
        node_name=silent.name,
        last_seen_at=silent.last_seen_at,
        runs=runs,
        waiting_count=death_queries.waiting_count(session, silent.id),
        statement_sha256=canonical_sha256(digest),
    )
