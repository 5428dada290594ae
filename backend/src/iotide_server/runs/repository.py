"""SQL that changes runs. Lock order: runs, orders, leases."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Row, Select, any_, func, literal, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.kit.people import Sentence
from iotide_server.runs.lifecycle import AttemptState, RunState
from iotide_server.runs.models import Attempt, Order, Run
from iotide_wire.messages import OrderRole, OrderState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewRuns:
    campaign_id: int
    cluster_id: int
    exclusive: str
    sort_key: float
    time_limit_seconds: float
    cool_down_seconds: float
    attempts_allowed: int
    created_at: datetime
    asked_by: int | None = None
    is_shuffled: bool = False  # each repeat has its own random order of the cells


def insert_runs(session: Session, new: NewRuns, repeats: int) -> None:
    """Insert the runs of each cell, in no queue yet.

    Repeats are interleaved, A B B A or shuffled, so that slow drift of a machine affects all cells alike.
    """
    session.execute(
        text(
            "INSERT INTO run (campaign_id, cell_id, cluster_id, repeat, exclusive, sort_key, time_limit_seconds,"
            " cool_down_seconds, attempts_allowed, created_at)"
            " SELECT :campaign_id, cell.id, :cluster_id, repeat, :exclusive, :sort_key, :time_limit_seconds,"
            " :cool_down_seconds, :attempts_allowed, :created_at"
            " FROM cell CROSS JOIN generate_series(1, :repeats) AS repeat"
            " WHERE cell.campaign_id = :campaign_id"
            " ORDER BY cell.stage, repeat, CASE WHEN :is_shuffled THEN hashtextextended(cell.id || ' ' || repeat, 0)"
            "  WHEN repeat % 2 = 1 THEN cell.ordinal ELSE -cell.ordinal END"
        ),
        {**asdict(new), "repeats": repeats},
    )


def add_repeats(session: Session, new: NewRuns, more: Mapping[int, int]) -> Sequence[int]:
    """Add that many interleaved repeats to each cell, in no queue yet. The caller locks the campaign."""
    return session.scalars(
        text(
            "INSERT INTO run (campaign_id, cell_id, cluster_id, repeat, exclusive, sort_key, time_limit_seconds,"
            " cool_down_seconds, attempts_allowed, created_at, asked_by)"
            " SELECT :campaign_id, cell.id, :cluster_id, before.repeats + further, :exclusive, :sort_key,"
            " :time_limit_seconds, :cool_down_seconds, :attempts_allowed, :created_at, CAST(:asked_by AS bigint)"
            " FROM unnest(CAST(:cell_ids AS bigint[]), CAST(:counts AS integer[])) AS wanted (cell_id, count)"
            " JOIN cell ON cell.id = wanted.cell_id CROSS JOIN generate_series(1, wanted.count) AS further"
            " CROSS JOIN LATERAL ("
            "  SELECT coalesce(max(repeat), 0) AS repeats FROM run WHERE cell_id = cell.id"
            " ) AS before"
            " WHERE cell.campaign_id = :campaign_id"
            " ORDER BY cell.stage, further, CASE WHEN :is_shuffled THEN"
            "  hashtextextended(cell.id || ' ' || before.repeats + further, 0) ELSE cell.ordinal END RETURNING id"
        ),
        {**asdict(new), "cell_ids": list(more), "counts": list(more.values())},
    ).all()


def log_added(session: Session, run_ids: Sequence[int], why: Sentence, now: datetime) -> None:
    session.execute(
        text(
            "INSERT INTO run_event (run_id, at, kind, text, actor)"
            " SELECT unnest(:run_ids), :now, 'added', :words, :actor"
        ),
        {"run_ids": list(run_ids), "now": now, **why._asdict()},
    )


def adaptive_campaigns(session: Session, run_ids: Sequence[int]) -> Sequence[int]:
    """Return the campaigns of these runs that may add repeats to their cells."""
    statement = text(
        "SELECT DISTINCT adaptive_cell.campaign_id FROM run JOIN adaptive_cell USING (cell_id)"
        " WHERE run.id = ANY(:run_ids) AND adaptive_cell.ended_at IS NULL"
    )
    return session.scalars(statement, {"run_ids": list(run_ids)}).all()


def variant_of(session: Session, cell_id: int) -> str:
    return str(session.scalar(text("SELECT variant FROM cell WHERE id = :cell_id"), {"cell_id": cell_id}))


def lock_resources(session: Session, cell_ids: Sequence[int]) -> list[str]:
    """Keep the cells' nodes and targets from being retired or unmounted; return those that already were."""
    cells = {"cell_ids": list(cell_ids)}
    gone: list[str] = []
    for kind in ("node", "target"):
        rows = session.execute(
            text(
                f"SELECT name, retired_at FROM {kind}"  # noqa: S608 - one of the two words above
                f" WHERE id IN (SELECT {kind}_id FROM cell_{kind} WHERE cell_id = ANY(:cell_ids))"
                " ORDER BY id FOR KEY SHARE"
            ),
            cells,
        )
        gone += [f"{kind} {row.name} was retired" for row in rows if row.retired_at is not None]
    parted = session.execute(
        text(
            "SELECT DISTINCT target.name AS target, node.name AS node FROM cell_node JOIN cell_target USING (cell_id)"
            " JOIN node ON node.id = node_id JOIN target ON target.id = target_id"
            " WHERE cell_id = ANY(:cell_ids) AND step_role IS DISTINCT FROM 'sender'"
            " AND NOT EXISTS (SELECT FROM target_mount"
            "  WHERE target_mount.node_id = node.id AND target_mount.target_id = target.id)"
            " ORDER BY target.name, node.name"
        ),
        cells,
    )
    return gone + [f"target {row.target} is no longer on node {row.node}" for row in parted]


