"""An operator's word that a silent node is dead: first what it would free and end, then exactly that."""

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
from iotide_server.runs.death import REASON_CODE, following, what_ends, what_may_still_load
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.schemas import DeathStatement, EndedRunOutput


def statement(session: Session, principal: Principal, node_id: int, now: datetime) -> DeathStatement:
    """State what calling the node dead would free and end.

    Raises:
        NODE_NOT_FOUND, CLUSTER_MADE_UP, NODE_NOT_SILENT: nobody can call it dead.
    """
    return _statement(session, _silent_node(session, principal, node_id, now))


def declare_dead(session: Session, principal: Principal, node_id: int, seen_sha256: str, now: datetime) -> NodeOutput:
    """End every order of the node and pass it over until its agent says hello again.

    Raises:
        NODE_NOT_FOUND, CLUSTER_MADE_UP, NODE_NOT_SILENT: as `statement`.
        NotAllowedError, DEATH_DIFFERS: the caller is no operator, or saw another statement.
    """
    _silent_node(session, principal, node_id, now)
    found = service.lock_orders_for_end(session, node_id)
    silent = _silent_node(session, principal, node_id, now)
    stated = _statement(session, silent)
    if stated.statement_sha256 != seen_sha256:
        raise DEATH_DIFFERS(seen_sha256=seen_sha256)
    words = f"{OPERATOR} called {stated.node_name} dead, silent since {written(stated.last_seen_at)}"
    ends = {order.order_id: order.end for run in stated.runs for order in run.orders}
    why = Ending(OrderEnd.LOST, now, REASON_CODE, words, actor=principal.actor)
    service.end_orders_of(session, found, ends, why)
    problem = Sentence(f"{words}; nothing starts on it until its agent is back and idle", principal.actor)
    agents.declare_dead(session, node_id, problem, now)
    after: Json = {"runs": {run.run_id: run.ends for run in stated.runs}, "statement_sha256": stated.statement_sha256}
    before: Json = {"name": stated.node_name, "state": silent.state}
    action = Action("node_declared_dead", "node", node_id, silent.cluster_id, before, after)
    audit.record(session, principal, action)
    return clusters.node(session, principal, node_id, now)


def living_node(session: Session, principal: Principal, node_id: int, now: datetime) -> NodeOutput:
    """Return a node that is not retired, for an operator; NODE_NOT_FOUND, or CLUSTER_MADE_UP in sample data."""
    found = clusters.node(session, principal, node_id, now)
    principal.require(Role.OPERATOR, found.cluster_id)
    if found.state is NodeState.RETIRED:
        raise NODE_NOT_FOUND(node=node_id)
    clusters.require_real(session, found.cluster_id, field="node_id")
    return found


def _silent_node(session: Session, principal: Principal, node_id: int, now: datetime) -> NodeOutput:
    found = living_node(session, principal, node_id, now)
    # One that was revoked may speak, but it is not heard.
    if found.state not in {NodeState.SILENT, NodeState.REVOKED}:
        raise _not_silent(found)
    return found


def _not_silent(found: NodeOutput) -> IotideError:
    heard = "was never heard of" if found.last_seen_at is None else f"was heard of at {written(found.last_seen_at)}"
    return NODE_NOT_SILENT(node=found.name, heard=heard, silent_after=SILENT_AFTER)


def _statement(session: Session, silent: NodeOutput) -> DeathStatement:
    if silent.last_seen_at is None:
        raise _not_silent(silent)
    runs = [
        EndedRunOutput.of_row(
            run,
            becomes=following(run).state,
            ends=what_ends(silent.name, run),
            risk=what_may_still_load(silent.name, run),
        )
        for run in death_queries.doomed_runs(session, silent.id)
    ]
    # Without the waiting runs, as it ends none of them.
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
