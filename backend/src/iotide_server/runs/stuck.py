"""Stuck loads: no signal ends them, so their ended orders keep their leases.

The agent reports them in each heartbeat. A reboot ends them.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.clusters.agents import stuck
from iotide_server.clusters.agents.stuck import StuckLoad
from iotide_server.clusters.models import Cluster, Node
from iotide_server.clusters.views import Launcher
from iotide_server.kit.wake import wake_scheduler
from iotide_server.notifications.service import Message, announce_to_all
from iotide_server.runs import repository
from iotide_server.runs.models import Order, Run
from iotide_wire.messages import MOST_STUCK
from iotide_wire.messages import StuckLoad as Reported

REASON_CODE: Final = "stuck"

SETTLED_AFTER: Final = timedelta(seconds=15)
"""Agents give up a heartbeat after 10 s, so a later one includes the stuck load."""

RECENT: Final = timedelta(days=1)
"""Age of an ended order up to which it may be reported as stuck."""

LOG_LINES: Final = 100
_REPORTS: Final = 3  # first wire version that reports stuck loads

_BEFORE_NAMES: Final = "still holding the node: "

_DESCRIBED: Final = text(
    """
    SELECT node_order.id, node_order.run_id,
           ARRAY(SELECT target.name FROM cell_target JOIN target ON target.id = target_id
                 WHERE cell_target.cell_id = run.cell_id ORDER BY target.name) AS targets
    FROM node_order JOIN run ON run.id = node_order.run_id
    WHERE node_order.id = ANY(CAST(:order_ids AS bigint[])) AND node_order.node_id = :node_id
    """
)
_MARK: Final = text(
    """
    UPDATE node_order SET stuck_since = :now, phase = :process FROM attempt
    WHERE node_order.id = :order_id AND attempt.id = node_order.attempt_id
      AND node_order.state = 'ended' AND node_order.role = 'load' AND node_order.stuck_since IS NULL
      AND (attempt.reason_code = 'stuck' OR coalesce(attempt.ended_at, :now) > :recent)
      AND NOT EXISTS (SELECT FROM run_event WHERE run_event.run_id = node_order.run_id
                      AND run_event.order_id = node_order.id AND run_event.kind = 'freed'
                      AND run_event.actor IS NOT NULL)
      -- An operator who freed the node freed all its earlier orders: the agent cannot mark them stuck again.
      AND NOT EXISTS (SELECT FROM audit_entry WHERE subject_kind = 'node' AND subject_id = node_order.node_id
                      AND action = 'node_freed' AND (after ->> 'orders_until')::bigint >= node_order.id
                      AND NOT coalesce(after -> 'orders_open' @> to_jsonb(node_order.id), false))
    """
)
_UNMARK: Final = text(
    """
    WITH gone AS (
        UPDATE node_order SET stuck_since = NULL, phase = ''
        WHERE node_id = :node_id AND stuck_since <= :before AND id <> ALL(CAST(:named AS bigint[])) RETURNING id, run_id
    ), logged AS (
        INSERT INTO run_event (run_id, order_id, at, kind, text, actor)
        SELECT run_id, id, :now, 'freed', :words, CAST(:actor AS text) FROM gone
        WHERE CAST(:actor AS text) IS NOT NULL OR (
            SELECT count(*) FROM run_event
            WHERE run_event.run_id = gone.run_id AND run_event.order_id = gone.id AND run_event.kind = 'freed'
        ) < :log_lines
    )
    SELECT run_id FROM gone
    """
)
_TOUCHED: Final = text(
    """
    SELECT 'run' AS kind, id, cluster_id FROM run WHERE id = ANY(:run_ids)
    UNION SELECT 'target', target_id, run.cluster_id FROM run JOIN cell_target USING (cell_id)
    WHERE run.id = ANY(:run_ids)
    """
)
_ORDERS: Final = text(
    """
    SELECT max(id) FILTER (WHERE state = 'ended') AS orders_until,
           coalesce(array_agg(id ORDER BY id) FILTER (WHERE state <> 'ended'), '{}') AS orders_open
    FROM node_order WHERE node_id = :node_id
    """
)
_ANY: Final = text("SELECT EXISTS (SELECT FROM node_order WHERE node_id = :node_id AND stuck_since IS NOT NULL)")


def keep(session: Session, run: Run, order: Order, words: str | None, now: datetime) -> None:
    """Record an unkillable load: its leases stay, and its node gets no offers."""
    process = (words or "").rpartition(_BEFORE_NAMES)[2] or "a process"
    order.stuck_since, order.phase = now, process
    session.flush()
    node = stuck.locked_node(session, order.node_id)
    known = stuck.loads_in(node.stuck)
    if all(load.order_id != order.id for load in known):
        described = _described(session, node.id, [order.id])[order.id]
        _write(session, node, [*known, StuckLoad(process, now, order.id, run.id, described.targets)], now)
    _publish(session, [run.id])


def take_report(  # noqa: PLR0913 - the last bounds what is written
    session: Session,
    node_id: int,
    instance: str,
    said: Sequence[Reported],
    now: datetime,
    *,
    log_lines: int = LOG_LINES,
) -> None:
    """Store reported stuck loads; free the orders of loads that are no longer reported."""
    node = stuck.locked_node(session, node_id)
    if node.agent_instance != instance:
        return
    known = {load.order_id for load in stuck.loads_in(node.stuck)}
    orders = _described(session, node_id, [load.order_id for load in said if load.order_id is not None])
    loads = [_load(load, orders.get(load.order_id or 0), now) for load in said]
    for load in loads:
        # A known load was recorded before, or an operator freed it meanwhile.
        if load.order_id is not None and load.order_id not in known:
            values = {"order_id": load.order_id, "process": load.process, "now": now, "recent": now - RECENT}
            session.execute(_MARK, values)
            _publish(session, [load.run_id] if load.run_id is not None else [])
    if len(said) < MOST_STUCK and all(load.order_id is not None for load in said):
        words = f"{node.name}: its load is gone, so everything that it held is free"
        released = now - SETTLED_AFTER
        release(session, node_id, words, now, named=list(orders), before=released, log_lines=log_lines)
    if loads or not is_holding(session, node_id):
        _write(session, node, loads, now)


def forget(session: Session, node_id: int, now: datetime) -> None:
    node = stuck.locked_node(session, node_id)
    release(session, node_id, f"{node.name} was rebooted, so everything that its load held is free", now)
    _write(session, node, [], now)


def release(  # noqa: PLR0913 - two narrow what is released
    session: Session,
    node_id: int,
    words: str,
    now: datetime,
    *,
    named: Collection[int] = (),
    before: datetime | None = None,
    actor: str | None = None,
    log_lines: int = LOG_LINES,
) -> None:
    """Release what the node's stuck loads hold, and log it.

    Args:
        named: orders whose loads still exist.
        before: only loads that were stuck by then.
        log_lines: limit for agents' lines about an order.
        actor: operator who frees them; agents cannot mark these orders stuck again.
    """
    values = {"node_id": node_id, "named": list(named), "before": before or now, "words": words, "now": now}
    values |= {"actor": actor, "log_lines": log_lines}
    run_ids = list(session.scalars(_UNMARK, values))
    if run_ids:
        repository.release_leases(session, run_ids, now)
        _publish(session, run_ids)
        wake_scheduler(session, "freed")


def is_reported(node: Node, cluster: Cluster) -> bool:
    """Return true if the agent reports the end of stuck loads; an agent in a batch job ends before."""
    return (node.wire_version or 0) >= _REPORTS and cluster.launcher == Launcher.DIRECT


def is_holding(session: Session, node_id: int) -> bool:
    return bool(session.execute(_ANY, {"node_id": node_id}).scalar_one())


def orders_of(session: Session, node_id: int) -> dict[str, Any]:
    """Return `orders_until`, the newest ended order, and `orders_open`."""
    return dict(session.execute(_ORDERS, {"node_id": node_id}).one()._mapping)


def _described(session: Session, node_id: int, order_ids: Sequence[int]) -> dict[int, Row[Any]]:
    if not order_ids:
        return {}
    rows = session.execute(_DESCRIBED, {"order_ids": list(order_ids), "node_id": node_id})
    return {row.id: row for row in rows}


def _load(said: Reported, order: Row[Any] | None, now: datetime) -> StuckLoad:
    more = f" and {said.processes - 1} more" if said.processes > 1 else ""
    process = f"{said.process} (pid {said.pid}) in state {said.state}, waiting in {said.waits_in}{more}"
    known = (None, None, ()) if order is None else (order.id, order.run_id, order.targets)
    return StuckLoad(process.replace("\0", ""), min(said.since, now), *known)


def _write(session: Session, node: Node, loads: Sequence[StuckLoad], now: datetime) -> None:
    was_stuck = node.stuck is not None
    stuck.write(session, node, loads)
    if loads and not was_stuck:
        # At most one message an hour, however often the report changes.
        announce_to_all(session, _message(session, node), key=f"node {node.id} stuck {now:%Y-%m-%dT%H}", now=now)


def _message(session: Session, node: Node) -> Message:
    cluster = session.get_one(Cluster, node.cluster_id)
    loads = stuck.loads_in(node.stuck)
    waits = f"No run starts on {node.name}, and its queue waits."
    if is_reported(node, cluster):
        remedy = "Restore the storage or reboot the node. Its agent then reports that the load is gone."
    else:
        remedy = "Its agent does not report when the load is gone. Restore the storage, then free the node on its page."
    return Message(
        kind="stuck",
        cluster_id=cluster.id,
        subject=f"{cluster.name}: node {node.name} is stuck",
        text="\n".join([*(f"{load.sentence}." for load in loads), f"{waits} {remedy}"]),
        path=f"/nodes/{node.id}",
        data={"cluster": cluster.name, "node_id": node.id, "node": node.name, "loads": node.stuck},
    )


def _publish(session: Session, run_ids: Sequence[int]) -> None:
    if not run_ids:
        return
    rows = session.execute(_TOUCHED, {"run_ids": list(run_ids)})
    live.publish_all(session, [(row.kind, row.id, row.cluster_id) for row in rows])