def lock_run(session: Session, run_id: int) -> Run | None:
    """Lock the run against every other change of its state."""
    return session.scalar(_locked(select(Run).where(Run.id == run_id)))


def lock_runs_of(session: Session, campaign_id: int, states: Collection[RunState]) -> Sequence[Row[Any]]:
    statement = text(
        "SELECT id, state FROM run WHERE campaign_id = :campaign_id AND state = ANY(CAST(:states AS text[]))"
        " ORDER BY id FOR NO KEY UPDATE"
    )
    return session.execute(statement, {"campaign_id": campaign_id, "states": sorted(map(str, states))}).all()


def lock_active_runs(session: Session, run_ids: Sequence[int]) -> Sequence[Run]:
    wanted = literal(list(run_ids), ARRAY(BigInteger))
    statement = select(Run).where(Run.id == any_(wanted), Run.state == RunState.ACTIVE).order_by(Run.id)
    return session.scalars(_locked(statement)).all()


def cancel_waiting(session: Session, run_ids: Sequence[int], code: str, why: Sentence, now: datetime) -> None:
    """Cancel those of the locked runs that wait, and take them out of their queues."""
    session.execute(
        text(
            "WITH cancelled AS ("
            "  UPDATE run SET state = 'cancelled', reason_code = :code, reason = :words, reason_actor = :actor,"
            "  ended_at = :now"
            "  WHERE id = ANY(:run_ids) AND state = 'waiting' RETURNING id"
            "), left_lines AS ("
            "  DELETE FROM line_place USING cancelled WHERE line_place.run_id = cancelled.id"
            ") INSERT INTO run_event (run_id, at, kind, text, actor)"
            " SELECT id, :now, 'cancelled', :words, :actor FROM cancelled"
        ),
        {"run_ids": list(run_ids), "now": now, "code": code, **why._asdict()},
    )


def open_attempt(session: Session, run_id: int) -> Attempt:
    statement = select(Attempt).where(Attempt.run_id == run_id, Attempt.state == AttemptState.OPEN)
    return session.scalars(statement.execution_options(populate_existing=True)).one()


def last_orders(session: Session, run_id: int) -> Sequence[Order]:
    last = select(func.max(Attempt.id)).where(Attempt.run_id == run_id).scalar_subquery()
    statement = select(Order).where(Order.attempt_id == last, Order.role == OrderRole.LOAD)
    return session.scalars(statement.order_by(Order.id)).all()


def lock_orders(session: Session, attempt_id: int) -> Sequence[Order]:
    """Lock the orders against claims and heartbeats; the caller locks their run first."""
    return session.scalars(_locked(select(Order).where(Order.attempt_id == attempt_id).order_by(Order.id))).all()


def _locked(statement: Select[T]) -> Select[T]:
    """Lock FOR NO KEY UPDATE, which permits new referring rows; reload the session's copies."""
    return statement.with_for_update(key_share=True).execution_options(populate_existing=True)


def lock_run_of(session: Session, order_id: int, node_id: int | None = None) -> Run | None:
    """Return the order's run, locked; None if another node has the order."""
    run_id = select(Order.run_id).where(Order.id == order_id)
    if node_id is not None:
        run_id = run_id.where(Order.node_id == node_id)
    return session.scalar(_locked(select(Run).where(Run.id == run_id.scalar_subquery())))


def lock_order(session: Session, order_id: int) -> tuple[Order, int]:
    """Return the order and its fence, locked; lock its run first."""
    statement = select(Order, Attempt.fence).join(Attempt, Attempt.id == Order.attempt_id).where(Order.id == order_id)
    locked = statement.with_for_update(key_share=True, of=Order).execution_options(populate_existing=True)
    order, fence = session.execute(locked).one()
    return order, fence


def held_orders(session: Session, node_id: int) -> Sequence[tuple[Order, int]]:
    rows = session.execute(
        select(Order, Attempt.fence)
        .join(Attempt, Attempt.id == Order.attempt_id)
        .where(Order.node_id == node_id, Order.state.not_in([OrderState.OFFERED, OrderState.ENDED]))
        .order_by(Order.id)
    )
    return [(order, fence) for order, fence in rows]


def runs_on(session: Session, node_id: int) -> Sequence[int]:
    unended = select(Order.run_id).where(Order.node_id == node_id, Order.state != OrderState.ENDED)
    return session.scalars(unended).all()


def lock_orders_on(session: Session, node_id: int) -> Sequence[Order]:
    """Return the node's open orders, locked like `lock_orders`."""
    unended = select(Order).where(Order.node_id == node_id, Order.state != OrderState.ENDED).order_by(Order.id)
    return session.scalars(_locked(unended)).all()


def node_name(session: Session, node_id: int) -> str:
    return session.scalars(select(Node.name).where(Node.id == node_id)).one()


def release_leases(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    """Release what ended orders of these runs hold. Call it once in a transaction, after writing all states.

    An ended order frees its node, an ended attempt frees targets and cluster; a stuck load keeps them. Node and
    exclusive resources of a load cool down if the campaign sets it.
    """
    session.flush()
    due = session.execute(
        text(
            "SELECT lease.id, lease.resource_kind, lease.resource_id, CASE WHEN run.cool_down_seconds > 0"
            "  AND node_order.started_at IS NOT NULL AND (lease.resource_kind = 'node' OR lease.mode = 'exclusive')"
            "  THEN CAST(:now AS timestamptz) + run.cool_down_seconds * interval '1 s' END AS cooling_until"
            " FROM lease JOIN node_order ON node_order.id = lease.order_id"
            " JOIN attempt ON attempt.id = node_order.attempt_id JOIN run ON run.id = node_order.run_id"
            " WHERE lease.active AND node_order.run_id = ANY(:run_ids)"
            " AND (attempt.state <> 'open' OR (lease.resource_kind = 'node' AND node_order.state = 'ended'))"
            " AND NOT EXISTS (SELECT FROM node_order AS stuck WHERE stuck.attempt_id = node_order.attempt_id"
            "  AND stuck.stuck_since IS NOT NULL AND (lease.resource_kind <> 'node' OR stuck.id = node_order.id))"
            " ORDER BY array_position(ARRAY['node', 'target', 'cluster'], lease.resource_kind), lease.resource_id"
        ),
        {"run_ids": list(run_ids), "now": now},
    ).all()
    if due:
        session.execute(
            text("UPDATE lease SET active = false, released_at = :now WHERE id = :id"),
            [{"id": row.id, "now": now} for row in due],
        )
    for row in due:
        if row.cooling_until is not None:
            statement = text(
                f"UPDATE {row.resource_kind} SET cooling_until = greatest(cooling_until, :until) WHERE id = :id"  # noqa: S608 - a CHECK names the three kinds
            )
            session.execute(statement, {"until": row.cooling_until, "id": row.resource_id})
